#!/usr/bin/env python3
"""golden.py FILE PROGRAM ARGUMENTS... [--write]: compares what a checked program counts with FILE, the records of
docs/records.md without line numbers: an edit elsewhere in a kernel changes nothing. --write writes FILE."""
import collections
import json
import os
import subprocess
import sys
import tempfile


def count(command):
    """The counters of a program, as records."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counters.json")
        done = subprocess.run([*command, "--counters", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{done.stdout}exit status {done.returncode}")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["counters"]


def line_text(line):
    return json.dumps({k: v for k, v in line.items() if k != "line"}, ensure_ascii=False)


def text(counted):
    """The records as JSON without line numbers, one sum or line of source a line."""
    out = []
    for one in counted:
        lines = [line_text(line) for line in one["lines"]]
        sums = [json.dumps({k: v})[1:-1] for k, v in one["sums"].items()]
        out.append(json.dumps({k: one[k] for k in ("step", "shape")})[:-1] + ",\n\"sums\": {\n" + ",\n".join(sums)
                   + "\n},\n\"lines\": [\n" + ",\n".join(lines) + "\n]}")
    return "[\n" + ",\n".join(out) + "\n]\n"


def main():
    golden, command = sys.argv[1], sys.argv[2:]
    if command[-1] == "--write":
        with open(golden, "w", encoding="utf-8") as file:
            file.write(text(count(command[:-1])))
        return
    with open(golden, encoding="utf-8") as file:
        was = collections.Counter(text(json.load(file)).replace(",\n", "\n").splitlines())
    counted = count(command)
    now = collections.Counter(text(counted).replace(",\n", "\n").splitlines())
    places = {line_text(line): f" {line['file']}:{line['line']}" for one in counted for line in one["lines"]}
    for sign, lines in (("was", was - now), ("now", now - was)):
        for line in lines.elements():
            print(f"{sign}:{places.get(line, '') if sign == 'now' else ''} {line}")
    if was != now:
        sys.exit("The counters changed. If they were meant to: cmake --build BUILD --target golden")


if __name__ == "__main__":
    main()
