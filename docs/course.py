"""The course as scripts see it: its steps, tracks, diffs and shapes, which CMake wrote down; its files and its results.

CMake writes build/generated/course.json; OVERLAP_BUILD names another build folder than build/.
"""
import csv
import functools
import glob
import io
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Stale(Exception):
    """Something that a page names is not there."""


# ---- files ----

def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def exists(path):
    return os.path.exists(os.path.join(ROOT, path))


def pages():
    """All files that may hold markers: the pages, and the site's layout."""
    found = sorted(glob.glob(f"{ROOT}/docs/*.md") + glob.glob(f"{ROOT}/docs/steps/*.md"))
    return ["README.md", "docs/DoxygenLayout.xml"] + [os.path.relpath(path, ROOT) for path in found]


def read_csv(path):
    """The comments of a CSV file, and its rows."""
    lines = read(path).splitlines()
    return [l for l in lines if l.startswith("#")], list(csv.DictReader(l for l in lines if not l.startswith("#")))


def csv_text(comments, rows):
    out = io.StringIO(newline="")
    out.writelines(comment + "\n" for comment in comments)
    table = csv.DictWriter(out, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def write(path, text):
    with open(os.path.join(ROOT, path), "w", encoding="utf-8", newline="") as file:
        file.write(text)


# ---- what CMake wrote ----

def build_folder():
    return os.environ.get("OVERLAP_BUILD", f"{ROOT}/build")


@functools.cache
def course():
    path = os.path.join(build_folder(), "generated", "course.json")
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}; configure first (cmake --preset default), "
                 "or name the build folder by OVERLAP_BUILD")


class Step:
    def __init__(self, name, fields):
        vars(self).update(fields)
        self.name, self.page, self.base_kernel = name, f"docs/steps/{name}.md", self.base_kernel or None

    @property
    def base_step(self):
        """The step that this one builds on; none for the first, nor for one that has its own baseline."""
        return next((s for s in steps() if s.name == self.base), None)

    def diff(self):
        labels = ["--label", self.base_kernel, "--label", self.kernel]
        command = ["diff", "-u", *labels, self.base_kernel, self.kernel]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout

    def changed(self):
        """Lines added and removed."""
        return changed(self.diff())

    def headline(self):
        """What the page's title says of the step."""
        return read(self.page).splitlines()[0].partition(": ")[2] if exists(self.page) else ""


@functools.cache
def steps():
    return [Step(name, fields) for name, fields in course()["steps"].items()]


def numbered(word):
    """The step of a name or a number."""
    return step(next((s.name for s in steps() if word.isdigit() and s.name.startswith(f"{int(word):02}_")), word))


def step(name):
    if name not in course()["steps"]:
        raise Stale(f"no step '{name}' in steps/steps.list")
    return next(s for s in steps() if s.name == name)


def track(name):
    """What a track's track.cmake says: every field is a list."""
    return course()["tracks"][name]


def timed():
    """The shapes of predictions and verdicts, one of each track."""
    return [t["timed"][0] for t in course()["tracks"].values()]


def diffs_of(kind, name=None):
    """The traps, variants, solutions or rungs of a step, or of all: their fields, and their names."""
    return [dict(fields, name=d) for d, fields in course()["diffs"][kind].items() if name in (None, fields["step"])]


def rungs_of(chain):
    """The rungs that lead to a step, or to STEP_baseline: in order, each with its diff's text."""
    return [dict(d, diff=read(d["path"]).partition("\n\n")[2]) for d in diffs_of("rungs") if d["chain"] == chain]


def rung_of(s, number):
    """A rung of a step, or of its baseline if the step itself has none; and all of them."""
    rungs = rungs_of(s.name) or rungs_of(s.name + "_baseline")
    if not rungs:
        have = dict.fromkeys(d["step"] for d in diffs_of("rungs"))
        raise Stale(f"--rung {number}: not allowed; {s.name} has no rungs; allowed: those of {', '.join(have)}")
    if not 1 <= number <= len(rungs):
        raise Stale(f"--rung {number}: no such rung; allowed: 1 to {len(rungs)}, the rungs of {rungs[0]['chain']}")
    return rungs[number - 1], rungs


def changed(diff):
    """Lines that a diff adds and removes."""
    lines = diff.splitlines()[2:]
    return sum(l[0] == "+" for l in lines), sum(l[0] == "-" for l in lines)


def shapes_of(*sets):
    """Names of the shapes that are in one of the sets, in order."""
    return [s["name"] for s in course()["shapes"] if set(s["sets"]) & set(sets)]


# ---- results ----

def facts_of(comments):
    """The facts of a run by name, from the comments of its CSV: "# driver: 580; CUDA runtime: 13.0" has two."""
    return dict(fact.split(": ", 1) for c in comments for fact in c[1:].strip().split("; ") if ": " in fact)


@functools.cache
def results(part):
    """All rows of docs/results/GPU-PART.csv, each with its file and the facts of that."""
    rows = []
    for path in sorted(glob.glob(f"{ROOT}/docs/results/*-{part}.csv")):
        if not path.endswith(f"-profile-{part}.csv"):
            comments, found = read_csv(path)
            facts = facts_of(comments)
            rows += [dict(row, file=os.path.relpath(path, ROOT), facts=facts) for row in found]
    return rows


@functools.cache
def predictions():
    return {row["name"]: row for row in read_csv("docs/predictions.csv")[1]}


def golden(name):
    """The committed counters of a step, and of its own baseline behind them: records with step, shape and sums."""
    return json.loads(read(f"tests/steps/golden/{name}.json"))
