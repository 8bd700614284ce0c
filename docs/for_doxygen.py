#!/usr/bin/env python3
"""What the site needs beside Doxygen; docs/CMakeLists.txt runs it.

  docs/for_doxygen.py FILE.md          Doxygen's input filter: the page as Doxygen understands it
  docs/for_doxygen.py --files HTML     after Doxygen: pictures, and every file that a page links to

A page is written for a reader of the repository. For Doxygen, its links become references, its diffs
coloured blocks that stand side by side where the window is wide, and its pictures plain images.
"""
import html
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
from course import ROOT, pages, read

try:
    from pygments import lexers, token
except ImportError:
    lexers = None

LINK = re.compile(r'(!?)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^()\s]+)(?: "([^"]*)")?\)')
CODE = (".cu", ".h", ".c", ".cpp")  # files that Doxygen shows, under common/ and steps/
DOXYGEN_FOLDERS = ("common/", "steps/")


# ---- names ----

def label(page):
    """The name of a page for Doxygen's @ref."""
    stem = os.path.splitext(os.path.basename(page))[0]
    return "step_" + stem if page.startswith("docs/steps/") else {"README": "readme"}.get(stem, stem)


def slug(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).replace(" ", "-")


def shown_by_doxygen(path):
    return path.startswith(DOXYGEN_FOLDERS) and path.endswith(CODE) and "/unit/" not in path


def copy_of(path):
    """Where a linked file lies on the site."""
    return "files/" + path.replace("/", "-") + ".html"


# ---- coloured code ----

KINDS = [("Comment.Preproc", "tp"), ("Comment", "tc"), ("Keyword.Type", "tt"), ("Keyword", "tk"),
         ("Literal.String", "ts"), ("Literal.Number", "tn")]


def coloured(lines):
    """HTML of each line of C, coloured if Pygments is there."""
    if not lexers:
        return [html.escape(line, quote=False) for line in lines]
    out = [""]
    lexer = lexers.CppLexer(stripnl=False, ensurenl=False)
    for kind, text in lexer.get_tokens("\n".join(lines)):
        css = next((css for name, css in KINDS if str(kind).startswith("Token." + name)), "")
        for i, piece in enumerate(text.split("\n")):
            if i:
                out.append("")
            if piece:
                piece = html.escape(piece, quote=False)
                out[-1] += f'<span class="{css}">{piece}</span>' if css else piece
    return out


def cell(css, sign, lines):
    rows = "".join(f'<span class="l"><i>{sign}</i>{line or " "}</span>' for line in lines)
    return f'<div class="{css}">{rows}</div>'


def diff_block(text):
    """A unified diff as HTML: old beside new, or old above new in a narrow window."""
    lines = text.split("\n")
    codes = coloured([l[1:] if l[:1] in "+- " else "" for l in lines])
    out, same, old, new = [], [], [], []

    def flush():
        if same:
            out.append('<div class="same">' + cell("old", " ", same) + cell("new", " ", same) + "</div>")
        if old or new:
            out.append('<div class="change">' + cell("old", "-", old) + cell("new", "+", new) + "</div>")
        same.clear(), old.clear(), new.clear()

    for line, code in zip(lines, codes):
        if line.startswith(("--- ", "+++ ", "@@")) or line[:1] not in ("+", "-", " "):
            flush()
            if line:
                out.append(f'<div class="hunk">{html.escape(line)}</div>')
        elif line[0] == " ":
            if old or new:
                flush()
            same.append(code)
        else:
            if same or (line[0] == "-" and new):
                flush()
            (old if line[0] == "-" else new).append(code)
    flush()
    return '<div class="diff">' + "".join(out) + "</div>"


# ---- the filter ----

def resolve(page, target):
    """A link's path in the repository, and its anchor."""
    path, _, anchor = target.partition("#")
    path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    return path, anchor


def raw(code):
    """HTML that Doxygen passes on untouched: its own Markdown trips over much that stands in backticks."""
    return f"@htmlonly{code}@endhtmlonly"


def text_as_html(text):
    return re.sub(r"`([^`]+)`", lambda m: f"<code>{html.escape(m[1])}</code>", text)


def link_for_doxygen(page, match):
    picture, text, target, title = match.groups()
    if re.match(r"[a-z]+:", target):
        about = f' title="{html.escape(title)}"' if title else ""
        return raw(f'<a href="{html.escape(target)}"{about}>{text_as_html(text)}</a>')
    path, anchor = resolve(page, target)
    if picture:
        return raw(f'<figure><img src="{os.path.basename(path)}" alt="{html.escape(text)}">'
                   f"<figcaption>{html.escape(text)}</figcaption></figure>")
    if path == "docs/index.md" and anchor:
        return raw(f'<a href="index.html#{anchor}">{text_as_html(text)}</a>')
    if path in pages():
        return f"[{text}](@ref {label(path)}{'-' + anchor if anchor else ''})"
    if shown_by_doxygen(path):
        return f'[{text}](@ref {path})'
    if os.path.isfile(os.path.join(ROOT, path)):
        return raw(f'<a href="{copy_of(path)}">{text_as_html(text)}</a>')
    return text  # a folder: nothing to show


def line_for_doxygen(page, line):
    line = LINK.sub(lambda m: link_for_doxygen(page, m), line)
    parts = re.split(r"(@htmlonly.*?@endhtmlonly)", line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"`([^`\n]*[<>][^`\n]*)`", lambda m: raw(f"<code>{html.escape(m[1])}</code>"), parts[i])
        parts[i] = re.sub(r"(?<!`)\bStage\b", "%Stage", parts[i])  # a word here, not the struct
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", "".join(parts))


def heading_for_doxygen(page, marks, title, first):
    """A heading with its anchor. Those of the front page stay out of the navigation."""
    if first:
        return f"{marks} {title.replace('`', '')}" + ("" if page == "docs/index.md" else f" {{#{label(page)}}}")
    if page == "docs/index.md":
        return raw(f'<a id="{slug(title)}"></a>') + f"\n\n{marks} {title}"
    return f"{marks} {title} {{#{label(page)}-{slug(title)}}}"


def filtered(page):
    text = re.sub(r"<!--.*?-->\n?", "", read(page), flags=re.S)
    parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    first_heading = True
    for i, part in enumerate(parts):
        if i % 2:  # a fenced block
            fence, _, body = part.partition("\n")
            language, body = fence[3:].strip(), body[:-3]
            if language == "diff":
                parts[i] = f"@htmlonly[block]\n{diff_block(body)}\n@endhtmlonly"
            elif language == "console":  # what a program said: its long lines are wrapped
                parts[i] = f'@htmlonly[block]\n<pre class="output">{html.escape(body)}</pre>\n@endhtmlonly'
            else:
                parts[i] = f"```{{.{'cpp' if language == 'cpp' else 'unparsed'}}}\n{body}```"
            continue
        lines = part.split("\n")
        for n, line in enumerate(lines):
            heading = re.match(r"(#+) (.*)$", line)
            if heading:
                lines[n] = heading_for_doxygen(page, heading[1], heading[2], first_heading)
                first_heading = False
            else:
                lines[n] = line_for_doxygen(page, line)
        parts[i] = "\n".join(lines)
    return "".join(parts)


# ---- files ----

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{path}</title><link rel="stylesheet" href="../site.css"></head>
<body class="file"><p><a href="../index.html">Overlap</a> / {path}</p>
{body}
</body></html>
"""


def copy_files(site):
    os.makedirs(os.path.join(site, "files"), exist_ok=True)
    for page in (p for p in pages() if p.endswith(".md")):
        text = re.sub(r"^```.*?^```$", "", read(page), flags=re.S | re.M)
        for picture, _, target, _ in LINK.findall(text):
            path, _ = resolve(page, target)
            if re.match(r"[a-z]+:", target) or not os.path.isfile(os.path.join(ROOT, path)):
                continue
            if picture:
                shutil.copy(os.path.join(ROOT, path), site)
            elif path not in pages() and not shown_by_doxygen(path):
                body = read(path)
                body = diff_block(body) if path.endswith(".diff") else f"<pre>{html.escape(body)}</pre>"
                with open(os.path.join(site, copy_of(path)), "w", encoding="utf-8") as file:
                    file.write(PAGE.format(path=path, body=body))


if __name__ == "__main__":
    if sys.argv[1] == "--files":
        copy_files(sys.argv[2])
    else:
        sys.stdout.write(filtered(os.path.relpath(os.path.abspath(sys.argv[1]), ROOT)))
