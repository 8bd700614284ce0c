#!/usr/bin/env python3
"""Puts what the CPU device counts beside what a GPU's hardware counted: docs/results/GPU-model.csv.

  docs/results/model.py [--build BUILD] [GPU]     GPU: the beginning of the result files' names, default h200

The model: BUILD/cpu-checked/NN_name --counters. At `book` a GEMM is too long for it. There it runs at
256x256x256 and 256x256x512: all tiles are whole, so what it counts is a + b K for each tile of C, and
(a + b K) times the number of tiles is exact. The hardware: GPU-profile.csv, which measure.py wrote.
"""
import argparse
import collections
import json
import subprocess
import sys
import tempfile
from os import path

sys.dont_write_bytecode = True
sys.path.insert(0, path.dirname(path.dirname(path.abspath(__file__))))
from course import build_folder, csv_text, read_csv, write

SMALL = ("256x128x256", "2^20")  # the model runs at these
FLOPS = 2 * 16 * 8 * 4  # of an HMMA.1684

# Counter: from the model's costs, ideals and operations of the Tensor Core; from the hardware's row.
COUNTERS = {
    "load sectors": (lambda m: m["load global"] + m["copy global"], lambda h: h["load_sectors"]),
    "store sectors": (lambda m: m["store global"], lambda h: h["store_sectors"]),
    "copy sectors": (lambda m: m["copy global"], lambda h: h["copy_bypass_sectors"] + h["copy_access_sectors"]),
    "shared loads, cycles": (lambda m: m["load shared"], lambda h: h["shared_load_wavefronts"]),
    "shared stores, cycles": (lambda m: m["store shared"], lambda h: h["shared_store_wavefronts"]),
    "conflicts, loads": (lambda m: m["load shared"] - m["ideal load shared"], lambda h: h["conflicts_load"]),
    "conflicts, stores": (lambda m: m["store shared"] - m["ideal store shared"], lambda h: h["conflicts_store"]),
    "conflicts, copies": (lambda m: m["copy shared"] - m["ideal copy shared"], lambda h: h["conflicts_copy"]),
    "Tensor Core": (lambda m: m["flops"] // FLOPS, lambda h: h["tensor_instructions"]),
}
CAUSES = {(row["step"], row["counter"]): row["cause"] for row in read_csv("docs/results/causes.csv")[1]}


def counted(build, step, shape):
    """The model's sums by operation and memory, from the records that --json writes."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([f"{build}/cpu-checked/{step}", "--counters", "--shape", shape, "--json", file.name],
                       stdout=subprocess.DEVNULL, check=True)
        record = next(r for r in json.load(file)["counters"] if r["step"] == step)
    sums = collections.Counter(flops=record["sums"]["tensor_flops"])
    for line in record["lines"]:
        sums[f"{line['operation']} {line['memory']}"] += line["cost"]
        sums[f"ideal {line['operation']} {line['memory']}"] += line["ideal"]
    return sums


def at_book(build, step):
    """M = 4096, N = 2048, K = 4096, from two runs with fewer tiles and smaller K."""
    short, long = counted(build, step, "256x256x256"), counted(build, step, "256x256x512")
    return collections.Counter({key: 128 * (n + (long[key] - n) * 15) for key, n in short.items()})


def verdict(step, counter, values, small):
    """Equal, or why not. It is other traffic where the hardware has more cycles, all of which are conflicts to it."""
    model, hardware = values[counter]
    if model == hardware:
        return "equal"
    if model < hardware and counter == "conflicts, copies":
        return "other traffic"
    for kind in ("loads", "stores"):
        conflicts, cycles = f"conflicts, {kind}", f"shared {kind}, cycles"
        if model < hardware and counter in (conflicts, cycles):
            # The pattern of a tile does not depend on how many there are.
            alike = counter == conflicts and small[counter][0] == small[counter][1]
            if alike or values[cycles][0] - values[conflicts][0] == values[cycles][1] - values[conflicts][1]:
                return "other traffic"
    return CAUSES.get((step, counter), "not explained")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=build_folder())
    parser.add_argument("gpu", nargs="?", default="h200")
    args = parser.parse_args()
    comments, launches = read_csv(f"docs/results/{args.gpu}-profile.csv")
    found, rows = {}, []
    for launch in launches:
        step, shape = launch["step"], launch["shape"]
        if launch["kernel"] == "kernel.cu" and shape in ("book", *SMALL):
            sums = at_book(args.build, step) if shape == "book" else counted(args.build, step, shape)
            metrics = {k: int(v) for k, v in launch.items() if v.isdigit()}
            found[step, shape] = {c: (model(sums), hardware(metrics)) for c, (model, hardware) in COUNTERS.items()}
    for (step, shape), values in found.items():
        small = next(found[step, s] for s in SMALL if (step, s) in found)
        for counter, (model, hardware) in values.items():
            if model or hardware:
                rows.append({"step": step, "shape": shape, "counter": counter, "model": model, "hardware": hardware,
                             "ratio": f"{model / hardware:.4f}" if hardware else "",
                             "verdict": verdict(step, counter, values, small)})
    facts = [line for line in comments if line.startswith(("# date", "# GPU", "# driver"))]
    facts += ["# model: the CPU device, docs/results/model.py; at book from two smaller runs",
              f"# hardware: {args.gpu}-profile.csv"]
    write(f"docs/results/{args.gpu}-model.csv", csv_text(facts, rows))


main()
