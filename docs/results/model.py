#!/usr/bin/env python3
"""Puts what the CPU device counts beside what a GPU's hardware counted: docs/results/GPU-model.csv.

  docs/results/model.py [--build BUILD] [GPU]     GPU: the beginning of the result files' names, default h200

The model: BUILD/cpu-checked/NN_name --counters. At `book` a GEMM is too long for it. There it runs at
256x256x256 and 256x256x512: all tiles are whole, so what it counts is a + b K for each tile of C, and
(a + b K) times the number of tiles is exact. The hardware: GPU-profile.csv, which measure.py wrote.
"""
import argparse
import collections
import csv
import os
import re
import subprocess

DOCS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINE = re.compile(r"\S+:\d+ +(\w+(?:, \w+)?(?: \w+)?) +(\d+) +(\d+) +(\d+) +(\d+)  ")
SMALL = {"gemm": "256x128x256", "reduce": "2^20", "scan": "2^20"}
FLOPS = 2 * 16 * 8 * 4  # of an HMMA.1684

# Counter: from the model's costs, ideals and operations of the Tensor Core; from the hardware's row.
COUNTERS = {
    "load sectors": (lambda m: m["load"] + m["copy, read"], lambda h: h["load_sectors"]),
    "store sectors": (lambda m: m["store"], lambda h: h["store_sectors"]),
    "copy sectors": (lambda m: m["copy, read"], lambda h: h["copy_bypass_sectors"] + h["copy_access_sectors"]),
    "shared loads, cycles": (lambda m: m["shared load"], lambda h: h["shared_load_wavefronts"]),
    "shared stores, cycles": (lambda m: m["shared store"], lambda h: h["shared_store_wavefronts"]),
    "conflicts, loads": (lambda m: m["shared load"] - m["ideal shared load"], lambda h: h["conflicts_load"]),
    "conflicts, stores": (lambda m: m["shared store"] - m["ideal shared store"], lambda h: h["conflicts_store"]),
    "conflicts, copies": (lambda m: m["copy, write"] - m["ideal copy, write"], lambda h: h["conflicts_copy"]),
    "Tensor Core": (lambda m: m["flops"] // FLOPS, lambda h: h["tensor_instructions"]),
}

# Why the two differ where they do: docs/counters.md has the words.
CAUSES = {
    "vectors": ["03_tiled shared loads, cycles"],
    "lanes by twos": ["04_regblock shared loads, cycles", "07_fp32_db shared loads, cycles"],
    "neighbours": ["05_wmma shared stores, cycles", "05_wmma conflicts, stores",
                   "06_wmma_db shared stores, cycles", "06_wmma_db conflicts, stores"],
    "padded rows": ["07_fp32_db load sectors", "07_fp32_db copy sectors"],
    "HFMA2.MMA": [f"{step} Tensor Core" for step in ("02_cache", "03_tiled", "04_regblock", "07_fp32_db", "09_scan_async")],
    "look-back": ["09_scan_async load sectors"],
    "not explained": ["08_reduction_async copy sectors", "09_scan_async copy sectors"],
}
CLOSE = 0.001  # of the hardware's cycles, what other traffic of L1 adds


def counted(build, step, shape):
    """The model's sums by operation."""
    done = subprocess.run([f"{build}/cpu-checked/{step}", "--counters", "--shape", shape],
                          capture_output=True, text=True, check=True)
    text = "".join(part for part in re.split(r"(?=^counters: )", done.stdout, flags=re.M)
                   if part.startswith(f"counters: {step},"))
    sums = collections.Counter()
    for line in text.splitlines():
        if match := LINE.match(line):
            sums[match[1]] += int(match[4])
            sums["ideal " + match[1]] += int(match[5])
    if match := re.search(r"^ +floating-point operations +(\d+)", done.stdout, re.M):
        sums["flops"] = int(match[1])
    return sums


def at_book(build, step):
    """M = 4096, N = 2048, K = 4096, from two runs with fewer tiles and smaller K."""
    short, long = counted(build, step, "256x256x256"), counted(build, step, "256x256x512")
    return {key: 128 * (short[key] + (long[key] - short[key]) * 15) for key in list(short) + list(long)}


def verdict(step, counter, model, hardware):
    """Equal, or why not."""
    if model == hardware:
        return "equal"
    for cause, where in CAUSES.items():
        if f"{step} {counter}" in where:
            return cause
    shared = counter.startswith(("shared", "conflicts"))
    return "other traffic" if shared and model < hardware else "not explained"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(os.path.dirname(DOCS), "build"))
    parser.add_argument("gpu", nargs="?", default="h200")
    args = parser.parse_args()
    with open(f"{DOCS}/results/{args.gpu}-profile.csv", encoding="utf-8") as file:
        lines = file.read().splitlines()
    facts = [line for line in lines if line.startswith(("# date", "# GPU", "# driver"))]
    rows = []
    for launch in csv.DictReader(line for line in lines if not line.startswith("#")):
        step, shape = launch["step"], launch["shape"]
        if launch["kernel"] != "kernel.cu" or shape not in ("book", *SMALL.values()):
            continue
        sums = collections.Counter(at_book(args.build, step) if shape == "book" else counted(args.build, step, shape))
        for counter, (of_model, of_hardware) in COUNTERS.items():
            model = of_model(sums)
            hardware = of_hardware({k: int(v) for k, v in launch.items() if v.isdigit()})
            if model or hardware:
                rows.append([step, shape, counter, model, hardware, f"{model / hardware:.4f}" if hardware else "",
                             verdict(step, counter, model, hardware)])
    with open(f"{DOCS}/results/{args.gpu}-model.csv", "w", encoding="utf-8", newline="") as file:
        file.write("\n".join(facts) + "\n")
        file.write("# model: the CPU device, docs/results/model.py; at book from two smaller runs\n")
        file.write(f"# hardware: {args.gpu}-profile.csv\n")
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["step", "shape", "counter", "model", "hardware", "ratio", "verdict"])
        out.writerows(rows)


main()
