"""The diff of a step or of one of its rungs in the terminal, and its counters: docs/fresh.py --diff STEP [--rung K]."""
import os
import subprocess
import sys

from course import Stale, build_folder, changed, numbered, read, rung_of, steps


def coloured(text, is_diff):
    try:
        from pygments import highlight, lexers, formatters
        return highlight(text, lexers.DiffLexer() if is_diff else lexers.CppLexer(), formatters.TerminalFormatter())
    except ImportError:
        codes = {"+": "32", "-": "31", "@": "36"} if is_diff else {}
        return "".join(f"\033[{codes[l[0]]}m{l}\033[0m\n" if l[:1] in codes else l + "\n" for l in text.splitlines())


def show(word, rung, colour):
    """Prints them; `rung` is None for the step itself. Returns an exit status."""
    try:
        s = numbered(word)
    except Stale as error:
        print(f"{error}; there are: {' '.join(s.name for s in steps())}", file=sys.stderr)
        return 2
    name, base, text = s.name, s.base_kernel and s.base, s.diff() if s.base_kernel else read(s.kernel)
    if rung is not None:
        try:
            one, rungs = rung_of(s, rung)
        except Stale as error:
            print(error, file=sys.stderr)
            return 2
        name, base, text = one["name"], one["base"], one["diff"]
        print(f"Rung {rung} of {len(rungs)} to {one['chain']}: {one['what']}.\n{one['idea']}\n")
    is_diff = text.startswith("--- ")
    print(coloured(text, is_diff) if colour else text, end="")
    if base:
        print("\n%s against %s: %d lines added, %d removed" % (name, base, *changed(text)))
    program = os.path.join(build_folder(), "cpu-checked", name)
    if os.path.exists(program):
        print(flush=True)
        return subprocess.run([program, "--counters"] + ["--base"] * bool(base)).returncode
    return 0
