#!/usr/bin/env python3
"""Measures all that docs/ shows, on the GPU of this machine, and writes it beside what other GPUs gave.

  docs/results/measure.py [--build build] [--out docs/results] [PART ...]

The parts, all by default; each writes OUT/<gpu>-<part>.csv:

  ladder     every step at the shapes of real work
  variants   every experiment of tests/diffs/variants beside its step, and every rung of tests/diffs/rungs beside the one
             before it, at the sizes of predictions and at square-4096
  pad1       steps and experiments that are about rows without alignment, at book with --pad 1
  timeline   when one block of 05_wmma and of 06_wmma_db loads, waits and multiplies
  profile    hardware counters of every step, by ncu, at its track's sizes for that: book and 256x128x256, or 2^28 and 2^20
  profile-variants   the same of every experiment and rung, or of those that --only names, at the larger (not by default)

The programs must have been built: cmake --build BUILD && cmake --build BUILD --target variants.
"""
import argparse
import csv
import datetime
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from course import ROOT, build_folder, csv_text, diffs_of, read_csv, step, steps, timed, track
from course import write as write_text

REASONS = ("barrier", "branch_resolving", "dispatch_stall", "drain", "lg_throttle", "long_scoreboard",
           "math_pipe_throttle", "membar", "mio_throttle", "no_instruction", "not_selected",
           "short_scoreboard", "sleeping", "wait")
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
COLUMNS = {row["column"]: (row["metric"], float(row["factor"]))
           for row in read_csv("docs/results/metrics.csv")[1] if row["metric"]}
LIMITS = ["launch__occupancy_limit_" + what for what in ("blocks", "registers", "shared_mem", "warps")]


def say(text):
    print(text, file=sys.stderr, flush=True)


failures = 0  # programs that failed: the exit status says so at the end


def run(command, capture=True, **options):
    """Runs a program; says what it was and what it complained of if it failed."""
    global failures
    try:
        done = subprocess.run(command, capture_output=capture, text=True, **options)
    except FileNotFoundError:
        sys.exit(f"{command[0]}: not found; measuring needs an NVIDIA GPU with its driver, and ncu for the counters")
    if done.returncode != 0:
        failures += 1
        say(f"{' '.join(command)}: exit status {done.returncode}\n{(done.stderr or '').strip()}")
    return done


def gpu_facts():
    query = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    if query.returncode != 0:
        sys.exit("no GPU to measure on")
    name, driver = query.stdout.splitlines()[0].split(", ")
    return name, {"date": f"{datetime.date.today()}", "GPU": name, "driver": driver}


def write(path, facts, rows):
    """Writes facts as comments, then the rows; keeps no half a file."""
    if rows:
        write_text(path, csv_text([f"# {key}: {value}" for key, value in facts.items()], rows))
    say(f"{path}: {len(rows)} rows" if rows else f"{path}: nothing to write")


# ---- what the programs time themselves ----

def ladder(args, path, *options):
    run([f"{args.build}/ladder", "--gpu", "--csv", path, *options], capture=False)


def pad1(args, path, _):
    lines = []
    for name in ("05_wmma", "06_wmma_db", "06_branches", "07_fp32_db"):
        done = run([f"{args.build}/gpu/{name}", "--shape", "book", "--pad", "1", "--csv", "-"])
        lines += [l for l in done.stdout.splitlines() if l not in lines and (not lines or l[:1] != "#")]
    write_text(path, "\n".join(lines) + "\n")


def timeline(args, path, facts):
    """The stamps of the last run, as clocks since the first of them."""
    rows, stamps = [], f"{path}.tmp"
    for step in ("05_wmma", "06_wmma_db"):
        done = run([f"{args.build}/gpu/{step[:2]}_timeline", "--shape", "book", "--samples", "5"],
                   env=dict(os.environ, OVERLAP_TIMELINE=stamps))
        if done.returncode != 0:
            continue
        with open(stamps, encoding="utf-8") as file:
            iterations = [[int(x) for x in line.split(",")] for line in file]
        os.remove(stamps)
        for i, *clocks in iterations:
            rows.append(dict(step=step, iteration=i, **{f"clock_{n}": c - iterations[0][1] for n, c in enumerate(clocks)}))
    write(path, facts, rows)


# ---- hardware counters ----

def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def figure(text, factor):
    value = number(text)
    if value is None:
        return ""
    value *= factor
    return f"{value:.0f}" if value >= 1000 or value == int(value) else f"{value:.2f}"


def counters(program, kernels, options):
    """Every launch of the kernels whose names match: the values of the metrics."""
    metrics = [m for m, _ in COLUMNS.values()] + [STALL.format(r) for r in REASONS] + LIMITS
    for _ in range(2):
        with tempfile.NamedTemporaryFile("r", suffix=".csv") as log:
            run(["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base",
                 "--log-file", log.name, "--force-overwrite", "-k", f"regex:{kernels}",
                 "--metrics", ",".join(metrics), program, *options])
            with open(log.name, encoding="utf-8") as file:
                lines = file.read().splitlines()
        start = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
        if start:
            return [row for row in csv.DictReader(lines[start[0]:]) if row["ID"]]  # the first holds the units
        errors = "\n".join(line for line in lines if "ERROR" in line)
        say(f"{program}: {errors}")
        metrics = [m for m in metrics if m not in errors]  # that this GPU or this ncu lacks
    return []


def profile_row(name, kernel, shape, launch):
    row = {"step": name, "kernel": kernel, "shape": shape}
    row |= {column: figure(launch.get(metric, ""), factor) for column, (metric, factor) in COLUMNS.items()}
    row["grid"] = launch.get("launch__grid_size") or launch.get("Grid Size", "")
    limits = [v for v in (number(launch.get(limit, "")) for limit in LIMITS) if v]
    row["blocks_per_sm"] = f"{min(limits):.0f}" if limits else ""
    stalls = sorted(((number(launch.get(STALL.format(r), "")) or 0, r) for r in REASONS), reverse=True)
    for i, (value, reason) in enumerate(stalls[:3]):
        row[f"stall_{i + 1}"], row[f"stall_{i + 1}_warps"] = reason, f"{value:.2f}"
    return row


def profile(args, path, facts, programs):
    """`programs`: of each the name, its track, the sizes. A kernel is known by its name: the build has added the step's."""
    rows = []
    facts = dict(facts, counters="ncu --clock-control none, caches flushed before every pass; docs/results/metrics.csv names them",
                 stalls="the three most frequent, in average warps of a scheduler per issued instruction")
    for name, of_track, shapes in programs:
        program, symbol = f"{args.build}/gpu/{name}", f"{of_track}_kernel_{name}"
        if not os.access(program, os.X_OK):
            say(f"{program}: not built")
            continue
        launches = counters(program, f"^{symbol}(_baseline)?$", ["--verify-only", "--shape", ",".join(shapes)])
        for kernel, wanted in (("kernel.cu", symbol), ("baseline.cu", symbol + "_baseline")):
            # The last launch of each grid: there is one grid a size, in their order.
            last = {l["Grid Size"]: l for l in launches if l["Kernel Name"].partition("(")[0] == wanted}
            rows += [profile_row(name, kernel, shape, launch) for shape, launch in zip(shapes, last.values())]
        write(path, facts, rows)


def profile_variants(args, path, facts):
    tracks = {d["name"]: step(d["step"]).track for d in diffs_of("variants") + diffs_of("rungs")}
    profile(args, path, facts, [(name, of_track, track(of_track)["profiled"][:1]) for name, of_track in tracks.items()
                                if not args.only or name in args.only.split(",")])


PARTS = {
    "ladder": lambda args, path, _: ladder(args, path, "--shapes", "real"),
    "variants": lambda args, path, _: ladder(args, path, "--variants", "--shapes", ",".join(dict.fromkeys(timed() + ["square-4096"]))),
    "pad1": pad1,
    "timeline": timeline,
    "profile": lambda *where: profile(*where, [(s.name, s.track, track(s.track)["profiled"]) for s in steps()]),
    "profile-variants": profile_variants,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=build_folder())
    parser.add_argument("--out", default=f"{ROOT}/docs/results")
    parser.add_argument("--only", default="", help="names of experiments and rungs to profile, with commas")
    parser.add_argument("parts", nargs="*", metavar="PART")
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"{', '.join(unknown)}: allowed: {', '.join(PARTS)}")
    os.environ["OVERLAP_BUILD"] = args.build
    os.environ["LC_ALL"] = "C"  # ncu writes figures as the locale has them
    stale = glob.glob(f"{args.build}/variants/*/*.stale") + glob.glob(f"{args.build}/rungs/*/*.stale")
    if stale:
        sys.exit(f"{stale[0]}: the diff no longer applies: its figures would be the step's")
    name, facts = gpu_facts()
    os.makedirs(args.out, exist_ok=True)
    prefix = os.path.abspath(os.path.join(args.out, re.sub(r"[^a-z0-9]+", "-", name.lower().replace("nvidia ", ""))))
    for part in args.parts or list(PARTS)[:-1]:
        say(f"== {part}")
        PARTS[part](args, f"{prefix}-{part}.csv", facts)
    if failures > 0:
        sys.exit(f"{failures} programs failed, see above")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("interrupted: what was measured until then is written", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        sys.exit(f"{error}")
