#!/usr/bin/env python3
"""Tests build/check and build/start: check_test.py BUILD GROUP. A group is a function test_GROUP below; right.STEP and
traps.STEP take a step. Files of students are made here, of the steps, by edits and by the planted bugs."""
import csv
import glob
import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD, GROUP = os.path.abspath(sys.argv[1]), sys.argv[2]
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETTINGS = os.path.join(BUILD, "generated", "course.json")
CHECK, START = os.path.join(BUILD, "check"), os.path.join(BUILD, "start")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "common", "tools"))
import check
import words

FOLDER = tempfile.mkdtemp(prefix="overlap-check-test-")
TEMPORARY = os.path.join(FOLDER, "tmp")  # where build/check may write
bad = []


def run(*command, **more):
    environment = dict(os.environ, TMPDIR=TEMPORARY, **more.pop("env", {}))
    done = subprocess.run(command,
                          stdin=subprocess.DEVNULL,
                          capture_output=True,
                          text=True,
                          errors="replace",
                          cwd=FOLDER,
                          env=environment,
                          **more)
    left = os.listdir(TEMPORARY)
    if left:
        bad.append(f"{command}: left {left} in the temporary folder")
    return done


def expect(status, patterns, *command, **more):
    """Runs a command: its exit status, and what must be found in what it says."""
    done = run(*command, **more)
    said = done.stdout + done.stderr
    print(f"$ {' '.join(command)}\n{said}", flush=True)
    if done.returncode != status:
        bad.append(f"{' '.join(command)}: exit status {done.returncode}, wanted {status}")
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if not re.search(pattern, said):
            bad.append(f"{' '.join(command)}: does not say '{pattern}'")
    return said


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def write(name, text):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def edited(name, *edits, step="06_wmma_db"):
    """A step's kernel with edits (old, new); each must apply."""
    text = read(f"steps/{step}/kernel.cu")
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return write(name, text)


def line_of(name, text):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if text in line)


def patched(diff, name):
    """A step's kernel with a diff applied, and the diff's header."""
    with open(diff, encoding="utf-8") as file:
        header = dict(re.match(r"(\w+): (.*)", line).groups() for line in file.read().split("\n\n")[0].splitlines())
    path = os.path.join(FOLDER, name)
    subprocess.run([
        check.Build(SETTINGS).cmake, f"-DORIGINAL={SOURCE}/steps/{header['Step']}/kernel.cu", f"-DDIFF={diff}",
        f"-DOUT={path}", "-P", f"{SOURCE}/tests/diffs/apply_diff.cmake"
    ],
                   check=True)
    assert not os.path.exists(path + ".stale"), diff
    return header


HOST = "    unsigned blocks = "  # where a step's host code computes
KERNEL = re.search(r" *FragC acc\[.*\];\n", read("steps/06_wmma_db/kernel.cu"))[0]  # where its kernel begins
LOADS = re.search(r"void (load_\w+\()", read("steps/06_wmma_db/kernel.cu"))[1]  # a function of its


def test_usage():
    right = os.path.join(SOURCE, "steps/06_wmma_db/kernel.cu")
    expect(0, ["exit status: 0 right, 1 wrong, 2", "--csv FILE"], CHECK, "--help")
    expect(2, "required: STEP, FILE", CHECK)
    expect(2, "required: FILE", CHECK, "06")
    expect(2, "STEP 99: no such step; allowed: 01_naive, 02_cache", CHECK, "99", right)
    expect(2, "STEP 06_wmma: no such step", CHECK, "06_wmma", right)
    expect(2, "none.cu: No such file or directory", CHECK, "06", "none.cu")
    os.mkdir(os.path.join(FOLDER, "folder"))
    expect(2, "folder: not a file; wanted: a kernel file, or --csv FILE", CHECK, "06", "folder")
    expect(2, "folder: no .cu file in it", CHECK, "06", "folder", "--csv", "-")
    expect(2, "/dev/null: not a file", CHECK, "06", "/dev/null")
    expect(2, "b.cu: not allowed; allowed: one file, or several with --csv", CHECK, "06", "a.cu", "b.cu")
    expect(2, "--trace t.json: not allowed with --csv", CHECK, "06", right, "--csv", "-", "--trace", "t.json")
    expect(2, "--timeout 0: not allowed; allowed: seconds from 1 to 3600", CHECK, "06", right, "--timeout", "0")
    expect(2, "unrecognized arguments: --frob", CHECK, "06", right, "--frob")
    expect(2, "--schedule x: not allowed; allowed: forward-late", CHECK, "06", right, "--schedule", "x")
    expect(2, r"--n \(missing\): not allowed", CHECK, "06", right, "--m", "3")
    expect(2, "--csv /nonexistent/x.csv: No such file", CHECK, "06", right, "--csv", "/nonexistent/x.csv")
    # The pages that are named exist, with the sections.
    pages = {page for _, page in words.FAULTS.values()} | set(words.JUDGE.values()) | {words.RULES, words.DEVICE}
    for step in sorted(os.listdir(os.path.join(SOURCE, "steps"))):
        if os.path.isdir(os.path.join(SOURCE, "steps", step)):
            pages.add(f"docs/steps/{step}.md#{words.section(check.Build(SETTINGS).steps[step]['base'])}")
    for page in pages - {"{step}"}:
        path, _, anchor = page.partition("#")
        titles = {
            re.sub(r"[^\w\- ]", "", t).strip().lower().replace(" ", "-")
            for t in re.findall(r"^#+ (.*)$", read(path), re.M)
        }
        if anchor and anchor not in titles:
            bad.append(f"{page}: no such section")


def test_first():
    """One answer of each kind, so that something is tested where the others are not run."""
    expect(1, ["x.cu: compiler errors", rf"x.cu:\d+:\d+: error: .*{LOADS[:-1]}"], CHECK, "06",
           edited("x.cu", ("static __device__ void " + LOADS, "static __device__ void lode(")))
    loop = edited("x.cu", (KERNEL, KERNEL + "    for (volatile int i = 0; i >= 0; i = 1); // for ever\n"))
    expect(1, ["x.cu: an endless loop\n", f"x.cu:{line_of(loop, 'for ever')}: ", "Repeat just this: "], CHECK, "06", loop,
           "--timeout", "1")
    # These two answers are shown on a page.
    write("mine/06_wmma_db.cu", "")
    patched(os.path.join(SOURCE, "tests/diffs/traps/06_no_wait.diff"), "mine/06_wmma_db.cu")
    said = expect(1, "a missing or misplaced wait", CHECK, "06", "mine/06_wmma_db.cu")
    run(START, "06", "--to", FOLDER)
    said += expect(0, r"is the copy asynchronous", CHECK, "06", "06_wmma_db.cu")
    for block in re.findall("```console\n(.*?)```", read("docs/teaching.md"), re.S):
        bad.extend(f"docs/teaching.md: not said: {line}" for line in block.splitlines() if line not in said)


def test_compile():
    expect(1, [
        "empty.cu: no entry symbol",
        r"empty.cu is empty: it must define gemm\(\) with the parameters that common/track/gemm/gemm.h"
    ], CHECK, "06", write("empty.cu", ""))
    expect(1, r"x.cu does not define gemm\(\)", CHECK, "06", edited("x.cu", ('"scan.h"', f'"{SOURCE}/common/track/scan/scan.h"'), step="09_scan_async"))
    expect(1, r"x.cu does not define scan_workspace\(\) with the parameters that common/track/scan/scan.h declares", CHECK, "9",
           edited("x.cu", ("scan_workspace(", "scan_space("), step="09_scan_async"))
    expect(1, r"x.cu does not define gemm\(\) with the parameters", CHECK, "06",
           edited("x.cu", ("cudaError_t gemm(int M,", "cudaError_t gemm(long M,")))
    expect(1, ["linker errors", "multiple definition of .main", r" x.cu:\d+: first defined here"], CHECK, "06",
           edited("x.cu", ("cudaError_t gemm(", "int main() {}\ncudaError_t gemm(")))
    # What stands beside the file can be included, wherever it is; the name may be any.
    write("a b/help me.h", "enum { DEPTH = 16 };\n")
    said = expect(
        0, "a b/it's.cu: right", CHECK, "06",
        edited("a b/it's.cu", ("#include <mma.h>", '#include "help me.h"\n#include <mma.h>'),
               ("BK = 16,", "BK = DEPTH,")))
    if "warns" in said:
        bad.append("a warning where there is none")
    said = expect(0, ["The compiler warns:", r"x.cu:\d+:\d+: warning: unused variable .unused"], CHECK, "06",
                  edited("x.cu", (HOST, "    int unused;\n" + HOST)))


def test_crash():
    """Faults, crashes and loops that do not end: each with the line."""
    def at(name, text):
        return rf"{name}:{line_of(name, text)}: "

    def case(kind, mark, *edits, more=(), seconds=5):
        name = edited("x.cu", *edits)
        line = at(name, mark) if mark else ""
        return expect(1, [f"x.cu: {kind}", line, "Repeat just this: .*check'? .* x.cu --", "Read: ", *more], CHECK, "06",
                      name, "--timeout", str(seconds))

    told = ["Which loop around this line does not end", "This was at M = ", "--timeout 1"]
    case("an endless loop\n", "for ever", (KERNEL, KERNEL + "    for (volatile int i = 0; i >= 0; i = 1); // for ever\n"),
         more=["still running after 1 s", *told], seconds=1)
    case("an endless loop in host code", "for ever", (HOST, "    while (M > 0); // for ever\n" + HOST), more=told, seconds=1)
    case("an endless loop in host code", "for ever", ("#include <mma.h>", "#include <unistd.h>\n#include <mma.h>"),
         (HOST, "    while (M > 0) usleep(100); // for ever\n" + HOST), more=told, seconds=1)
    case("a null pointer", "nullptr", (KERNEL, KERNEL + "    *(volatile float *)nullptr = 1;\n"))
    case("a stray access", "stray", (KERNEL, KERNEL + "    C[-100000 + (int)threadIdx.x] = 1; // stray\n"))
    case("a stack overflow", "", (KERNEL, KERNEL + "    volatile float big[100000];\n    big[threadIdx.x] = 1;\n"))
    case("a division by zero\n", "5 % zero", (KERNEL, KERNEL + "    volatile int zero = 0;\n    C[0] = 5 % zero;\n"))
    case("a null pointer in host code",
         "hosted", (HOST, "    if (M == 35) *(volatile int *)nullptr = 1; // hosted\n" + HOST),
         more=["at M = 35, N = 79, K = 19"])
    case("a failed assertion in host code", "throw", (HOST, "    if (M == 35) throw 5;\n" + HOST))
    case("an early end", "", ("#include <mma.h>", "#include <stdlib.h>\n#include <mma.h>"),
         (HOST, "    exit(0);\n" + HOST))
    case("a launch that was refused", "<<<blocks", ("<<<blocks, THREADS,", "<<<blocks, 2048,"), more=["a block of 2048 x 1 x 1 threads"])
    case("a grid of too many blocks", "<<<blocks", ("<<<blocks, THREADS,", "<<<blocks * 1000000, THREADS,"), seconds=1)
    case("a barrier that not all threads of the block reach",
         "__syncthreads(); // odd",
         ("        __syncthreads();\n",
          "        if (threadIdx.x % 2)\n            __syncthreads(); // odd\n        else\n"
          "            __syncthreads(); // even\n"),
         more=["divergent barrier", r"\d+ \| __syncthreads\(\); // even"])
    case("too much output",
         "", ("#include <mma.h>", "#include <stdio.h>\n#include <mma.h>"),
         (KERNEL, KERNEL + '    for (;;)\n        printf("hello\\n");\n'),
         more=["more than 64 MB", "It printed:\nhello\n"])
    # What a kernel prints is shown, and is no result.
    case("wrong values", "", ("#include <mma.h>", "#include <stdio.h>\n#include <mma.h>"),
         (HOST, '    printf("step,status\\n06_wmma_db,verified\\n");\n    if (M == 35) return cudaSuccess;\n' + HOST),
         more=["never written", "It printed:\nstep,status\n06_wmma_db,verified"])
    case("inputs that are not rounded to TF32\n", "wmma::mma_sync", ("= wmma::__float_to_tf32(b[j].x[e])", "= b[j].x[e]"),
         more=["__float_to_tf32.. of every"])


def test_compare():
    """Right kernels that differ from the step."""
    run(START, "06", "--to", FOLDER)
    expect(0, [
        "right",
        r"Your kernel moves 376,832 bytes to shared memory through registers, and none by asynchronous copies; "
        r"06_wmma_db moves 131,072 .*: is the copy asynchronous", "the same as 05_wmma in everything: as if nothing",
        r"groups in flight in a multiply +0 +1 +0\n"
    ], CHECK, "06", "06_wmma_db.cu")
    for name, says in [("variants/06_one_buffer", "nothing overlaps.*--trace FILE"),
                       ("variants/06_waits_at_once", "nothing overlaps"),
                       ("variants/06_no_pad", "More cycles go to bank conflicts: .*Padding"),
                       ("variants/06_bk_8", "More block barriers: .* made one"),
                       ("variants/06_copy_4", "Fewer bytes are copied at once on average: 4.0, 06_wmma_db 16.0"),
                       ("solutions/06_three_*",
                        "More groups of copies are in flight while your kernel computes: 2, 06_wmma_db 1")]:
        patched(glob.glob(os.path.join(SOURCE, "tests/diffs", name + ".diff"))[0], "x.cu")
        expect(0, ["right", says], CHECK, "06", "x.cu")
    run(START, "05", "--to", FOLDER)
    expect(1, ["wrong values", "integers only once they are rounded to TF32"], CHECK, "05", "05_wmma.cu")
    run(START, "08", "--to", FOLDER)
    expect(0, ["as the baseline in everything: as if nothing", "237 bytes .* is the copy asynchronous"], CHECK, "08",
           "08_reduction_async.cu")
    expect(0, "right", CHECK, "06", "06_wmma_db.cu", "--trace", "t.json", "--shape", "128x64x32")
    with open(os.path.join(FOLDER, "t.json"), encoding="utf-8") as file:
        if json.load(file)["runs"][0]["shape"] != "128x64x32":
            bad.append("t.json: is of another size")
    expect(2, "--trace /nonexistent/t: No such file", CHECK, "06", "06_wmma_db.cu", "--trace", "/nonexistent/t")
    # Only the path for rows that start anywhere still is the old one.
    old = read("steps/05_wmma/kernel.cu")
    line = next(l for l in old.splitlines() if "tile[r * pitch + c] = in ?" in l)
    copy = re.search(r" *__pipeline_memcpy_async\(&tile\[r \* pitch \+ c\], in \?.*?;",
                     read("steps/06_wmma_db/kernel.cu"), re.S)[0]
    expect(0, r"At M = 33, N = 40, K = 129, rows padded by 1: .*is the copy asynchronous", CHECK, "06",
           edited("x.cu", (copy, line)))


def test_sizes():
    """Bugs that only some sizes show: those of a counting run, of several tiles, and of several tiles of one block."""
    name = edited("x.cu", (HOST, "    if (N == 40 && K == 129) return cudaErrorInvalidValue;\n" + HOST))
    expect(1, ["x.cu: a call that failed", "Repeat just this: .* --m 33 --n 40 --k 129 --pad 1"], CHECK, "06", name)
    name = edited("x.cu", ("volatile tile_status *", "tile_status *"), step="09_scan_async")
    expect(1, ["x.cu: a race", f"x.cu:{line_of(name, 'status[at')}: race in device memory"], CHECK, "09", name)
    name = edited("x.cu", ("ticket = atomicAdd(tickets, 1);", "ticket = (*tickets)++;"), step="09_scan_async")
    expect(1, ["x.cu: a race", f"x.cu:{line_of(name, '(*tickets)++')}: race in device memory"], CHECK, "09", name)
    for old, new in [("buf = (buf + 1) % STAGES", "buf = buf % STAGES"), ("tile += gridDim.x", "tile += gridDim.x + 1"),
                     ("tile + (size_t)STAGES * gridDim.x", "tile + (size_t)gridDim.x"),
                     ("add_tile(&acc, v);", "add_tile(&acc, v); if (tile >= gridDim.x) break;")]:
        expect(1, ["x.cu: wrong values", "This was at n = 6500003"], CHECK, "08", edited("x.cu", (old, new), step="08_reduction_async"))


def test_solutions():
    """Every solution of an exercise is a right kernel of its step, and not the step itself."""
    for diff in sorted(glob.glob(os.path.join(SOURCE, "tests/diffs/solutions/*.diff"))):
        step = patched(diff, "x.cu")["Step"]
        said = expect(0, ["x.cu: right"], CHECK, step, "x.cu")
        if f"counts the same as {step} in everything" in said:
            bad.append(f"{diff}: nothing differs")


def test_repeat():
    """What is named is repeated by the command that is named."""
    for diff in ("06_never_flips", "06_misaligned_copy", "08_tail_dropped", "09_no_wait"):
        header = patched(os.path.join(SOURCE, "tests/diffs/traps", diff + ".diff"), "x y.cu")
        first = expect(1, ["Repeat just this: "], CHECK, header["Step"], "x y.cu")
        command = re.search("Repeat just this: (.*)", first)[1]
        print(f"$ {command}")
        again = subprocess.run(["sh", "-c", command], cwd=FOLDER, capture_output=True, text=True)
        print(again.stdout)
        if again.returncode != 1 or again.stdout.splitlines()[0] != first.splitlines()[0] or \
                re.search("This was at (.*)", again.stdout)[1] != re.search("This was at (.*)", first)[1]:
            bad.append(f"{command}: not the same failure")


def newest(*roots):
    """All files and folders, with what changes when they are written."""
    seen = {}
    for root in roots:
        for folder, folders, names in os.walk(root):
            for name in folders + names:
                path = os.path.join(folder, name)
                if not path.startswith((TEMPORARY, os.path.join(BUILD, "Testing"))):
                    seen[path] = os.lstat(path).st_mtime_ns
    return seen


def test_traces():
    """Nothing is written but in the temporary folder, which is emptied, whatever the end; a read-only folder will do."""
    edited("in/x.cu")
    edited("in/loop.cu", (KERNEL, KERNEL + "    for (volatile int i = 0; i >= 0; i = 1);\n"))
    edited("in/crash.cu", (HOST, "    *(volatile int *)nullptr = 1;\n" + HOST))
    os.chmod(os.path.join(FOLDER, "in"), 0o555)
    roots = [
        FOLDER,
        os.path.join(SOURCE, "common"),
        os.path.join(SOURCE, "steps"),
        os.path.join(SOURCE, "docs"),
        os.path.join(BUILD, "generated"),
        os.path.join(BUILD, "CMakeFiles"),
        os.path.join(BUILD, "cpu")
    ]
    before = newest(*roots)
    expect(0, "right", CHECK, "06", "in/x.cu")
    expect(1, "a null pointer in host code", CHECK, "06", "in/crash.cu")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for seconds in (0.2, 0.6, 2.5):
            process = subprocess.Popen([CHECK, "06", "in/loop.cu", "--timeout", "60"],
                                       cwd=FOLDER,
                                       stdout=subprocess.DEVNULL,
                                       env=dict(os.environ, TMPDIR=TEMPORARY))
            time.sleep(seconds)
            process.send_signal(number)
            process.wait(30)
            # Before Python is ready, an interrupt ends it in a way of its own.
            early = seconds == 0.2 and process.returncode != 0
            if not early and process.returncode not in (128 + number, -number) or os.listdir(TEMPORARY):
                bad.append(
                    f"signal {number} after {seconds} s: status {process.returncode}, left {os.listdir(TEMPORARY)}")
    for name in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(name, "rb") as file:
                if TEMPORARY.encode() in file.read():
                    bad.append(f"{name} still runs")
        except OSError:
            pass  # it has ended
    after = newest(*roots)
    bad.extend(f"{path} was written"
               for path in sorted(set(before) ^ set(after) | {p
                                                              for p in before
                                                              if before[p] != after.get(p)}))
    os.chmod(os.path.join(FOLDER, "in"), 0o755)


def test_grade():
    """One command for a folder: a row for each file, whatever becomes of the others."""
    edited("all/ann/kernel.cu")
    write("all/bob/kernel.cu", "")
    patched(os.path.join(SOURCE, "tests/diffs/traps/06_no_wait.diff"), "all/cem/kernel.cu")
    edited("all/dan.cu", (KERNEL, KERNEL + "    for (volatile int i = 0; i >= 0; i = 1);\n"))
    write("all/eve, 2nd try.cu", "int x\n")
    os.symlink("nowhere", os.path.join(FOLDER, "all/fay.cu"))
    run(START, "06", "--to", os.path.join(FOLDER, "all/gus"))
    write("all/notes.txt", "not a kernel")
    said = expect(1, ["^all/ann/kernel.cu: right\n", "2 right, 4 wrong, 1 not checked"], CHECK, "06", "all",
                  "--csv", "grades.csv", "--timeout", "2")
    with open(os.path.join(FOLDER, "grades.csv"), newline="", encoding="utf-8") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    wanted = {
        "all/ann/kernel.cu": ("right", "yes", "yes", ""),
        "all/bob/kernel.cu": ("wrong", "no", "no", "no entry symbol"),
        "all/cem/kernel.cu": ("wrong", "yes", "no", "a missing or misplaced wait or barrier"),
        "all/dan.cu": ("wrong", "yes", "no", "an endless loop"),
        "all/eve, 2nd try.cu": ("wrong", "no", "no", "compiler errors"),
        "all/fay.cu": ("not checked", "no", "no", "not checked"),
        "all/gus/06_wmma_db.cu": ("right", "yes", "yes", "")
    }
    for name, cells in wanted.items():
        got = tuple(rows.get(name, {}).get(c) for c in ("verdict", "compiled", "verified", "failure"))
        if got != cells:
            bad.append(f"{name}: {got}, wanted {cells}")
    if set(rows) != set(wanted):
        bad.append(f"rows for {sorted(rows)}")
    cem = rows["all/cem/kernel.cu"]
    if str(line_of("all/cem/kernel.cu", "wmma::load_matrix_sync(a")) not in cem["lines"].split() or cem["size"] != "M = 35, N = 79, K = 19" \
            or "schedule" not in cem["repeat"] or "race in smem" not in cem["what"]:
        bad.append(f"cem: {cem}")
    if rows["all/gus/06_wmma_db.cu"]["groups in flight in a multiply"] != "0" or "asynchronous" not in rows[
            "all/gus/06_wmma_db.cu"]["remarks"]:
        bad.append(f"gus: {rows['all/gus/06_wmma_db.cu']}")
    done = run(CHECK, "06", "all/ann", "--csv", "-")
    if done.returncode != 0 or len(list(csv.DictReader(io.StringIO(
            done.stdout)))) != 1 or "1 right" not in done.stderr:
        bad.append(f"--csv -: {done}")


def test_start():
    for step in sorted(os.listdir(os.path.join(SOURCE, "steps"))):
        if not os.path.isdir(os.path.join(SOURCE, "steps", step)):
            continue
        if step.startswith("01"):
            expect(2, "STEP 01_naive: not allowed; it builds on no other", START, step, "--to", "to")
            continue
        said = expect(0, [f"^to/{step}.cu: ", f"check'? {step} to/{step}.cu"], START, step[:2], "--to", "to")
        base = re.search(r": (steps/\S+), to be", said)[1]
        with open(os.path.join(FOLDER, "to", f"{step}.cu"), encoding="utf-8") as file:
            task, _, rest = file.read().partition("\n\n")
        if rest != read(base):
            bad.append(f"{step}: not the base's kernel below the task")
        lines = task.splitlines()
        if not 3 <= len(lines) <= 8 or any(not l.startswith("// ") or re.search(r"[`*]|\]\(", l) for l in lines) or \
                any(len(l) > 100 for l in lines[:-1]) or f"into {step}" not in " ".join(l[3:] for l in lines):
            bad.append(f"{step}: the task: {task}")
    for rung, base, before in ((1, "04_1", "steps/03_tiled/kernel.cu"), (2, "04_2", "rungs/04_1_*/kernel.cu")):
        expect(0, rf"^to/04_regblock_rung{rung}.cu: 0\w+, to be turned into {base}_\w+. Check it: .* 04_regblock to/", START, "04",
               "--rung", str(rung), "--to", "to")
        found = glob.glob(os.path.join(SOURCE, before)) + glob.glob(os.path.join(BUILD, before))
        with open(os.path.join(FOLDER, f"to/04_regblock_rung{rung}.cu"), encoding="utf-8") as file:
            task, _, rest = file.read().partition("\n\n")
        with open(found[0], encoding="utf-8") as file:
            if rest != file.read():
                bad.append(f"rung {rung}: not the kernel of {before} below the task")
        if not re.match(rf"// Your task: rung {rung} of \d+ to 04_regblock: a thread computes", task):
            bad.append(f"rung {rung}: the task: {task}")
    expect(2, r"--rung 99: no such rung; allowed: 1 to \d+, the rungs of 04_regblock", START, "04", "--rung", "99", "--to", "to")
    expect(2, "--rung 1: not allowed; 06_wmma_db has no rungs; allowed: those of 02_cache, ", START, "06", "--rung", "1")
    for name in [n for n in sorted(os.listdir(os.path.join(SOURCE, "tests/diffs/rungs"))) if "_baseline_1_" in n]:
        expect(2, rf"--rung 1: not allowed; it starts from nothing: read tests/diffs/rungs/{name}; allowed: 2 to \d", START, name[:2],
               "--rung", "1", "--to", "to")
    odd = os.fsencode(FOLDER) + b"/to-\xff"  # no UTF-8
    done = subprocess.run([START, "06", "--to", odd], capture_output=True)
    if done.returncode != 0 or b"/to-\xff/06_wmma_db.cu" not in done.stdout or not os.path.exists(odd + b"/06_wmma_db.cu"):
        bad.append(f"a name that is no UTF-8: {done}")
    write("to/07_fp32_db.cu", "mine\n")
    expect(2, "to/07_fp32_db.cu: is there already, and was left alone", START, "07", "--to", "to")
    with open(os.path.join(FOLDER, "to/07_fp32_db.cu"), encoding="utf-8") as file:
        if file.read() != "mine\n":
            bad.append("a student's file was overwritten")
    expect(2, "name a folder that can be written", START, "06", "--to", "to/07_fp32_db.cu/below")
    expect(2, "STEP none: no such step", START, "none")
    expect(0, "exit status: 0 the file is there", START, "--help")
    if "/mine/" not in read(".gitignore").splitlines():
        bad.append("git does not ignore mine/")


def test_mine():
    """CTest takes what stands in the folder when it runs."""
    write("tests/CTestTestfile.cmake", f'include("{BUILD}/tests/tools/mine.cmake")\n')
    mine, tests = os.path.join(FOLDER, "mine"), os.path.join(FOLDER, "tests")
    expect(0, "No tests were found", "ctest", "--test-dir", tests, env={"OVERLAP_MINE": mine})
    edited("mine/06_wmma_db.cu")
    edited("mine/8 wrong.cu", ("i * THREADS", "i"), step="08_reduction_async")
    write("mine/what.cu", "")
    expect(8, [
        r"mine\.06_wmma_db \.+ +Passed", r"mine\.8 wrong \.+\*+Failed", r"mine\.what \.+\*+Failed",
        "8 wrong.cu: (wrong|a)", "STEP what: no such step", r"mine += .*\(3 tests\)"
    ],
           "ctest",
           "--test-dir",
           tests,
           "--output-on-failure",
           "-L",
           "mine",
           env={"OVERLAP_MINE": mine})


def test_gpu():
    """Without a GPU, why it cannot be run; and what is made of a GPU program's rows, which are made up here."""
    right = os.path.join(SOURCE, "steps/06_wmma_db/kernel.cu")
    done = run(CHECK, "06", right, "--gpu")
    print(done.stdout, done.stderr)
    if done.returncode == 2:
        if not re.search(
                "--gpu: (there is no GPU program of 06_wmma_db: built without CUDA|it compiles, but cannot be run here: no GPU)",
                done.stderr) or "right" not in done.stdout:
            bad.append("does not say why it cannot be run on a GPU")
        if run(CHECK, "06", right, "--gpu", "--csv", "-").returncode != 2:
            bad.append("--csv: right, though it was not run on a GPU")
    elif done.returncode != 0 or not re.search(r"\nbook +TFLOP/s +\d", done.stdout):
        bad.append("not timed on the GPU")
    expect(1, "x.cu: a copy that is never waited for", CHECK, "06",
           edited("x.cu", ("__pipeline_wait_prior(0)", "__pipeline_wait_prior(1)")), "--gpu")

    class Runner:
        folder, said = FOLDER, []

        def run(self, command, *_, **__):
            if os.path.basename(command[0]) == "gpu":
                status, err, found = self.said.pop(0)
                write(os.path.relpath(command[command.index("--json") + 1], FOLDER), json.dumps(found))
                return check.Result(status, "", err, False)
            if "-o" in command:
                write(os.path.relpath(command[command.index("-o") + 1], FOLDER), "")
            return check.Result(0, "", "", False)

    def row(shape, **more):
        return {"step": "yours", "device": "Made-up GPU", "shape": shape, "status": "verified", "rate": None} | more

    options = check.parse(["06", right, "--gpu"])
    build = check.Build(SETTINGS)
    build.command = lambda target, ending: (["true"], FOLDER)
    build.libraries["gpu"] = []
    build.steps["06_wmma_db"].update(missing="", objects={"gpu": []})
    one = check.Check(build, Runner(), None, options, "06_wmma_db", right)
    one.source = read("steps/06_wmma_db/kernel.cu").encode()
    verified = [(0, "", {"rows": [row(size) for size in one.expand(asked)]})
                for asked in ({"--shape": "test"}, one.shifted()[0])]
    timed = row("book", unit="TFLOP/s", rate=80, speedup=0.8, library=20)
    Runner.said = [*verified, (0, "", {"rows": [timed]})]
    verdict = words.Verdict("right", status=words.RIGHT)
    if one.on_gpu(verdict) is not None or not re.search(
            r"on Made-up GPU +unit +yours +06_wmma_db +yours / step +% of library\nbook +TFLOP/s +80.0 +100.0 +0.80 +20.0",
            "\n".join(words.tell(one, verdict))):
        bad.append(f"the GPU's figures: {words.tell(one, verdict)}")
    Runner.said = [(1, "", {"rows": [row("33x32x32", status="FAILED")], "faults": [fault(
        "judge.wrong_values", inputs="near-integer", schedule="hardware", repeat="yours --m 33 --n 32 --k 32 --seed 1",
        text="5 of 1056 wrong; first at row 3, column 4: got 7, wanted 8, bound 0")]})]
    wrong = one.on_gpu(words.Verdict("right"))
    said = "\n".join(words.tell(one, wrong)) if wrong else ""
    if not re.search(
            r"wrong values on the GPU\n(.*\n)+5 of 1056 .*row 3, column 4: got 7, wanted 8(.*\n)+.*--gpu --m 33 --n 32 --k 32",
            said):
        bad.append(f"a failure on the GPU: {said}")
    Runner.said = [(77, "no GPU: the driver lists none; the programs under cpu/ need none\n", {})]
    try:
        one.on_gpu(words.Verdict("right"))
        bad.append("skipped, and not said")
    except check.Cannot as error:
        if "cannot be run here: no GPU" not in str(error):
            bad.append(str(error))


def fault(identity, **more):
    """A record of a fault, see docs/records.md."""
    keys = "step shape inputs schedule place other thread block other_thread other_block memory text mend repeat".split()
    return {"id": identity} | dict.fromkeys(keys, "") | more


def test_records():
    """What is made of records, whatever their texts say: made-up programs, whose texts have quotes and no known word."""
    documented = re.findall(r"^\| `([\w.]+)`", read("docs/records.md"), re.M)
    bad.extend(f"docs/records.md: no id {identity}" for identity in words.FAULTS if "." in identity and identity not in documented)
    bad.extend(f"docs/records.md: no sum {key}" for key in words.SUMS if f"`{key}`" not in read("docs/records.md"))
    def told(*faults):
        return "\n".join(words.tell_faults(faults, "x.cu", "\n".join(f"text of {line}" for line in range(1, 9)).encode(), 5).text)

    def expect_told(said, *patterns):
        print(said)
        bad.extend(f"not told: {pattern}" for pattern in patterns if not re.search(pattern, said))

    by = {"thread": "(0,0,0)", "block": "(0,0,0)", "other_thread": "(32,0,0)", "other_block": "(0,0,0)"}
    race = fault("race.read_of_copy_in_flight", place="x.cu:7", other="x.cu:5", schedule="forward-late", mend="wait",
                 text="x.cu:7: \"blah\" at x.cu:5; here thread (0,0,0) of block (0,0,0), there thread (32,0,0) of block "
                 "(0,0,0); usual mend: wait [schedule forward-late]", **by)
    expect_told(told(race), '^x.cu:7: "blah" at line 5\n +7 \\| text of 7\n +5 \\| text of 5\n',
                r"Here: thread \(0,0,0\) of block .*There: thread \(32,0,0\)", "Usual mend: wait, and a barrier between")
    expect_told(told(fault("race.new_kind", text="zut"), fault("bounds.null", text="zat", place="b.h:3")), "^zat\nzut$")
    for identity, title in (("race.new_kind", "a missing barrier"), ("new", "a fault"), ("host.bounds.null",
                            "a null pointer in host code"), ("crash.timeout", "an endless loop")):
        expect_told(words.tell_faults([fault(identity)], "x.cu", b"", 5).kind, f"^{title}$")
    for identity, said in (("judge.nan", "puts nan wherever"), ("judge.slightly_wrong", "rounded to TF32"),
                           ("judge.bits_differ", "the order in which threads run"), ("judge.device_error", "gemm.. itself")):
        expect_told("\n".join(words.tell_wrong(fault(identity, inputs="near-integer"), "gemm", "gemm").text), said)
    for text, found in (("", {}), ('{"rows": [{"st', {}), ('{"rows": ["\\"\u00e9"]}', {"rows": ['"\u00e9']})):
        write("records.json", text)
        if check.records(os.path.join(FOLDER, "records.json")) != found:
            bad.append(f"records of {text}")


def test_right(step):
    """The step itself, in the time of 5 seconds on 2 cores."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    expect(0, [
        f"kernel.cu: right\n\nRight at .* under every schedule; no race at",
        f"counts the same as {step} in everything"
    ], CHECK, step, os.path.join(SOURCE, "steps", step, "kernel.cu"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{time.monotonic() - began:.1f} s, {cpu:.1f} s of CPU time")
    if cpu > 20:  # twice what 5 s on 2 cores are, for a slower machine
        bad.append(f"{cpu:.1f} s of CPU time")


def test_traps(step):
    """Every planted bug, handed in as a student's file."""
    headers = {}
    for diff in sorted(glob.glob(os.path.join(SOURCE, f"tests/diffs/traps/{step[:2]}_*.diff"))):
        name = os.path.basename(diff)[:-5]
        header = patched(diff, f"traps/{name}.cu")
        large = "1048577" in header.get("Run", "")
        if large:  # only such a size shows it, which takes too long for every file
            expect(1, "a launch that was refused", CHECK, step, f"traps/{name}.cu", *header["Run"].split())
        if large or header.get("Device") == "gpu":
            os.unlink(os.path.join(FOLDER, f"traps/{name}.cu"))
        else:
            headers[f"traps/{name}.cu"] = header
    done = run(CHECK, step, "traps", "--csv", "-")
    print(done.stdout, done.stderr)
    rows = {row["file"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    if done.returncode != 1 or set(rows) != set(headers):
        bad.append(f"exit status {done.returncode}, rows for {sorted(rows)}")
    kinds = {
        "no_wait": "(a (copy that is never waited for|missing or misplaced wait.*)|calls of a pipeline in the wrong order)",
        "not_committed": "a missing commit",
        "barrier_in_branch": "a barrier that not all threads of the block reach",
        "misaligned_copy": "a misaligned access",
        "no_barrier_after_load": "a missing barrier",
        "no_warp_barrier": "a missing barrier",
        "no_fence_before_count": "a race between blocks",
        "drops_": "(wrong values|a copy that is never waited for)",
        "never_flips": ".*(missing|wrong|overwrites).*",
        "tail_dropped": "wrong values",
        "no_tf32_conversion": "inputs that are not rounded to TF32"
    }
    for name, row in rows.items():
        header, slug = headers[name], name[9:-3]
        if row["verdict"] != "wrong" or row["compiled"] != "yes" or not row["size"] or not row["repeat"]:
            bad.append(f"{name}: {row['verdict']} at '{row['size']}', repeat '{row['repeat']}'")
        for kind, wanted in kinds.items():
            if slug.startswith(kind) and not re.fullmatch(wanted, row["failure"]):
                bad.append(f"{name}: {row['failure']}, wanted {wanted}")
        if "Race" in header and "wrong order" not in row["failure"]:  # one of the lines that race is named
            texts = re.findall(r"\{([^}]*)\}", header["Race"])
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                lines = file.read().splitlines()
            if not any(text in lines[int(n) - 1] for n in row["lines"].split() for text in texts):
                bad.append(f"{name}: names the lines {row['lines']}, none of which holds one of {texts}")


if __name__ == "__main__":
    os.mkdir(TEMPORARY)
    try:
        group, _, step = GROUP.partition(".")
        globals()[f"test_{group}"](*[step] * bool(step))
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
    for line in bad:
        print(f"FAILED: {line}")
    sys.exit(bool(bad))
