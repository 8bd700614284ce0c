#!/usr/bin/env python3
"""The pages of the steps keep their order and what a student needs; terms are linked once, and only in prose."""
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/docs")
import fresh
import terms
from course import diffs_of, read, steps

ORDER = ["The question", "The baseline", "The rungs", "The kernel", "The diff", "What is in it", "Its edits",
         "You should now see", "Which thread touches what", "Why it could work", "Watch it", "The prediction", "The measurement", "Did it match?", "The experiments",
         "Break it", "Try this", "The researcher's tables"]
NEEDED = {"The question", "You should now see", "Why it could work", "The prediction", "The measurement", "Break it",
          "Try this"}
PROSE_MAX = 125  # lines outside of what is generated and of folds
bad = []


def check(what, found, wanted):
    if found != wanted:
        bad.append(f"{what}: {found!r}, wanted {wanted!r}")


def check_page(page, name):
    text = read(page)
    headings = [heading.partition(",")[0] for heading in re.findall(r"^## (.*)$", text, re.M)]
    known = [heading for heading in headings if heading in ORDER]
    check(f"{page}, order of sections", known, sorted(known, key=ORDER.index))
    check(f"{page}, missing sections", NEEDED - set(headings), set())
    see = text.partition("## You should now see\n")[2].partition("\n## ")[0]
    check(f"{page}, one or two outputs", len(re.findall(r"^\$ build/", see, re.M)) in (1, 2), True)

    folds = re.compile(r"^ *<details>.*?^ *</details>\n", re.S | re.M)
    shown = folds.sub("", text)
    experiments = [d for d in diffs_of("variants", name) if f"| [{d['name']}]" in shown]
    check(f"{page}, experiments before a fold", len(experiments) <= 5, True)
    check(f"{page}, all experiments", all(f"| [{d['name']}]" in text for d in diffs_of("variants", name)), True)
    exercises = re.split(r"^\d\. ", text.partition("## Try this\n")[2].partition("<!-- solutions")[0], flags=re.M)[1:]
    check(f"{page}, exercises", [e[:e.index(".")].strip("*") for e in exercises], ["Predict", "Change", "Explain"])
    check(f"{page}, answers", ["<summary>Answer</summary>" in e for e in exercises], [True, False, True])
    prose = [line for line in fresh.MARKER.sub("", shown).splitlines() if line.strip()]
    if len(prose) > PROSE_MAX:
        bad.append(f"{page}: {len(prose)} lines of prose, allowed: {PROSE_MAX}")


def check_terms():
    page = "docs/steps/x.md"
    wavefront = "[wavefront](../glossary.md#wavefront)"
    for before, after in {
        "A wavefront, and wavefronts.": f"A {wavefront}, and wavefronts.",
        "Wavefronts": "[Wavefronts](../glossary.md#wavefront)",
        "latencies": "[latencies](../glossary.md#latency)",
        "a block tile": "a [block tile](../glossary.md#block-tile)",  # the longest that fits
        "an SM, no sm": "an [SM](../glossary.md#sm), no sm",
        "# wavefront\n| wavefront |\n`wavefront`": None,
        "```text\nwavefront\n```\n<!-- wavefront -->": None,
        "[a wavefront](x.md \"wavefront\") super-wavefront": None,
        "wait for the base": None,  # plain words
    }.items():
        check(f"terms of {before!r}", terms.linked(page, before), after or before)
        check(f"terms of {before!r}, taken back", terms.unlinked(terms.linked(page, before)), before)
        check(f"terms of {before!r}, twice", terms.linked(page, terms.unlinked(after or before)), after or before)


for s in steps():
    check_page(s.page, s.name)
check_terms()
print("\n".join(bad + [f"{len(steps())} pages, {len(bad)} complaints"]))
sys.exit(bool(bad))
