#!/usr/bin/env python3
"""What opens or tests the project elsewhere: .devcontainer/ and .github/workflows/ci.yml.

Neither can be run here. Checked are their syntax, that the container installs the README's first apt-get line and
nothing else, and that the workflow runs .ci/run. The workflow is read by PyYAML where that is there, which is not among
the packages of the README; else only its lines are: indented by twos without tabs, each a key, an item or both.
"""
import json
import os
import re
import subprocess
import sys

os.chdir(sys.argv[1])
bad = []


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check(what, found, wanted):
    if found != wanted:
        bad.append(f"{what}: {found!r}, wanted {wanted!r}")


container = json.loads(read(".devcontainer/devcontainer.json"))
check("devcontainer.json, keys", sorted(container), ["build", "name"])
dockerfile = os.path.join(".devcontainer", container["build"]["dockerfile"])
context = os.path.join(".devcontainer", container["build"]["context"])
check("devcontainer.json, context", os.path.realpath(context), os.getcwd())

# What RUN would install, had the README been copied to where it copies it.
lines = [line for line in read(dockerfile).splitlines() if line and not line.startswith("#")]
check(dockerfile, [line.split()[0] for line in lines], ["FROM", "COPY", "RUN"])
install = re.fullmatch(r"RUN apt-get update && apt-get install -y --no-install-recommends (.*)", lines[2])
copy = re.fullmatch(r"COPY README.md (\S+)", lines[1])
if not install or not copy:
    bad.append(f"{dockerfile}: not understood: {lines[1:]}")
else:
    script = "echo " + install[1].replace(copy[1], "README.md")
    packages = subprocess.run(["sh", "-c", script], capture_output=True, text=True).stdout.split()
    check(f"{dockerfile}, packages", packages, re.search(r"^sudo apt-get install (.*)$", read("README.md"), re.M)[1].split())

workflow = read(".github/workflows/ci.yml")
try:
    import yaml
    steps = yaml.safe_load(workflow)["jobs"]["run"]["steps"]
    found = [step.get("run") or step["uses"].partition("@")[0] for step in steps]
    check("ci.yml, steps", found, ["actions/checkout", ".ci/run"])
    how = "by PyYAML"
except ImportError:
    for number, line in enumerate(workflow.splitlines(), 1):
        if not re.fullmatch(r"(  )*(- )?[\w-]+:( \S.*)?", line):
            bad.append(f"ci.yml:{number}: not a key: {line!r}")
    check("ci.yml, runs", re.findall(r"run: (.+)", workflow), [".ci/run"])
    how = "by its lines: no PyYAML"
if not os.access(".ci/run", os.X_OK):
    bad.append(".ci/run: cannot be executed")

print("\n".join(bad + [f"ci.yml was read {how}; {len(bad)} complaints"]))
sys.exit(bool(bad))
