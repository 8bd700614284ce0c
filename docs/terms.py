"""The terms of docs/glossary.md: what they mean, and links to them from the prose of the pages, for fresh.py."""
import functools
import os
import re

from course import read

GLOSSARY = "docs/glossary.md"
ENTRY = re.compile(r'^(?:<a id="[\w-]+"></a>)?\*\*([^*]+)\.\*\* (.*)$', re.M)
PLAIN_WORDS = {"base", "wait", "cold", "warm", "library", "reference", "track"}  # which seldom mean the term
FENCE = re.compile(r"(^[ ]*```.*?^[ ]*```$)", re.S | re.M)
# What is not prose: comments and tags, code, links, headings, tables.
SKIPPED = r'<[^>\n]*>|`[^`\n]+`|!?\[(?:[^\[\]]|\[[^\]]*\])+\]\([^()\s]+(?: "[^"]*")?\)|^#.*$|^\|.*$'


def anchor_of(heads):
    """The anchor of an entry, by the first of its terms."""
    return re.sub(r"[^a-z0-9]+", "-", heads.split(", ")[0].lower()).strip("-")


@functools.cache
def definitions():
    """What the glossary says, by anchor, as plain text."""
    def plain(text):
        return re.sub(r"[`*]", "", re.sub(r'\[([^\[\]]+)\]\([^()\s]+(?: "[^"]*")?\)', r"\1", text))
    return {anchor_of(heads): plain(text) for heads, text in ENTRY.findall(read(GLOSSARY))}


@functools.cache
def anchors():
    """The anchor of each term, which is in lower case unless its case matters, as in SM."""
    found = {}
    for heads, _ in ENTRY.findall(read(GLOSSARY)):
        for term in heads.split(", "):
            if term.lower() not in PLAIN_WORDS:
                found[term.lower() if term[1:] == term[1:].lower() else term] = anchor_of(heads)
    return found


@functools.cache
def pattern():
    """What is not prose, or a term in any number: the longest first."""
    words = sorted(anchors(), key=len, reverse=True)
    forms = "|".join(re.escape(w[:-1]) + "(?:y|ies)" if w.endswith("y") else re.escape(w) + "(?:e?s)?" for w in words)
    return re.compile(rf"({SKIPPED})|(?<![\w-])({forms})(?![\w-])", re.M | re.I)


def unlinked(text):
    return re.sub(r"\[([^\[\]]+)\]\([./]*glossary\.md#[\w-]+\)", r"\1", text)


def linked(page, text):
    """Links each term where it first occurs in the prose of a page; gives the entries of the glossary their anchors."""
    if page == GLOSSARY:
        return ENTRY.sub(lambda m: f'<a id="{anchor_of(m[1])}"></a>**{m[1]}.** {m[2]}', text)
    done = {None}

    def first(match):
        word = match[2] or ""
        forms = (word, re.sub("ies$", "y", word), re.sub("s$", "", word), re.sub("es$", "", word))
        anchor = next((anchors()[w] for form in forms for w in (form, form.lower()) if w in anchors()), None)
        if anchor in done:
            return match[0]
        done.add(anchor)
        return f"[{word}]({os.path.relpath(GLOSSARY, os.path.dirname(page))}#{anchor})"

    parts = FENCE.split(text)
    parts[::2] = [pattern().sub(first, part) for part in parts[::2]]
    return "".join(parts)
