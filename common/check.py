"""Checks a student's kernel file against the contract of a step: build/check, which CMake makes.

The file is compiled for the CPU device in both flavours with the build's own commands, linked with the
step's driver, and run over sizes and schedules, all in a temporary folder. The first failure in the order
of jobs() is told in plain words; a right kernel is compared with the step and its base by counters.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import re
import resource
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading

RIGHT, WRONG, CANNOT = 0, 1, 2  # exit statuses
KERNEL = "student/kernel.cu"  # the copy that is compiled, within the temporary folder
OUTPUT_MAX = 64 << 20  # bytes that a process may write to a file
MEMORY_MAX = 8 << 30  # bytes of a compiler or a program for the CPU device; these need 0.3 GB
SHOWN_MAX = 40  # lines of a compiler's or a linker's output
PRINTED_MAX = 10  # lines of what a kernel prints

# Where the CPU device counts: whole tiles, then the path for rows that start anywhere.
COUNTED = {"gemm": ["--shape 160x96x80", "--shape 33x40x129 --pad 1"],
           "vector": ["--shape 100003", "--shape 5003 --offset 1"]}

# What the checked flavour runs, and what the plain one runs besides the sets of common/shapes.txt.
# The tests of the step itself take the same, and larger sizes.
CHECKED = {"gemm": ["--shape 35x79x19,66x40x49", "--shape 72x48x80", "--shape 33x40x65 --pad 1"],
           "vector": ["--shape 0,1,1023,1025,2^15+7", "--shape 5,1025 --offset 1"]}
GEMM_ODD = "--shape 2x4x3,33x32x32,35x79x19,1x105x107,160x96x32,130x66x81"
VECTOR_ODD = "--shape 1,3,4,5,31,1023,1025,33333"
PLAIN = {"gemm": ["--shape 96x160x32"] + [f"{GEMM_ODD} --pad {pad}" for pad in (1, 2, 4)],
         "vector": ["--shape 100003"] + [f"{VECTOR_ODD} --offset {offset}" for offset in (1, 3)]}

# What a fault of the CPU device is called, and the page that explains it; {step} is the step's own page.
DEVICE = "docs/cpu-device.md"
FAULTS = [
    (r"divergent barrier", "a barrier that not all threads of the block reach", "docs/steps/03_tiled.md#break-it"),
    (r"^deadlock", "threads that wait for each other for ever", "docs/steps/03_tiled.md#break-it"),
    (r"never committed", "a missing commit", "{step}"),
    (r"never waited for", "a copy that is never waited for", "{step}"),
    (r"still running", "an endless loop", DEVICE + "#what-it-checks-besides"),
    (r"stack overflow", "a stack overflow", DEVICE + "#what-it-checks-besides"),
    (r"through a null pointer", "a null pointer", DEVICE + "#what-it-checks-besides"),
    (r"misaligned|not a multiple", "a misaligned access", "{step}"),
    (r"asynchronous copy (of \d+ bytes|to an address)", "a copy that is not allowed", "{step}"),
    (r"division by", "a division by zero", DEVICE + "#what-it-checks-besides"),
    (r"abort\(\)", "a failed assertion", DEVICE + "#what-it-checks-besides"),
    (r"of (a device allocation|dynamic shared)|not device memory|beyond the", "a stray access",
     DEVICE + "#why-it-finds-what-a-gpu-hides"),
    (r"race in .* of what an asynchronous copy is still|race in .* over what an asynchronous copy is still",
     "a missing or misplaced wait", "{step}"),
    (r"race in .* only its own thread has waited for", "a missing barrier after a wait", "{step}"),
    (r"race in .* may still be read", "a copy that overwrites what is still to be read", "{step}"),
    (r"race in .* two blocks", "a race between blocks", DEVICE + "#the-checked-programs"),
    (r"race in", "a missing barrier", DEVICE + "#the-checked-programs"),
    (r"", "a fault", DEVICE + "#what-it-checks-besides"),
]
ORACLE = {"gemm": "docs/verification.md#how-a-product-is-judged",
          "vector": "docs/verification.md#how-a-sum-and-a-scan-are-judged"}
RULES = "common/cpu/README.md"  # what a kernel for the CPU device must keep to

HELP = """exit status: 0 right, 1 wrong, 2 it could not be checked: a bad option, no such file, no GPU

With --csv, every .cu file below the folders is graded, whatever becomes of the others. The status is
then 1 if one of them is wrong."""


class Cannot(Exception):
    """The check itself cannot be done: one line says why."""


class Stopped(Exception):
    """What was asked for is no longer wanted."""


# ---- processes ----

class Result:
    def __init__(self, status, out, err, late):
        self.status, self.out, self.err, self.late = status, out, err, late


class Runner:
    """Runs processes that write below a temporary folder, and ends them all at once."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, dict(os.environ, TMPDIR=folder, LC_ALL="C.UTF-8", **environment)
        self.lock, self.running, self.stopped, self.count = threading.Lock(), set(), False, 0

    def run(self, command, seconds, cpu_seconds=0, cwd=None, memory=0):
        """A process that is ended after `seconds`; first by SIGXCPU, so that it can say where it was."""
        with self.lock:
            self.count += 1
            names = [os.path.join(self.folder, f"{self.count}.{end}") for end in ("out", "err")]
        with open(names[0], "wb") as out, open(names[1], "wb") as err:
            with self.lock:
                if self.stopped:
                    raise Stopped()
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                           cwd=cwd or self.folder, env=self.environment, start_new_session=True)
                self.running.add(process)
        late = False
        try:
            for limit, most, more in ((resource.RLIMIT_CPU, cpu_seconds, 5), (resource.RLIMIT_AS, memory, 0)):
                try:
                    if most:
                        resource.prlimit(process.pid, limit, (most, most + more))
                except (OSError, ValueError):
                    pass  # it has ended, or has a lower limit already
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                late = True
                process.send_signal(signal.SIGXCPU)
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    pass
        finally:
            with self.lock:
                self.running.discard(process)
            self.end(process)
        if self.stopped:
            raise Stopped()
        texts = []
        for name in names:
            with open(name, encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
            os.unlink(name)
        return Result(process.returncode, texts[0], texts[1], late)

    @staticmethod
    def end(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()

    def stop(self):
        with self.lock:
            self.stopped = True
            running = list(self.running)
        for process in running:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass


# ---- the build ----

LISTS = ("flavours", "flags", "symbols", "cpu", "cpu-checked", "gpu")  # texts of the settings that are lists


class Build:
    """What CMake wrote down, and the commands by which it compiles."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            settings = json.load(file, object_hook=lambda d: {k: v.split(";") * bool(v) if k in LISTS else v for k, v in d.items()})
        for key, value in settings.items():
            setattr(self, key, value)
        self.checked = "cpu-checked" in self.flavours
        self.commands = None

    def step(self, word):
        """A step by its name or its number."""
        for name in self.steps:
            if word == name or (word.isdigit() and name.split("_")[0].lstrip("0") == word.lstrip("0")):
                return name
        raise Cannot(f"STEP {word}: no such step; allowed: {', '.join(self.steps)}, or a number of them")

    def command(self, target, ending):
        """The words that compile the file that ends with `ending` for `target`, but for the names of files."""
        path = os.path.join(self.folder, "compile_commands.json")
        if self.commands is None:
            try:
                with open(path, encoding="utf-8") as file:
                    self.commands = json.load(file)
            except OSError as error:
                raise Cannot(f"{path}: {error.strerror}; configure with a Ninja or a Makefile generator")
        for entry in self.commands:
            if entry["file"].endswith(ending) and f"/{target}.dir/" in entry["command"]:
                break
        else:
            raise Cannot(f"{path}: no command for {target}; configure again")
        words, kept = iter(shlex.split(entry["command"])), []
        for word in words:
            if word in ("-o", "-c", "-MF", "-MT", "-MQ"):
                next(words)
            elif word not in ("-MD", "-MMD"):
                kept.append(word)
        return kept, entry["directory"]


def kind_of(track):
    return "gemm" if track == "gemm" else "vector"


def sizes_of(build, kind):
    """The lines of common/shapes.txt of this kind: (name, size, sets), in order."""
    sizes = []
    with open(os.path.join(build.source, "common", "shapes.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if len(words) >= 5 and words[0] != "#" and words[2].isdigit() and (words[1] == "-") == (kind != "gemm"):
                sizes.append((words[0], tuple(int(w) for w in words[1:4] if w != "-"), words[4].split(",")))
    return sizes


def size_in_words(word):
    """One size of --shape: "M = 35, N = 79, K = 19", "n = 1025", or the word itself."""
    if re.fullmatch(r"\d+x\d+x\d+", word):
        return "M = {}, N = {}, K = {}".format(*word.split("x"))
    return f"n = {word}" if re.fullmatch(r"[\d^+-]+", word) else word


# ---- one file ----

class Verdict:
    """What came of one file."""

    def __init__(self, kind, text=(), page="", status=WRONG):
        self.kind, self.text, self.page, self.status = kind, list(text), page, status
        self.failure = self.size = self.schedule = self.again = self.said = ""  # again: the options that repeat it
        self.lines = []  # of the student's file
        self.counters, self.remarks, self.gpu, self.sizes, self.device = {}, [], [], {}, ""
        self.compiled = True


class Check:
    """One file and one step."""

    def __init__(self, build, runner, pool, options, step, path):
        self.build, self.runner, self.pool, self.options = build, runner, pool, options
        self.name, self.step, self.path = step, build.steps[step], path
        self.kind = kind_of(self.step["track"])
        self.known = sizes_of(build, self.kind)
        self.flavours = ["cpu-checked", "cpu"] if build.checked else ["cpu"]
        self.source = b""

    def clean(self, text):
        """Names the student's file as the student does."""
        return text.replace(self.runner.folder + "/", "").replace(KERNEL + ".cpp", self.path).replace(KERNEL, self.path)

    def file(self, *names):
        return os.path.join(self.runner.folder, *names)

    def read(self):
        try:
            mode = os.stat(self.path).st_mode
            if stat.S_ISDIR(mode):
                raise Cannot(f"{self.path}: a folder; wanted: a kernel file, or --csv FILE to grade all files in it")
            if not stat.S_ISREG(mode):
                raise Cannot(f"{self.path}: not a file that can be read twice; wanted: a kernel file")
            with open(self.path, "rb") as file:
                self.source = file.read()
        except OSError as error:
            raise Cannot(f"{self.path}: {error.strerror}")
        os.makedirs(self.file("student"), exist_ok=True)
        with open(self.file(KERNEL), "wb") as file:
            file.write(self.source)

    def text_of(self, line):
        lines = self.source.decode("utf-8", "replace").splitlines()
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    # ---- compile and link ----

    def rewrite(self):
        """What the build does to a kernel for the CPU device."""
        script = os.path.join(self.build.source, "common", "cpu", "rewrite.cmake")
        done = self.runner.run([self.build.cmake, "-D", "KERNEL=" + self.file(KERNEL),
                                "-D", "COPY=" + self.file(KERNEL + ".cpp"), "-P", script], 60)
        if done.status != 0:
            raise Cannot(f"{script}: {done.err.strip()}")

    def make(self, flavour, objects, renames=()):
        """Makes the program of a flavour. Returns a Verdict if there is none, and what the compiler said."""
        source = self.file(KERNEL if flavour == "gpu" else KERNEL + ".cpp")
        command, cwd = self.build.command(f"{flavour}-kernel-{self.name}", f"{self.name}/{os.path.basename(source)}")
        command[1:1] = ["-I", os.path.dirname(os.path.abspath(self.path))]
        if flavour != "gpu":
            command += self.build.flags
        command += [*renames, "-c", source, "-o", self.file(f"{flavour}.o")]
        done = self.runner.run(command, *((300, 0, cwd) if flavour == "gpu" else (60, 40, None, MEMORY_MAX)))
        said = shortened(self.clean(done.err + done.out))
        if done.status != 0:
            verdict = Verdict("compiler errors", said or ["The compiler ended without a word."], RULES)
            errors = [line for line in said if re.search(r"\berror\b", line)] or verdict.text
            verdict.failure = errors[0]
            verdict.lines = [int(n) for line in errors for n in re.findall(r"^[^:]*[:(](\d+)[:)]", line)]
            verdict.compiled = False
            return verdict, said
        for path in objects:
            if not os.path.exists(path):
                raise Cannot(f"{path}: not built; build first: cmake --build {shlex.quote(self.build.folder)}")
        done = self.runner.run([self.build.cxx, *shlex.split(self.build.link_flags), self.file(f"{flavour}.o"), *objects,
                                *self.build.libraries[flavour], "-o", self.file(flavour)], 300)
        if done.status == 0:
            return None, said
        symbols, header = self.step["symbols"], f"common/{self.step['track']}.h"
        missing = [f"{s}()" for s in symbols if re.search(rf"undefined reference to .{s}_", done.err)]
        if missing:
            what = "is empty" if not self.source.strip() else "does not define " + " and ".join(missing)
            verdict = Verdict("no entry symbol", [f"{self.path} {what}. A kernel file of this step defines "
                                                  f"{' and '.join(s + '()' for s in symbols)}, as {header} declares."], header)
        else:
            verdict = Verdict("linker errors", shortened(self.clean(done.err)), RULES)
        verdict.failure = verdict.text[0]
        verdict.compiled = False
        return verdict, said

    # ---- run ----

    def sizes(self):
        """Options that ask for other sizes than the step's."""
        words = self.options_of("shape", "m", "n", "k", "pad", "offset")
        if words and not self.options_of("shape", "m", "n", "k"):
            words += (GEMM_ODD if self.kind == "gemm" else VECTOR_ODD).split()
        return words

    def others(self):
        return self.options_of("seed", "repeats", "schedule")

    def options_of(self, *keys):
        return [w for key in keys if getattr(self.options, key) is not None for w in (f"--{key}", getattr(self.options, key))]

    def jobs(self):
        """(flavour, options) in the order in which a failure is told."""
        asked = self.sizes()
        if asked:
            return [(flavour, asked + self.others()) for flavour in self.flavours]
        jobs = [("cpu-checked", words) for words in CHECKED[self.kind]] if self.build.checked else []
        for word in ("test", "slabs"):  # but for those that take a second and more
            names = [n for n, size, sets in self.known if word in sets and max(size) <= 2000 and math.prod(size) < 5e6]
            if names:
                jobs.append(("cpu", "--shape " + ",".join(names if word == "test" else names[1::2])))
        jobs += [("cpu", words) for words in PLAIN[self.kind]]
        return [(flavour, words.split() + self.others()) for flavour, words in jobs]

    def start(self, flavour, words):
        limit = self.options.timeout
        return self.runner.run([self.file(flavour), "--verify-only", "--csv", "-", *words], 6 * limit, int(2 * limit) + 1,
                               memory=MEMORY_MAX)

    def rows(self, done):
        """The result rows in a program's output, and what else stands there: what the kernel printed."""
        rows, rest, names = [], [], None
        for line in done.out.splitlines():
            cells = next(csv.reader([line]), [])
            if cells and cells[0] == "step":
                names = cells
            elif names and len(cells) == len(names):
                rows.append(dict(zip(names, cells)))
            elif not line.startswith("# "):
                rest.append(line)
        return rows, rest

    def explain(self, flavour, words, done):
        """A Verdict if a run was not right."""
        rows, printed = self.rows(done)
        names = self.expand(words)
        if done.status == 0 and sum(row["status"] == "verified" for row in rows) == len(names):
            return None
        lines = self.clean(done.err).splitlines()
        if done.status == 2 and not rows and lines and (self.sizes() or self.others()):
            raise Cannot(" ".join(lines))
        faults, wrong, again = [], None, None
        for line in lines:  # up to the first failure: larger sizes may fail in more ways
            if wrong and not line.startswith("  repeat: "):
                break
            fault = re.match(r"(.*) \[schedule ([^\]]*)\]$", line)
            told = re.match(r"\S+ (\d+x\d+x\d+|n = \d+), (.*), schedule (\S+): (.*)", line)
            if line.startswith("  repeat: "):
                again = line.split()[2:]
            elif told:
                wrong = told.groups()
            elif fault:
                faults.append(fault.groups())
        verdict = self.tell_faults(faults) if faults else self.tell_wrong(wrong) if wrong else self.tell_end(done, lines)
        # Where: as the program said, or the first size of which it said nothing.
        if wrong:
            verdict.size, verdict.schedule = wrong[0], wrong[2]
        else:
            verdict.size = names[len(rows)] if len(rows) < len(names) else ""
            verdict.schedule = faults[0][1] if faults else ""
            again = list(words)
            if verdict.size and "--shape" in again:
                again[again.index("--shape") + 1] = verdict.size
            if verdict.schedule and "--schedule" not in again:
                again += ["--schedule", verdict.schedule]
        verdict.size = size_in_words(verdict.size)
        if verdict.size:
            inputs = f", {wrong[1]}" if wrong else ""
            verdict.text.append(f"This was at {verdict.size}{padding(words)}{inputs}"
                                + (f", schedule {verdict.schedule}." if verdict.schedule else "."))
        again = " ".join(again or [])
        verdict.again = re.sub(r" --(seed|repeats) 1\b", "", again)
        if printed:
            verdict.said = "\n".join(shortened("\n".join(printed), PRINTED_MAX))
        return verdict

    def expand(self, words):
        """The sizes that options ask for, in order, with each set's sizes in its place."""
        value, names = dict(zip(words, words[1:])), []
        for word in value["--shape"].split(",") if "--shape" in value else []:
            names += ["x".join(map(str, size)) for name, size, sets in self.known if word in (name, *sets)] or [word]
        one = [value[option] for option in ("--m", "--n", "--k") if option in value]
        return names + (["x".join(one)] if one else [])

    def tell_faults(self, faults):
        """The fault that says most comes first, then one of each other kind."""
        kinds = {}
        for text, _ in faults:
            message = re.sub(r"^.*?:\d+: |^CPU device: |^address \S+: ", "", text)
            rank = next(i for i, (pattern, _, _) in enumerate(FAULTS) if re.search(pattern, message))
            kinds.setdefault(rank, []).append(text)
        (rank, texts), *others = sorted(kinds.items())
        _, title, page = FAULTS[rank]
        if title.endswith("wait") and any(FAULTS[other][1] == "a missing barrier after a wait" for other, _ in others):
            title += " or barrier"
        verdict = Verdict(title + (" in host code" if "host code: " in texts[0] else ""), page=page)
        verdict.failure = texts[0]
        shown = [texts[0]] + [more[0] for _, more in others][:2]
        for text in shown:
            text, *mend = text.replace(" (CPU_DEVICE_TIMEOUT)", " (--timeout)").split("; usual mend: ")
            text, *who = text.split("; here ")
            numbers = re.findall(re.escape(self.path) + r":(\d+)", text)
            verdict.lines += [int(n) for n in numbers if int(n) not in verdict.lines]
            verdict.text.append(re.sub("(.)" + re.escape(self.path) + r":(\d+)", r"\1line \2", text))
            verdict.text += [f"  {n:>4} | {self.text_of(int(n))}" for n in dict.fromkeys(numbers)]
            if "still running" in text:
                verdict.text.append("  There it was when its time was up: which loop around this line does not end?")
            if who:
                here, there = who[0].split(", there ")
                verdict.text.append(f"  Here: {here}. There: {there}.")
                if "(__pipeline_wait_prior)" in mend[0] and here != there:
                    mend[0] += ", and a barrier between that wait and here: another thread copies"
            if mend:
                verdict.text.append(f"  Usual mend: {mend[0]}.")
        if len(faults) > len(shown):
            verdict.text.append(f"... and {len(faults) - len(shown)} more like {'it' if len(shown) == 1 else 'these'}.")
        return verdict

    def tell_wrong(self, wrong):
        """A result that the oracle refuses, in plain words."""
        note = wrong[3]
        count = re.match(r"(\d+) of (\d+) wrong; first at (?:row (\d+), column (\d+)|element (\d+)): got (\S+)"
                         r"( \(never written\))?, wanted ([^,]*)(?:, bound (.*))?", note)
        total = re.match(r"got (\S+)( \(never written\))?, wanted (\S+), bound (.*)", note)
        verdict = Verdict("wrong values", [], ORACLE[self.kind])
        if count:
            bad, of, row, column, element, got, never, wanted, bound = count.groups()
            where = f"row {row}, column {column}" if row else f"element {element}"
            verdict.failure = f"{bad} of {of} elements are wrong; the first is {where}"
        elif total:
            got, never, wanted, bound = total.groups()
            verdict.failure = "the sum is wrong"
        if count or total:
            verdict.failure += ": it was never written" if never else f": got {got}, wanted {wanted}"
            if bound and bound != "0" and not never:
                verdict.failure += f", and no more than {bound} off"
            if "nan" in got and not never:
                verdict.page = DEVICE + "#why-it-finds-what-a-gpu-hides"
                verdict.text.append("nan marks what was read before it was there: a copy that had not landed, or "
                                    "memory that nothing had been written to.")
        elif "other bits" in note:
            verdict.kind = "a result that depends on the schedule"
            verdict.failure = "the result has other bits than in the first run: it depends on the order in which " \
                              "threads run or copies land"
        elif note.startswith("cudaError"):
            verdict.kind, verdict.page = "a call that failed", DEVICE + "#what-it-checks-besides"
            verdict.failure = f"the launch, or {self.step['symbols'][0]}() itself, failed: {note}"
        else:
            verdict.failure = note
        verdict.text.insert(0, verdict.failure[0].upper() + verdict.failure[1:] + ".")
        return verdict

    def tell_end(self, done, lines):
        """A program that ended without a word of its own."""
        if done.late:
            verdict = Verdict("an endless loop", ["The program did not end."], DEVICE)
        elif done.status < 0:
            name = signal.Signals(-done.status).name
            verdict = Verdict("a crash", [f"The program was ended by {name} ({signal.strsignal(-done.status)})."], DEVICE)
            if -done.status == signal.SIGXFSZ:
                verdict.kind, verdict.text = "too much output", [f"It printed more than {OUTPUT_MAX >> 20} MB."]
        else:
            verdict = Verdict("an early end", [f"The program ended with status {done.status} before it was through: who calls "
                                               "exit()?"], DEVICE)
        verdict.failure = verdict.text[0]
        verdict.text += lines[-5:]
        return verdict

    # ---- compare ----

    def counters(self, program, words):
        """The sums that a checked program counts, of its step and, with --base, of its base."""
        done = self.runner.run([program, "--counters", *words], 6 * self.options.timeout)
        columns, within = [{}, {}], False
        for line in done.out.splitlines():
            value = re.match(r"(\s*\S.*?)\s+(\d+)(?:\s+(\d+)\s+\S+)?$", line)
            if line.startswith("sum "):
                within = True
            elif within and value and value[1] != "  at least":
                for column, figure in zip(columns, value.groups()[1:]):
                    if figure is not None:
                        column[value[1]] = int(figure)
        return columns

    def compare(self, verdict):
        """Counters beside those of the step and its base."""
        based = ["--base"] if self.step["base"] != "-" else []
        step = os.path.join(self.build.folder, "cpu-checked", self.name)
        asked = []
        for words in COUNTED[self.kind]:
            asked.append([self.pool.submit(self.counters, self.file("cpu-checked"), words.split()),
                          self.pool.submit(self.counters, step, words.split() + based)])
        for words, (mine, theirs) in zip(COUNTED[self.kind], asked):
            (yours, _), (steps, bases) = mine.result(), theirs.result()
            if not yours or not steps:
                continue
            if not verdict.counters:
                verdict.counters = {name: (yours[name], steps[name], bases.get(name)) for name in yours}
            known = [text for text, _ in verdict.remarks]
            place = f"At {size_in_words(words.split()[1])}{padding(words.split())}: "
            for text, rule in remarks(self.name, yours, steps):
                if not verdict.remarks or rule not in [r for _, r in verdict.remarks]:
                    verdict.remarks.append(((place + text) if words != COUNTED[self.kind][0] else text, rule))
        if not verdict.counters:
            return
        yours, steps, bases = zip(*verdict.counters.values())
        if yours == steps and not verdict.remarks:
            verdict.remarks = [(f"Your kernel counts the same as {self.name} in everything.", "same")]
        elif yours == bases:
            verdict.remarks.insert(0, (f"Your kernel counts the same as {self.base_name()} in everything: as if "
                                       "nothing had changed.", "base"))

    def base_name(self):
        return {"baseline": "the baseline", "-": ""}.get(self.step["base"], self.step["base"])

    # ---- the GPU ----

    def on_gpu(self, verdict):
        """Verifies and times on the GPU, beside the step and the library. Returns a Verdict if it is wrong."""
        if self.step["missing"]:
            raise Cannot(f"--gpu: there is no GPU program of {self.name}: {self.step['missing']}")
        # The driver once more, with the step in the base's place.
        defines, renames = ["-USTEP_NAME", '-DSTEP_NAME="yours"', "-UBASE_NAME", f'-DBASE_NAME="{self.name}"'], []
        for symbol in self.step["symbols"]:
            macro = symbol.replace(self.step["track"], "FUNCTION").upper()
            for whose, name in (("STEP", "yours"), ("BASE", self.name)):
                defines += [f"-U{whose}_{macro}", f"-D{whose}_{macro}={symbol}_{name}"]
            renames += [f"-U{symbol}", f"-D{symbol}={symbol}_yours"]
        command, cwd = self.build.command(f"gpu-{self.name}", f"{self.name}/main.c")
        main = os.path.join(self.build.source, "steps", self.name, "main.c")
        driver = self.runner.run(command + defines + ["-c", main, "-o", self.file("main.o")], 300, cwd=cwd)
        if driver.status != 0:
            raise Cannot(f"--gpu: {main} does not compile: {driver.err}")
        wrong, _ = self.make("gpu", [self.file("main.o"), *self.step["objects"]["gpu"]], renames)
        if wrong:
            wrong.kind += " on the GPU"
            return wrong
        asked = self.sizes() or ["--shape", "test"]
        timed = ["--shape", self.options.gpu_shape or {"gemm": "book", "vector": "n-2^28"}[self.kind]]
        for words in (["--verify-only", *asked], timed):
            words = words + [w for w in self.others() if self.options.schedule is None]
            done = self.runner.run([self.file("gpu"), "--csv", "-", *words], 24 * self.options.timeout)
            if done.status == 77:
                raise Cannot("--gpu: it compiles, but cannot be run here: " + done.err.strip().splitlines()[-1])
            wrong = self.explain("gpu", words, done)
            if wrong:
                wrong.kind += " on the GPU"
                wrong.again = f"--gpu {wrong.again}"
                return wrong
        rows, _ = self.rows(done)
        for row in rows:
            if row["step"] == "yours" and row["rate"]:
                rate, over = float(row["rate"]), float(row["speedup"])
                verdict.gpu.append((row["shape"], row["unit"], rate, rate / over, over, float(row["library"])))
        verdict.device = rows[0]["device"] if rows else ""
        return None

    # ---- all of it ----

    def verdict(self):
        """Compiles, runs and compares. Raises Cannot if that cannot be done."""
        self.read()
        self.rewrite()
        made = [self.pool.submit(self.make, f, self.step["objects"][f]) for f in reversed(self.flavours)]
        wrong, said = [m.result() for m in made][0]  # the plain flavour: the other says the same
        wrong = wrong or made[-1].result()[0]
        if wrong:
            return wrong
        jobs = self.jobs()
        verdict = Verdict("right", status=RIGHT)
        verdict.said = "\n".join(said)
        futures = [self.pool.submit(self.start, *job) for job in jobs]
        for job, future in zip(jobs, futures):
            wrong = self.explain(*job, future.result())
            if wrong:
                return wrong
            rows, printed = self.rows(future.result())
            verdict.sizes[job[0]] = verdict.sizes.get(job[0], 0) + len(rows)
        if self.build.checked and not self.sizes():
            self.compare(verdict)
        if self.options.gpu:
            return self.on_gpu(verdict) or verdict
        return verdict


def padding(words):
    """What --pad or --offset adds, in words."""
    for option, text in (("--pad", ", rows padded by {}"), ("--offset", ", first element {} behind a boundary")):
        if option in words:
            return text.format(words[words.index(option) + 1])
    return ""


def shortened(text, most=SHOWN_MAX):
    lines = text.rstrip().splitlines()
    return lines if len(lines) <= most else lines[:most] + [f"... and {len(lines) - most} lines more"]


def remarks(step, yours, steps):
    """What differs between two sets of counters, as (sentence, rule); of any two kernels."""
    def counter(name):
        return yours.get(name, 0), steps.get(name, 0)

    def times(mine, theirs):
        return f"{mine / theirs:.2f} times"

    found = []
    registers, copies = counter("to shared memory by threads, bytes"), counter("to shared memory by copies, bytes")
    if copies[0] == 0 < copies[1]:
        found.append((f"Your kernel moves {registers[0]:,} bytes to shared memory through registers, and none by asynchronous "
                      f"copies; {step} moves {registers[1]:,} through registers, and {copies[1]:,} by copies: "
                      "is the copy asynchronous (__pipeline_memcpy_async)?", "async"))
    elif registers[0] > registers[1]:
        found.append((f"Your kernel moves {registers[0]:,} bytes to shared memory through registers, {step} "
                      f"{registers[1]:,}: could a part of them pass the registers by?", "async"))
    elif registers[0] < registers[1]:
        found.append((f"Your kernel moves fewer bytes to shared memory through registers: {registers[0]:,}, "
                      f"{step} {registers[1]:,}.", "async"))
    if copies[0] > 0 and copies[0] != copies[1]:
        more = ": is something copied twice, or copied and never read?" if copies[0] > copies[1] > 0 else "."
        found.append((f"Asynchronous copies bring {copies[0]:,} bytes to shared memory, in {step} {copies[1]:,}{more}", "copies"))
    flight = counter("groups in flight in a multiply")
    if copies[0] > 0 and flight[0] == 0 < flight[1]:
        found.append((f"No group of copies is in flight while your kernel computes, in {step} {flight[1]}: nothing overlaps. "
                      "Is the next copy started before the computation, and waited for after it?", "flight"))
    elif copies[0] > 0 and flight[0] != flight[1]:
        found.append((f"At most {flight[0]} {'group is' if flight[0] == 1 else 'groups are'} in flight while your kernel "
                      f"computes, in {step} {flight[1]}.", "flight"))
    like = (copies[0] > 0) == (copies[1] > 0)  # sectors of copies are counted in another way
    reads = [a + b for a, b in zip(counter("global loads, sectors"), counter("asynchronous copies, sectors"))]
    for what, (mine, theirs) in [("reads", reads)] * like + [("writes", counter("global stores, sectors"))]:
        if theirs > 0 and mine > 1.02 * theirs:
            found.append((f"Your kernel {what} {mine:,} sectors of global memory, {times(mine, theirs)} those of {step}: do the "
                          "lanes of a warp use neighbouring addresses, in pieces as large as in the step, and each only once?", what))
        elif mine < 0.98 * theirs:
            found.append((f"Your kernel {what} fewer sectors of global memory: {mine:,}, {step} {theirs:,}.", what))
    conflicts, cycles = counter("of them bank conflicts"), counter("shared memory, cycles")
    if conflicts[0] > conflicts[1]:
        found.append((f"Bank conflicts: {conflicts[0]:,} cycles, in {step} {conflicts[1]:,}: how far apart in memory are the words "
                      "that the lanes of a warp use at once? Padding moves them to other banks.", "conflicts"))
    elif conflicts[0] < conflicts[1]:
        found.append((f"Fewer bank conflicts: {conflicts[0]:,} cycles, in {step} {conflicts[1]:,}.", "conflicts"))
    if cycles[0] - conflicts[0] > 1.02 * (cycles[1] - conflicts[1]) > 0:
        found.append((f"Shared memory is busy for {cycles[0]:,} cycles, in {step} {cycles[1]:,}: can a thread read more at once, "
                      "or use more often what it has read?", "cycles"))
    barriers = counter("block barriers")
    if barriers[0] > barriers[1]:
        found.append((f"Blocks meet at {barriers[0]:,} barriers, in {step} at {barriers[1]:,}: can one of them do the work of two?",
                      "barriers"))
    elif barriers[0] < barriers[1]:
        found.append((f"Blocks meet at fewer barriers: {barriers[0]:,}, {step} {barriers[1]:,}.", "barriers"))
    waits = counter("waits for copies, by warps")
    if waits[0] > waits[1] > 0:
        found.append((f"Warps wait for copies {waits[0]:,} times, in {step} {waits[1]:,}.", "waits"))
    tensor = counter("mma_sync, by warps")
    if tensor[0] == 0 < tensor[1]:
        found.append((f"The Tensor Cores do nothing; in {step} they do all multiplications (mma_sync).", "tensor"))
    elif tensor[0] != tensor[1]:
        found.append((f"Warps call mma_sync {tensor[0]:,} times, in {step} {tensor[1]:,}.", "tensor"))
    return found


# ---- what is told ----

def table(rows):
    """Columns: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]).rstrip() for row in rows]


def again(check, verdict):
    """The command that repeats just this."""
    words = [check.options.program, check.name, check.path]
    if check.options.timeout != TIMEOUT:
        words += ["--timeout", f"{check.options.timeout:g}"]
    return shlex.join(words) + " " + verdict.again


def tell(check, verdict):
    """A verdict in words, as lines."""
    section = "its-edits" if check.step["base"] != "-" else "what-is-in-it"
    page = verdict.page.replace("{step}", f"docs/steps/{check.name}.md#{section}")
    if verdict.status == WRONG:
        lines = [f"{check.name}: {check.path}: {verdict.kind}", "", *verdict.text]
        if verdict.said:
            lines += ["", "It printed:", verdict.said]
        if verdict.again:
            lines += ["", f"Repeat just this: {again(check, verdict)}"]
        return lines + (["", f"Read: {page}"] if page else [])
    def sizes(flavour):
        count = verdict.sizes.get(flavour, 0)
        return f"{count} size" + ("s" if count != 1 else "")

    schedules = f"schedule {check.options.schedule}" if check.options.schedule else "every schedule"
    races = f"; no race at {sizes('cpu-checked')}" if check.build.checked else ""
    lines = [f"{check.name}: {check.path}: right", "", f"Right at {sizes('cpu')}, under {schedules}{races}."]
    if not check.build.checked:
        lines += ["Races were not looked for and nothing was counted: this build is without the checked flavour, which needs GCC."]
    if verdict.counters:
        names = ["yours", check.name] + ([check.base_name()] if check.step["base"] != "-" else [])
        rows = [[f"in one run at {COUNTED[check.kind][0].split()[1]}", *names]]
        for name, values in verdict.counters.items():
            if any(values):
                rows.append([name, *(f"{v:,}" for v in values[:len(names)])])
        lines += ["", *table(rows), "", *(text for text, _ in verdict.remarks)]
    if verdict.gpu:
        rows = [[f"on {verdict.device}", "unit", "yours", check.name, "yours / step", "% of library"]]
        rows += [[shape, unit, f"{rate:.1f}", f"{step:.1f}", f"{over:.2f}", f"{library:.1f}"]
                 for shape, unit, rate, step, over, library in verdict.gpu]
        lines += ["", *table(rows)]
    if verdict.said:
        lines += ["", "The compiler warns:", verdict.said]
    return lines


COLUMNS = ["file", "step", "verdict", "compiled", "verified", "failure", "what", "lines", "size", "schedule", "repeat",
           "remarks", "gpu_unit", "gpu_rate", "gpu_over_step", "gpu_percent_of_library"]
COUNTERS = ["global loads, sectors", "global stores, sectors", "asynchronous copies, sectors",
            "to shared memory by threads, bytes", "to shared memory by copies, bytes", "shared memory, cycles",
            "of them bank conflicts", "block barriers", "waits for copies, by warps", "groups in flight in a multiply",
            "mma_sync, by warps"]


def row_of(check, verdict):
    """A verdict as a row of the CSV."""
    right = verdict.status == RIGHT
    gpu = verdict.gpu[0] if verdict.gpu else [""] * 6
    counters = {name.strip(): values[0] for name, values in verdict.counters.items()}
    return [check.path, check.name, "right" if right else "wrong" if verdict.status == WRONG else "not checked",
            "yes" if verdict.compiled else "no", "yes" if right else "no", "" if right else verdict.kind, verdict.failure,
            " ".join(map(str, verdict.lines)), verdict.size, verdict.schedule, again(check, verdict) if verdict.again else "",
            " ".join(text for text, _ in verdict.remarks), gpu[1], *gpu[2:3], *gpu[4:]] + [counters.get(c, "") for c in COUNTERS]


# ---- the command line ----

TIMEOUT = 5.0  # seconds


def parse(words):
    def seconds(word):
        try:
            if 1 <= float(word) <= 3600:
                return float(word)
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"{word}: not allowed; allowed: seconds from 1 to 3600")

    parser = argparse.ArgumentParser(
        prog="build/check", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=HELP,
        description="Checks a kernel file that keeps a step's contract: compiles it for the CPU device, runs it over the step's "
                    "sizes and schedules,\nnames the first failure, or compares its counters with those of the step.")
    parser.add_argument("step", metavar="STEP", help="a step, such as 06_wmma_db or 06")
    parser.add_argument("files", metavar="FILE", nargs="+", help="the kernel file; with --csv, several or folders of them")
    parser.add_argument("--csv", metavar="FILE", help="grade all files: one row each as CSV; - for stdout")
    parser.add_argument("--gpu", action="store_true", help="also verify and time it on the GPU, beside the step and the library")
    parser.add_argument("--gpu-shape", metavar="WHAT", help="the sizes to time (default: book, or n-2^28)")
    parser.add_argument("--timeout", metavar="S", type=seconds, default=TIMEOUT,
                        help="seconds for a kernel; a program has twice as many for its work, and six times in all (default: 5)")
    own = parser.add_argument_group("options of the step's program, to repeat one run")
    for option in ("shape", "m", "n", "k", "pad", "offset", "seed", "repeats", "schedule"):
        own.add_argument(f"--{option}", metavar=option[0].upper())
    parser.add_argument("--settings", help=argparse.SUPPRESS)
    parser.add_argument("--program", default="build/check", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args(words)
    if options.csv is None and len(options.files) > 1:
        parser.error(f"FILE {options.files[1]}: not allowed; allowed: one file, or several with --csv FILE")
    return options


def kernels_below(paths):
    """The files, and the .cu files below the folders, in order."""
    found = []
    for path in paths:
        if os.path.isdir(path):
            below = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(".cu")]
            if not below:
                raise Cannot(f"{path}: no .cu file in it")
            found += sorted(below)
        else:
            found.append(path)
    return found


def check_file(build, temporary, pool, options, step, path):
    """(Check, Verdict) of one file; what cannot be checked has a Verdict of its own."""
    with tempfile.TemporaryDirectory(dir=temporary, ignore_cleanup_errors=True) as folder:
        runner = Runner(folder, {"CPU_DEVICE_TIMEOUT": f"{options.timeout:g}"})
        check = Check(build, runner, pool, options, step, path)
        try:
            return check, check.verdict()
        except Cannot as error:
            verdict = Verdict("not checked", [str(error)], status=CANNOT)
            verdict.failure = str(error)
            return check, verdict
        finally:
            runner.stop()


def grade(build, temporary, pool, options, step):
    files = kernels_below(options.files)
    try:
        out = sys.stdout if options.csv == "-" else open(options.csv, "w", newline="", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise Cannot(f"--csv {options.csv}: {error.strerror}")
    progress = sys.stderr if options.csv == "-" else sys.stdout
    writer, counts = csv.writer(out), {RIGHT: 0, WRONG: 0, CANNOT: 0}
    writer.writerow(COLUMNS + COUNTERS)
    for path in files:
        check, verdict = check_file(build, temporary, pool, options, step, path)
        writer.writerow(row_of(check, verdict))
        out.flush()
        counts[verdict.status] += 1
        print(f"{path}: {verdict.kind}" + (f": {verdict.failure}" if verdict.failure else ""), file=progress, flush=True)
    print(f"{counts[RIGHT]} right, {counts[WRONG]} wrong, {counts[CANNOT]} not checked", file=progress)
    return WRONG if counts[WRONG] else CANNOT if counts[CANNOT] else RIGHT


def interrupt(number, _):
    raise SystemExit(128 + number)


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    options = parse(sys.argv[1:])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_MAX, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    cores = len(os.sched_getaffinity(0))
    try:
        build = Build(options.settings)
        step = build.step(options.step)
        with tempfile.TemporaryDirectory(prefix="overlap-check-") as temporary, \
                concurrent.futures.ThreadPoolExecutor(max(2, cores)) as pool:
            if options.csv is not None:
                return grade(build, temporary, pool, options, step)
            check, verdict = check_file(build, temporary, pool, options, step, options.files[0])
            if verdict.status == CANNOT:
                raise Cannot(verdict.failure)
            print("\n".join(tell(check, verdict)))
            return verdict.status
    except Cannot as error:
        print(error, file=sys.stderr)
        return CANNOT


if __name__ == "__main__":
    sys.exit(main())
