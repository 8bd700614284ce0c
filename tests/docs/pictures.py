"""The pictures: fresh, and of what happens.

pictures.py SOURCE BUILD fresh|content|file
"""
import collections
import functools
import glob
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
source, build, group = sys.argv[1:]
sys.path[:0] = [f"{source}/docs", f"{source}/common/tools", f"{source}/tests"]
import check
import course
import picture
import pictures
import touches
from findings import check as expect
from findings import end

folder = tempfile.TemporaryDirectory(prefix="overlap-pictures-")

@functools.cache
def trace(program, size, elements=True):
    made = check.Build(f"{build}/generated/course.json")
    return touches.Trace(picture.trace_of(made, program, size, folder.name), elements)


def size_of(step, blocks=4):
    return pictures.shape(step.track, pictures.constants(step.kernel), blocks)


steps = [s for s in course.steps() if pictures.pictures_of(s.name)]


def fresh():
    """The committed pictures are those that would be drawn now; they are XML, and pages show each."""
    shown = "".join(course.read(s.page) for s in steps)
    names = set()
    for s in steps:
        own = trace(s.name, size_of(s))
        for name, drawn in pictures.of_kernel(s.name, s.kernel, own, lambda v: trace(v, size_of(s, 1))):
            path = f"docs/pictures/{name}.svg"
            names.add(name)
            expect(path, isinstance(drawn, pictures.Svg), drawn)
            stale = not course.exists(path) or course.read(path) != drawn.svg()
            expect(path, not stale, f"stale; cmake --build {build} --target pictures")
            expect(path, f"pictures/{name}.svg)" in shown, "on no page")
            root = xml.etree.ElementTree.fromstring(drawn.svg())
            width = float(root.get("viewBox").split()[2])
            for text in root.iter("{http://www.w3.org/2000/svg}text"):
                high = float(text.get("font-size", 11.5))
                expect(f"{path}: '{text.text}'", high >= 9.5 and 0 <= float(text.get("x")) <= width, f"size {high}")
    there = {os.path.basename(p)[:-4] for p in glob.glob(f"{source}/docs/pictures/[0-9]*.svg")}
    expect("pictures that nothing names", there == names, there ^ names)


def tiles(s):
    """Each element of C is computed once, and each of a K-tile is loaded; once, where that is to shared memory."""
    t = touches.Tiles(trace(s.name, size_of(s)), values := pictures.constants(s.kernel))
    expect(f"{s.name}: C", (t.rows, t.cols) == (values["BM"], values["BN"]) and len(t.owner) == t.rows * t.cols
           and set(t.stores.values()) == {1}, (t.rows, t.cols, len(t.owner)))
    expect(f"{s.name}: warps", t.warps == values["THREADS"] // 32, t.warps)
    for operand, size in ("A", t.rows * t.depth), ("B", t.depth * t.cols):
        loaders = t.loaders(operand)
        expect(f"{s.name}: {operand} is loaded", len(loaders) == size, len(loaders))
        if not t.direct:
            lanes = collections.Counter(e for a in t.loads if a.memory == operand for lane in a.elements for e in lane)
            expect(f"{s.name}: {operand} once", set(lanes.values()) == {1}, set(lanes.values()))


def costs(s):
    """The wavefronts that pictures show, and the sectors of copies, are what the CPU device counts."""
    golden = course.golden(s.name)[0]
    found = trace(s.name, golden["shape"], elements=False)
    all_blocks = len({a.block for a in found.accesses}) < touches.BLOCKS or s.name[:2] in ("04", "05", "06", "07")
    counted = collections.Counter()
    for a in found.accesses:
        if a.memory == "shared":
            counted[a.text, a.kind, a.bytes, "n"] += 1
            counted[a.text, a.kind, a.bytes, "cost"] += touches.cycles(a)
    for line in golden["lines"]:
        if line["memory"] == "shared":
            n, cost = (counted[line["text"], line["operation"], line["bytes"], x] for x in ("n", "cost"))
            expect(f"{s.name}: wavefronts of {line['text']}", n > 0 and cost * line["instructions"] == line["cost"] * n
                   and (not all_blocks or cost == line["cost"]), (n, cost, line))
    if all_blocks:
        served = sum(c[3] for c in touches.copies(found))
        expect(f"{s.name}: sectors of copies", served == golden["sums"]["copy_sectors"], served)


def content():
    for s in (s for s in steps if s.track == "gemm"):
        tiles(s)
        if s.name[:2] in ("05", "06"):
            costs(s)
    alt = {name: re.search("<desc[^>]*>(.*?)</desc>", course.read(f"docs/pictures/{name}.svg"))[1]
           for name in ("04_regblock_banks", "05_wmma_banks", "06_wmma_db_banks")}
    for name, words in (("04_regblock_banks", "reads A as in 04_no_pad: 4 wavefronts; reads A: 2 wavefronts; reads B as in "
                         "04_lanes_in_rows: 4 wavefronts; reads B: 2 wavefronts"),
                        ("05_wmma_banks", "reads B as in 05_no_pad: 4 wavefronts; reads B: 1 wavefront; "
                         "reads A: 4 wavefronts; reads A as in 05_pad_a: 1 wavefront"),
                        ("06_wmma_db_banks", "copies A: 16 sectors; copies A as in 06_pad_a: 24 sectors")):
        expect(name, words in alt[name], alt[name])

    # Fragments: every element once, as many for each lane.
    wmma = next(s for s in steps if s.name == "05_wmma")
    for operand, count, size in ("A", 4, 16 * 8), ("B", 4, 8 * 16), ("C", 4, 16 * 16):
        held = pictures.fragment(trace(wmma.name, size_of(wmma)), operand, operand, count)
        lanes = collections.Counter(held.values())
        expect(f"fragment of {operand}", len(held) == size and set(lanes.values()) == {size // 32}, lanes)

    # Stages: a K-tile is copied, waited for, and multiplied where it lies; meanwhile the next is in flight to the other.
    for s in (s for s in steps if s.name[:2] in ("06", "07")):
        found = touches.phases(trace(s.name, size_of(s)), pictures.constants(s.kernel)["BK"])
        told = [(p.kind, p.stage, p.tile) for p in found]
        wanted = [("copy", 0, 0)]
        for k in range(3):
            wanted += [("wait", None, None), ("barrier", None, None)]
            wanted += [("copy", (k + 1) % 2, k + 1)] * (k < 2) + [("multiply", k % 2, k)]
        expect(s.name, told == wanted, told)

    # The command's own refusals.
    for arguments, status, words in ((["--help"], 0, "usage: build/picture"),
                                     (["99"], 2, "STEP 99: no such step; allowed: 01_naive"),
                                     (["06", "/nonexistent/x.cu"], 2, "/nonexistent/x.cu: No such file"),
                                     (["06", source], 2, "not a file"), (["06", "--out", "/dev/null/x"], 2, "--out"),
                                     (["06", "x.cu", "y.cu"], 2, "y.cu"), ([], 2, "STEP")):
        run(arguments, status, words)


def run(arguments, status, words):
    done = subprocess.run([f"{build}/picture", *arguments], capture_output=True, text=True)
    expect(f"build/picture {arguments}", done.returncode == status and words in done.stdout + done.stderr
           and "Traceback" not in done.stderr, (done.returncode, done.stdout, done.stderr))
    return done


def write(name, text):
    path = os.path.join(folder.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def file():
    """A student's kernel file: the step's own gives the committed pictures; a wrong one none, and build/check's words."""
    out = os.path.join(folder.name, "out")
    for s in steps:
        run([s.name, f"{source}/{s.kernel}", "--out", out], 0, f"{s.name}_")
        for row in pictures.pictures_of(s.name):
            name = f"{s.name}_{row['picture']}.svg"
            with open(os.path.join(out, name), encoding="utf-8") as drawn:
                expect(name, drawn.read() == course.read(f"docs/pictures/{name}"), "differs from the committed one")
    for s in (s for s in steps if s.track == "gemm" and s.name[:2] > "02"):
        costs(s)
    tiled = course.read("steps/03_tiled/kernel.cu")
    none = os.path.join(folder.name, "none")
    run(["03", write("wrong.cu", tiled.replace("*acc += ", "*acc -= ")), "--out", none], 1, "wrong values")
    run(["03", write("empty.cu", ""), "--out", none], 1, "is empty: it must define gemm()")
    run(["03", write("odd.cu", tiled.replace("BM = 16,", "BM = (int)sizeof(float) * 4,")), "--out", none], 2, "odd.cu: BM: ")
    expect("no picture of a wrong kernel", not os.path.exists(none))
    done = run(["06", f"{source}/steps/05_wmma/kernel.cu", "--out", out], 0, "06_wmma_db_tiles.svg")
    expect("no stages", "06_wmma_db_stages.svg: not drawn: it has no asynchronous copies" in done.stderr, done.stderr)


{"fresh": fresh, "content": content, "file": file}[group]()
end()
