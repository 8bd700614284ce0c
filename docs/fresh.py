#!/usr/bin/env python3
"""Writes what the pages show of the code and of the results, so that it cannot go stale.

  docs/fresh.py                     fill in every marker of every page, and what became of docs/predictions.csv
  docs/fresh.py --check             exit with status 1 if a marker is stale, and say which
  docs/fresh.py --diff 06           a step's diff in the terminal, and its counters beside its base's
  docs/fresh.py --diff 04 --rung 2  the same of a rung of it

A marker is an HTML comment pair in a .md file; what stands between is generated:

  <!-- diff 06_wmma_db -->
  <!-- /diff -->

The kinds of marker are the functions mark_* below, and step_*, whose argument is a step. Every name in docs/nvidia.csv
that a page writes in backticks is linked to NVIDIA's documentation where it first occurs, and so is every term of
docs/glossary.md to its entry. What a program says is shown as it stands where that program is not built.
"""
import argparse
import csv
import html
import os
import re
import subprocess
import sys

import diff
import terms
import watch
from course import (ROOT, Stale, build_folder, course, csv_text, diffs_of, exists, golden, pages, predictions, read, read_csv,
                    results, rungs_of, shapes_of, step, steps, timed, track, write)

MARKER = re.compile(r"(<!-- (\w+)((?: [^\n>]*?)?) -->\n)(.*?)([ ]*<!-- /\2 -->)", re.S)
FENCE = re.compile(r"(^```.*?^```$)", re.S | re.M)
NO_LINKS = ("README.md", "docs/verdicts.md")  # pages whose NVIDIA names and terms are left alone


# ---- Markdown ----

def link(page, path, text=None):
    """A link from a page to a file, by its name unless a text is given."""
    return f"[{text or os.path.basename(path)}]({os.path.relpath(path, os.path.dirname(page) or '.')})"


def table(heads, rows):
    """A column whose head ends with > is aligned right."""
    lines = [[head.rstrip(">") for head in heads], ["--:" if head.endswith(">") else "---" for head in heads], *rows]
    return "".join("| " + " | ".join(str(c).replace("|", "\\|") for c in line) + " |\n" for line in lines)


def columns(shown, rows):
    """A table by its columns: the head of each, and what it shows of a row."""
    return table(list(shown), [[show(row) for show in shown.values()] for row in rows])


def fold(summary, text):
    """Text that a reader opens; GitHub and Doxygen know these tags, each in a line with blank lines around it."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n</details>\n"


def sides(s):
    """Heads for a step and its base."""
    return [s.base + ">"] * bool(s.base_kernel) + [s.name + ">"]


# ---- kinds of marker: what the code says ----

def step_facts(page, s):
    base = "none" if not s.base_kernel else f"its own {link(page, s.base_kernel)}"
    if s.base_step:
        base = link(page, s.base_step.page, s.base)
    rows = [["builds on", base], ["kernel", f"{link(page, s.kernel)}, {len(read(s.kernel).splitlines())} lines"]]
    if s.base_kernel:
        rows.append(["diff", "%d lines added, %d removed" % s.changed()])
    names = {"f32": "FP32", "tf32": "TF32", "bf16": "BF16", "f16": "FP16", "u32": "32-bit integers"}
    operands, sums, out = (names[t] for t in s.types)
    arithmetic = operands if operands == sums == out else f"{operands} products, {sums} sums" + f", {out} out" * (out != sums)
    needs = f"{s.gpus} GPUs of " * (s.gpus > 1) + f"sm_{s.arch}" + " or newer" * s.arch.isdigit()
    return table([s.name, ""], rows + [["arithmetic", arithmetic], ["needs", f"{needs}, or no GPU at all: the CPU device"]])


def step_diff(page, s):
    return f"```diff\n{s.diff()}```\n" if s.base_kernel else f"```cpp\n{read(s.kernel)}```\n"


def step_watch(page, s):
    """The picture of the trace, whose place the site's player takes (docs/watch.py)."""
    if not exists(watch.picture_of(s)):
        return "Not drawn yet.\n"
    return (f"!{link(page, watch.picture_of(s), s.name + ' above its base' * bool(s.base_kernel))}\n\n"
            f"From `build/cpu-checked/{s.name} --trace out.json --base` ({link(page, 'docs/trace.md', 'what a trace is')}). "
            "The site plays it.\n")


def step_links(page, s):
    at = steps().index(s)
    near = [("Previous", steps()[:at][-1:]), ("Base", [s.base_step] if s.base_step else []), ("Next", steps()[at + 1:at + 2])]
    links = [f"{words}: {link(page, other.page, other.name)}" for words, found in near for other in found]
    return " · ".join(links + [link(page, "docs/index.md", "All steps")]) + "\n"


def mark_output(page, command):
    """What a command says. None: its program is not built."""
    if not os.path.exists(os.path.join(build_folder(), command.split()[0].removeprefix("build/"))):
        return None
    here = command.replace("build/", build_folder() + "/", 1)
    said = subprocess.run(["sh", "-c", here], cwd=ROOT, capture_output=True, text=True)
    if said.returncode or said.stderr or not said.stdout:
        raise Stale(f"{command}: {said.stderr.strip() or 'no output'}")
    return f"```console\n$ {command}\n" + "\n".join(line.rstrip() for line in said.stdout.rstrip().splitlines()) + "\n```\n"


def step_edits(page, s):
    """The lines of a step's diff, without what stands around them and without comments, and what they gain."""
    changed = "".join(line + "\n" if line[0] in "+-" else "\n" for line in s.diff().splitlines()[2:]
                      if not line[1:].lstrip().startswith("//"))
    row = judged(s.name)
    shape = next(shape for shape in course()["shapes"] if shape["name"] == row["shape"])
    before = figure(float(row["rate"]) / float(row["speedup"]))
    gain = (f"Their gain: {figure(row['rate'])} {row['unit']} instead of {before}, {figure(row['speedup'], 2)} times the rate, "
            f"at {shape['m']} x {shape['n']} x {shape['k']} on an {row['device']} ({link(page, row['file'])}); {predictions()[s.name]['predicted']} was predicted.\n")
    return "```diff\n" + re.sub(r"\n\n+", "\n\n", changed).strip("\n") + "\n```\n\n" + gain


def mark_steps(page, _):
    return columns({"step": lambda s: link(page, s.page, s.name) if exists(s.page) else s.name,
                    "builds on": lambda s: {"-": "", "baseline": "its own baseline"}.get(s.base, s.base[:2]),
                    "what changes": lambda s: s.headline()}, steps())


def tree(s):
    """Lines that show a step and the steps that build on it."""
    below = [tree(child) for child in steps() if child.base == s.name]
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
    lines = [line for s in steps() if not s.base_step
             for line in (["baseline.cu ─ " + s.name] if s.base_kernel else tree(s))]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def diff_table(page, found, head, what, none, more=None):
    """Diffs, each with what it does and what `more` says of it."""
    shown = {head: lambda d: link(page, d["path"], d["name"]), what: lambda d: d["what"], **(more or {})}
    return columns(shown, found) if found else none + "\n"


def step_traps(page, s):
    def shows(trap):
        words = [trap["shows"] or "wrong values"] * bool(trap["caught"])
        words += ["a race report" if words else "a race report only: the values come out right"] * bool(trap["race"])
        return ", ".join(words)
    return diff_table(page, diffs_of("traps", s.name), "planted bug", "what is wrong", "No bug is planted in this step.",
                      {"what shows it": shows})


def step_solutions(page, s):
    return diff_table(page, diffs_of("solutions", s.name), "solution", "what it does", "No solution is a diff here.")


def mark_experiments(page, arguments):
    """The variants of a step: what each asks, predicted and measured. Those that are named come before a fold."""
    name, *first = arguments.split()
    found = {variant["name"]: variant for variant in diffs_of("variants", step(name).name)}
    if unknown := set(first) - set(found):
        raise Stale(f"no experiment {', '.join(sorted(unknown))} on {name}")

    def of(column, otherwise=""):
        return lambda variant: predictions().get(variant["name"], {}).get(column) or otherwise

    def shown(names):
        return diff_table(page, [found[n] for n in names], "experiment", "what is changed",
                          "There are no experiments on this step.",
                          {"predicted>": of("predicted"), "measured>": of("measured", "not yet"), "why": of("why")})
    if not first:
        return shown(found)
    return shown(first) + "\n" + fold("The other experiments", shown([n for n in found if n not in first]))


def mark_trapcount(page, _):
    return columns({"step": lambda s: link(page, s.page, s.name),
                    "planted bugs>": lambda s: len(diffs_of("traps", s.name))}, steps())


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


def step_budget(page, s):
    """What the constants of the step and of its base add up to, by common/track/TRACK/budget.csv."""
    rows = {}
    for path in filter(None, (s.base_kernel, s.kernel)):
        of = s.base_step if path != s.kernel and s.base_step else s
        sizes = [2 if "16" in t else 4 for t in of.types]
        values = constants(path) | dict(zip(("IN_BYTES", "ACC_BYTES", "OUT_BYTES"), sizes))
        for label, expression in (row.values() for row in read_csv(f"common/track/{s.track}/budget.csv")[1]):
            try:
                value = eval(expression, {"min": min}, dict(values))
            except NameError:
                value = ""
            if label.startswith("default "):
                values.setdefault(label.removeprefix("default "), value)
            else:
                rows.setdefault(label, []).append(str(value))
    return table(["budget"] + sides(s), [[label] + cells for label, cells in rows.items() if any(cells)])


def step_counters(page, s):
    """What the checked CPU device counts in a run of the step, beside its base: the sums of tests/steps/golden."""
    try:
        own = golden(s.name)
    except FileNotFoundError:
        return "Not counted yet.\n"
    base = own[1:] if s.base == "baseline" else golden(s.base)[:1] if s.base_kernel else []
    return f"Counted by {checked_device(page)} in one run at {own[0]['shape']}:\n\n" + counters(sides(s), base + own[:1], any)


def checked_device(page):
    return link(page, "docs/cpu-device.md", "the checked CPU device").replace(".md)", ".md#the-checked-programs)")


def counters(heads, records, shown):
    """The sums of records side by side, those of which `shown` says so."""
    rows = [(row["label"].strip(), [record["sums"][row["sum"]] for record in records])
            for row in read_csv("docs/results/counters.csv")[1]]
    return table(["counter"] + heads, [[words] + [f"{n:,}" for n in sums] for words, sums in rows if shown(sums)])


def mark_rungs(page, chain):
    """The rungs that lead to a step, or to STEP_baseline: each with its idea, its diff, what it counts and how fast it is."""
    if chain not in [name for s in steps() for name in [s.name] + [s.name + "_baseline"] * (s.base == "baseline")]:
        raise Stale(f"no step or baseline '{chain}'")
    rungs = rungs_of(chain)
    if not rungs:
        return "No rungs yet.\n"
    out = f"What changes of the counters is from {checked_device(page)}, one run each, as further down on this page.\n\n"
    for rung in rungs:
        where = f"Rung {rung['number']} of {len(rungs)}, {link(page, rung['path'])}"
        out += f"### {rung['number']}. {rung['what'][0].upper()}{rung['what'][1:]}\n\n{where}. {rung['idea']}\n\n"
        out += f"```diff\n{rung['diff']}```\n\n{rung_counters(rung)}\n{rung_measured(rung)}\n\n"
    return out.rstrip("\n") + "\n"


def rung_counters(rung):
    names = [name for name in (rung["base"], rung["name"]) if name]
    try:
        records = [golden(name)[0] for name in names]
    except FileNotFoundError:
        return "Not counted yet.\n"
    if len(names) == 2 and records[0]["sums"] == records[1]["sums"]:
        return "No counter changes.\n"
    return counters([name + ">" for name in names], records, lambda sums: len(set(sums)) > 1 or len(sums) == 1 and sums[0])


def rung_measured(rung):
    """How fast a rung is, and what limits it: the most frequent stall and the pipe that is nearest to its peak."""
    timing = next((r for r in results("variants") if r["step"] == rung["name"] and r["shape"] in timed() and r["rate"]), None)
    launch = next((r for r in results("profile-variants") if r["step"] == rung["name"]), None)
    words = "Not measured yet."
    if timing:
        against = f", {figure(timing['speedup'], 2)} times {rung['base']}" * bool(timing["speedup"])
        words = f"Measured at {timing['shape']}: **{figure(timing['rate'])} {timing['unit']}**{against}."
    if timing and launch:
        pipes = [(float(launch[row["column"]] or 0), row["label"].partition(", % of peak")[0])
                 for row in read_csv("docs/results/metrics.csv")[1] if row["label"].endswith(", % of peak")]
        most, pipe = max(pipes)
        stall = launch["stall_1"].replace("_", " ")
        words += f" First stall reason: {stall} ({launch['stall_1_warps']} warps); the fullest pipe is {pipe}, {most:.0f}% of its peak."
    return words


# ---- kinds of marker: what the results say ----

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
        words += [facts["date"], f"driver {facts['driver']}", f"CUDA {facts['CUDA runtime']}"]
        parts.append(f"{', '.join(words)}: {link(page, path)}")
    return "\n" + "; ".join(parts) + ".\n" if parts else ""


NOT_YET = "Not measured yet.\n"


def mark_measured(page, name):
    """The step beside its base and the library; without a name, the whole ladder."""
    if not name:
        return measured_ladder(page)
    rows = rows_of(name, "ladder", "async")
    if not rows:
        return NOT_YET
    base, own = (f"{words}, {rows[0]['unit']}>" for words in ("base", name))
    shown = {"shape": lambda r: r["shape"],
             base: lambda r: figure(float(r["rate"]) / float(r["speedup"])) if r["speedup"] else "",
             own: lambda r: figure(r["rate"]),
             "speed-up>": lambda r: figure(r["speedup"], 2),
             "% of library>": lambda r: figure(r["library"]),
             "% of ceiling>": lambda r: figure(r["ceiling"])}
    if not step(name).base_kernel:
        del shown[base], shown["speed-up>"]
    return columns(shown, rows) + caption(page, rows)


def measured_ladder(page):
    """A table for each set of sizes that tracks have."""
    out, seen = "", []
    for shapes in dict.fromkeys(tuple(track(s.track)["ladder"]) for s in steps()):
        def line(rows, head, last):
            found = [rows.get(shape, {"rate": "", "speedup": ""}) for shape in shapes]
            return [head] + [figure(r["rate"]) + f" ({figure(r['speedup'], 2)}x)" * bool(r["speedup"]) for r in found] + [last]

        lines, libraries = [], {}
        for s in (s for s in steps() if tuple(track(s.track)["ladder"]) == shapes):
            for name in [f"{s.name}/baseline"] * (s.base == "baseline") + [s.name]:
                rows = {r["shape"]: r for r in rows_of(name, "ladder") if r["shape"] in shapes}
                if rows:
                    lines.append(line(rows, link(page, s.page, name), figure(rows.get(shapes[-1], {}).get("library"))))
                    seen += rows.values()
        for row in results("ladder"):
            if row["status"] == "library" and row["shape"] in shapes:
                libraries.setdefault(row["step"], {})[row["shape"]] = row
        if lines:
            lines += [line(rows, name, "") for name, rows in libraries.items()]
            heads = [f"{shape}>" for shape in shapes] + [f"% of library, {shapes[-1]}>"]
            out += table([f"{seen[-1]['unit']} (over its base)"] + heads, lines) + "\n"
    return out.rstrip("\n") + "\n" + caption(page, seen) if out else NOT_YET


def step_prediction(page, s):
    row = predictions().get(s.name)
    if not row or not row["predicted"]:
        return "No prediction is committed yet.\n"
    return (f"> **{row['predicted']}** times its base. {row['arithmetic']}\n\n"
            f"From {link(page, 'docs/predictions.csv')}, whose first lines hold the figures that it starts from.\n")


def judged(name):
    """The row of a step or variant at the shape that its prediction is for, if that is measured."""
    return next((row for row in results("ladder") + results("variants")
                 if row["step"] == name and row["shape"] in timed() and row["speedup"]), None)


def step_match(page, s):
    row, got = predictions().get(s.name), judged(s.name)
    if not row or not row["predicted"] or not got:
        return NOT_YET
    cells = [got["shape"], row["predicted"], figure(got["speedup"], 2)]
    return table(["shape", "predicted>", "measured>"], [cells]) + f"\n{row['why']}\n" * bool(row["why"])


def profiles():
    """What ncu counted: a row for each step or baseline, by its name, at the size of its track for that."""
    return {row["step"] + "/baseline" * (row["kernel"] == "baseline.cu"): row for row in results("profile")
            if row["shape"] == track(step(row["step"]).track)["profiled"][0]}


def counted(launch, column, label):
    """A counter as the pages show it."""
    value = launch.get(column, "")
    if value and label.startswith("GB"):
        return f"{float(value) / 1e9:.2f}"
    return f"{float(value):,.0f}" if value and float(value) >= 1000 else value


def stall(launch, i):
    return f"{launch.get(f'stall_{i}', '')} {launch.get(f'stall_{i}_warps', '')}".replace("_", " ")


def step_profile(page, s):
    """The hardware counters of a step beside its base's."""
    own = profiles().get(s.name)
    if not own:
        return "Counters of the hardware: not measured yet.\n"
    base = s.name + "/baseline" if s.base == "baseline" else s.base
    launches = [profiles().get(base, {})] * bool(s.base_kernel) + [own]
    cells = []
    for column, label in ((row["column"], row["label"]) for row in read_csv("docs/results/metrics.csv")[1] if row["label"]):
        if any(launch.get(column) and float(launch[column]) >= 0.1 for launch in launches):
            cells.append([label] + [counted(launch, column, label) for launch in launches])
    for i in (1, 2, 3):
        cells.append([f"stall reason {i}, warps"] + [stall(launch, i) for launch in launches])
    return table([f"at {own['shape']}"] + sides(s), cells) + f"\nBy `ncu`: {link(page, own['file'])}.\n"


# The numbers of docs/reading-a-profile.md, in its order: columns of GPU-profile.csv.
TEN = ("us", "dram_read_bytes", "l2_to_sm_bytes", "tensor_pipe_pct", "lsu_data_pct", "issue_pct", "occupancy_pct",
       "registers", "conflicts")


def mark_numbers(page, names):
    """The ten numbers that matter of some steps, each with its metric of ncu."""
    launches = [profiles().get(name) for name in names.split()]
    if not all(launches):
        return NOT_YET
    metrics = {row["column"]: row for row in read_csv("docs/results/metrics.csv")[1]}
    lines = [[i, metrics[c]["label"], *(counted(l, c, metrics[c]["label"]) for l in launches), f"`{metrics[c]['metric']}`"]
             for i, c in enumerate(TEN, 1)]
    for i in (1, 2, 3):
        lines.append(["" if i > 1 else len(TEN) + 1, f"stall reason {i}, warps", *(stall(launch, i) for launch in launches),
                      "" if i > 1 else "`smsp__average_warps_issue_stalled_*_per_issue_active.ratio`"])
    heads = ["", f"at {launches[0]['shape']}", *(name + ">" for name in names.split()), "metric of `ncu`"]
    facts = launches[0]["facts"]
    file = link(page, launches[0]["file"])
    return table(heads, lines) + f"\n{facts['GPU']}, {facts['date']}, driver {facts['driver']}: {file}.\n"


def mark_model(page, arguments):
    """The CPU device's counters beside the hardware's: one figure where they are equal, else model / hardware."""
    counters, steps_of = arguments.split("; "), {}
    for row in results("model"):
        if row["shape"] != "book":
            steps_of.setdefault(row["step"], {})[row["counter"]] = row
    if not steps_of:
        return NOT_YET
    lines = []
    for name, rows in steps_of.items():
        found = {c: rows[c] for c in counters if c in rows}
        pairs = {c: dict.fromkeys(f"{int(r[side]):,}" for side in ("model", "hardware")) for c, r in found.items()}
        why = dict.fromkeys(r["verdict"] for c, r in found.items() if len(pairs[c]) > 1)
        if pairs:
            lines.append([name] + [" / ".join(pairs.get(c, "")) for c in counters] + [", ".join(why)])
    heads = ["step", *(c + ">" for c in counters), "why"]
    return table(heads, lines) + f"\n{link(page, results('model')[0]['file'])}\n"


def mark_csv(page, path):
    """A small result file, as it is."""
    if not exists(path):
        return NOT_YET
    head, *rows = csv.reader(l for l in read(path).splitlines() if not l.startswith("#"))
    numbers = [all(re.fullmatch(r"[-0-9.]*", row[i]) for row in rows) for i in range(len(head))]
    return table([h + ">" * n for h, n in zip(head, numbers)], rows) + f"\n{link(page, path)}\n"


def mark_errors(page, shape):
    """The largest error of each GEMM step beside the others', at one shape."""
    rows = [r for s in steps() if s.track == "gemm" for r in rows_of(s.name, "ladder", "async")]
    rows = [r for r in rows if r["shape"] == shape and r["error"]]
    shown = {"step": lambda r: link(page, step(r["step"]).page, r["step"]), "type": lambda r: r["type"],
             f"largest error at {shape}>": lambda r: f"{float(r['error']):.1e}"}
    return columns(shown, rows) + caption(page, rows) if rows else NOT_YET


def mark_plot(page, arguments):
    name, _, words = arguments.partition(" ")
    if not exists(f"docs/plots/{name}.svg"):
        return f"{words}: not measured yet.\n"
    target = os.path.relpath(f"docs/plots/{name}.svg", os.path.dirname(page) or ".")
    return f"![{words}]({target})\n"


def mark_picture(page, name):
    """A picture of docs/pictures, with what it says of itself."""
    path = f"docs/pictures/{name}.svg"
    if not exists(path):
        raise Stale(f"no {path}; draw it: cmake --build {os.path.relpath(build_folder())} --target pictures")
    words = html.unescape(re.search(r"<desc[^>]*>(.*?)</desc>", read(path), re.S)[1])
    return f"![{words}]({os.path.relpath(path, os.path.dirname(page) or '.')})\n"


def mark_tabs(page, name):
    """Entries in the site's navigation: the steps, or one page if it is there."""
    if name:
        found = [(name, name.capitalize())] if exists(f"docs/{name}.md") else []
    else:
        found = [("step_" + s.name, s.name) for s in steps()]
    return "".join(f'      <tab type="user" url="@ref {label}" title="{title}"/>\n' for label, title in found)


# ---- pages ----

def unlinked(text):
    """The text without its links to NVIDIA's documentation."""
    urls = {row["url"] for row in read_csv("docs/nvidia.csv")[1]}
    return re.sub(r'\[(`[^`\n]+`)\]\((\S+) "[^"\n]*"\)', lambda m: m[1] if m[2] in urls else m[0], text)


def linked(text):
    """Links each name of docs/nvidia.csv where it first occurs in the prose, and nowhere else."""
    known = {row["name"]: row for row in read_csv("docs/nvidia.csv")[1]}

    def first(match):
        row = known.pop(match[1], None)
        return f'[`{match[1]}`]({row["url"]} "{row["title"]}")' if row else match[0]

    parts = FENCE.split(text)
    for i in range(0, len(parts), 2):  # prose; the odd parts are code
        lines = parts[i].split("\n")
        parts[i] = "\n".join(l if l.startswith("#") else re.sub(r"(?<!\[)`([^`\n]+)`", first, l) for l in lines)
    return "".join(parts)


def fill(page, text):
    """The page as it should be, and what is stale if it is not."""
    if page.endswith(".csv"):
        comments, rows = read_csv(page)
        rows = [dict(row, measured=figure((judged(row["name"]) or {}).get("speedup"), 2)) for row in rows]
        return csv_text(comments, rows), ["measured"]
    stale = []

    def one(match):
        begin, kind, arguments, old, end = match.groups()
        if "step_" + kind in globals():
            new = globals()["step_" + kind](page, step(arguments.strip()))
        elif "mark_" + kind in globals():
            new = globals()["mark_" + kind](page, arguments.strip())
        else:
            raise Stale(f"no marker '{kind}'")
        if new is None:  # what it would say is not known here
            new = old
        if old != new:
            stale.append((kind + arguments).strip())
        return begin + new + end

    if not page.endswith(".md") or page in NO_LINKS:
        return MARKER.sub(one, text), stale
    filled = linked(MARKER.sub(one, unlinked(terms.unlinked(text))))
    return terms.linked(page, filled), stale or ["links to NVIDIA's documentation or to the glossary"]


def update(check):
    bad = False
    for page in pages() + ["docs/predictions.csv"]:
        text = read(page)
        try:
            filled, stale = fill(page, text)
        except Stale as error:
            print(f"{page}: {error}", file=sys.stderr)
            bad = True
            continue
        if filled != text and check:
            print("\n".join(f"{page}: stale: {marker}" for marker in stale), file=sys.stderr)
            bad = True
        elif filled != text:
            write(page, filled)
            print(f"{page}: {', '.join(stale)}")
    if bad and check:
        print("docs/fresh.py writes them anew", file=sys.stderr)
    return int(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something is stale")
    parser.add_argument("--diff", metavar="STEP", help="show a step's diff")
    parser.add_argument("--rung", metavar="K", type=int, help="of its rungs (or its baseline's) show the K-th")
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    arguments = parser.parse_args()
    if arguments.rung is not None and not arguments.diff:
        parser.error("--rung: not allowed alone; wanted --diff STEP with it")
    if arguments.diff:
        colour = arguments.color == "always" or (arguments.color == "auto" and sys.stdout.isatty())
        return diff.show(arguments.diff, arguments.rung, colour)
    return update(arguments.check)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
