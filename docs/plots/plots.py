#!/usr/bin/env python3
"""Draws docs/plots/*.svg with gnuplot, and writes docs/results/<gpu>-{overlap,gains,phases}.csv, from the results.

  docs/plots/plots.py [--gpu h200] [--data DIRECTORY]

Each NAME.gp reads NAME.dat and the like, which are made here from docs/results/<gpu>-*.csv.
"""
import argparse
import csv
import glob
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
PLOTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(PLOTS))
from course import ROOT, diffs_of, facts_of, read_csv, steps, track

GEMM = [s.name for s in steps() if s.track == "gemm"]


class Results:
    def __init__(self, gpu):
        self.ladder, self.variants, self.profile, self.timeline = (
            read_csv(f"docs/results/{gpu}-{part}.csv")[1] for part in ("ladder", "variants", "profile", "timeline"))
        facts = facts_of(read_csv(f"docs/results/{gpu}-ladder.csv")[0])
        self.caption = "{}, driver {}, CUDA {}, {}".format(
            facts["device"].split(",")[0], facts["driver"], facts["CUDA runtime"], facts["date"].split()[0])

    def row(self, name, shape):
        for row in self.ladder + self.variants:
            if row["step"] == name and row["shape"] == shape and row["rate"]:
                return row
        raise SystemExit(f"no result of {name} at {shape}")

    def rates(self, name, shapes):
        return [float(self.row(name, shape)["rate"]) for shape in shapes]

    def us(self, name, shape="book"):
        return float(self.row(name, shape)["microseconds"])

    def speed(self, name, shape="book"):
        """Over the step that it is a variant of, timed in the same run."""
        return 1.0 if name in GEMM else float(self.row(name, shape)["speedup"])

    def gain(self, sync, asynchronous, shape="book"):
        """Of an asynchronous variant over the synchronous one: a product of ratios, each from one run."""
        step = next(s for s in GEMM if s[:2] == asynchronous[:2])
        return self.speed(asynchronous, shape) * float(self.row(step, shape)["speedup"]) / self.speed(sync, shape)

    def profiled(self, *shapes):
        return [p for p in self.profile if p["kernel"] == "kernel.cu" and p["shape"] in shapes]

    def iterations(self, step):
        """The clocks at which the phases of each iteration begin, and at which the next iteration begins."""
        clocks = [[int(t[f"clock_{i}"]) for i in range(4)] for t in self.timeline if t["step"] == step]
        return [t + after[:1] for t, after in zip(clocks, clocks[1:])]


# ---- plots: the name of each file of data, and its rows ----

def ladder(r):
    sizes = track("gemm")["ladder"]
    yield "ladder-gemm", [[name] + r.rates(name, sizes) for name in (*GEMM, "cuBLAS FP32", "cuBLAS TF32")]
    names = ("08_reduction_async/baseline", "08_reduction_async", "CUB Reduce",
             "09_scan_async/baseline", "09_scan_async", "CUB Scan", "copy")
    yield "ladder-vector", [[name[:2] + " baseline" if name.endswith("/baseline") else name]
                            + r.rates(name, track("scan")["ladder"]) for name in names]
    ceilings = r.row("cuBLAS FP32", "book"), r.row("cuBLAS TF32", "book"), r.row("copy", "n-2^28")
    yield "ceilings", [[100 * float(c["rate"]) / float(c["ceiling"]) for c in ceilings]]


def roofline(r):
    """Operations per byte, of DRAM and of what L2 sends to the SMs, and TFLOP/s."""
    points = []
    for p in r.profiled("book", "2^28"):
        shape, flop = ("book", 2 * 4096 * 2048 * 4096.0) if p["shape"] == "book" else ("n-2^28", 2.0**28)
        dram = float(p["dram_read_bytes"]) + float(p["dram_write_bytes"])
        points.append([p["step"], flop / dram, flop / float(p["l2_to_sm_bytes"]), flop / r.us(p["step"], shape) * 1e-6])
    yield "roofline", points
    # What L2 was seen to send: the loads of 06 without their multiply.
    sent = [float(p["l2_to_sm_bytes"]) for p in r.profiled("book") if p["step"] == "06_wmma_db"]
    yield "l2", [[sent[0] / r.us("06_load_only") * 1e-6]]


def predictions(r):
    rows = [[p["name"], float(p["predicted"]), float(p["measured"])] for p in read_csv("docs/predictions.csv")[1] if p["measured"]]
    names = [s.name for s in steps()]
    yield "predictions", [x for x in rows if x[0] not in names]
    yield "predictions-steps", [x for x in rows if x[0] in names]


def exposure(r):
    """How much of the synchronous kernel's time is not its multiply, and what asynchronous copy gains."""
    for sync, gain, name in (("05_wmma", "06_wmma_db", "tf32"), ("04_regblock", "07_fp32_db", "fp32")):
        rows = []
        for blocks in ("1", "2", "3", ""):
            a, b = (f"{step[:2]}_sm_{blocks}" if blocks else step for step in (sync, gain))
            multiply = f"{a}_multiply_only" if blocks else f"{sync[:2]}_multiply_only"
            rows.append([1 - r.speed(a) / r.speed(multiply), r.gain(a, b), blocks or "4"])
        yield f"exposure-{name}", rows
    rows = []
    for p in r.profiled("2^28"):
        rows.append([1 - float(p["issue_pct"]) / 100, float(r.row(p["step"], "n-2^28")["speedup"]), p["step"]])
    yield "exposure-streaming", rows


PHASES = {"05_wmma": ("load", "wait", "multiply", "wait"), "06_wmma_db": ("wait", "load", "multiply", "wait")}


def timeline(r):
    """Eight iterations in the middle of the run: where each phase begins and ends, in clocks."""
    for step, phases in PHASES.items():
        shown = r.iterations(step)[120:128]
        for kind in ("load", "wait", "multiply"):
            yield f"timeline-{step[:2]}-{kind}", [[t[i] - shown[0][0], t[i + 1] - shown[0][0]]
                                                  for t in shown for i, phase in enumerate(phases) if phase == kind]


# ---- results: rows, of which the first are the heads ----

def overlap(r):
    """Each kernel's time, that of its loads and its multiply alone, and how much of the shorter is hidden."""
    yield "kernel", "shape", "loads alone, us", "multiply alone, us", "both, us", "hidden, % of the shorter"
    variants = [d["name"] for d in diffs_of("variants")]
    for shape in ("book", "square-4096"):
        for step in (s for s in GEMM if s[:2] + "_load_only" in variants):
            both = r.us(step, shape)
            load, multiply = (both / r.speed(f"{step[:2]}_{part}_only", shape) for part in ("load", "multiply"))
            hidden = (load + multiply - both) / min(load, multiply)
            yield step, shape, f"{load:.0f}", f"{multiply:.0f}", f"{both:.0f}", f"{100 * hidden:.0f}"


def gains(r):
    """What asynchronous copy gains under each condition that was tried with and without it."""
    yield "from", "to", "condition", "gain at book", "gain at square-4096"
    for sync, gain, variant, words in (row.values() for row in read_csv("docs/plots/conditions.csv")[1]):
        a, b = (f"{step[:2]}_{variant}" if variant else step for step in (sync, gain))
        yield [sync, gain, words] + [f"{r.gain(a, b, shape):.2f}" for shape in ("book", "square-4096")]


def phases(r):
    """The median clocks of each phase of an iteration."""
    yield "kernel", "iterations", "load or issue, clocks", "wait, clocks", "multiply, clocks", "iteration, clocks"
    for step, names in PHASES.items():
        iterations = r.iterations(step)
        medians = []
        for kinds in (("load",), ("wait",), ("multiply",), names):
            sums = [sum(t[i + 1] - t[i] for i, phase in enumerate(names) if phase in kinds) for t in iterations]
            medians.append(f"{statistics.median(sums):.0f}")
        yield [step, len(iterations) + 1] + medians


def write(path, rows, delimiter):
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = [[f"{x:.6g}" if isinstance(x, float) else x for x in row] for row in rows]
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [os.path.basename(p).removesuffix("-timeline.csv") for p in glob.glob(f"{ROOT}/docs/results/*-timeline.csv")]
    parser.add_argument("--gpu", default="h200", choices=sorted(known))
    parser.add_argument("--data", default="/tmp/overlap-plots")
    args = parser.parse_args()
    os.makedirs(args.data, exist_ok=True)
    results = Results(args.gpu)
    for plot in (ladder, roofline, predictions, exposure, timeline):
        for name, rows in plot(results):
            write(f"{args.data}/{name}.dat", rows, "\t")
        out = plot.__name__ if args.gpu == "h200" else f"{args.gpu}-{plot.__name__}"
        subprocess.run(["gnuplot", "-e", f"data='{args.data}/'; caption='{results.caption}'; svg='{PLOTS}/{out}.svg'",
                        f"{PLOTS}/{plot.__name__}.gp"], check=True)
        print(f"docs/plots/{out}.svg")
    for made in (overlap, gains, phases):
        write(f"{ROOT}/docs/results/{args.gpu}-{made.__name__}.csv", made(results), ",")


main()
