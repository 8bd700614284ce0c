"""--trace: the file is what docs/trace.md says, and shows who overlaps.

trace.py SOURCE CHECKED_FOLDER
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
source, programs = sys.argv[1:]
sys.path.insert(0, f"{source}/tests")
from findings import check, end

path = os.path.join(tempfile.mkdtemp(), "out.json")

def run(step, *options, status=0, **environment):
    done = subprocess.run([f"{programs}/{step}", *options], capture_output=True, text=True, env=os.environ | environment)
    check(f"{step} {options}", done.returncode == status, f"exit status {done.returncode}, {done.stderr}")
    return done.stdout if "-" in options else done.stderr


def trace(step, *options):
    run(step, "--trace", path, *options)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def events(found, pid=0):
    return [e for e in found["traceEvents"] if e["ph"] == "X" and e["pid"] == pid]


def flights(found, pid=0):
    """When copies are in flight: by group, the begin, the end and the event's args."""
    times = {}
    for e in found["traceEvents"]:
        if e["ph"] in "be" and e["pid"] == pid:
            times.setdefault(e["args"]["group"], []).append(e)
    return {group: (b["ts"], e["ts"], b["args"]) for group, (b, e) in times.items()}


db = trace("06_wmma_db", "--base")
check("members", list(db) == ["otherData", "traceEvents", "runs", "accesses"], list(db))
check("it says that it is no time", "not time" in db["otherData"]["note"], db["otherData"])
check("runs", [(r["pid"], r["step"], r["shape"]) for r in db["runs"]] ==
      [(0, "06_wmma_db", "128x64x96"), (4, "05_wmma", "128x64x96")], db["runs"])
check("names", any("an order of events, not time" in e["args"]["name"] for e in db["traceEvents"] if e["ph"] == "M"))

# A warp's events follow each other without a gap, and a barrier ends for all at once.
for pid in (0, 4):
    ends = {}
    for tid in {e["tid"] for e in events(db, pid)}:
        now = 0
        for e in sorted((e for e in events(db, pid) if e["tid"] == tid), key=lambda e: e["ts"]):
            check("no gap", e["ts"] == now and e["dur"] > 0, e)
            now = e["ts"] + e["dur"]
            if e["cat"] == "barrier":
                ends.setdefault(tid, []).append(now)
    check("barriers", len(ends) == 2 and len({tuple(e) for e in ends.values()}) == 1, ends)

# What is moved: all of A and B once; C once. Copies in 06, registers in 05.
size = 4 * 96 * (128 + 64)
for pid, name, staged in ((0, "copy to shared", 0), (4, "store shared", 4 * 128 * 64)):  # staged: C, on its way out
    moved = sum(e["args"]["bytes"] for e in events(db, pid) if e["name"] == name)
    check(name, moved == size + staged, moved)
    stored = sum(e["args"]["bytes"] for e in events(db, pid) if e["name"] == "store global")
    check("C", stored == 4 * 128 * 64, stored)
    check("mma", sum(e["args"]["instructions"] for e in events(db, pid) if e["cat"] == "mma") == 128 * 64 * 96 // (16 * 16 * 8))

# The line that each event names says so.
text = open(f"{source}/steps/06_wmma_db/kernel.cu", encoding="utf-8").read().splitlines()
for e in events(db):
    file, _, line = e["args"]["line"].partition(":")
    check("line", file == "06_wmma_db/kernel.cu" and text[int(line) - 1].strip() == e["args"]["text"], e)
    words = {"mma": "mma_sync", "wait": "wait_prior", "commit": "commit", "barrier": "__syncthreads", "copy": "memcpy_async"}
    check("text", words.get(e["cat"], "") in e["args"]["text"], e)

# 06 copies the next K-tile to one stage while it multiplies the other; its variant with one stage does not.
of_06 = flights(db)
check("groups", len(of_06) == 6 and [f[2]["stage"] for f in of_06.values()] == [0, 1, 0, 1, 0, 1], of_06)
check("05 has no copies", not flights(db, 4))


def covered(found):
    """Multiplies that copies to another stage are in flight over, and those that have copies to their own."""
    over, own = 0, 0
    for e in (e for e in events(found) if e["cat"] == "mma"):
        for begin, end, args in flights(found).values():
            if begin <= e["ts"] < end:
                over, own = over + (args["stage"] != e["args"]["stage"]), own + (args["stage"] == e["args"]["stage"])
    return over, own


over, own = covered(db)
check("overlap", over > 0 == own, (over, own))

# A pipeline: exactly three stages are committed at the top of every iteration, the last ones empty. Two are in flight over a multiply.
pipe = trace("12_pipeline")
committed, waited = 0, 0
for e in sorted((e for e in events(pipe) if e["tid"] == 1), key=lambda e: e["ts"]):
    committed += e["cat"] == "commit"
    if e["cat"] == "wait" and "consumer_wait" in e["args"]["text"]:
        check("invariant", committed - waited == 3, e)
        waited += 1
check("K-tiles", (committed, waited) == (9, 6), (committed, waited))
check("stages", [f[2]["stage"] for f in flights(pipe).values()] == [0, 1, 2, 0, 1, 2], flights(pipe))
over, own = covered(pipe)
check("overlap of a pipeline", over > 0 == own, (over, own))

# Accesses: each lane of 06's first copy reads 16 bytes of A and writes them to shared memory, side by side.
first = next(e for e in events(db) if e["cat"] == "copy" and e["tid"] == 1)["args"]["event"]
of_first = [a for a in db["accesses"] if a[0] == first]
check("accesses", [(a[1], a[2]) for a in of_first[:2]] == [("A", 16), ("shared", 16)], of_first[:2])
lda = db["runs"][0]["operands"][0]["ld"]
check("A", of_first[0][3] == [4 * lda * (lane // 4) + 16 * (lane % 4) for lane in range(32)], of_first[0])
check("shared", [at - of_first[1][3][0] for at in of_first[1][3]] == [16 * lane for lane in range(32)], of_first[1])

# Several blocks; lanes that do nothing; a vector's operands.
vector = trace("09_scan_async", "--shape", "70001")
check("blocks", {e["pid"] for e in vector["traceEvents"] if e["ph"] == "X"} == {0, 1, 2, 4, 5, 6})
check("operands", [o["name"] for o in vector["runs"][0]["operands"]] == ["x", "y", "workspace"])
check("null", any(None in a[3] for a in vector["accesses"]))
copied = [sum(f[2]["bytes"] for f in flights(vector, pid).values()) for pid in range(3)]
check("what is copied", copied[0] == copied[1] >= copied[2] > 0 and sum(copied) <= 4 * 70001, copied)

# To stdout, without a table; and of a kernel that is stopped, what there is until then.
found = json.loads(run("06_wmma_db", "--trace", "-", "--shape", "128x64x32"))
check("stdout", found["runs"][0]["shape"] == "128x64x32", found["runs"])
run("06_wmma_db", "--trace", path, "--shape", "1024x1024x1024", status=1, CPU_DEVICE_TIMEOUT="1")
with open(path, encoding="utf-8") as file:
    found = json.load(file)
check("stopped", events(found) and found["runs"][0]["shape"] == "1024x1024x1024", found["runs"])

# What is refused, and then leaves the trace as it is.
check("CSV", "cannot be written" in run("06_wmma_db", "--trace", path, "--csv", "/nonexistent/x", status=2))
check("CSV", "another option names it" in run("06_wmma_db", "--trace", path, "--csv", path, status=2))
check("left alone", os.path.getsize(path) > 0)
check("two shapes", "with one shape" in run("06_wmma_db", "--trace", path, "--shape", "1x1x1,2x2x2", status=2))
check("no file", "cannot be written" in run("06_wmma_db", "--trace", "/nonexistent/x", status=2))
check("plain", "--trace here: not allowed" in run("../cpu/06_wmma_db", "--trace", path, status=2))
check("base", "with --counters or --trace" in run("06_wmma_db", "--base", status=2))
if os.path.exists("/dev/full"):
    check("full", "could not be written" in run("06_wmma_db", "--trace", "/dev/full", "--shape", "128x64x32", status=1))
end()
