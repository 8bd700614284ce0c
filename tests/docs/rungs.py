"""docs/fresh.py --diff STEP --rung K in the terminal, and what the marker `rungs` makes of chains and of results, made up here."""
import os
import re
import subprocess
import sys

DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs")
sys.dont_write_bytecode = True
sys.path.insert(0, DOCS)
import course
import fresh

bad = []


def expect(status, patterns, *arguments):
    done = subprocess.run([sys.executable, "-B", f"{DOCS}/fresh.py", *arguments], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode != status:
        bad.append(f"{arguments}: exit status {done.returncode}, wanted {status}: {said}")
    bad.extend(f"{arguments}: does not say '{p}': {said}" for p in patterns if not re.search(p, said, re.M))


def told(pattern, said):
    if not re.search(pattern, said, re.S):
        bad.append(f"not told: '{pattern}': {said}")


count = len(course.rungs_of("04_regblock"))
first, second = (rung["name"] for rung in course.rungs_of("04_regblock")[:2])
expect(0, [r"^04_regblock against 03_tiled: \d+ lines added"], "--diff", "04")
expect(0, [f"^Rung 2 of {count} to 04_regblock: ", "^--- steps/", f"^{second} against {first}: \\d+ lines added, \\d+ removed$"],
       "--diff", "4", "--rung", "2")
expect(2, [f"^--rung {count + 1}: no such rung; allowed: 1 to {count}, the rungs of 04_regblock$"], "--diff", "04", "--rung", str(count + 1))
expect(2, ["^--rung 0: no such rung"], "--diff", "04", "--rung", "0")
expect(2, ["^--rung 1: not allowed; 06_wmma_db has no rungs; allowed: those of 02_cache, 03_tiled, "], "--diff", "06", "--rung", "1")
expect(2, ["--rung: not allowed alone; wanted --diff STEP with it"], "--rung", "2")
expect(2, ["^no step '99' in .*; there are: 01_naive 02_cache"], "--diff", "99")

# Every rung's idea is two sentences, and its name says no more than its page.
for rung in course.diffs_of("rungs"):
    sentences = re.findall(r"[.!?](?= [A-Z0-9`]|$)", rung["idea"])
    if len(sentences) != 2:
        bad.append(f"{rung['path']}: Idea: {len(sentences)} sentences, wanted 2")

# A page: all rungs in order, and a chain that nobody knows.
page = fresh.mark_rungs("docs/steps/04_regblock.md", "04_regblock")
if re.findall(r"^### (\d+)\. [A-Z0-9`]", page, re.M) != [str(n) for n in range(1, count + 1)]:
    bad.append(f"headings: {re.findall('^###.*', page, re.M)}")
told(r"\| of them bank conflicts \|", page)
for chain in ("04_regblock_baseline", "none"):
    try:
        fresh.mark_rungs("docs/steps/04_regblock.md", chain)
        bad.append(f"{chain}: taken")
    except course.Stale as error:
        told(f"no step or baseline '{chain}'", str(error))
if "08_reduction_async" in course.course()["steps"]:
    told("^(No rungs yet|What changes)", fresh.mark_rungs("docs/steps/08_reduction_async.md", "08_reduction_async_baseline"))

# What is measured, and what not.
rung = {"name": "04_2_x", "base": "04_1_y"}
rows = {"variants": [], "profile-variants": []}
fresh.results = lambda part: rows[part]
told("^Not measured yet.$", fresh.rung_measured(rung))
timing = {"step": "04_2_x", "shape": course.timed()[0], "rate": "24.44", "unit": "TFLOP/s", "speedup": "1.105"}
rows["variants"] = [dict(timing, shape="square-8192", rate="1"), timing]
told(r"^Measured at book: \*\*24.4 TFLOP/s\*\*, 1.1[01] times 04_1_y.$", fresh.rung_measured(rung))
told(r"\*\*24.4 TFLOP/s\*\*.$", (rows.update(variants=[dict(timing, speedup="")]), fresh.rung_measured(dict(rung, base="")))[1])
rows["profile-variants"] = [{"step": "04_2_x", "stall_1": "long_scoreboard", "stall_1_warps": "1.90", "fma_pipe_pct": "43.2",
                             "lsu_data_pct": "91.4", "tensor_pipe_pct": ""}]
told(r" First stall reason: long scoreboard \(1.90 warps\); the fullest pipe is L1 and shared memory, 91% of its peak.$",
     fresh.rung_measured(rung))

print("\n".join(bad))
sys.exit(bool(bad))
