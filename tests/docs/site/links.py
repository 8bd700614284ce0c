#!/usr/bin/env python3
"""Checks every link of the pages in the repository and of the built site, inner ones and those to files.

  links.py            the pages: README.md, docs/*.md, docs/steps/*.md
  links.py SITE       the site: every href and src of every page; nothing may be loaded from the network

Links to the network are not followed. Exit status 77 if SITE has no index.html.
"""
import html.parser
import os
import re
import sys
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs"))
import for_doxygen
import fresh


class Page(html.parser.HTMLParser):
    """The anchors, links and loaded files of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids.update(v for k, v in a.items() if k in ("id", "name") and v)
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        for key in ("src", "data"):
            if a.get(key):
                self.loads.append(a[key])
        if tag == "link" and a.get("href"):
            self.loads.append(a["href"])


def check_site(site):
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    pages[os.path.relpath(path, site)] = Page(file.read())
    bad = []
    for name, page in sorted(pages.items()):
        for target in page.loads + page.links:
            url = urllib.parse.urlsplit(target)
            if url.scheme in ("http", "https") or target.startswith("//"):
                if target in page.loads:
                    bad.append(f"{name}: loads {target} from the network")
                continue
            if url.scheme in ("javascript", "data", "mailto"):
                continue
            path = os.path.normpath(os.path.join(os.path.dirname(name), urllib.parse.unquote(url.path))) if url.path else name
            if not os.path.isfile(os.path.join(site, path)):
                bad.append(f"{name}: no file {target}")
            elif url.fragment and path in pages and urllib.parse.unquote(url.fragment) not in pages[path].ids:
                bad.append(f"{name}: no anchor {target}")
    return bad, len(pages)


def anchors(page):
    text = re.sub(r"^```.*?^```$", "", fresh.read(page), flags=re.S | re.M)
    headings = {for_doxygen.slug(title) for title in re.findall(r"^#+ (.*)$", text, re.M)}
    return headings | set(re.findall(r'<a id="([\w-]+)">', text))


def check_pages():
    bad = []
    pages = [p for p in fresh.pages() if p.endswith(".md")]
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", fresh.read(page), flags=re.S | re.M)
        for _, _, target, _ in for_doxygen.LINK.findall(text):
            if re.match(r"[a-z]+:", target):
                continue
            path, anchor = for_doxygen.resolve(page, target)
            if not fresh.exists(path):
                bad.append(f"{page}: no file {target}")
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                bad.append(f"{page}: no heading {target}")
    return bad, len(pages)


def main():
    if len(sys.argv) > 1 and not os.path.exists(f"{sys.argv[1]}/index.html"):
        print(f"skipped: no site in {sys.argv[1]} (cmake --build build --target site)")
        return 77
    bad, count = check_site(sys.argv[1]) if len(sys.argv) > 1 else check_pages()
    print("\n".join(bad + [f"{count} pages, {len(bad)} broken links"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
