#!/usr/bin/env python3
"""Fills the column `measured` of docs/predictions.csv from the results, at the shape that was predicted.

  docs/results/match.py [GPU]     GPU: the beginning of the result files' names, default h200
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from course import read_csv, timed, write_csv

gpu, measured = (sys.argv + ["h200"])[1], {}
for part in ("ladder", "variants"):
    for row in read_csv(f"docs/results/{gpu}-{part}.csv")[1]:
        if row["shape"] in timed() and row["speedup"]:
            measured[row["step"]] = f"{float(row['speedup']):.2f}"
notes, rows = read_csv("docs/predictions.csv")
write_csv("docs/predictions.csv", notes, [dict(row, measured=measured.get(row["name"], "")) for row in rows])
