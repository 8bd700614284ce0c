#!/usr/bin/env python3
"""What the pages' sections "Watch it" show: a step's trace (docs/trace.md) beside its base's.

  docs/watch.py            draws docs/pictures/watch_STEP.svg of each page that has the marker `watch STEP`
  docs/watch.py --check    exit with status 1 if a picture is stale, and say which

The traces are those of the build's checked programs. docs/for_doxygen.py has the player of the site from here.
"""
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from course import build_folder, exists, read, steps, write
from svg import MARGIN, WIDTH, Svg

# What a warp does: the words of the legend, and the colours of the box and of what is written in it.
KINDS = {
    "load global": ("load from global memory", "#4f8fd6", "#000"),
    "store shared": ("store to shared memory", "#a9cbf0", "#000"),
    "copy": ("issue copies", "#efb73e", "#000"),
    "in flight": ("copies in flight, and to which stage", "#f7dfa8", "#000"),
    "wait": ("wait for copies", "#d33f49", "#fff"),
    "barrier": ("block barrier", "#6b7480", "#fff"),
    "load shared": ("load from shared memory", "#b5e3b0", "#000"),
    "multiply": ("multiply(): shared loads (FP32 arithmetic has no event)", "#5fb760", "#000"),
    "mma": ("multiply(): Tensor Cores", "#176b3a", "#fff"),
    "store global": ("store to global memory", "#b79ae6", "#000"),
    "atomic": ("atomic operation", "#8a5a44", "#fff"),
}
NOTE = "An order of events, not time."


def picture_of(step):
    return f"docs/pictures/watch_{step.name}.svg"


def watched():
    """The steps whose pages have the marker."""
    return [s for s in steps() if exists(s.page) and f"<!-- watch {s.name} -->" in read(s.page)]


def program_of(step):
    return os.path.join(build_folder(), "cpu-checked", step.name)


# ---- the trace ----

def functions(path):
    """The function that each line of a kernel belongs to, by number."""
    of_line, head, name = {}, "", None
    for number, line in enumerate(read(path).splitlines(), 1):
        if name is None:
            head = head + line if head or re.match(r"\w", line) else ""
            if line.endswith("{"):
                name, head = next((n for n in re.findall(r"(\w+)\(", head) if not n.startswith("__")), ""), ""
            elif line.endswith(";"):
                head = ""
        if name is not None:
            of_line[number] = name
        if line.startswith("}"):
            name = None
    return of_line


class Span:
    """What a warp did for a while, at one line or, folded, at a few that repeat."""

    def __init__(self, event, of_line):
        args = event["args"]
        self.event, self.at, self.end = args["event"], event["ts"], event["ts"] + event["dur"]
        self.file, _, line = args["line"].rpartition(":")
        self.line, self.stage, self.bytes = int(line), args.get("stage"), args["bytes"]
        self.function = of_line.get(self.line, "")
        kind = {"commit": "copy"}.get(event["cat"], event["cat"])
        self.kind = event["name"] if kind in ("load", "store") else kind
        if self.kind == "load shared" and self.function == "multiply":
            self.kind = "multiply"
        self.kinds = [self.kind]


class Run:
    """Block 0 of one run: the spans of each warp, and the copies in flight as (begin, end, stage)."""

    def __init__(self, trace, run):
        events = [e for e in trace["traceEvents"] if e["pid"] == run["pid"]]
        spans = sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"])
        self.name, self.shape = run["step"], run["shape"]
        self.kernel = "steps/" + spans[0]["args"]["line"].rpartition(":")[0]
        of_line = functions(self.kernel)
        self.warps = [[Span(e, of_line) for e in spans if e["tid"] == tid] for tid in sorted({e["tid"] for e in spans})]
        copies = [e for e in events if e["ph"] in "be"]
        self.groups = sorted((b["ts"], e["ts"], b["args"]["stage"]) for b, e in zip(copies[::2], copies[1::2]))
        if not self.groups:
            self.find_tile(trace["accesses"])
        self.stages = 1 + max([s.stage for w in self.warps for s in w if s.stage is not None], default=-1)

    def find_tile(self, accesses):
        """Without copies, stage 0 is where every warp stores just what it has loaded from global memory."""
        touched = {}  # the lowest and the highest address in shared memory of each event
        for event, memory, _, lanes in accesses:
            if memory == "shared":
                some = [a for a in lanes if a is not None] + touched.get(event, [])
                touched[event] = [min(some), max(some)]
        stored = [[b for a, b in zip(w, w[1:])
                   if (a.kind, b.kind, a.bytes) == ("load global", "store shared", b.bytes)] for w in self.warps]
        if not all(stored):
            return
        lines = {s.line for spans in stored for s in spans}
        tile = [a for w in self.warps for s in w if s.line in lines for a in touched.get(s.event, [])]
        for warp in self.warps:
            last = None
            for span in warp:
                if span.event in touched:
                    last = 0 if min(tile) <= touched[span.event][0] <= max(tile) else None
                if span.event in touched or span.kind == "mma":
                    span.stage = last


def runs_of(step):
    """The step and its base, as they ran; none if there is no checked program."""
    if not os.path.exists(program_of(step)):
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        subprocess.run([program_of(step), "--trace", path, "--base"], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
    return [Run(trace, run) for run in trace["runs"]]


def data_of(run):
    """A run as the player takes it: its times are moments, each of them the begin of something."""
    times = sorted({t for w in run.warps for s in w for t in (s.at, s.end)} | {t for g in run.groups for t in g[:2]})
    moment, kinds = {t: i for i, t in enumerate(times)}, list(KINDS)
    rows = [[[moment[s.at], moment[s.end], kinds.index(s.kind), s.line, -1 if s.stage is None else s.stage] for s in w]
            for w in run.warps]
    different = [r for i, r in enumerate(rows) if r not in rows[:i]]
    return {"name": run.name, "moments": len(times) - 1, "stages": run.stages, "rows": different,
            "warps": [different.index(r) for r in rows],
            "groups": [[[moment[a], moment[b], stage] for a, b, stage in row] for row in lanes(run.groups)]}


# ---- the picture ----

LEFT, ROW, GAP = 86, 22, 4
STOPS = ("copy", "wait", "barrier")


def look_of(kind):
    return "k-" + kind.replace(" ", "-")


def style(kinds):
    return ("".join(f".{look_of(k)}{{fill:{KINDS[k][1]}}}text.on-{look_of(k)}{{fill:{KINDS[k][2]}}}" for k in kinds)
            + ".frame{fill:none;stroke:var(--ink);stroke-width:.5}")


def joined(first, last):
    """One span of the first's place for two or more that follow each other."""
    both = Span.__new__(Span)
    vars(both).update(vars(first))
    both.end = last.end
    return both


def folded(spans):
    """A warp's spans with one for lines that repeat, and one for neighbours of the same kinds."""
    out, i = [], 0
    keys = [(s.kind in STOPS, s.kind, s.line, s.stage) for s in spans]
    while i < len(spans):
        length = 1
        for period in (1, 2, 3, 4):
            n = period
            while n + i < len(spans) and not any(k[0] for k in keys[i:i + period]) and keys[i + n] == keys[i + n - period]:
                n += 1
            if n >= 2 * period and n - n % period > length:
                length = n - n % period
        one = joined(spans[i], spans[i + length - 1])
        one.kinds = list(dict.fromkeys(s.kind for s in spans[i:i + length]))
        before = out[-1] if out else None
        same = before and (before.kinds, before.stage) == (one.kinds, one.stage)
        if same and one.kind not in ("wait", "barrier") and (one.kind != "copy" or before.function == one.function):
            out[-1] = joined(before, one)
        elif before and before.kind == "copy" == one.kind and one.stage is None:  # the commit
            out[-1] = joined(before, one)
        else:
            out.append(one)
        i += length
    return out


def axis(rows, groups):
    """Where a moment lies between 0 and 1: no more than the order can be seen, so a long time is drawn short."""
    times = sorted({t for row in rows for s in row for t in (s.at, s.end)} | {t for g in groups for t in g[:2]})
    places = list(itertools.accumulate((1 + math.log2(1 + b - a) for a, b in zip(times, times[1:])), initial=0))
    return {t: place / places[-1] for t, place in zip(times, places)}


def box(svg, x, width, kinds, words):
    """A box with a strip for each kind, and a word in its middle if there is room."""
    tall = ROW / len(kinds)
    for i, kind in enumerate(kinds):
        svg.rect(x, svg.y + tall * i, width, tall, look_of(kind))
    svg.rect(x, svg.y, width, ROW, "frame")
    size = min(11.5, tall - 1)
    if words and width >= 8 * len(words):
        svg.text(x + width / 2, svg.y + tall / 2 + 0.36 * size, words, f"m on-{look_of(kinds[0])}", size)


def words_in(span):
    if span.kind in ("wait", "barrier"):
        return span.kind[0].upper()
    return "" if span.stage is None or span.kind in ("load global", "store global") else str(span.stage)


def lanes(groups):
    """Groups in as few rows as there are in flight at once."""
    rows = []
    for group in groups:
        row = next((r for r in rows if r[-1][1] <= group[0]), None)
        if row is None:
            rows.append(row := [])
        row.append(group)
    return rows


def warp_rows(run):
    """Warps that do the same share a row: its label, and the spans."""
    rows = []
    for warp, spans in enumerate(map(folded, run.warps)):
        key = [(s.at, s.end, s.kinds, s.line, s.stage) for s in spans]
        if rows and rows[-1][0] == key:
            rows[-1][2] = warp
        else:
            rows.append([key, warp, warp, spans])
    return [(f"warp {a}" if a == b else f"warps {a}–{b}", spans) for _, a, b, spans in rows]


def draw(svg, run, title):
    """One run of the picture. Returns the kinds in it."""
    rows = warp_rows(run)
    place, wide = axis([spans for _, spans in rows], run.groups), WIDTH - MARGIN - LEFT

    def one(begin, end, kinds, words):
        box(svg, LEFT + wide * place[begin], wide * (place[end] - place[begin]), kinds, words)

    svg.text(MARGIN, svg.y + 20, title, "b")
    svg.y += 28
    for i, row in enumerate(lanes(run.groups)):
        if i == 0:
            svg.text(MARGIN, svg.y + 15, "in flight")
        for begin, end, stage in row:
            one(begin, end, ["in flight"], str(stage))
        svg.y += ROW + GAP
    for label, spans in rows:
        svg.text(MARGIN, svg.y + 15, label)
        for s in spans:
            one(s.at, s.end, s.kinds, words_in(s))
        svg.y += ROW + GAP
    return {k for _, spans in rows for s in spans for k in s.kinds} | {"in flight" for _ in run.groups}


def picture(runs):
    svg = Svg(f"{runs[0].name}: what its warps do, in order", "What the warps of one block do, one event after another: "
              + ", and of its base ".join(run.name for run in runs) + ". An order of events, not time.")
    used = set().union(*[draw(svg, run, run.name + words) for run, words in zip(runs, ("", ", its base"))])
    used = [k for k in KINDS if k in used]
    svg.key(*[(look_of(k), KINDS[k][0] + (f" ({k[0].upper()})" if k in ("wait", "barrier") else "")) for k in used])
    svg.says(f"{NOTE} Block 0 at {runs[0].shape}. Numbers are stages of shared memory. Lines that repeat are one box, with "
             "a stripe for each kind; warps that do the same share a row.", gap=20)
    return svg.svg(style(used))


def stale(step, runs):
    return not exists(picture_of(step)) or read(picture_of(step)) != picture(runs)


def main():
    check, bad, left_out = sys.argv[1:] == ["--check"], 0, []
    if sys.argv[1:] and not check:
        sys.exit(f"{sys.argv[1]}: not allowed; --check, or nothing")
    for step in watched():
        runs, path = runs_of(step), picture_of(step)
        if not runs:
            left_out.append(step.name)
        elif stale(step, runs):
            print(f"{path}: stale; docs/watch.py draws it anew" if check else path, file=sys.stderr if check else sys.stdout)
            if check:
                bad = 1
            else:
                write(path, picture(runs))
    if left_out:
        sys.exit(f"no checked program of {', '.join(left_out)}: build them with GCC")
    return bad


if __name__ == "__main__":
    sys.exit(main())
