"""Puts the kernel of a step's base where a student can turn it into the step: build/start, which CMake makes.

The task is a comment of a few lines on top. Its words are those of the step's page: its title and its question; or, with
--rung K, those of the K-th of the rungs that lead to the step, and the kernel is that of the rung before.
"""
import os
import re
import shlex
import sys
import textwrap

import check

HELP = """exit status: 0 the file is there, 2 it could not be written, or is there already"""


def task(course, step, command):
    """The comment: what to do, the question of the step's page, how far the step is, how to check."""
    question = re.search(r"^## The question\n\n(.*?)\n\n", course.read(step.page), re.S | re.M)
    plain = question[1].replace("\n", " ") if question else ""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)|[*`]", lambda m: m[1] or "", plain)
    added, removed = step.changed()
    return comment([f"Your task: turn this kernel, {step.base_kernel}, into {step.name}: {step.headline()}.", plain,
                  f"The step adds {added} lines and removes {removed}. Its page, with the answer: {step.page}"], command)


def rung_task(course, rung, rungs, command):
    added, removed = course.changed(rung["diff"])
    return comment([f"Your task: rung {rung['number']} of {len(rungs)} to {rung['chain']}: {rung['what']}.", rung["idea"],
                    f"The rung adds {added} lines and removes {removed}. The answer: {rung['path']}"], command)


def comment(paragraphs, command):
    lines = [line for p in paragraphs for line in textwrap.wrap(p, 97, break_long_words=False, break_on_hyphens=False)]
    return "".join(f"// {line}\n" for line in lines + [f"Check it: {command}"])


def main():
    parser = check.parser_of("build/start", HELP, "Writes mine/STEP.cu: the kernel of the step's base, ready to be turned into "
                             "the step, with the task on top.\nA file that is there already is left alone.")
    parser.add_argument("--rung", metavar="K", type=int, help="not the whole step, but its K-th rung (or its baseline's)")
    parser.add_argument("--to", metavar="FOLDER", help="write it there (default: mine, in the source tree)")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="surrogateescape")
    build = check.Build(options.settings)
    sys.path.insert(0, os.path.join(build.source, "docs"))
    import course  # the steps' files, and what their pages say
    try:
        name = build.step(options.step)
        step = course.Step(name, build.steps[name])
        if step.base_kernel is None and options.rung is None:
            raise check.Cannot(f"STEP {name}: not allowed; it builds on no other: read {step.kernel}; allowed: any other")
        what, file, kernel = step.name, step.name, step.base_kernel
        if options.rung is not None:
            rung, rungs = course.rung_of(step, options.rung)
            what, file, kernel = rung["name"], f"{step.name}_rung{options.rung}", rung["original"]
            if not rung["base"]:
                raise check.Cannot(f"--rung 1: not allowed; it starts from nothing: read {rung['path']}; allowed: 2 to {len(rungs)}")
            if not os.path.exists(os.path.join(build.source, kernel)) or os.path.exists(kernel + ".stale"):
                raise check.Cannot(f"{kernel}: not made; build the target rungs: cmake --build {shlex.quote(build.build)}")
        mine = os.path.join(build.source, "mine")
        folder = options.to or (mine if os.path.relpath(mine).startswith("..") else os.path.relpath(mine))
        path = os.path.join(folder, f"{file}.cu")
        command = shlex.join([os.path.join(os.path.dirname(options.program), "check"), step.name, path])
        words = rung_task(course, rung, rungs, command) if options.rung is not None else task(course, step, command)
        text = words + "\n" + course.read(kernel)
        if os.path.lexists(path):
            raise check.Cannot(f"{path}: is there already, and was left alone; name another folder with --to")
        try:
            os.makedirs(folder, exist_ok=True)
            with open(path, "x", encoding="utf-8", errors="surrogateescape") as file:  # of its name
                file.write(text)
        except OSError as error:
            raise check.Cannot(f"{path}: {error.strerror}; name a folder that can be written with --to")
    except (check.Cannot, course.Stale) as error:
        print(error, file=sys.stderr)
        return check.CANNOT
    print(f"{path}: {rung['base'] if options.rung is not None else kernel}, to be turned into {what}. Check it: {command}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
