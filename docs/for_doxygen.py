#!/usr/bin/env python3
"""What the site needs beside Doxygen; docs/CMakeLists.txt runs it.

  docs/for_doxygen.py FILE.md          Doxygen's input filter: the page as Doxygen understands it
  docs/for_doxygen.py --files HTML     after Doxygen: pictures, players of traces, every file that a page links to, the
                                       switch to the dark

A page is written for a reader of the repository. For Doxygen, its links become references, its diffs
coloured blocks that stand side by side where the window is wide, and its pictures plain images.
"""
import glob
import html
import itertools
import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
import terms
import watch
from course import ROOT, pages, read, write

try:
    import pygments
    from pygments import formatters, lexers
except ImportError:
    pygments = None

LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^()\s]+)(?: "([^"]*)")?\)')
FENCE = re.compile(r"(^```.*?^```$)", re.S | re.M)


# ---- names ----

def label(page):
    """The name of a page for Doxygen's @ref."""
    stem = os.path.splitext(os.path.basename(page))[0].lower()
    return "step_" + stem if page.startswith("docs/steps/") else stem


def slug(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")


def shown_by_doxygen(path):
    return path.startswith(("common/", "steps/")) and path.endswith((".cu", ".h", ".c", ".cpp"))


def copy_of(path):
    """Where a linked file lies on the site."""
    return "files/" + path.replace("/", "-") + ".html"


# ---- coloured code ----

def coloured(code):
    """HTML of C, coloured if Pygments is there."""
    if not pygments:
        return html.escape(code, quote=False)
    lexer = lexers.CppLexer(stripnl=False, ensurenl=False)
    spans = pygments.highlight(code, lexer, formatters.HtmlFormatter(nowrap=True))
    return re.sub(r'<span class="[^cksm][^"]*">([^<]*)</span>', r"\1", spans)  # site.css has no colour for the others


def side_of(line):
    """What a line of a unified diff is in diff_block()."""
    if line.startswith(("--- ", "+++ ")) or line[:1] not in ("+", "-", " "):
        return "hunk"
    return "same" if line[0] == " " else "change"


def diff_block(text):
    """A unified diff as HTML: old beside new, or old above new in a narrow window."""
    lines = text.splitlines()
    codes = coloured("\n".join(line[1:] if side_of(line) != "hunk" else "" for line in lines)).split("\n")
    out = ""
    for side, group in itertools.groupby(zip(lines, codes), lambda pair: side_of(pair[0])):
        old, new = "", ""
        for line, code in group:
            out += f'<div class="hunk">{html.escape(line)}</div>' * (side == "hunk" and line != "")
            cell = f'<span class="l"><i>{line[:1]}</i>{code or " "}</span>'
            old += cell * (line[:1] != "+")
            new += cell * (line[:1] != "-")
        if side != "hunk":
            out += f'<div class="{side}"><div class="old">{old}</div><div class="new">{new}</div></div>'
    return f'<div class="diff">{out}</div>'


# ---- the filter ----

def resolve(page, target):
    """A link's path in the repository, and its anchor."""
    path, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    return path, anchor


def raw(code):
    """HTML that Doxygen passes on untouched: its own Markdown trips over much that stands in backticks."""
    return f"@htmlonly{code}@endhtmlonly"


def anchor_to(target, text, about=""):
    words = re.sub(r"`([^`]+)`", lambda m: f"<code>{html.escape(m[1])}</code>", text)
    return raw(f'<a href="{html.escape(target)}"{about}>{words}</a>')


def link_for_doxygen(page, match):
    picture, text, target, title = match.groups()
    if re.match(r"[a-z]+:", target):
        return anchor_to(target, text, f' title="{html.escape(title)}"' if title else "")
    path, anchor = resolve(page, target)
    if picture:
        return raw(f'<figure><img src="{os.path.basename(path)}" alt="{html.escape(text)}">'
                   f"<figcaption>{html.escape(text)}</figcaption></figure>")
    if path == terms.GLOSSARY and anchor:
        meaning = html.escape(terms.definitions()[anchor])
        return anchor_to(f"glossary.html#{anchor}", text, f' class="term" title="{meaning}"')
    if path == "docs/index.md" and anchor:
        return anchor_to("index.html#" + anchor, text)
    if path in pages():
        return f"[{text}](@ref {label(path)}{'-' + anchor if anchor else ''})"
    if shown_by_doxygen(path):
        return f"[{text}](@ref {path})"
    if os.path.isfile(os.path.join(ROOT, path)):
        return anchor_to(copy_of(path), text)
    return text  # a folder: nothing to show


def heading_for_doxygen(page, marks, title):
    """A heading with its anchor. Those of the front page stay out of the navigation."""
    if marks == "#":
        return f"# {title.replace('`', '')}" + f" {{#{label(page)}}}" * (page != "docs/index.md")
    if page == "docs/index.md":
        return raw(f'<a id="{slug(title)}"></a>') + f"\n\n{marks} {title}"
    return f"{marks} {title} {{#{label(page)}-{slug(title)}}}"


def line_for_doxygen(page, line):
    if re.match(r" *</?details>", line):  # Doxygen closes it too early
        return re.sub(r"( *)(.*)", r"\1@htmlonly[block]\n\1\2\n\1@endhtmlonly", line, count=1)
    heading = re.match(r"(#+) (.*)$", line)
    if heading:
        return heading_for_doxygen(page, *heading.groups())
    line = LINK.sub(lambda m: link_for_doxygen(page, m), line)
    line = re.sub(r'<a id="[\w-]+"></a>', lambda m: raw(m[0]), line)
    parts = re.split(r"(@htmlonly.*?@endhtmlonly)", line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"`([^`\n]*[<>][^`\n]*)`", lambda m: raw(f"<code>{html.escape(m[1])}</code>"), parts[i])
        parts[i] = re.sub(r"(?<!`)\bStage\b", "%Stage", parts[i])  # a word here, not the struct
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", "".join(parts))


def block_for_doxygen(block):
    """A fenced block: diffs have two sides, and long lines of what a program said are wrapped."""
    fence, _, body = block.removesuffix("```").partition("\n")
    if fence == "```diff":
        return f"@htmlonly[block]\n{diff_block(body)}\n@endhtmlonly"
    if fence == "```console":
        table = " table" * body.startswith("$ ")  # what a command says stays in columns
        return f'@htmlonly[block]\n<pre class="output{table}">{html.escape(body)}</pre>\n@endhtmlonly'
    return f"```{{.{'cpp' if fence == '```cpp' else 'unparsed'}}}\n{body}```"


def filtered(page):
    parts = FENCE.split(re.sub(r"<!--.*?-->\n?", "", read(page), flags=re.S))
    for i, part in enumerate(parts):
        parts[i] = block_for_doxygen(part) if i % 2 else "\n".join(line_for_doxygen(page, l) for l in part.split("\n"))
    return "".join(parts)


# ---- files ----

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{path}</title><link rel="stylesheet" href="../site.css"></head>
<body class="file"><p><a href="../index.html">Overlap</a> / {path}</p>
{body}
</body></html>
"""


DARK = """<script type="text/javascript" src="doxygen-awesome-darkmode-toggle.js"></script>
<script type="text/javascript">DoxygenAwesomeDarkModeToggle.init()</script>
"""


def copy_files(site):
    os.makedirs(os.path.join(site, "files"), exist_ok=True)
    for page in (p for p in pages() if p.endswith(".md")):
        for picture, _, target, _ in LINK.findall(FENCE.sub("", read(page))):
            path, _ = resolve(page, target)
            if re.match(r"[a-z]+:", target) or not os.path.isfile(os.path.join(ROOT, path)):
                continue
            if picture:
                shutil.copy(os.path.join(ROOT, path), site)
            elif path not in pages() and not shown_by_doxygen(path):
                body = read(path)
                body = diff_block(body) if path.endswith(".diff") else f"<pre>{html.escape(body)}</pre>"
                write(os.path.join(site, copy_of(path)), PAGE.format(path=path, body=body))


def add_switch(site):
    """Between light and dark, if doxygen-awesome-css is there."""
    for path in glob.glob(f"{site}/*.html") * os.path.exists(f"{site}/doxygen-awesome-darkmode-toggle.js"):
        write(path, read(path).replace("</head>", DARK + "</head>", 1))


# ---- players ----

PLAYER = """<div class="watch" hidden tabindex="0" role="group"
 aria-label="Player: what the warps do, moment by moment; space plays, arrows step, Home and End go to the ends">
<div class="watch-bar">{choice}
<button type="button" class="watch-first" aria-label="First moment">|&lt;</button>
<button type="button" class="watch-back" aria-label="One moment back">&lt;</button>
<button type="button" class="watch-play">Play</button>
<button type="button" class="watch-on" aria-label="One moment on">&gt;</button>
<button type="button" class="watch-last" aria-label="Last moment">&gt;|</button>
<select class="watch-warp" aria-label="Warp whose line is lit"></select></div>
<div class="watch-body"><div>
<div class="watch-rows"><div class="watch-names" aria-hidden="true"></div><div class="watch-lanes"></div></div>
<input type="range" class="watch-at" min="0" value="0" aria-label="Moment">
<p class="watch-now" aria-live="polite"></p>
<div class="watch-stages"></div>
<ul class="watch-legend">{legend}</ul>
<p class="watch-note">{note} Each moment is as wide as any other.</p>
</div><div>{code}</div></div>
<script type="application/json" class="watch-data">{data}</script>
</div>
<script src="player.js"></script>
"""


def player(step):
    """The player of a step's trace, or nothing if it cannot be traced here."""
    runs = watch.runs_of(step)
    if not runs:
        return ""
    used = {s.kind for run in runs for w in run.warps for s in w} | {"in flight" for run in runs for _ in run.groups}
    legend = "".join(f'<li><i style="background:{fill}"></i>{html.escape(words)}</li>'
                     for kind, (words, fill, _) in watch.KINDS.items() if kind in used)
    choice = "".join(f'<button type="button" class="watch-run">{run.name}</button>' for run in runs)
    code = ""
    for run in runs:
        lines = coloured(read(run.kernel)).rstrip("\n").split("\n")
        lines = "".join(f'<span class="l"><i>{i}</i>{line}</span>' for i, line in enumerate(lines, 1))
        code += f'<pre class="watch-code" aria-label="{run.kernel}">{lines}</pre>'
    kinds = [{"name": kind, "words": words, "fill": fill, "ink": ink} for kind, (words, fill, ink) in watch.KINDS.items()]
    data = {"kinds": kinds, "flight": list(watch.KINDS).index("in flight"), "runs": [watch.data_of(run) for run in runs]}
    return PLAYER.format(choice=choice, legend=legend, note=watch.NOTE, code=code,
                         data=json.dumps(data, separators=(",", ":")))


def add_players(site):
    """Behind the picture of each trace."""
    shutil.copy(os.path.join(ROOT, "docs/player.js"), site)
    without = []
    for step in watch.watched():
        path, picture = os.path.join(site, label(step.page) + ".html"), os.path.basename(watch.picture_of(step))
        head, figure, rest = read(path).partition(f'<figure><img src="{picture}"')
        html_of = player(step) if figure else ""
        before, end, after = rest.partition("</figure>")
        write(path, head + figure + before + end + html_of + after)
        without += [step.name] * (not html_of)
    if without:
        print(f"The site has no player for {', '.join(without)}: no checked program (they need GCC)")


if __name__ == "__main__":
    if sys.argv[1] == "--files":
        site = os.path.abspath(sys.argv[2])
        copy_files(site)
        add_players(site)
        add_switch(site)
    else:
        sys.stdout.write(filtered(os.path.relpath(os.path.abspath(sys.argv[1]), ROOT)))
