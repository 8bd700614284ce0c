#!/usr/bin/env python3
"""Fills the column `measured` of docs/predictions.csv from the results, at the shape that was predicted.

  docs/results/match.py [GPU]     GPU: the beginning of the result files' names, default h200
"""
import csv
import os
import sys

DOCS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = ("name", "base", "predicted", "arithmetic", "measured", "why")


def read(path):
    """The comments of a CSV file, and its rows."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.read().splitlines()
    return [l for l in lines if l.startswith("#")], list(csv.DictReader(l for l in lines if not l.startswith("#")))


def main():
    gpu, measured = (sys.argv + ["h200"])[1], {}
    for part in ("ladder", "variants"):
        for row in read(f"{DOCS}/results/{gpu}-{part}.csv")[1]:
            if row["shape"] in ("book", "n-2^28") and row["speedup"]:
                measured[row["step"]] = f"{float(row['speedup']):.2f}"
    notes, rows = read(f"{DOCS}/predictions.csv")
    with open(f"{DOCS}/predictions.csv", "w", encoding="utf-8", newline="") as file:
        file.writelines(note + "\n" for note in notes)
        out = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(dict(row, measured=measured.get(row["name"], "")) for row in rows)


main()
