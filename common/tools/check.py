"""Checks a student's kernel file against a step's contract: build/check, which CMake makes.

The file is compiled for the CPU device in both flavours by the build's own commands, linked with the step's driver, and
run over sizes and schedules, all in a temporary folder. Each program writes its records there, see docs/records.md; its
stdout is the kernel's own. The first failure in the order of jobs() is told; a right kernel is compared with the step and
its base by counters.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import csv
import itertools
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import words
from words import CANNOT, OUTPUT_MAX, RIGHT, RULES, WRONG, Verdict

KERNEL = "student/kernel.cu"  # the copy that is compiled, within the temporary folder
MEMORY_MAX = 8 << 30  # bytes of a compiler or a program for the CPU device, which need 0.3 GB
SHOWN_MAX, PRINTED_MAX = 40, 10  # lines of a compiler's output, of what a kernel prints
TIMEOUT = 5.0  # seconds
DEFAULTS = {("--seed", "1"), ("--repeats", "1")}  # of the programs: not worth repeating

HELP = """exit status: 0 right, 1 wrong, 2 it could not be checked: a bad option, no such file, no GPU

With --csv, every .cu file below the folders is graded, whatever becomes of the others. The status is
then 1 if one of them is wrong."""


class Cannot(Exception):
    """The check itself cannot be done: one line says why."""


# ---- processes ----

Result = collections.namedtuple("Result", "status out err late")
STOPPED = Result(-signal.SIGKILL, "", "", False)  # nobody waits for it any more


class Runner:
    """Runs processes that write below a temporary folder, and ends them all at once."""

    def __init__(self, folder, timeout):
        self.folder = folder
        self.environment = dict(os.environ, TMPDIR=folder, LC_ALL="C.UTF-8", CPU_DEVICE_TIMEOUT=f"{timeout:g}",
                                OVERLAP_REQUIRE_GPU="0")
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def run(self, command, seconds, cpu_seconds=0, memory=0, cwd=None):
        """A process that is ended after `seconds`; first by SIGXCPU, so that it can say where it was."""
        with tempfile.TemporaryFile(dir=self.folder) as out, tempfile.TemporaryFile(dir=self.folder) as err:
            with self.lock:
                if self.stopped:
                    return STOPPED
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd or self.folder,
                                           env=self.environment, start_new_session=True)
                self.running.add(process)
            late = False
            try:
                for limit, most in ((resource.RLIMIT_CPU, cpu_seconds), (resource.RLIMIT_AS, memory)):
                    if most:
                        resource.prlimit(process.pid, limit, (most, most + 5))
            except (OSError, ValueError):
                pass  # it has ended, or has a lower limit already
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                late = True
                process.send_signal(signal.SIGXCPU)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
            with self.lock:
                self.running.discard(process)
            self.end(process)
            process.wait()
            texts = [file.seek(0) or file.read().decode("utf-8", "replace") for file in (out, err)]
        return Result(process.returncode, *texts, late)

    @staticmethod
    def end(process):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                self.end(process)


# ---- the build ----

class Build:
    """What CMake wrote down, course.json, and the commands by which it compiles."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            vars(self).update(json.load(file))
        self.checked = "cpu-checked" in self.flavours
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = json.load(file)

    def step(self, word):
        """A step by its name or its number."""
        found = [name for name in self.steps if word == name or word.isdigit() and name.startswith(f"{int(word):02}_")]
        if not found:
            raise Cannot(f"STEP {word}: no such step; allowed: {', '.join(self.steps)}, or a number of them")
        return found[0]

    def command(self, target, ending):
        """The words that compile the file that ends with `ending` for `target`, but for the names of files."""
        entry = next((entry for entry in self.commands
                      if entry["file"].endswith(ending) and f"/{target}.dir/" in entry["command"]), None)
        if entry is None:
            raise Cannot(f"{self.build}/compile_commands.json: no command for {target}; configure again")
        every, kept = iter(shlex.split(entry["command"])), []
        for word in every:
            if word in ("-o", "-c", "-MF", "-MT", "-MQ"):
                next(every)
            elif word not in ("-MD", "-MMD"):
                kept.append(word)
        return kept, entry["directory"]

    def sizes(self, track):
        """The course's sizes for a track: (name, numbers, sets), in order."""
        names = "mnk" if self.tracks[track]["kind"] == ["gemm"] else "n"
        return [(shape["name"], [shape[x] for x in names], shape["sets"]) for shape in self.shapes
                if (shape["m"] is None) == (names == "n")]


def records(path):
    """What a program wrote for --json; nothing if it was killed before it could."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def parsed(text):
    """Options, each with a value: by name."""
    words = text.split()
    return dict(zip(words[::2], words[1::2]))


def shortened(text, most=SHOWN_MAX):
    lines = text.rstrip().splitlines()
    return lines if len(lines) <= most else lines[:most] + [f"... and {len(lines) - most} lines more"]


# ---- one file ----

class Check:
    """One file and one step."""

    def __init__(self, build, runner, pool, options, step, path):
        self.build, self.runner, self.pool, self.options = build, runner, pool, options
        self.name, self.step, self.path, self.source = step, build.steps[step], path, b""
        self.track = build.tracks[self.step["track"]]
        self.base_name = {"baseline": "the baseline", "-": ""}.get(self.step["base"], self.step["base"])
        self.counted = self.track["counted"][0].split()[1]
        self.known = build.sizes(self.step["track"])
        self.numbers = itertools.count()

    def clean(self, text):
        """Names the student's file, and what it defines, as the student does."""
        text = re.sub(rf"\b({'|'.join(self.step['symbols'])})_({self.name}|yours)\b", r"\1", text)
        text = re.sub(re.escape(self.runner.folder) + r"/([\w-]+\.o:)?", "", text)
        return text.replace(KERNEL + ".cpp", self.path).replace(KERNEL, self.path)

    def file(self, *names):
        return os.path.join(self.runner.folder, *names)

    def read(self):
        """Copies the file, and makes of it what the build makes for the CPU device."""
        try:
            if os.stat(self.path) and not os.path.isfile(self.path):
                raise Cannot(f"{self.path}: not a file; wanted: a kernel file, or --csv FILE to grade all files in a folder")
            self.source = pathlib.Path(self.path).read_bytes()
        except OSError as error:
            raise Cannot(f"{self.path}: {error.strerror}")
        os.mkdir(os.path.dirname(self.file(KERNEL)))
        pathlib.Path(self.file(KERNEL)).write_bytes(self.source)
        script = os.path.join(self.build.source, "common", "cpu", "rewrite.cmake")
        done = self.runner.run([self.build.cmake, "-D", "KERNEL=" + self.file(KERNEL),
                                "-D", "COPY=" + self.file(KERNEL + ".cpp"), "-P", script], 60)
        if done.status != 0:
            raise Cannot(f"{script}: {done.err.strip()}")

    def make(self, flavour, objects, renames=()):
        """Makes the program of a flavour. Returns a Verdict if there is none, and what the compiler said."""
        gpu = flavour == "gpu"
        source = self.file(KERNEL if gpu else KERNEL + ".cpp")
        command, cwd = self.build.command(f"{flavour}-kernel-{self.name}", f"{self.name}/{os.path.basename(source)}")
        command[1:1] = ["-I", os.path.dirname(os.path.abspath(self.path))]
        command += ([] if gpu else self.build.flags) + [*renames, "-c", source, "-o", self.file(f"{flavour}.o")]
        done = self.runner.run(command, 300, cwd=cwd) if gpu else self.runner.run(command, 60, 40, MEMORY_MAX)
        said = shortened(self.clean(done.err + done.out))
        if done.status != 0:
            verdict = Verdict("compiler errors", said or ["The compiler ended without a word."], RULES, compiled=False)
            errors = [line for line in said if re.search(r"\berror\b", line)] or verdict.text
            verdict.failure = errors[0]
            verdict.lines = [int(n) for line in errors for n in re.findall(r"^[^:]*[:(](\d+)[:)]", line)]
            return verdict, said
        for path in objects:
            if not os.path.exists(path):
                raise Cannot(f"{path}: not built; build first: cmake --build {shlex.quote(self.build.build)}")
        done = self.runner.run([self.build.cxx, *shlex.split(self.build.link_flags), self.file(f"{flavour}.o"), *objects,
                                *self.build.libraries[flavour], "-o", self.file(flavour)], 300)
        told = self.clean(done.err)
        missing = " and ".join(f"{s}()" for s in self.step["symbols"] if re.search(rf"undefined reference to .{s}\b", told))
        if missing:
            how = "does not define" if self.source.strip() else "is empty: it must define"
            text = f"{self.path} {how} {missing} with the parameters that {self.track['header']} declares."
            return Verdict("no entry symbol", [text], self.track["header"], compiled=False), said
        return done.status and Verdict("linker errors", shortened(told), RULES, compiled=False), said

    # ---- run ----

    def options_of(self, *keys):
        given = {f"--{key}": getattr(self.options, key) for key in keys}
        return {key: value for key, value in given.items() if value is not None}

    def asked(self):
        """Options that ask for other sizes than the step's."""
        asked = self.options_of("shape", "m", "n", "k", "pad", "offset")
        if asked and not self.options_of("shape", "m", "n", "k"):
            asked["--shape"] = self.track["check_odd"][0]
        return asked

    def shifted(self):
        """Options for rows, or first elements, that start anywhere."""
        return [{"--shape": self.track["check_odd"][0], **parsed(shift)} for shift in self.track["test_shifts"]]

    def jobs(self):
        """(flavour, options) in the order in which a failure is told."""
        others = self.options_of("seed", "repeats", "schedule")
        if self.asked():
            return [(flavour, self.asked() | others) for flavour in reversed(self.build.flavours)]
        races = [parsed(options) for options in self.track["check_races"] if self.build.checked]
        values = []
        for i, word in enumerate(self.track["test_sets"]):  # larger ones take too long; of later sets, every other
            names = [n for n, size, sets in self.known
                     if word in sets and max(size) <= 2000 and math.prod(size) < (9e5 if i else 3e6)]
            values.append({"--shape": ",".join(names[1::2] if i else names)})
        values += [parsed(options) for options in self.track["check_values"]] + self.shifted()
        return [("cpu-checked", options | others) for options in races] + [("cpu", options | others) for options in values]

    def run(self, program, options, seconds, cpu_seconds=0, memory=0):
        """Runs a program of the course: its Result, and its records."""
        path = self.file(f"{next(self.numbers)}.json")
        done = self.runner.run([program, "--quiet", "--json", path, *options], seconds, cpu_seconds, memory)
        return done, records(path)

    def verify(self, flavour, options):
        limit = self.options.timeout
        return self.run(self.file(flavour), ["--verify-only", *words.flat(options)], 6 * limit, int(2 * limit) + 1, MEMORY_MAX)

    def expand(self, options):
        """The sizes that options ask for, in order, with each set's sizes in its place."""
        sizes = []
        for word in options["--shape"].split(",") if "--shape" in options else []:
            sizes += ["x".join(map(str, size)) for name, size, sets in self.known if word in (name, *sets)] or [word]
        one = [options[option] for option in ("--m", "--n", "--k") if option in options]
        return sizes + ["x".join(one)] * bool(one)

    def explain(self, flavour, options, done, found):
        """A Verdict if a run was not right at every size."""
        name = "yours" if flavour == "gpu" else self.name
        rows = [row for row in found.get("rows", []) if row["step"] == name]  # not its base's
        sizes = self.expand(options)
        if done.status == 0 and [row["status"] for row in rows] == ["verified"] * len(sizes):
            return None
        lines = self.clean(done.err).splitlines()
        if done.status == 2 and lines and not rows and (self.asked() or flavour == "gpu" or self.options.schedule):
            raise Cannot(" ".join(lines))
        # Those of the first run that failed: other sizes may fail in more ways.
        faults = [{key: self.clean(text) for key, text in fault.items()} for fault in found.get("faults", [])]
        faults = [f for f in faults if all(f[key] == faults[0][key] for key in ("shape", "inputs", "schedule"))]
        device = [f for f in faults if not f["id"].startswith(("judge.", "device."))]
        if device:
            verdict = words.tell_faults(device, self.path, self.source, self.options.timeout)
        elif faults:
            verdict = words.tell_wrong(faults[0], self.track["kind"][0], self.step["symbols"][0])
        else:
            verdict = words.tell_end(done.status, done.late, lines)
        # Where: as the program said, or else the first size of which it said nothing.
        again, inputs = dict(options), ""
        if faults:
            again = parsed(faults[0]["repeat"].partition(" ")[2])
            verdict.schedule = faults[0]["schedule"]
            inputs = f", {faults[0]['inputs']} inputs, schedule {verdict.schedule}"
        elif "--shape" in again and len(rows) < len(sizes) and found:
            again["--shape"] = sizes[len(rows)]
        if faults or found:
            verdict.size = words.size_of(again)
            verdict.text.append(f"This was at {words.place(again)}{inputs}.")
        verdict.again = {key: value for key, value in again.items() if (key, value) not in DEFAULTS}
        verdict.said = shortened(self.clean(done.out), PRINTED_MAX)
        return verdict

    # ---- compare ----

    def count(self, program, options):
        """A counting run's result, its records, and the sums of its step and, with --base, of its base."""
        done, found = self.run(program, ["--counters", *options], 6 * self.options.timeout)
        counters = found.get("counters", [])
        for counted in counters:
            sums = counted["sums"]
            sums["sectors_read"] = sums["load_sectors"] + sums["copy_sectors"]
            sums["plain_cycles"] = sums["shared_cycles"] - sums["conflicts"]
            for operation, memory in (("load", "global"), ("copy", "shared")):
                of = [line for line in counted["lines"] if (line["operation"], line["memory"]) == (operation, memory)]
                instructions = sum(line["instructions"] for line in of)
                moved = sum(line["bytes"] * line["instructions"] for line in of)
                sums[operation + "_width"] = moved / instructions if instructions else 0
        return done, found, [counted["sums"] for counted in counters]

    def compare(self, verdict):
        """Counters beside those of the step and its base, and remarks on what differs. Returns a Verdict if a run fails."""
        step = os.path.join(self.build.build, "cpu-checked", self.name)
        based = ["--base"] * bool(self.base_name)
        asked = [(parsed(options), self.pool.submit(self.count, self.file("cpu-checked"), options.split()),
                  self.pool.submit(self.count, step, options.split() + based)) for options in self.track["counted"]]
        found = {}
        for options, mine, theirs in asked:
            (done, records_of_mine, mine), theirs = mine.result(), theirs.result()[2]
            if done.status != 0:
                return self.explain("cpu-checked", options, done, records_of_mine)
            if not mine or len(theirs) != 1 + len(based):
                return None  # the kernel or the step's program was changed meanwhile
            unchanged = mine[:1] == theirs[1:] != theirs[:1]
            differs = words.remarks(self.name, mine[0], theirs[0], unchanged)
            if not verdict.counters:
                verdict.counters = {key: [column[key] for column in mine[:1] + theirs] for key in words.SUMS}
                found = differs
                if unchanged:
                    verdict.remarks = [f"Your kernel counts the same as {self.base_name} in everything: as if nothing had "
                                       "changed."]
            else:
                found = {key: f"At {words.place(options)}: {text}" for key, text in differs.items()} | found
        verdict.remarks += found.values()
        verdict.remarks = verdict.remarks or [f"Your kernel counts the same as {self.name} in everything."]
        return None

    def trace(self):
        """Writes what the kernel's warps do in one run, at the size that is asked for."""
        if not self.build.checked:
            raise Cannot(f"--trace {self.options.trace}: traces need the checked flavour, which needs GCC")
        path, options = self.file("trace.json"), words.flat(self.asked() | self.options_of("seed", "schedule"))
        if self.options.trace_shape:
            options = ["--shape", self.options.trace_shape]
        done, _ = self.run(self.file("cpu-checked"), ["--trace", path, *options], 6 * self.options.timeout)
        if done.status != 0:
            raise Cannot(f"--trace {self.options.trace}: {done.err.strip() or 'it was not written in time'}")
        try:
            shutil.copyfile(path, self.options.trace)
        except OSError as error:
            raise Cannot(f"--trace {self.options.trace}: {error.strerror}")

    # ---- the GPU ----

    def on_gpu(self, verdict):
        """Verifies and times on the GPU, beside the step and the library. Returns a Verdict if it is wrong."""
        if self.step["missing"]:
            raise Cannot(f"--gpu: there is no GPU program of {self.name}: {self.step['missing']}")
        # The driver once more, with the step in the base's place.
        defines = {"STEP_NAME": '"yours"', "BASE_NAME": f'"{self.name}"', "BASE_TYPES": f'"{":".join(self.step["types"])}"'}
        for symbol in self.step["symbols"]:
            macro = symbol.replace(self.step["track"], "FUNCTION").upper()
            defines |= {"STEP_" + macro: f"{symbol}_yours", "BASE_" + macro: f"{symbol}_{self.name}"}
        defines, renames = ([word for name, text in texts for word in ("-U" + name, f"-D{name}={text}")] for texts in
                            (defines.items(), [(symbol, f"{symbol}_yours") for symbol in self.step["symbols"]]))
        command, cwd = self.build.command(f"gpu-{self.name}", f"{self.name}/main.c")
        main = os.path.join(self.build.source, "steps", self.name, "main.c")
        done = self.runner.run(command + defines + ["-c", main, "-o", self.file("main.o")], 300, cwd=cwd)
        if done.status != 0:
            raise Cannot(f"--gpu: {main} does not compile: {done.err}")
        wrong, _ = self.make("gpu", [self.file("main.o"), *self.step["objects"]["gpu"]], renames)
        others = self.options_of("seed", "repeats")
        runs = [self.asked()] if self.asked() else [{"--shape": self.track["test_sets"][0]}, self.shifted()[0]]
        found = {}
        for options in runs + [{"--shape": self.options.gpu_shape or self.track["timed"][0]}]:
            if not wrong:
                verify = ["--verify-only"] * (options in runs)
                done, found = self.run(self.file("gpu"), [*verify, *words.flat(options | others)], 24 * self.options.timeout)
                if done.status == 77:
                    raise Cannot("--gpu: it compiles, but cannot be run here: " + done.err.strip().splitlines()[-1])
                wrong = self.explain("gpu", options | others, done, found)
        if wrong:
            wrong.kind += " on the GPU" if wrong.compiled else " for the GPU"
            wrong.again = wrong.again and {"--gpu": "", **wrong.again}
            return wrong
        for row in found.get("rows", []):
            if row["step"] == "yours" and row["rate"] is not None:
                rate, over = row["rate"], row["speedup"]
                verdict.device = row["device"]
                verdict.timed.append((row["shape"], row["unit"], rate, rate / over, over, row["library"]))
        return None

    # ---- all of it ----

    def verdict(self):
        """Compiles, runs and compares. Raises Cannot if that cannot be done."""
        self.read()
        made = [self.pool.submit(self.make, f, self.step["objects"][f]) for f in self.build.flavours]
        for wrong, _ in (m.result() for m in made):
            if wrong:
                return wrong
        verdict = Verdict("right", status=RIGHT, said=made[0].result()[1])
        jobs = self.jobs()
        running = [self.pool.submit(self.verify, *job) for job in jobs]
        for (flavour, options), run in zip(jobs, running):
            wrong = self.explain(flavour, options, *run.result())
            if wrong:
                return wrong
            verdict.sizes[flavour] = verdict.sizes.get(flavour, 0) + len(self.expand(options))
        wrong = self.compare(verdict) if self.build.checked and not self.asked() else None
        if wrong:
            return wrong
        try:
            if self.options.trace:
                self.trace()
            return self.options.gpu and self.on_gpu(verdict) or verdict
        except Cannot as error:
            verdict.cannot = str(error)
            return verdict


def check_file(build, temporary, pool, options, step, path):
    """(Check, Verdict) of one file; what cannot be checked has a Verdict of its own."""
    with tempfile.TemporaryDirectory(dir=temporary, ignore_cleanup_errors=True) as folder:
        runner = Runner(folder, options.timeout)
        check = Check(build, runner, pool, options, step, path)
        try:
            return check, check.verdict()
        except Cannot as error:
            return check, Verdict("not checked", status=CANNOT, compiled=False, failure=str(error))
        finally:
            runner.stop()


# ---- the command line ----

def parser_of(program, epilog, description):
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False, description=description, epilog=epilog,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", metavar="STEP", help="a step, such as 06_wmma_db or 06")
    parser.add_argument("--settings", help=argparse.SUPPRESS)
    parser.add_argument("--program", default=program, help=argparse.SUPPRESS)
    return parser


def parse(arguments):
    parser = parser_of("build/check", HELP,
                       "Checks a kernel file that keeps a step's contract: compiles it for the CPU device, runs it over the\n"
                       "step's sizes and schedules, and names the first failure, or compares its counters with the step's.")
    parser.add_argument("files", metavar="FILE", nargs="+", help="the kernel file; with --csv, several or folders of them")
    parser.add_argument("--csv", metavar="FILE", help="grade all files: one row each as CSV; - for stdout")
    parser.add_argument("--trace", metavar="FILE", help="write what the warps of a right kernel do in one run, for Perfetto")
    parser.add_argument("--trace-shape", metavar="WHAT", help="the size of that run")
    parser.add_argument("--gpu", action="store_true",
                        help="also verify and time it on the GPU, beside the step and the library")
    parser.add_argument("--gpu-shape", metavar="WHAT", help="the sizes to time (default: book, or n-2^28)")
    parser.add_argument("--timeout", metavar="S", type=float, default=TIMEOUT,
                        help="seconds for a kernel; a program has twice as many of work, and six times in all (default: 5)")
    own = parser.add_argument_group("options of the step's program, to repeat one run")
    for option in ("shape", "m", "n", "k", "pad", "offset", "seed", "repeats", "schedule"):
        own.add_argument(f"--{option}", metavar=option[0].upper())
    options = parser.parse_intermixed_args(arguments)
    if options.csv is None and len(options.files) > 1:
        parser.error(f"FILE {options.files[1]}: not allowed; allowed: one file, or several with --csv FILE")
    if options.csv is not None and options.trace is not None:
        parser.error(f"--trace {options.trace}: not allowed with --csv; allowed: with one file")
    if not 1 <= options.timeout <= 3600:
        parser.error(f"--timeout {options.timeout:g}: not allowed; allowed: seconds from 1 to 3600")
    options.timeout_words = [] if options.timeout == TIMEOUT else ["--timeout", f"{options.timeout:g}"]
    return options


def kernels_below(paths):
    """The files, and the .cu files below the folders, in order."""
    found = []
    for path in paths:
        below = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
                 if name.endswith(".cu")]
        if os.path.isdir(path) and not below:
            raise Cannot(f"{path}: no .cu file in it")
        found += sorted(below) or [path]
    return found


def grade(build, temporary, pool, options, step):
    files = kernels_below(options.files)
    try:
        out = sys.stdout if options.csv == "-" else open(options.csv, "w", newline="", encoding="utf-8",
                                                         errors="backslashreplace")
    except OSError as error:
        raise Cannot(f"--csv {options.csv}: {error.strerror}")
    progress = sys.stderr if options.csv == "-" else sys.stdout
    writer, counts = csv.writer(out), {RIGHT: 0, WRONG: 0, CANNOT: 0}
    writer.writerow(words.COLUMNS)
    for path in files:
        check, verdict = check_file(build, temporary, pool, options, step, path)
        writer.writerow(words.row_of(check, verdict))
        out.flush()
        counts[CANNOT if verdict.cannot else verdict.status] += 1
        told = ": ".join(filter(None, (path, verdict.kind, verdict.failure, verdict.cannot)))
        print(told, file=progress, flush=True)
    print(f"{counts[RIGHT]} right, {counts[WRONG]} wrong, {counts[CANNOT]} not checked", file=progress)
    return WRONG if counts[WRONG] else CANNOT if counts[CANNOT] else RIGHT


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    options = parse(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_MAX, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        build = Build(options.settings)
        step = build.step(options.step)
        with tempfile.TemporaryDirectory(prefix="overlap-check-") as temporary, \
                concurrent.futures.ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool:
            if options.csv is not None:
                return grade(build, temporary, pool, options, step)
            check, verdict = check_file(build, temporary, pool, options, step, options.files[0])
        if verdict.status == CANNOT:
            raise Cannot(verdict.failure)
        print("\n".join(words.tell(check, verdict)), flush=True)
        if verdict.cannot:
            raise Cannot(verdict.cannot)
        return verdict.status
    except Cannot as error:
        print(error, file=sys.stderr)
        return CANNOT


if __name__ == "__main__":
    sys.exit(main())
