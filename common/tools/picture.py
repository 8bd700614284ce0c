"""Draws which thread touches which data, in a step's kernel or in a student's: build/picture, which CMake makes.

A student's kernel is checked first, by build/check, which also writes its trace. docs/pictures.py draws.
"""
import os
import subprocess
import sys
import tempfile

import check

HELP = """exit status: 0 the pictures are there, 1 the kernel is wrong, 2 they could not be drawn"""


def trace_of(build, program, size, folder):
    """The file of a trace of a checked program of the build."""
    path, out = os.path.join(build.build, "cpu-checked", program), os.path.join(folder, program + ".json")
    if not os.path.exists(path):
        raise check.Cannot(f"{path}: not built; build first: cmake --build {build.build} --target cpu-checked-{program}")
    done = subprocess.run([path, "--shape", size, "--trace", out], capture_output=True, text=True)
    if done.returncode != 0:
        raise check.Cannot(f"{path}: {done.stderr.strip()}")
    return out


def checked(options, name, size, folder):
    """The file of a student's kernel's trace, once build/check finds the kernel right; else None, and the exit status."""
    out = os.path.join(folder, "trace.json")
    program = os.path.join(os.path.dirname(options.program), "check")
    done = subprocess.run([program, name, options.file, "--trace", out, "--trace-shape", size], capture_output=True,
                          text=True, errors="replace")
    if done.returncode != 0:
        print(done.stdout, end="", flush=True)
        print(done.stderr, end="", file=sys.stderr)
        return None, done.returncode
    return out, 0


def draw(build, options, name, folder):
    """Writes the pictures. Returns an exit status."""
    import course
    import pictures
    from touches import Missing, Trace
    step = course.Step(name, build.steps[name])
    if not build.checked:
        raise check.Cannot("pictures need the checked flavour of the CPU device, which needs GCC")
    if not pictures.pictures_of(name):
        raise check.Cannot(f"STEP {name}: has no pictures; allowed: the steps in {build.source}/docs/pictures/pictures.csv")
    values, kernel, unread = pictures.constants(step.kernel), step.kernel, None
    size, of_variant = pictures.shape(step.track, values), pictures.shape(step.track, values, 1)
    if options.file:
        kernel, own = os.path.abspath(options.file), size
        try:
            own = pictures.shape(step.track, pictures.constants(kernel))
        except (OSError, UnicodeDecodeError, course.Stale) as error:
            unread = error
        path, status = checked(options, name, own, folder)  # first: it may have more to say
        if path is None:
            return status
        if unread:
            raise check.Cannot(f"{unread}; allowed: enumerators that are whole numbers, or made of such by + - * /")
    else:
        path = trace_of(build, name, size, folder)
    mine = os.path.join(build.source, "mine")
    out = options.out or (mine if os.path.relpath(mine).startswith("..") else os.path.relpath(mine))
    status = check.CANNOT
    drawn_of = pictures.of_kernel(name, kernel, Trace(path), lambda v: Trace(trace_of(build, v, of_variant, folder)))
    for picture, drawn in drawn_of:
        path = os.path.join(out, picture + ".svg")
        if isinstance(drawn, Missing):
            print(f"{path}: not drawn: {drawn}", file=sys.stderr)
            continue
        try:
            os.makedirs(out, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(drawn.svg())
        except OSError as error:
            raise check.Cannot(f"{path}: {error.strerror}; name a folder that can be written with --out")
        print(path)
        status = 0
    return status


def main():
    parser = check.parser_of("build/picture", HELP,
                             "Draws which thread touches which data in a step's kernel, as SVG: as on the step's page.\nOf "
                             "a kernel file of your own it draws the same, once build/check finds it right.")
    parser.add_argument("file", metavar="FILE", nargs="?",
                        help="a kernel file that keeps the step's contract (default: the step's)")
    parser.add_argument("--out", metavar="FOLDER", help="write them there (default: mine, in the source tree)")
    options = parser.parse_args()
    try:
        build = check.Build(options.settings)
        sys.path.insert(0, os.path.join(build.source, "docs"))
        with tempfile.TemporaryDirectory(prefix="overlap-picture-") as folder:
            return draw(build, options, build.step(options.step), folder)
    except check.Cannot as error:
        print(error, file=sys.stderr)
        return check.CANNOT


if __name__ == "__main__":
    sys.exit(main())
