"""What build/check says: a fault, the comparison of counters, a row of CSV. Faults and counters come as records, see
docs/records.md: a fault is known by its id, a counter by its key, and nothing is read out of a sentence."""
import csv
import dataclasses
import os
import shlex
import signal

RIGHT, WRONG, CANNOT = 0, 1, 2  # exit statuses
OUTPUT_MAX = 64 << 20  # bytes that a process may write to a file

DEVICE = "docs/cpu-device.md"
BESIDES, HIDES = DEVICE + "#what-it-checks-besides", DEVICE + "#why-it-finds-what-a-gpu-hides"
PROGRAMS = DEVICE + "#the-checked-programs"
BARRIERS = "docs/steps/03_tiled.md#break-it"
RULES = "common/cpu/README.md"  # what a kernel for the CPU device must keep to
JUDGE = {"gemm": "docs/verification.md#how-a-product-is-judged",
         "vector": "docs/verification.md#how-a-sum-and-a-scan-are-judged"}
STEP = "{step}"  # the step's own page, where it explains its code

# Faults by id, or by the first word of an id: what they are called, and the page that explains them. A run may have several:
# the first of this list is the cause of others.
ALIGNED, LOOP = ("a misaligned access", STEP), ("an endless loop", BESIDES)
WAIT, BARRIER = ("a missing or misplaced wait", STEP), ("a missing barrier after a wait", STEP)
INIT = ("a barrier that is used before it is initialised", STEP)
FAULTS = {
    "barrier.divergent": ("a barrier that not all threads of the block reach", BARRIERS),
    "barrier.uninitialised": INIT, "race.barrier_init": INIT,
    "barrier": ("a barrier in memory that is not used as it must be", STEP),
    "pipeline": ("calls of a pipeline in the wrong order", STEP),
    "copy.collective": ("a group's copy that not all of its threads ask for", STEP),
    "deadlock.phase": ("a phase of a barrier that never ends", STEP),
    "deadlock.acquire": ("an acquire that can never succeed", STEP),
    "deadlock.stage": ("a stage that is never filled", STEP),
    "deadlock": ("threads that wait for each other for ever", BARRIERS),
    "copy.never_committed": ("a missing commit", STEP),
    "copy.never_waited_for": ("a copy that is never waited for", STEP),
    "launch": ("a launch that was refused", RULES),
    "crash.blocks": ("a grid of too many blocks to be finished in time", BESIDES),
    "crash.timeout": LOOP, "crash.cpu_time": LOOP,
    "crash.stack_overflow": ("a stack overflow", BESIDES),
    "bounds.null": ("a null pointer", BESIDES),
    "crash.misaligned": ALIGNED, "copy.to_misaligned": ALIGNED, "copy.from_misaligned": ALIGNED,
    "atomic.misaligned": ALIGNED, "wmma.misaligned": ALIGNED, "wmma.leading_dimension": ALIGNED,
    "copy.bounds": ("a stray access", HIDES),
    "copy": ("a copy that is not allowed", STEP),
    "wmma.unrounded_tf32": ("inputs that are not rounded to TF32", STEP),
    "warp": ("a call that not all lanes of the warp make alike", BESIDES),
    "crash.division": ("a division by zero", BESIDES), "crash.illegal": ("a division by zero", BESIDES),
    "crash.abort": ("a failed assertion", BESIDES),
    "bounds": ("a stray access", HIDES),
    "race.read_of_copy_in_flight": WAIT, "race.write_over_copy_in_flight": WAIT,
    "race.read_of_copy_waited_for_elsewhere": BARRIER,
    "race.copy_over_read": ("a copy that overwrites what is still to be read", STEP),
    "race.between_blocks": ("a race between blocks", PROGRAMS),
    "race": ("a missing barrier", PROGRAMS),
    "": ("a fault", BESIDES),
}

# The sums that a program counts, by key, as they are called here.
with open(f"{os.path.dirname(os.path.abspath(__file__))}/../../docs/results/counters.csv", encoding="utf-8") as counters:
    SUMS = {row["sum"]: row["label"] for row in csv.DictReader(line for line in counters if line[0] != "#")}

# Where a right kernel counts more than the step, or fewer: of what, and what is asked then; None says nothing of it.
REMARKS = {
    "thread_bytes": ("bytes go to shared memory through registers", "Must they all, and through registers?", ""),
    "copy_bytes": ("bytes go to shared memory by asynchronous copies", "Is something copied twice, or never read?",
                   "How do the others get there?"),
    "in_flight": ("groups of copies are in flight while your kernel computes", "", ""),
    "sectors_read": ("sectors of global memory are read",
                     "Do the lanes of a warp use neighbouring addresses, and is each read only once?", ""),
    "store_sectors": ("sectors of global memory are written",
                      "Do the lanes of a warp use neighbouring addresses, and is each written only once?", ""),
    "load_width": ("bytes are loaded at once on average", None, "Can a thread load more at once?"),
    "copy_width": ("bytes are copied at once on average", None, "Can a thread copy more at once?"),
    "conflicts": ("cycles go to bank conflicts", "How far apart in shared memory are the words that the lanes of a warp use "
                  "at once? Padding moves them to other banks.", ""),
    "plain_cycles": ("cycles go to shared memory, bank conflicts aside",
                     "Can a thread read more bytes at once, or use a value more often before it reads the next?", ""),
    "barriers": ("block barriers", "Can two of them be made one?", ""),
    "waits": ("waits for copies, by warps", "", None),
    "mma": ("calls of mma_sync, by warps", "Are there products that no element of C needs?", ""),
}


@dataclasses.dataclass
class Verdict:
    """What came of one file."""
    kind: str  # "right", or what is wrong with it
    text: list = dataclasses.field(default_factory=list)  # more of that, as lines
    page: str = ""  # that explains it
    status: int = WRONG
    compiled: bool = True
    failure: str = ""  # what is wrong, in one line
    lines: list = dataclasses.field(default_factory=list)  # of the student's file
    size: str = ""
    schedule: str = ""
    again: dict = dataclasses.field(default_factory=dict)  # the options that repeat it
    said: list = dataclasses.field(default_factory=list)  # what the kernel printed; of a right one, the compiler
    sizes: dict = dataclasses.field(default_factory=dict)  # how many were right, by flavour
    counters: dict = dataclasses.field(default_factory=dict)  # yours, the step's and the base's, by key
    remarks: list = dataclasses.field(default_factory=list)
    device: str = ""  # the GPU
    timed: list = dataclasses.field(default_factory=list)  # shape, unit, your rate, the step's, ratio, % of library
    cannot: str = ""  # why it was not run on the GPU, which was asked for

    def __post_init__(self):
        self.failure = self.failure or "".join(self.text[:1])


# ---- failures ----

def entry(fault):
    """A fault's title, page and rank."""
    name = fault["id"].removeprefix("host.")
    found = next(key for key in (name, name.split(".")[0], "") if key in FAULTS)
    return *FAULTS[found], list(FAULTS.values()).index(FAULTS[found])


def line_of(place, path):
    """The number of a line of the student's file, 0 for another place."""
    name, _, number = place.rpartition(":")
    return int(number) if name == path else 0


def tell_faults(faults, path, source, timeout):
    """A Verdict on the faults of one run: the one that says most, then one of each other kind. path and source: of the
    student's file."""
    kinds, source = {}, [""] + source.decode("utf-8", "replace").splitlines()
    for fault in faults:
        kinds.setdefault(entry(fault)[2], fault)
    shown = [kinds[rank] for rank in sorted(kinds)][:3]
    title, page, _ = entry(shown[0])
    titles = [FAULTS[fault["id"]] for fault in faults if fault["id"] in FAULTS]
    title += " or barrier" * ((title, page) == WAIT and BARRIER in titles)
    title += " in host code" * shown[0]["id"].startswith("host.")
    verdict = Verdict(title, page=page, failure=shown[0]["text"])
    for fault in shown:
        here, there = (f"thread {fault[t]} of block {fault[b]}" for t, b in
                       (("thread", "block"), ("other_thread", "other_block")))
        # What has a line of its own below is not said twice.
        text = fault["text"].removesuffix(f" [schedule {fault['schedule']}]").removesuffix(f"; usual mend: {fault['mend']}")
        text = text.removesuffix(f"; here {here}, there {there}").replace(" (CPU_DEVICE_TIMEOUT)", "")
        numbers = [n for n in (line_of(fault["place"], path), line_of(fault["other"], path)) if n]
        verdict.lines += [n for n in numbers if n not in verdict.lines]
        verdict.text.append(text.replace(f" {fault['other']}", f" line {numbers[-1]}") if numbers[1:] else text)
        verdict.text += [f"  {n:>4} | {''.join(source[n:n + 1]).strip()}" for n in dict.fromkeys(numbers)]
        if entry(fault)[0] == LOOP[0]:
            verdict.text.append(f"  It was here when its time was up (--timeout {timeout:g}). Which loop around this line does "
                                "not end? If each does, this size needs more time.")
        if fault["other_thread"]:
            verdict.text.append(f"  Here: {here}. There: {there}.")
        if fault["mend"]:
            barrier = entry(fault)[:2] == WAIT and here != there
            more = ", and a barrier between that wait and here: another thread copies" * barrier
            verdict.text.append(f"  Usual mend: {fault['mend']}{more}.")
    if len(faults) > len(shown):
        verdict.text.append(f"... and {len(faults) - len(shown)} more like {'it' if len(shown) == 1 else 'these'}.")
    return verdict


def tell_end(status, late, lines):
    """A Verdict on a program that ended without a word of its own. lines: what it said last."""
    if late:
        told = "an endless loop", "The program did not end."
    elif status == -signal.SIGXFSZ:
        told = "too much output", f"It printed more than {OUTPUT_MAX >> 20} MB."
    elif status < 0:
        told = "a crash", f"The program was ended by {signal.Signals(-status).name} ({signal.strsignal(-status)})."
    else:
        told = "an early end", f"The program ended with status {status} before it was through: who calls exit()?"
    return Verdict(told[0], [told[1], *lines[-5:]], DEVICE)


def tell_wrong(fault, kind, symbol):
    """A Verdict on a result that the judge refuses. kind: of the sizes; symbol: the function that was called."""
    name, text, hint = fault["id"], fault["text"], []
    told = "wrong values", JUDGE[kind]
    if name == "judge.nan":
        told = "wrong values", HIDES
        hint = ["The CPU device puts nan wherever nothing was written yet, and wherever an asynchronous copy has not landed: "
                "your kernel read such a place."]
    elif name == "judge.slightly_wrong" and fault["inputs"].startswith("near-integer"):
        hint = ["It is only a little off, and these inputs are integers only once they are rounded to TF32: is every input "
                "rounded (wmma::__float_to_tf32)?"]
    elif name == "judge.bits_differ":
        told = "a result that depends on the schedule", JUDGE[kind]
        text += ": the result depends on the order in which threads run, or copies land"
    elif name in ("judge.device_error", "device.error"):
        told = "a call that failed", BESIDES
        text = f"the launch, or {symbol}() itself, failed: {text}"
    return Verdict(told[0], [f"{text[:1].upper()}{text[1:]}.", *hint], told[1], failure=text)


def size_of(options):
    """The size that options ask for: "M = 35, N = 79, K = 19", "n = 1025", or the word that names it."""
    given = [options[name] for name in ("--m", "--n", "--k") if name in options] or options["--shape"].split("x")
    if len(given) == 3:
        return "M = {}, N = {}, K = {}".format(*given)
    return f"n = {given[0]}" if given[0][:1].isdigit() else given[0]


def place(options):
    """The same, and what --pad or --offset adds."""
    texts = {"--pad": ", rows padded by {}", "--offset": ", first element {} behind a boundary"}
    return size_of(options) + "".join(text.format(options[name]) for name, text in texts.items() if name in options)


# ---- the comparison ----

def remarks(step, yours, steps, unchanged):
    """What differs from the step's counters: sentences by key. unchanged: the same as the base's. Nothing here knows of any
    step."""
    found, silent = {}, set()
    if yours["copy_bytes"] == 0 < steps["copy_bytes"]:
        found["copy_bytes"] = (
            f"Your kernel moves {yours['thread_bytes']:,} bytes to shared memory through registers, and none by asynchronous "
            f"copies; {step} moves {steps['thread_bytes']:,} through registers, and {steps['copy_bytes']:,} by copies: is the "
            "copy asynchronous (__pipeline_memcpy_async)?")
        # Sectors of copies are counted in another way than those of loads.
        silent = {"thread_bytes", "copy_bytes", "in_flight", "sectors_read", "load_width"}
    elif yours["in_flight"] == 0 < steps["in_flight"]:
        found["in_flight"] = (f"No group of copies is in flight while your kernel computes, in {step} {steps['in_flight']}: "
                              "nothing overlaps. Is the next copy started before the computation, and waited for after it? "
                              "--trace FILE writes who waits for what.")
        silent = {"in_flight"}
    silent |= {key for key in ("load_width", "copy_width") if yours[key] == 0}
    for key, (what, *questions) in REMARKS.items():
        mine, theirs = yours[key], steps[key]
        slack = {"in_flight": 1, "load_width": 1.1, "copy_width": 1.1}.get(key, 1.02)  # edges of tiles lie elsewhere
        fewer = slack * mine < theirs
        question = questions[fewer]
        if key not in silent and question is not None and (mine > slack * theirs or fewer and not unchanged):
            mine, theirs = (round(x, 1) if key.endswith("_width") else x for x in (mine, theirs))
            told = f"{'Fewer' if fewer else 'More'} {what}: {mine:,}, {step} {theirs:,}. {question}"
            found[key] = told.rstrip()
    return found


# ---- what is told ----

def table(rows):
    """Columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]) for row in rows]


def section(base):
    """Where a step's page explains its code."""
    return "what-is-in-it" if base == "-" else "its-edits"


def flat(options):
    return [word for pair in options.items() for word in pair if word]


def again(check, verdict):
    """The command that repeats just this."""
    words = [check.options.program, check.name, check.path, *check.options.timeout_words, *flat(verdict.again)]
    return shlex.join(words) if verdict.again else ""


def tell(check, verdict):
    """A verdict in words, as lines."""
    def sizes(flavour):
        count = verdict.sizes.get(flavour, 0)
        return f"{count} size" + "s" * (count != 1)

    lines = [f"{check.name}: {check.path}: {verdict.kind}", ""]
    if verdict.status == WRONG:
        lines += verdict.text
        if verdict.said:
            lines += ["", "It printed:", *verdict.said]
        if verdict.again:
            lines += ["", f"Repeat just this: {again(check, verdict)}"]
        page = verdict.page.replace(STEP, f"docs/steps/{check.name}.md#{section(check.step['base'])}")
        return lines + ["", f"Read: {page}"]
    schedules = f"schedule {check.options.schedule}" if check.options.schedule else "every schedule"
    races = f"; no race at {sizes('cpu-checked')}" if check.build.checked else ""
    lines.append(f"Right at {sizes('cpu')}, under {schedules}{races}.")
    if not check.build.checked:
        lines.append("Races were not looked for, and nothing was counted: both need the checked flavour, which needs GCC.")
    if verdict.counters:
        names = [name for name in ("yours", check.name, check.base_name) if name]
        rows = [[f"in one run at {check.counted}", *names]]
        rows += [[SUMS.get(key, key), *(f"{v:,}" for v in values[:len(names)])]
                 for key, values in verdict.counters.items() if any(values)]
        lines += ["", *table(rows), "", *verdict.remarks]
    if verdict.timed:
        rows = [[f"on {verdict.device}", "unit", "yours", check.name, "yours / step", "% of library"]]
        rows += [[shape, unit, f"{rate:.1f}", f"{step:.1f}", f"{over:.2f}", f"{library:.1f}"]
                 for shape, unit, rate, step, over, library in verdict.timed]
        lines += ["", *table(rows)]
    if verdict.said:
        lines += ["", "The compiler warns:", *verdict.said]
    return lines


COUNTED = [key for key in SUMS if key != "tensor_flops"]
COLUMNS = ["file", "step", "verdict", "compiled", "verified", "failure", "what", "lines", "size", "schedule", "repeat",
           "remarks", "gpu_shape", "gpu_unit", "gpu_rate", "gpu_step_rate", "gpu_over_step", "gpu_percent_of_library",
           *(SUMS[key].strip() for key in COUNTED)]


def row_of(check, verdict):
    """A verdict as a row of CSV."""
    right = verdict.status == RIGHT
    return [check.path, check.name, ("right", "wrong", "not checked")[verdict.status],
            "yes" if verdict.compiled else "no", "yes" if right else "no", "" if right else verdict.kind,
            verdict.failure or verdict.cannot, " ".join(map(str, verdict.lines)), verdict.size, verdict.schedule,
            again(check, verdict), " ".join(verdict.remarks), *(verdict.timed[0] if verdict.timed else [""] * 6),
            *(verdict.counters.get(key, [""])[0] for key in COUNTED)]
