#!/usr/bin/env python3
"""Writes what the pages show of the code and of the results, so that it cannot go stale.

  docs/fresh.py                     fill in every marker of every page
  docs/fresh.py --check             exit with status 1 if a marker is stale, and say which
  docs/fresh.py --diff 06_wmma_db   a step's diff in the terminal, and its counters beside its base's

A marker is an HTML comment pair in a .md file; what stands between is generated:

  <!-- diff 06_wmma_db -->
  <!-- /diff -->

The kinds of marker are the functions mark_* below. Every name in docs/nvidia.csv that a page writes
in backticks is linked to NVIDIA's documentation where it first occurs.
"""
import argparse
import csv
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARKER = re.compile(r"(<!-- (\w+)((?: [^\n>]*?)?) -->\n)(.*?)([ ]*<!-- /\2 -->)", re.S)
FENCE = re.compile(r"(^```.*?^```$)", re.S | re.M)
NO_LINKS = ("README.md", "docs/verdicts.md")  # pages whose NVIDIA names are left alone


class Stale(Exception):
    """A marker that cannot be filled in."""


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def exists(path):
    return os.path.exists(os.path.join(ROOT, path))


# ---- the list of steps ----

class Step:
    def __init__(self, line):
        self.name, self.base, self.track, self.type, self.arch = line.split()
        self.kernel = f"steps/{self.name}/kernel.cu"
        self.page = f"docs/steps/{self.name}.md"
        self.base_kernel = {"-": None, "baseline": f"steps/{self.name}/baseline.cu"}.get(
            self.base, f"steps/{self.base}/kernel.cu")

    def diff(self):
        run = subprocess.run(["diff", "-u", "--label", self.base_kernel, "--label", self.kernel,
                              self.base_kernel, self.kernel], cwd=ROOT, capture_output=True, text=True)
        return run.stdout

    def changed(self):
        """Lines added and removed."""
        lines = self.diff().splitlines()[2:]
        return sum(l[0] == "+" for l in lines), sum(l[0] == "-" for l in lines)

    def headline(self):
        """What the page's title says of the step."""
        if not exists(self.page):
            return ""
        return read(self.page).splitlines()[0].partition(": ")[2]


STEPS = [Step(line) for line in read("steps/steps.list").splitlines()
         if line.strip() and not line.startswith("#")]


def step(name):
    for s in STEPS:
        if s.name == name:
            return s
    raise Stale(f"no step '{name}' in steps/steps.list")


# ---- Markdown ----

def link(page, path, text=None):
    return f"[{text or path}]({os.path.relpath(path, os.path.dirname(page) or '.')})"


def table(head, rows):
    rule = ["---" if i == 0 or not head[i].endswith(">") else "--:" for i in range(len(head))]
    lines = [[cell.rstrip(">") for cell in head], rule] + rows
    return "".join("| " + " | ".join(str(c).replace("|", "\\|") for c in line) + " |\n" for line in lines)


# ---- kinds of marker: what the code says ----

def mark_facts(page, name):
    s = step(name)
    base = "none" if s.base == "-" else f"its own {link(page, s.base_kernel, 'baseline.cu')}"
    if s.base not in ("-", "baseline"):
        base = link(page, step(s.base).page, s.base)
    kernel = f"{link(page, s.kernel, 'kernel.cu')}, {len(read(s.kernel).splitlines())} lines"
    rows = [["builds on", base], ["kernel", kernel]]
    if s.base_kernel:
        added, removed = s.changed()
        rows.append(["diff", f"{added} lines added, {removed} removed"])
    arithmetic = {"f32": "FP32", "tf32": "TF32 products, FP32 sums", "u32": "32-bit integers"}[s.type]
    rows += [["arithmetic", arithmetic], ["needs", f"sm_{s.arch} or newer, or no GPU at all: the CPU device"]]
    return table([s.name, ""], rows)


def mark_diff(page, name):
    s = step(name)
    if not s.base_kernel:
        return f"```cpp\n{read(s.kernel)}```\n"
    return f"```diff\n{s.diff()}```\n"


def mark_links(page, name):
    s = step(name)
    at = STEPS.index(s)
    links = []
    if at > 0:
        links.append("Previous: " + link(page, STEPS[at - 1].page, STEPS[at - 1].name))
    if s.base not in ("-", "baseline"):
        links.append("Base: " + link(page, step(s.base).page, s.base))
    if at + 1 < len(STEPS):
        links.append("Next: " + link(page, STEPS[at + 1].page, STEPS[at + 1].name))
    return " · ".join(links + [link(page, "docs/index.md", "All steps")]) + "\n"


def mark_steps(page, _):
    rows = []
    for s in STEPS:
        base = {"-": "", "baseline": "its own baseline"}.get(s.base, s.base[:2])
        rows.append([link(page, s.page, s.name) if exists(s.page) else s.name, base, s.headline()])
    return table(["step", "builds on", "what changes"], rows)


def tree(s):
    """Lines that show a step and the steps that build on it."""
    below = [tree(child) for child in STEPS if child.base == s.name]
    if len(below) == 1:
        pad = " " * (len(s.name) + 3)
        return [s.name + " ─ " + below[0][0]] + [pad + line for line in below[0][1:]]
    lines = [s.name]
    for child in below:
        first, rest = ("└─ ", "   ") if child is below[-1] else ("├─ ", "│  ")
        lines += [first + child[0]] + [rest + line for line in child[1:]]
    return lines


def mark_ladder(page, _):
    """Which step builds on which."""
    lines = []
    for s in STEPS:
        if s.base == "-":
            lines += tree(s)
        elif s.base == "baseline":
            lines.append("baseline.cu ─ " + s.name)
    return "```text\n" + "\n".join(lines) + "\n```\n"


def headers(path):
    """The header lines of a planted bug or of a solution."""
    fields = {}
    for line in read(path).splitlines()[:8]:
        name, colon, value = line.partition(": ")
        if colon and name.isalpha():
            fields[name] = value
    return fields


def diffs_of(folder, name):
    """The diffs under `folder` that are for a step, with their header lines."""
    found = [(os.path.relpath(p, ROOT), headers(p)) for p in sorted(glob.glob(f"{ROOT}/{folder}/*.diff"))]
    return [(path, fields) for path, fields in found if fields.get("Step") == name]


def caught_by(fields):
    """What notices a planted bug, in words."""
    by = []
    if re.search(r"wrong|got|other bits|never written", fields.get("Caught", "")):
        by.append("wrong values")
    if "elements outside" in fields.get("Caught", ""):
        by.append("elements written outside C")
    if re.search(r"never (waited|committed)|align|barrier|(?<!elements )outside|past the end", fields.get("Caught", "")):
        by.append("a fault of the CPU device")
    if fields.get("Race"):
        by.append("a race report" if by else "a race report only: the values come out right")
    return "; ".join(by) or "its message"


def mark_traps(page, name):
    rows = [[link(page, path, os.path.basename(path)[:-5]), fields["What"], caught_by(fields)]
            for path, fields in diffs_of("tests/diffs/traps", name)]
    if not rows:
        return "No bug is planted in this step.\n"
    return table(["planted bug", "what is wrong", "what shows it"], rows)


def mark_trapcount(page, _):
    counts = [(s, len(diffs_of("tests/diffs/traps", s.name))) for s in STEPS]
    return table(["step", "planted bugs>"], [[link(page, s.page, s.name), n] for s, n in counts])


def mark_solutions(page, name):
    rows = [[link(page, path, os.path.basename(path)), fields["What"]]
            for path, fields in diffs_of("tests/diffs/solutions", name)]
    if not rows:
        return "No solution is a diff here.\n"
    return table(["solution", "what it does"], rows)


def constants(path):
    """The enumerators of a kernel, evaluated."""
    values = {}
    text = re.sub(r"//[^\n]*", "", read(path))
    for body in re.findall(r"\benum\s*\{(.*?)\}", text, re.S):
        for name, expression in re.findall(r"(\w+)\s*=\s*([^,]+)", body):
            try:
                values[name] = eval(expression.replace("/", "//"), {"__builtins__": {}}, values)
            except Exception as error:
                raise Stale(f"{path}: {name}: {error}")
    return values


SLAB = "(BM * (BK + PAD_A) + BK * (BN + PAD_B)) * 4"
BUDGET = {
    "gemm": [
        ("block tile, BM x BN", "f'{BM} x {BN}'"),
        ("slab depth, BK", "BK"),
        ("threads a block", "THREADS"),
        ("accumulators a thread, in registers", "BM * BN // THREADS"),
        ("bytes of A and B that a slab fetches", "(BM + BN) * BK * 4"),
        ("multiply-adds per float fetched", "f'{BM * BN / (BM + BN):.1f}'"),
        ("bytes of shared memory a block, slabs", f"STAGES * {SLAB}"),
        ("bytes of shared memory a block, patches", "WARPS_M * WARPS_N * F * F * 4"),
        ("blocks an SM, as asked of the compiler", "BLOCKS"),
        ("registers a thread that leaves, of 65536", "min(255, 65536 // (BLOCKS * THREADS) // 8 * 8)"),
        ("warps an SM, of 64", "BLOCKS * THREADS // 32"),
        ("bytes in flight an SM during the multiply", "BLOCKS * (STAGES - 1) * (BM + BN) * BK * 4"),
    ],
    "reduce": [
        ("threads a block", "THREADS"),
        ("blocks an SM", "BLOCKS_PER_SM"),
        ("16-byte pieces a thread has on their way", "LOADS * (STAGES or 1)"),
        ("bytes in flight an SM, at most", "BLOCKS_PER_SM * TILE * 16 * (STAGES or 1)"),
        ("bytes of shared memory a block, stages", "STAGES * TILE * 16"),
    ],
    "scan": [
        ("threads a block", "THREADS"),
        ("blocks an SM", "BLOCKS_PER_SM"),
        ("rows of 16-byte pieces a warp has on their way", "ROWS"),
        ("of these, in shared memory", "SHARED_ROWS"),
        ("bytes in flight an SM, at most", "BLOCKS_PER_SM * TILE * 16"),
        ("bytes of shared memory a block", "BYTES"),
    ],
}
DEFAULTS = {"gemm": {"PAD_A": 0, "PAD_B": 0, "STAGES": 1}, "reduce": {"STAGES": 0}, "scan": {}}


def mark_budget(page, name):
    """What the constants of the step and of its base add up to."""
    s = step(name)
    columns = []
    for path in (s.base_kernel, s.kernel):
        if path:
            values = dict(DEFAULTS[s.track], **constants(path))
            if "LANES_M" in values and "BK" not in values:
                values["STAGES"] = 0
            columns.append(values)
    rows = []
    for label, expression in BUDGET[s.track]:
        cells = []
        for values in columns:
            try:
                cells.append(str(eval(expression, {"min": min}, dict(values))))
            except NameError:
                cells.append("")
        if any(cells):
            rows.append([label] + cells)
    heads = ["budget"] + (["baseline>" if s.base == "baseline" else s.base + ">"] if s.base_kernel else [])
    return table(heads + [s.name + ">"], rows)


def mark_counters(page, name):
    """What the checked CPU device counts in a run of the step, beside its base: the sums of tests/steps/golden."""
    s = step(name)

    def sums(of):
        text = read(f"tests/steps/golden/{of}.txt").partition("\nsum ")[2].partition("\n")[2]
        return {m[1]: m[2].split() for m in re.finditer(r"^ *(\S.*?)  +([-\d].*)$", text, re.M)}

    if not exists(f"tests/steps/golden/{name}.txt"):
        return "Not counted yet.\n"
    own, size = sums(name), read(f"tests/steps/golden/{name}.txt").splitlines()[0].split(", ")[1]
    base = sums(s.base) if s.base not in ("-", "baseline") else None
    rows = []
    for label, values in own.items():
        pair = [base.get(label, [""])[0], values[0]] if base else [values[1], values[0]] if s.base == "baseline" else [values[0]]
        if any(v not in ("0", "") for v in pair) and label != "at least":
            rows.append([label] + [f"{int(v):,}" for v in pair])
    heads = ["counter"] + ([("baseline" if s.base == "baseline" else s.base) + ">"] if len(rows[0]) > 2 else [])
    device = link(page, "docs/cpu-device.md", "the checked CPU device").replace(".md)", ".md#the-checked-programs)")
    return f"Counted by {device} in one run at {size}:\n\n" + table(heads + [name + ">"], rows)


# ---- kinds of marker: what the results say ----

def results(part):
    """All rows of docs/results/*-PART.csv, each with its file and the facts of that."""
    rows = []
    for path in sorted(glob.glob(f"{ROOT}/docs/results/*-{part}.csv")):
        if path.endswith(f"-profile-{part}.csv"):
            continue
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines()
        facts = dict(l[1:].strip().split(": ", 1) for l in lines if l.startswith("#") and ": " in l)
        for row in csv.DictReader(l for l in lines if not l.startswith("#")):
            rows.append(dict(row, file=os.path.relpath(path, ROOT), facts=facts))
    return rows


def shapes_of(*sets):
    """Names of the shapes in shapes.txt that are in one of the sets, in order."""
    names = []
    for line in read("common/run/shapes.txt").splitlines():
        words = line.split()
        if words and not line.startswith("#") and set(words[4].split(",")) & set(sets):
            names.append(words[0])
    return names


def figure(text, digits=1):
    return f"{float(text):.{digits}f}" if text else ""


def rows_of(name, *sets):
    """The step's rows, one a device, shape and state of L2: the latest by file name."""
    order, chosen = shapes_of(*sets), {}
    for row in results("ladder"):
        if row["step"] == name and row["shape"] in order and row["rate"]:
            chosen[(row["device"], row["shape"], row["l2"])] = row
    return sorted(chosen.values(), key=lambda r: (r["device"], r["l2"], order.index(r["shape"])))


def caption(page, rows):
    parts = []
    for path in sorted({row["file"] for row in rows}):
        facts = next(row["facts"] for row in rows if row["file"] == path)
        words = [next(row["device"] for row in rows if row["file"] == path)]
        words += [f"{k} {facts[k]}" if k != "date" else facts[k] for k in ("date", "driver", "runtime") if k in facts]
        parts.append(f"{', '.join(words)}: {link(page, path, os.path.basename(path))}")
    return "\n" + "; ".join(parts) + ".\n" if parts else ""


NOT_YET = "Not measured yet.\n"


def mark_measured(page, name):
    """The step beside its base and the library; without a name, the whole ladder."""
    if not name:
        return measured_ladder(page)
    s = step(name)
    rows, cells = rows_of(name, "ladder", "async"), []
    for row in rows:
        speedup = figure(row["speedup"], 2)
        base = figure(float(row["rate"]) / float(row["speedup"])) if row["speedup"] else ""
        cells.append([row["shape"], base, figure(row["rate"]), speedup, figure(row["library"]), figure(row["ceiling"])])
    if not rows:
        return NOT_YET
    unit = rows[0]["unit"]
    heads = ["shape", f"base, {unit}>", f"{name}, {unit}>", "speed-up>", "% of library>", "% of ceiling>"]
    if s.base == "-":
        heads, cells = heads[:1] + heads[2:3] + heads[4:], [c[:1] + c[2:3] + c[4:] for c in cells]
    return table(heads, cells) + caption(page, rows)


def measured_ladder(page):
    out, seen = "", []
    for shapes, tracks in ((("book", "square-4096", "square-8192"), ("gemm",)),
                           (("n-2^24", "n-2^28", "n-2^30"), ("reduce", "scan"))):
        cells, libraries = [], {}
        names = [n for s in STEPS for n in ([f"{s.name}/baseline"] if s.base == "baseline" else []) + [s.name]]
        for name in names:
            s = step(name.split("/")[0])
            rows = {r["shape"]: r for r in rows_of(name, "ladder") if r["shape"] in shapes and s.track in tracks}
            if not rows:
                continue
            seen += rows.values()
            line = [link(page, s.page, name)]
            for shape in shapes:
                r = rows.get(shape)
                speedup = f" ({figure(r['speedup'], 2)}x)" if r and r["speedup"] else ""
                line.append(f"{figure(r['rate'])}{speedup}" if r else "")
            last = rows.get(shapes[-1])
            cells.append(line + [figure(last["library"]) if last else ""])
        for row in results("ladder"):
            if row["status"] == "library" and row["shape"] in shapes:
                libraries.setdefault(row["step"], {})[row["shape"]] = figure(row["rate"])
        cells += [[name] + [rates.get(shape, "") for shape in shapes] + [""] for name, rates in libraries.items()]
        if seen:
            unit = seen[-1]["unit"]
            out += table([f"{unit} (over its base)"] + [f"{x}>" for x in shapes] + [f"% of library, {shapes[-1]}>"], cells) + "\n"
    return out.rstrip("\n") + "\n" + caption(page, seen) if out else NOT_YET


def predictions():
    if not exists("docs/predictions.csv"):
        return {}
    lines = [l for l in read("docs/predictions.csv").splitlines() if not l.startswith("#")]
    return {row["name"]: row for row in csv.DictReader(lines)}


def mark_prediction(page, name):
    row = predictions().get(name)
    if not row or not row.get("predicted"):
        return "No prediction is committed yet.\n"
    return (f"> **{row['predicted']}** times its base. {row['arithmetic']}\n\n"
            f"From {link(page, 'docs/predictions.csv', 'predictions.csv')}, whose first lines hold the figures that it starts from.\n")


def judged(name):
    """The measured speed-up of a step or variant at the shape that its prediction is for."""
    for row in results("ladder") + results("variants"):
        if row["step"] == name and row["shape"] in ("book", "n-2^28", "2^28") and row.get("speedup"):
            return row
    return None


def mark_match(page, name):
    row, got = predictions().get(name), judged(name)
    if not row or not row.get("predicted") or not got:
        return NOT_YET
    why = f"\n{row['why']}\n" if row.get("why") else ""
    return table(["shape", "predicted>", "measured>"], [[got["shape"], row["predicted"], figure(got["speedup"], 2)]]) + why


def mark_experiments(page, name):
    """The variants of a step: what each asks, predicted and measured."""
    rows = []
    for path, fields in diffs_of("tests/diffs/variants", name):
        variant = os.path.basename(path)[:-5]
        row, got = predictions().get(variant, {}), judged(variant)
        rows.append([link(page, path, variant), fields["What"], row.get("predicted", ""),
                     figure(got["speedup"], 2) if got else "not yet", row.get("why") or ""])
    if not rows:
        return "There are no experiments on this step.\n"
    return table(["experiment", "what is changed", "predicted>", "measured>", "why"], rows)


COUNTERS = [
    ("time, microseconds", "us"), ("GB read from DRAM", "dram_read_bytes"), ("GB from L2 to the SMs", "l2_to_sm_bytes"),
    ("Tensor Core pipe, % of peak", "tensor_pipe_pct"), ("FMA pipe, % of peak", "fma_pipe_pct"),
    ("L1 and shared memory, % of peak", "lsu_data_pct"), ("issue slots used, %", "issue_pct"),
    ("resident warps, % of the most", "occupancy_pct"), ("registers a thread", "registers"),
    ("blocks an SM", "blocks_per_sm"), ("bank conflicts", "conflicts"),
]


def mark_profile(page, name):
    """The hardware counters of a step beside its base's."""
    s = step(name)
    rows = [r for r in results("profile") if r["shape"] in ("book", "n-2^28", "2^28")]

    def launch(of, kernel):
        return next((r for r in rows if r["step"] == of and r["kernel"] == kernel), None)

    own = launch(name, "kernel.cu")
    base = launch(name, "baseline.cu") if s.base == "baseline" else launch(s.base, "kernel.cu")
    if not own:
        return "Counters of the hardware: not measured yet.\n"
    columns = ([base] if base else []) + [own]
    cells = []
    for label, column in COUNTERS:
        values = [c.get(column, "") for c in columns]
        if label.startswith("GB"):
            values = [f"{float(v) / 1e9:.2f}" if v else "" for v in values]
        if any(v and float(v) >= 0.1 for v in values):
            cells.append([label] + [f"{float(v):,.0f}" if v and float(v) >= 1000 else v for v in values])
    for i in (1, 2, 3):
        cells.append([f"stall reason {i}, warps"] +
                     [f"{c.get(f'stall_{i}', '')} {c.get(f'stall_{i}_warps', '')}".replace("_", " ") for c in columns])
    heads = [f"at {own['shape']}"] + ([("baseline" if s.base == "baseline" else s.base) + ">"] if base else []) + [name + ">"]
    return table(heads, cells) + f"\nBy `ncu`: {link(page, own['file'], os.path.basename(own['file']))}.\n"


def mark_model(page, arguments):
    """The CPU device's counters beside the hardware's: one figure where they are equal, else model / hardware."""
    counters, rows = arguments.split("; "), [r for r in results("model") if r["shape"] != "book"]
    if not rows:
        return NOT_YET
    lines = []
    for name in dict.fromkeys(r["step"] for r in rows):
        own = {r["counter"]: r for r in rows if r["step"] == name}
        cells, why = [], []
        for r in (own.get(c) for c in counters):
            pair = [f"{int(r[side]):,}" for side in ("model", "hardware")] if r else [""]
            cells.append(" / ".join(dict.fromkeys(pair)))
            why += [r["verdict"]] if len(set(pair)) > 1 else []
        if any(cells):
            lines.append([name] + cells + [", ".join(dict.fromkeys(why))])
    return table(["step"] + [c + ">" for c in counters] + ["why"], lines) + f"\n{link(page, rows[0]['file'], os.path.basename(rows[0]['file']))}\n"


def mark_csv(page, path):
    """A small result file, as it is."""
    if not exists(path):
        return NOT_YET
    lines = [l for l in read(path).splitlines() if not l.startswith("#")]
    head, *rows = csv.reader(lines)
    numbers = [all(re.fullmatch(r"[-0-9.]*", row[i]) for row in rows) for i in range(len(head))]
    return table([h + ">" * n for h, n in zip(head, numbers)], rows) + f"\n{link(page, path, os.path.basename(path))}\n"


def mark_errors(page, shape):
    """The largest error of each GEMM step beside the others', at one shape."""
    rows = [(n, r) for n in (s.name for s in STEPS if s.track == "gemm") for r in rows_of(n, "ladder", "async")
            if r["shape"] == shape and r["error"]]
    cells = [[link(page, step(n).page, n), r["type"], f"{float(r['error']):.1e}"] for n, r in rows]
    return table(["step", "type", f"largest error at {shape}>"], cells) + caption(page, [r for _, r in rows]) if rows else NOT_YET


def mark_plot(page, arguments):
    name, _, words = arguments.partition(" ")
    if not exists(f"docs/plots/{name}.svg"):
        return f"{words}: not measured yet.\n"
    target = os.path.relpath(f"docs/plots/{name}.svg", os.path.dirname(page) or ".")
    return f"![{words}]({target})\n"


def mark_tabs(page, name):
    """Entries in the site's navigation: the steps, or one page if it is there."""
    if name:
        found = [(name, name.capitalize())] if exists(f"docs/{name}.md") else []
    else:
        found = [("step_" + s.name, s.name) for s in STEPS]
    return "".join(f'      <tab type="user" url="@ref {label}" title="{title}"/>\n' for label, title in found)


# ---- links to NVIDIA's documentation ----

def nvidia_names():
    with open(f"{ROOT}/docs/nvidia.csv", encoding="utf-8", newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def nvidia_links(text):
    """Links each name where it first occurs in the prose, and nowhere else."""
    known = nvidia_names()
    urls = {row["url"] for row in known.values()}
    text = re.sub(r'\[(`[^`\n]+`)\]\((\S+) "[^"\n]*"\)', lambda m: m[1] if m[2] in urls else m[0], text)
    seen = set()

    def first(match):
        row = known.get(match[1])
        if not row or match[1] in seen:
            return match[0]
        seen.add(match[1])
        return f'[`{match[1]}`]({row["url"]} "{row["title"]}")'

    parts = FENCE.split(text)
    for i in range(0, len(parts), 2):  # prose; the odd parts are code
        lines = parts[i].split("\n")
        parts[i] = "\n".join(l if l.startswith("#") else re.sub(r"(?<!\[)`([^`\n]+)`", first, l) for l in lines)
    return "".join(parts)


# ---- pages ----

def pages():
    found = ["README.md", "docs/DoxygenLayout.xml"]
    found += [os.path.relpath(p, ROOT) for p in sorted(glob.glob(f"{ROOT}/docs/*.md") + glob.glob(f"{ROOT}/docs/steps/*.md"))]
    return [p for p in found if exists(p)]


def fill(page, text, stale):
    """The page as it should be; appends to `stale` the markers that were not so."""
    def one(match):
        begin, kind, arguments, old, end = match.groups()
        maker = globals().get("mark_" + kind)
        if not maker:
            raise Stale(f"no marker '{kind}'")
        new = maker(page, arguments.strip())
        # Links of names inside generated text are set below: compare without them.
        if re.sub(r'\[(`[^`\n]+`)\]\(\S+ "[^"\n]*"\)', r"\1", old) != new:
            stale.append((kind + arguments).strip())
        return begin + new + end
    filled = MARKER.sub(one, text)
    if page.endswith(".md") and page not in NO_LINKS:
        linked = nvidia_links(filled)
        if not stale and linked != text:
            stale.append("links to NVIDIA's documentation")
        filled = linked
    return filled


def update(check):
    bad = 0
    for page in pages():
        text, stale = read(page), []
        try:
            filled = fill(page, text, stale)
        except Stale as error:
            print(f"{page}: {error}", file=sys.stderr)
            bad += 1
            continue
        if filled == text:
            continue
        if check:
            for marker in stale:
                print(f"{page}: stale: {marker}", file=sys.stderr)
            bad += 1
        else:
            with open(os.path.join(ROOT, page), "w", encoding="utf-8") as file:
                file.write(filled)
            print(f"{page}: {', '.join(stale)}")
    if bad and check:
        print("docs/fresh.py writes them anew", file=sys.stderr)
    return 1 if bad else 0


# ---- a diff in the terminal ----

def show_diff(name, colour):
    try:
        s = step(name)
    except Stale as error:
        print(f"{error}; there are: {' '.join(s.name for s in STEPS)}", file=sys.stderr)
        return 2
    text = s.diff() if s.base_kernel else read(s.kernel)
    try:
        from pygments import highlight, lexers, formatters
        lexer = lexers.DiffLexer() if s.base_kernel else lexers.CppLexer()
        text = highlight(text, lexer, formatters.TerminalFormatter()) if colour else text
    except ImportError:
        if colour and s.base_kernel:
            codes = {"+": "32", "-": "31", "@": "36"}
            text = "".join(f"\033[{codes[l[0]]}m{l}\033[0m\n" if l[:1] in codes else l + "\n" for l in text.splitlines())
    print(text, end="")
    if s.base_kernel:
        print("\n%s against %s: %d lines added, %d removed" % (s.name, s.base, *s.changed()))
    program = f"{ROOT}/build/cpu-checked/{name}"
    if os.path.exists(program):
        print(flush=True)
        return subprocess.run([program, "--counters"] + ["--base"] * bool(s.base_kernel)).returncode
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something is stale")
    parser.add_argument("--diff", metavar="STEP", help="show a step's diff")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    arguments = parser.parse_args()
    if arguments.diff:
        colour = arguments.color == "always" or (arguments.color == "auto" and sys.stdout.isatty())
        return show_diff(arguments.diff, colour)
    return update(arguments.check)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
