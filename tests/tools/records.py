"""The records of programs: valid however they end, escaped, and all in docs/records.md.

records.py SOURCE STEP_PROGRAM FAKE_LADDER [CHECKED_PROGRAM]
"""
import csv
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
source, step, ladder, *checked = sys.argv[1:]
sys.path.insert(0, f"{source}/tests")
from findings import check, end


def run(*command, status=0, **environment):
    done = subprocess.run(command, capture_output=True, env=os.environ | environment)
    check(" ".join(command), done.returncode == status, f"exit status {done.returncode}, {done.stderr.decode()}")
    return done.stdout.decode(errors="replace")


def records(text):
    try:
        found = json.loads(text)
    except ValueError as error:
        check("JSON", False, f"{error}: {text}")
        found = {}
    check("members", list(found) == ["rows", "counters", "faults", "facts"], list(found))
    return found


def load(path):
    with open(path, encoding="utf-8") as file:
        return records(file.read())


folder = tempfile.mkdtemp()
path = os.path.join(folder, "out.json")

# ---- rows, in both formats ----
run(step, "--shape", "3x5x7,5x3x7", "--json", path, "--csv", path + ".csv")
rows, table = load(path)["rows"], [line for line in open(path + ".csv") if line[0] != "#"]
check("rows", [r["shape"] for r in rows] == ["3x5x7", "5x3x7"] and rows[0]["k"] == 7 and rows[0]["rate"] is None, rows)
of_csv = list(csv.DictReader(table))
check("CSV", [list(r) for r in of_csv] == [list(r) for r in rows], of_csv)
check("CSV", all(r[c] == ("" if s[c] is None else str(s[c])) for r, s in zip(of_csv, rows) for c in r if c != "error"), of_csv)
keys = set(rows[0])

# ---- a kernel that takes too long, so that the CPU device ends the program; the row before it is there ----
run(step, "--shape", "3x5x7,1024x1024x1024", "--json", path, status=1, CPU_DEVICE_TIMEOUT="0.5")
found = load(path)
check("crash", [r["shape"] for r in found["rows"]] == ["3x5x7"] and found["facts"], found)
fault = found["faults"][0] if found["faults"] else {"id": ""}
check("crash", fault["id"] == "crash.blocks" and fault["shape"] == "1024x1024x1024" and "--m 1024" in fault["repeat"], fault)
check("crash", fault.get("schedule") == "forward-late" and "0.5 s" in fault["text"], fault)
keys |= set(fault)

# ---- interrupted, to a file and to stdout ----
for number in (signal.SIGINT, signal.SIGTERM):
    with subprocess.Popen([step, "--shape", "3x5x7,1024x1024x1024", "--json", path], stdout=subprocess.PIPE) as program:
        while b"3x5x7" not in program.stdout.readline():
            pass
        program.send_signal(number)
        program.stdout.read()
    check("interrupted", program.returncode == -number, program.returncode)
    check("interrupted", [r["shape"] for r in load(path)["rows"]] == ["3x5x7"])
with subprocess.Popen([step, "--shape", "1024x1024x1024", "--json", "-"], stdout=subprocess.PIPE) as program:
    try:
        program.wait(0.5)
    except subprocess.TimeoutExpired:
        program.terminate()
    records(program.stdout.read())

# ---- what is written escaped: by way of a made-up program of the ladder ----
odd = "quote \" backslash \\ tab \t bell \x07 é 中 😀"
wrong = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe4\xb8", b"\x80"]  # not UTF-8
note = odd.replace('"', '""').encode() + b" " + b" ".join(wrong)
os.mkdir(os.path.join(folder, "cpu"))
shutil.copy(ladder, os.path.join(folder, "ladder"))
program = os.path.join(folder, "cpu", "01_naive")
with open(program, "wb") as file:
    line = b"01_naive,,CPU device,7x1x1,7,1,8589934592,f32,,FAILED,1e-7,,,,,,,,,,,,,\"" + note + b"\",,,,,"
    file.write(b"#!/bin/sh\ncat <<'END'\n# fact \"\xe9\"\n" + line + b"\nEND\n")
os.chmod(program, 0o755)
run(os.path.join(folder, "ladder"), "--cpu", "--steps", "01_naive", "--shapes", "7x1x1", "--json", path, status=1)
found = load(path)
said = found["rows"][0]["note"]
check("escaped", said.startswith(odd + " "), repr(said))
check("escaped", set(said[len(odd):]) == {" ", "�"} and said[len(odd):].count(" ") == len(wrong), repr(said))
check("escaped", found["facts"] == ['fact "�"'], found["facts"])
check("large figures", found["rows"][0]["k"] == 8589934592, found["rows"][0])

# ---- counters ----
for program in checked:
    run(program, "--counters", "--shape", "35x79x19", "--json", path)
    found = load(path)
    counters, row = found["counters"][0], found["rows"][0]
    sums = counters["sums"]
    check("counters", row["status"] == "counted" and row["note"] == "" and row["thread_bytes"] == sums["thread_bytes"], row)
    check("counters", row["sectors"] == sums["load_sectors"] + sums["store_sectors"] + sums["copy_sectors"] > 0, row)
    loads = [x for x in counters["lines"] if x["operation"] == "load" and x["memory"] == "global"]
    check("counters", sum(x["cost"] for x in loads) == sums["load_sectors"] and loads[0]["line"] > 0 and loads[0]["text"], loads)
    keys |= set(counters) | set(sums) | set(loads[0])

# ---- all names are documented ----
ids = set(re.findall(r'^FAULT\(\w+,\s*"([^"]+)"', open(os.path.join(source, "common/cpu/faults/kinds.def")).read(), re.M))
for name in glob.glob(os.path.join(source, "common/**/*.c"), recursive=True):
    ids |= set(re.findall(r'"((?:judge|device)\.\w+)"', open(name).read()))
page = open(os.path.join(source, "docs/records.md"), encoding="utf-8").read()
named = set(re.findall(r"`([a-z0-9_.]+)`", re.sub(r"```.*?```", "", page, flags=re.S)))
check("ids", len(ids) > 30, ids)
check("docs/records.md names all", keys | ids <= named, (keys | ids) - named)
listed = set(re.findall(r"^\| `([a-z_]+\.[a-z0-9_]+|deadlock)`", page, re.M))
check("docs/records.md names what there is", listed <= ids, listed - ids)
shutil.rmtree(folder)
end()
