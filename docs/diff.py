"""A step's diff in the terminal, and its counters beside its base's: docs/fresh.py --diff NAME."""
import os
import subprocess
import sys

from course import Stale, build_folder, read, step, steps


def coloured(text, is_diff):
    try:
        from pygments import highlight, lexers, formatters
        return highlight(text, lexers.DiffLexer() if is_diff else lexers.CppLexer(), formatters.TerminalFormatter())
    except ImportError:
        codes = {"+": "32", "-": "31", "@": "36"} if is_diff else {}
        return "".join(f"\033[{codes[l[0]]}m{l}\033[0m\n" if l[:1] in codes else l + "\n" for l in text.splitlines())


def show(name, colour):
    """Prints them. Returns an exit status."""
    try:
        s = step(name)
    except Stale as error:
        print(f"{error}; there are: {' '.join(s.name for s in steps())}", file=sys.stderr)
        return 2
    text = s.diff() if s.base_kernel else read(s.kernel)
    print(coloured(text, s.base_kernel) if colour else text, end="")
    if s.base_kernel:
        print("\n%s against %s: %d lines added, %d removed" % (s.name, s.base, *s.changed()))
    program = os.path.join(build_folder(), "cpu-checked", name)
    if os.path.exists(program):
        print(flush=True)
        return subprocess.run([program, "--counters"] + ["--base"] * bool(s.base_kernel)).returncode
    return 0
