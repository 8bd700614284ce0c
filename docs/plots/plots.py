#!/usr/bin/env python3
"""Draws docs/plots/*.svg with gnuplot, and writes docs/results/<gpu>-{overlap,gains,phases}.csv, from the results.

  docs/plots/plots.py [--gpu h200] [--data DIRECTORY]

Each NAME.gp reads NAME.dat and the like, which are made here from docs/results/<gpu>-*.csv.
"""
import argparse
import csv
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
PLOTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(PLOTS))
from course import ROOT, diffs_of, read_csv, steps


class Results:
    def __init__(self, gpu):
        self.ladder, self.variants, self.profile, self.timeline = (
            read_csv(f"docs/results/{gpu}-{part}.csv")[1] for part in ("ladder", "variants", "profile", "timeline"))
        comments = read_csv(f"docs/results/{gpu}-ladder.csv")[0]
        self.facts = dict(c[1:].strip().split(": ", 1) for c in comments if ": " in c)
        self.predictions = read_csv("docs/predictions.csv")[1]

    def row(self, name, shape):
        for row in self.ladder + self.variants:
            if row["step"] == name and row["shape"] == shape and row["rate"]:
                return row
        raise SystemExit(f"no result of {name} at {shape}")

    def us(self, name, shape="book"):
        return float(self.row(name, shape)["microseconds"])

    def speed(self, name, shape="book"):
        """Over the step that it is a variant of, timed in the same run."""
        return 1.0 if name in GEMM else float(self.row(name, shape)["speedup"])

    def gain(self, sync, asynchronous, shape="book"):
        """Of an asynchronous variant over the synchronous one: a product of ratios, each from one run."""
        step = next(s for s in GEMM if s[:2] == asynchronous[:2])
        return self.speed(asynchronous, shape) * float(self.row(step, shape)["speedup"]) / self.speed(sync, shape)

    def caption(self):
        device = self.facts["device"].split(",")[0]
        cuda = dict(f.split(": ") for f in ("driver: " + self.facts["driver"]).split("; "))
        return f"{device}, driver {cuda['driver']}, CUDA {cuda['CUDA runtime']}, {self.facts['date'].split()[0]}"


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write("\t".join(f"{x:.6g}" if isinstance(x, float) else str(x) for x in row) + "\n")


GEMM = tuple(s.name for s in steps() if s.track == "gemm")
VECTOR = (("08_reduction_async", "CUB Reduce"), ("09_scan_async", "CUB Scan"))


def ladder(r):
    shapes = ("book", "square-4096", "square-8192")
    gemm = [[name] + [float(r.row(name, s)["rate"]) for s in shapes] for name in GEMM]
    for library in ("cuBLAS FP32", "cuBLAS TF32"):
        gemm.append([library] + [float(r.row(library, s)["rate"]) for s in shapes])
    yield "ladder-gemm", gemm
    sizes = ("n-2^24", "n-2^28", "n-2^30")
    vector = []
    for step, library in VECTOR:
        for name, label in ((step + "/baseline", step[:2] + " baseline"), (step, step), (library, library)):
            vector.append([label] + [float(r.row(name, s)["rate"]) for s in sizes])
    yield "ladder-vector", vector + [["copy"] + [float(r.row("copy", s)["rate"]) for s in sizes]]
    ceilings = {"fp32": r.row("cuBLAS FP32", "book"), "tf32": r.row("cuBLAS TF32", "book"), "memory": r.row("copy", "n-2^28")}
    yield "ceilings", [[100 * float(c["rate"]) / float(c["ceiling"]) for c in ceilings.values()]]


def roofline(r):
    """Operations per byte, of DRAM and of what L2 sends to the SMs, and TFLOP/s."""
    points = []
    for p in r.profile:
        if p["kernel"] != "kernel.cu" or p["shape"] not in ("book", "2^28"):
            continue
        row = r.row(p["step"], p["shape"] if p["shape"] == "book" else "n-2^28")
        flop = 2 * 4096 * 2048 * 4096.0 if p["shape"] == "book" else 2.0**28
        dram = float(p["dram_read_bytes"]) + float(p["dram_write_bytes"])
        rate = flop / float(row["microseconds"]) * 1e-6
        points.append([p["step"], flop / dram, flop / float(p["l2_to_sm_bytes"]), rate])
    yield "roofline", points
    # What L2 was seen to send: the loads of 06 without their multiply.
    sent = [float(p["l2_to_sm_bytes"]) for p in r.profile if p["step"] == "06_wmma_db" and p["shape"] == "book"]
    yield "l2", [[sent[0] / r.us("06_load_only") * 1e-6]]


def predictions(r):
    rows = [[p["name"], float(p["predicted"]), float(p["measured"])] for p in r.predictions if p["measured"]]
    yield "predictions", [x for x in rows if x[0][2:3] == "_" and x[0] not in [s["step"] for s in r.ladder]]
    yield "predictions-steps", [x for x in rows if x[0] in [s["step"] for s in r.ladder]]


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
    for p in r.profile:
        if p["shape"] == "2^28" and p["kernel"] == "kernel.cu":
            gain = float(r.row(p["step"], "n-2^28")["speedup"])
            rows.append([1 - float(p["issue_pct"]) / 100, gain, p["step"]])
    yield "exposure-streaming", rows


PHASES = (("05_wmma", ("load", "wait", "multiply", "wait")), ("06_wmma_db", ("wait", "load", "multiply", "wait")))


def timeline(r):
    """Eight iterations in the middle of the run: where each phase begins and ends, in clocks."""
    first, count = 120, 8
    for step, names in PHASES:
        iterations = [t for t in r.timeline if t["step"] == step]
        zero = int(iterations[first]["clock_0"])
        for kind in ("load", "wait", "multiply"):
            bars = []
            for t, after in zip(iterations[first:first + count], iterations[first + 1:]):
                clocks = [int(t[f"clock_{i}"]) - zero for i in range(4)] + [int(after["clock_0"]) - zero]
                bars += [[clocks[i], clocks[i + 1]] for i, phase in enumerate(names) if phase == kind]
            yield f"timeline-{step[:2]}-{kind}", bars


def overlap(r):
    """Each kernel's time, that of its loads and its multiply alone, and how much of the shorter is hidden."""
    yield "kernel", "shape", "loads alone, us", "multiply alone, us", "both, us", "hidden, % of the shorter"
    for shape in ("book", "square-4096"):
        for step in (s for s in GEMM if s[:2] + "_load_only" in diffs_of("variants")):
            both = r.us(step, shape)
            load, multiply = (both / r.speed(f"{step[:2]}_{part}_only", shape) for part in ("load", "multiply"))
            hidden = (load + multiply - both) / min(load, multiply)
            yield step, shape, f"{load:.0f}", f"{multiply:.0f}", f"{both:.0f}", f"{100 * hidden:.0f}"


CONDITIONS = (("05_wmma", "06_wmma_db", (("bk_8", "K-tiles of depth 8"), ("bk_32", "K-tiles of depth 32"),
                                         ("pad_a", "rows of A padded"), ("no_pad", "rows of B not padded"),
                                         ("best_tile", "the tile that suits 05 best"))),
              ("04_regblock", "07_fp32_db", (("bk_8", "K-tiles of depth 8"), ("blocks_3", "168 registers, 3 blocks"),
                                             ("tile_64x64", "tile 64 x 64"), ("tile_128x128", "tile 128 x 128"))))


def gains(r):
    """What asynchronous copy gains under each condition that was tried with and without it."""
    yield "from", "to", "condition", "gain at book", "gain at square-4096"
    for sync, gain, conditions in CONDITIONS:
        limits = tuple((f"sm_{n}", f"at most {n} block{'s' * (n > 1)} an SM") for n in (1, 2, 3))
        for slug, words in (("", "as it is, 4 blocks an SM"),) + limits + conditions:
            a, b = (f"{step[:2]}_{slug}" if slug else step for step in (sync, gain))
            yield [sync, gain, words] + [f"{r.gain(a, b, shape):.2f}" for shape in ("book", "square-4096")]


def phases(r):
    """The median clocks of each phase of an iteration."""
    yield "kernel", "iterations", "load or issue, clocks", "wait, clocks", "multiply, clocks", "iteration, clocks"
    for step, names in PHASES:
        iterations = [[int(t[f"clock_{i}"]) for i in range(4)] for t in r.timeline if t["step"] == step]
        medians = []
        for phase in ("load", "wait", "multiply", ""):
            sums = [sum(b - a for a, b, name in zip(t, t[1:] + after[:1], names) if name == phase or not phase)
                    for t, after in zip(iterations, iterations[1:])]
            medians.append(f"{statistics.median(sums):.0f}")
        yield [step, len(iterations)] + medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", default="h200")
    parser.add_argument("--data", default="/tmp/overlap-plots")
    args = parser.parse_args()
    os.makedirs(args.data, exist_ok=True)
    results = Results(args.gpu)
    for plot in (ladder, roofline, predictions, exposure, timeline):
        for name, rows in plot(results):
            write(f"{args.data}/{name}.dat", rows)
        out = plot.__name__ if args.gpu == "h200" else f"{args.gpu}-{plot.__name__}"
        subprocess.run(["gnuplot", "-e", f"data='{args.data}/'; caption='{results.caption()}'; svg='{PLOTS}/{out}.svg'",
                        f"{PLOTS}/{plot.__name__}.gp"], check=True)
        print(f"docs/plots/{out}.svg")
    for made in (overlap, gains, phases):
        with open(f"{ROOT}/docs/results/{args.gpu}-{made.__name__}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(made(results))


main()
