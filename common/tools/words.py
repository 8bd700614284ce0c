"""What build/check has found, in words: the first failure, the comparison with the step, a row of CSV."""
import dataclasses
import re
import shlex
import signal

RIGHT, WRONG, CANNOT = 0, 1, 2  # exit statuses
OUTPUT_MAX = 64 << 20  # bytes that a process may write to a file

DEVICE = "docs/cpu-device.md"
BESIDES, HIDES = DEVICE + "#what-it-checks-besides", DEVICE + "#why-it-finds-what-a-gpu-hides"
PROGRAMS = DEVICE + "#the-checked-programs"
BARRIERS = "docs/steps/03_tiled.md#break-it"
RULES = "common/cpu/README.md"  # what a kernel for the CPU device must keep to
ORACLE = {"gemm": "docs/verification.md#how-a-product-is-judged",
          "vector": "docs/verification.md#how-a-sum-and-a-scan-are-judged"}
STEP = "{step}"  # the step's own page, where it explains its code

# Faults of the CPU device: what they are called, and the page that explains them. What says most comes first.
FAULTS = [
    (r"divergent barrier", "a barrier that not all threads of the block reach", BARRIERS),
    (r"^deadlock", "threads that wait for each other for ever", BARRIERS),
    (r"never committed", "a missing commit", STEP),
    (r"never waited for", "a copy that is never waited for", STEP),
    (r"still running", "an endless loop", BESIDES),
    (r"stack overflow", "a stack overflow", BESIDES),
    (r"through a null pointer", "a null pointer", BESIDES),
    (r"misaligned|not a multiple", "a misaligned access", STEP),
    (r"asynchronous copy (of \d+ bytes|to an address)", "a copy that is not allowed", STEP),
    (r"division by", "a division by zero", BESIDES),
    (r"abort\(\)", "a failed assertion", BESIDES),
    (r"of (a device allocation|dynamic shared)|not device memory|beyond the", "a stray access", HIDES),
    (r"race in .* what an asynchronous copy is still writing", "a missing or misplaced wait", STEP),
    (r"race in .* only its own thread has waited for", "a missing barrier after a wait", STEP),
    (r"race in .* may still be read", "a copy that overwrites what is still to be read", STEP),
    (r"race in .* two blocks", "a race between blocks", PROGRAMS),
    (r"race in", "a missing barrier", PROGRAMS),
    (r"", "a fault", BESIDES),
]

# Counters of a right kernel that differ from the step's: what is said of more, and of fewer.
COUNTERS = [
    ("to shared memory by threads, bytes",
     "Your kernel moves {mine:,} bytes to shared memory through registers, {step} {theirs:,}: must it move them all, and "
     "all that way?",
     "Your kernel moves fewer bytes to shared memory through registers: {mine:,}, {step} {theirs:,}."),
    ("to shared memory by copies, bytes",
     "Asynchronous copies bring {mine:,} bytes to shared memory, in {step} {theirs:,}: is something copied twice, or never "
     "read?",
     "Asynchronous copies bring {mine:,} bytes to shared memory, in {step} {theirs:,}: what travels by another way?"),
    ("groups in flight in a multiply",
     "More groups of copies are in flight while your kernel computes: {mine}, {step} {theirs}.",
     "Fewer groups of copies are in flight while your kernel computes: {mine}, {step} {theirs}."),
    ("sectors read",
     "Your kernel reads {mine:,} sectors of global memory, {step} {theirs:,}: do the lanes of a warp use neighbouring "
     "addresses, and is each read only once?",
     "Your kernel reads fewer sectors of global memory: {mine:,}, {step} {theirs:,}."),
    ("global stores, sectors",
     "Your kernel writes {mine:,} sectors of global memory, {step} {theirs:,}: do the lanes of a warp use neighbouring "
     "addresses, and is each written only once?",
     "Your kernel writes fewer sectors of global memory: {mine:,}, {step} {theirs:,}."),
    ("bytes of a load", "",
     "Your kernel loads {mine:.3g} bytes at once on average, {step} {theirs:.3g}: can a thread load more at once?"),
    ("bytes of a copy", "",
     "Your kernel copies {mine:.3g} bytes at once on average, {step} {theirs:.3g}: can a thread copy more at once?"),
    ("  of them bank conflicts",
     "Bank conflicts: {mine:,} cycles, in {step} {theirs:,}: how far apart in memory are the words that the lanes of a "
     "warp use at once? Padding moves them to other banks.",
     "Fewer bank conflicts: {mine:,} cycles, {step} {theirs:,}."),
    ("cycles without conflicts",
     "Shared memory is busy for {mine:,} cycles, conflicts aside, in {step} {theirs:,}: can a thread read more at once, or "
     "use more often what it has read?",
     "Shared memory is busy for fewer cycles, conflicts aside: {mine:,}, {step} {theirs:,}."),
    ("block barriers",
     "Blocks meet at {mine:,} barriers, in {step} at {theirs:,}: can one of them do the work of two?",
     "Blocks meet at fewer barriers: {mine:,}, {step} {theirs:,}."),
    ("waits for copies, by warps", "Warps wait for copies {mine:,} times, in {step} {theirs:,}.", ""),
    ("mma_sync, by warps",
     "Warps call mma_sync {mine:,} times, in {step} {theirs:,}: is something multiplied in vain?",
     "Warps call mma_sync {mine:,} times, in {step} {theirs:,}."),
]


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
    again: str = ""  # the options that repeat it
    said: list = dataclasses.field(default_factory=list)  # what the kernel printed; of a right one, the compiler
    sizes: dict = dataclasses.field(default_factory=dict)  # how many were right, by flavour
    counters: dict = dataclasses.field(default_factory=dict)  # yours, the step's and the base's, by name
    remarks: list = dataclasses.field(default_factory=list)
    device: str = ""  # the GPU
    timed: list = dataclasses.field(default_factory=list)  # shape, unit, your rate, the step's, ratio, % of library
    cannot: str = ""  # why it was not run on the GPU, which was asked for


def broken(kind, text, page):
    """A Verdict on a file that gives no program."""
    return Verdict(kind, text, page, compiled=False, failure=text[0])


# ---- failures ----

def tell_faults(faults, path, text_of):
    """A Verdict on faults of the device: the one that says most, then one of each other kind. text_of(line): its text."""
    kinds = {}
    for text in faults:
        message = re.sub(r"^.*?:\d+: |^CPU device: |^address \S+: ", "", text)
        rank = next(i for i, (pattern, _, _) in enumerate(FAULTS) if re.search(pattern, message))
        kinds.setdefault(rank, []).append(text)
    (rank, texts), *others = sorted(kinds.items())
    _, title, page = FAULTS[rank]
    if title.endswith("wait") and any(FAULTS[other][1] == "a missing barrier after a wait" for other, _ in others):
        title += " or barrier"
    verdict = Verdict(title + " in host code" * ("host code: " in texts[0]), page=page, failure=texts[0])
    shown = [texts[0]] + [more[0] for _, more in others][:2]
    for text in shown:
        text, *mend = text.replace(" (CPU_DEVICE_TIMEOUT)", " (--timeout)").split("; usual mend: ")
        text, *who = text.split("; here ")
        numbers = [int(n) for n in re.findall(re.escape(path) + r":(\d+)", text)]
        verdict.lines += [n for n in numbers if n not in verdict.lines]
        verdict.text.append(re.sub("(.)" + re.escape(path) + r":(\d+)", r"\1line \2", text))
        verdict.text += [f"  {n:>4} | {text_of(n)}" for n in dict.fromkeys(numbers)]
        if "still running" in text:
            verdict.text.append("  There it was when its time was up: which loop around this line does not end? (Or the size needs a larger --timeout.)")
        if who:
            here, there = who[0].split(", there ")
            verdict.text.append(f"  Here: {here}. There: {there}.")
            if "(__pipeline_wait_prior)" in mend[0] and here != there:
                mend[0] += ", and a barrier between that wait and here: another thread copies"
            verdict.text.append(f"  Usual mend: {mend[0]}.")
    if len(faults) > len(shown):
        verdict.text.append(f"... and {len(faults) - len(shown)} more like {'it' if len(shown) == 1 else 'these'}.")
    return verdict


def tell_wrong(inputs, note, kind, entry):
    """A Verdict on a result that the oracle refuses. note: its words; entry: the function that was called."""
    verdict = Verdict("wrong values", page=ORACLE[kind])
    found = re.match(r"(?:(\d+) of (\d+) wrong; first at (.*?): )?got (\S+)( \(never written\))?, wanted ([^,]*)"
                     r"(?:, bound (.*))?", note)
    if found:
        bad, of, where, got, never, wanted, bound = found.groups()
        what = f"{bad} of {of} elements are wrong; the first is at {where}" if bad else "the sum is wrong"
        verdict.failure = what + (": it was never written" if never else f": got {got}, wanted {wanted}")
        if bound and bound != "0" and not never:
            verdict.failure += f", and no more than {bound} off"
        if "nan" in got and not never:
            verdict.page = HIDES
            verdict.text.append("nan marks what was read before it was there: a copy that had not landed, or memory that "
                                "nothing had been written to.")
        elif inputs.startswith("near-integer") and abs(float(got) - float(wanted)) <= 0.01 * max(1, abs(float(wanted))):
            verdict.text.append("It is a little off, and these inputs are integers only once they are rounded to TF32: is "
                                "every input rounded (wmma::__float_to_tf32)?")
    elif "other bits" in note:
        verdict.kind = "a result that depends on the schedule"
        verdict.failure = "the result has other bits than in the first run: it depends on the order in which threads run " \
                          "or copies land"
    elif note.startswith("cudaError"):
        verdict.kind, verdict.page = "a call that failed", BESIDES
        verdict.failure = f"the launch, or {entry}() itself, failed: {note}"
    else:
        verdict.failure = note
    verdict.text.insert(0, verdict.failure[0].upper() + verdict.failure[1:] + ".")
    return verdict


def tell_end(status, late, lines):
    """A Verdict on a program that ended without a word of its own. lines: what it said last."""
    kind, text = "an early end", f"The program ended with status {status} before it was through: who calls exit()?"
    if late:
        kind, text = "an endless loop", "The program did not end."
    elif status == -signal.SIGXFSZ:
        kind, text = "too much output", f"It printed more than {OUTPUT_MAX >> 20} MB."
    elif status < 0:
        kind, text = "a crash", f"The program was ended by {signal.Signals(-status).name} ({signal.strsignal(-status)})."
    return Verdict(kind, [text, *lines[-5:]], DEVICE, failure=text)


def size_in_words(word):
    """One size of --shape: "M = 35, N = 79, K = 19", "n = 1025", or the word itself."""
    if re.fullmatch(r"\d+x\d+x\d+", word):
        return "M = {}, N = {}, K = {}".format(*word.split("x"))
    return f"n = {word}" if re.fullmatch(r"[\d^+-]+", word) else word


def place(size, options):
    """A size, and what --pad or --offset adds, in words."""
    for option, text in (("--pad", ", rows padded by {}"), ("--offset", ", first element {} behind a boundary")):
        if option in options:
            size += text.format(options[options.index(option) + 1])
    return size


# ---- the comparison ----

def remarks(step, yours, steps, bases):
    """What differs from the step's counters: sentences by counter. Nothing here knows of any step."""
    def derived(counters):
        more = {name: 0 for name, _, _ in COUNTERS}
        more.update(counters)
        more["sectors read"] = counters["global loads, sectors"] + counters["asynchronous copies, sectors"]
        more["cycles without conflicts"] = counters["shared memory, cycles"] - counters["  of them bank conflicts"]
        return more

    unchanged = yours == bases
    yours, steps, found = derived(yours), derived(steps), {}
    registers, copies, flight = (COUNTERS[i][0] for i in range(3))
    silent = set()
    if yours[copies] == 0 < steps[copies]:
        found[copies] = (f"Your kernel moves {yours[registers]:,} bytes to shared memory through registers, and none by "
                         f"asynchronous copies; {step} moves {steps[registers]:,} through registers, and "
                         f"{steps[copies]:,} by copies: is the copy asynchronous (__pipeline_memcpy_async)?")
        # Sectors of copies are counted in another way than those of loads.
        silent = {registers, copies, flight, "sectors read", "bytes of a load"}
    elif yours[flight] == 0 < steps[flight]:
        found[flight] = (f"No group of copies is in flight while your kernel computes, in {step} {steps[flight]}: nothing "
                         "overlaps. Is the next copy started before the computation, and waited for after it?")
        silent = {flight}
    for name, more, fewer in COUNTERS:
        mine, theirs = yours[name], steps[name]
        slack = 1.02 if name != flight else 1  # edges of tiles lie elsewhere
        text = more if mine > slack * theirs else fewer if slack * mine < theirs and not unchanged else ""
        if name.startswith("bytes of") and (mine == 0 or mine > 0.9 * theirs):
            continue
        if text and name not in silent:
            found[name] = text.format(mine=mine, theirs=theirs, step=step)
    return found


# ---- what is told ----

def table(rows):
    """Columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]) for row in rows]


def section(base):
    """Where a step's page explains its code."""
    return "what-is-in-it" if base == "-" else "its-edits"


def again(check, verdict):
    """The command that repeats just this."""
    words = [check.options.program, check.name, check.path] + check.options.timeout_words
    return f"{shlex.join(words)} {verdict.again}" if verdict.again else ""


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
        lines.append("Races were not looked for and nothing was counted: that needs the checked flavour, and that GCC.")
    if verdict.counters:
        names = [name for name in ("yours", check.name, check.base_name) if name]
        rows = [[f"in one run at {check.counted}", *names]]
        rows += [[name, *(f"{v:,}" for v in values[:len(names)])]
                 for name, values in verdict.counters.items() if any(values)]
        lines += ["", *table(rows), "", *verdict.remarks]
    if verdict.timed:
        rows = [[f"on {verdict.device}", "unit", "yours", check.name, "yours / step", "% of library"]]
        rows += [[shape, unit, f"{rate:.1f}", f"{step:.1f}", f"{over:.2f}", f"{library:.1f}"]
                 for shape, unit, rate, step, over, library in verdict.timed]
        lines += ["", *table(rows)]
    if verdict.said:
        lines += ["", "The compiler warns:", *verdict.said]
    return lines


COUNTED = ["global loads, sectors", "global stores, sectors", "asynchronous copies, sectors",
           "to shared memory by threads, bytes", "to shared memory by copies, bytes", "shared memory, cycles",
           "  of them bank conflicts", "block barriers", "waits for copies, by warps", "groups in flight in a multiply",
           "mma_sync, by warps"]
COLUMNS = ["file", "step", "verdict", "compiled", "verified", "failure", "what", "lines", "size", "schedule", "repeat",
           "remarks", "gpu_shape", "gpu_unit", "gpu_rate", "gpu_step_rate", "gpu_over_step", "gpu_percent_of_library",
           *(name.strip() for name in COUNTED)]


def row_of(check, verdict):
    """A verdict as a row of CSV."""
    right = verdict.status == RIGHT
    return [check.path, check.name, ("right", "wrong", "not checked")[verdict.status],
            "yes" if verdict.compiled else "no", "yes" if right else "no", "" if right else verdict.kind,
            verdict.failure or verdict.cannot, " ".join(map(str, verdict.lines)), verdict.size, verdict.schedule,
            again(check, verdict), " ".join(verdict.remarks), *(verdict.timed[0] if verdict.timed else [""] * 6),
            *(verdict.counters.get(name, [""])[0] for name in COUNTED)]
