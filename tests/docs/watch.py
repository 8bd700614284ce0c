"""The pictures of traces, docs/pictures/watch_*.svg: fresh, on a page, and of all that happens.

watch.py DOCS
"""
import os
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1], os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
import watch
from course import read, step
from findings import check, end


def covered(run):
    """Multiplies that copies to another stage are in flight over, of all of a warp's."""
    boxes = [s for s in watch.folded(run.warps[0]) if "multiply" in s.kinds]
    over = [s for s in boxes if any(a <= s.at and s.end <= b and stage != s.stage for a, b, stage in run.groups)]
    return len(over), len(boxes)


drawn = {s.name: watch.runs_of(s) for s in watch.watched()}
check("a picture of every step with tiles in shared memory", list(drawn) == [
    "03_tiled", "04_regblock", "05_wmma", "06_wmma_db", "07_fp32_db", "08_reduction_async", "09_scan_async"], list(drawn))
for name, runs in drawn.items():
    path = watch.picture_of(step(name))
    check(path, not watch.stale(step(name), runs), "stale; docs/watch.py draws it anew")
    check(f"{path}: on its page", f"../pictures/{os.path.basename(path)})" in read(step(name).page))
    check("step and base", [r.kernel for r in runs] == [step(name).kernel, step(name).base_kernel], [r.kernel for r in runs])
    for run in runs:
        for spans in run.warps:
            boxes = watch.folded(spans)
            check(f"{run.name}: no gap", all(a.end == b.at for a, b in zip(boxes, boxes[1:]))
                  and (boxes[0].at, boxes[-1].end) == (spans[0].at, spans[-1].end), [(s.at, s.end) for s in boxes])
            for box in boxes:
                inside = {s.kind for s in spans if box.at <= s.at < box.end}
                check(f"{run.name}: kinds of a box", set(box.kinds) == inside, (box.kinds, inside))
    picture = xml.etree.ElementTree.fromstring(read(path))
    wide = float(picture.get("viewBox").split()[2])
    words = [t for t in picture.iter("{http://www.w3.org/2000/svg}text")]
    check(f"{path}: no time", any("not time" in t.text for t in words))
    for rect in picture.iter("{http://www.w3.org/2000/svg}rect"):
        right = float(rect.get("x", 0)) + float(rect.get("width"))
        check(f"{path}: a box", float(rect.get("width")) >= 0 and right <= wide, rect.attrib)
    for text in words:
        check(f"{path}: '{text.text}'", len(text.text) * 5.6 + float(text.get("x")) <= wide + 4, text.attrib)

# 06 and 07 copy over every multiply but the last; their bases copy nothing.
check("06", covered(drawn["06_wmma_db"][0]) == (5, 6), covered(drawn["06_wmma_db"][0]))
check("07", covered(drawn["07_fp32_db"][0]) == (2, 3), covered(drawn["07_fp32_db"][0]))
check("05", covered(drawn["06_wmma_db"][1]) == (0, 6), covered(drawn["06_wmma_db"][1]))
# The one stage of a step without copies is what it fills from global memory; not the staging buffer of C.
stores = [s.stage for s in drawn["05_wmma"][0].warps[1] if s.kind in ("store shared", "multiply", "mma", "load shared")]
check("stage 0 of 05", stores[:7] == [0] * 7 and stores[-1] is None, stores)
check("no stage in 08's baseline", drawn["08_reduction_async"][1].stages == 0)
# The function that a line belongs to.
of_line = watch.functions("steps/06_wmma_db/kernel.cu")
lines = read("steps/06_wmma_db/kernel.cu").splitlines()
for function, words in (("multiply", "wmma::mma_sync"), ("gemm_kernel", "__pipeline_wait_prior"),
                        ("load_stage", "__pipeline_commit"), ("store", "wmma::store_matrix_sync"),
                        ("gemm", "cudaGetLastError")):
    at = next(i for i, line in enumerate(lines, 1) if words in line and not line.lstrip().startswith("//"))
    check(f"function of line {at}", of_line.get(at) == function, of_line.get(at))
check("a line of no function", 2 not in of_line)
end()
