#!/usr/bin/env python3
"""Loads pages of the course in headless Chromium: wide, as a desktop and as a phone, light and dark.

  pages.py SITE [--shots FOLDER] [PAGE ...]    SITE: the folder of index.html; FOLDER: where PNG pictures go;
                                               PAGE: such as docs/index.md (default: every page)

Checks of each page: the title, the navigation, the diff block of a step's page, that every picture is
there, that nothing is wider than the window, that text stands out from its background, that the console
stays silent and that nothing is asked of the network. Exit status 77 without Chromium or without a site.
"""
import argparse
import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs"))
import for_doxygen
import fresh

SIZES = {"wide": (1920, 1080), "desktop": (1280, 800), "phone": (390, 844)}
CHECKS = """(function () {
    const bad = [], content = document.querySelector('.contents');
    if (!document.title) bad.push('no title');
    if (!content) { bad.push('no content'); return bad; }
    if (document.querySelectorAll('#nav-tree .item a').length < 5) bad.push('no navigation');
    const room = document.scrollingElement.clientWidth;
    if (document.scrollingElement.scrollWidth > room) bad.push('the page is ' + document.scrollingElement.scrollWidth + ' wide');
    const scrolls = e => e && e !== document.body &&
        (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX) && !e.classList.contains('contents') && e.id !== 'doc-content'
            || scrolls(e.parentElement));
    for (const e of content.querySelectorAll('*'))
        if (e.getBoundingClientRect().right > room + 1 && !scrolls(e))
            { bad.push(e.tagName + '.' + e.className + ' reaches ' + Math.round(e.getBoundingClientRect().right)); break; }
    for (const i of document.images)
        if (!i.complete || i.naturalWidth === 0) bad.push('picture ' + i.getAttribute('src'));
    if (innerWidth !== 1920) return bad; // colours are the same at every size
    const rgb = s => (s.match(/[0-9.]+/g) || []).map(Number);
    const light = c => { const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
    const paper = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
        if (c.length && !(c.length > 3 && c[3] < 0.5)) return c; } return [255, 255, 255]; };
    const faint = {};
    for (const e of content.querySelectorAll('*')) {
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
        const ink = rgb(getComputedStyle(e).color), back = paper(e), a = light(ink), b = light(back);
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) faint[e.tagName + '.' + e.className + ' ' + ink + ' on ' + back] = ratio.toFixed(2);
    }
    for (const k in faint) bad.push('faint text, contrast ' + faint[k] + ': ' + k);
    return bad;
})()"""


class Browser:
    """Chromium, spoken to through a pipe (the DevTools protocol)."""

    def __init__(self, program, profile):
        there, back = os.pipe(), os.pipe()

        def hand_over():  # Chromium reads descriptor 3 and writes 4
            read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (there[0], back[1]))
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            close_fds=False, preexec_fn=hand_over, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there[0]), os.close(back[1])
        self.out, self.into = os.fdopen(there[1], "wb"), os.fdopen(back[0], "rb")
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.buffer:
            got = os.read(self.into.fileno(), 1 << 16)
            if not got:
                raise EOFError("Chromium has ended")
            self.buffer += got
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        self.out.write(json.dumps(request).encode() + b"\0")
        self.out.flush()
        while True:
            reply = self.message()
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise RuntimeError(f"{method}: {reply['error']['message']}")
                return reply["result"]
            self.events.append(reply)

    def load(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())
        # The navigation comes by scripts that run after loading; what else they do is done by then.
        self.evaluate("""new Promise(done => { const end = Date.now() + 10000, look = () =>
            document.querySelectorAll('#nav-tree .item a').length >= 5 || Date.now() > end ? setTimeout(done, 100) : setTimeout(look, 20);
            look(); })""")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return result["result"].get("value")

    def complaints(self):
        """What the console said, and what was asked of the network."""
        for event in self.events:
            p = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                yield "exception: " + p["exceptionDetails"].get("exception", {}).get("description", p["exceptionDetails"]["text"])
            if event.get("method") == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning"):
                yield "console: " + " ".join(str(a.get("value", "")) for a in p["args"])
            if event.get("method") == "Log.entryAdded" and p["entry"]["level"] == "error":
                yield "console: " + p["entry"]["text"] + " " + p["entry"].get("url", "")
            if event.get("method") == "Network.requestWillBeSent":
                url = p["request"]["url"]
                if not url.startswith(("file:", "data:", "about:", "blob:")):
                    yield "asks the network for " + url


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def chromium():
    """Its program."""
    found = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    return found or skip("no Chromium (Debian: apt-get install chromium)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=os.path.abspath)
    parser.add_argument("--shots")
    every = [p for p in fresh.pages() if p.endswith(".md") and p.startswith("docs/")]
    parser.add_argument("pages", nargs="*", metavar="page")
    arguments = parser.parse_args()
    if not set(arguments.pages) <= set(every):
        parser.error(f"pages: {', '.join(every)}")
    site, shots, names = arguments.site, arguments.shots, arguments.pages or every
    program = chromium()
    if not os.path.exists(f"{site}/index.html"):
        skip(f"no site in {site} (cmake --build build --target site)")
    bad = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # its helpers outlive Chromium a little
        browser = Browser(program, profile)
        try:
            for page in names:
                name = for_doxygen.label(page)
                for size, (width, height) in SIZES.items():
                    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                                 deviceScaleFactor=1, mobile=size == "phone")
                    if size != "desktop":  # which is the wide window made narrower, as a reader would
                        browser.load(f"file://{site}/{name}.html")
                    for scheme in ("light", "dark"):
                        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                        browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
                        wrong = browser.evaluate(CHECKS) + list(browser.complaints())
                        title = browser.evaluate("document.title")
                        heading = fresh.read(page).splitlines()[0].lstrip("# ").replace("`", "")
                        if heading.split(":")[0] not in title:
                            wrong.append(f"title '{title}', wanted '{heading}'")
                        if page.startswith("docs/steps/") and "```diff" in fresh.read(page) and not browser.evaluate(
                                "document.querySelectorAll('.diff .new .l').length"):
                            wrong.append("no diff block")
                        for what in wrong:
                            print(f"{name}.html, {size}, {scheme}: {what}")
                        bad += len(wrong)
                        if shots:
                            os.makedirs(shots, exist_ok=True)
                            browser.evaluate("new Promise(done => setTimeout(done, 500))")  # the navigation slides open
                            png = browser.call("Page.captureScreenshot", format="png")["data"]
                            with open(f"{shots}/{name}-{size}-{scheme}.png", "wb") as file:
                                file.write(base64.b64decode(png))
        finally:
            browser.process.kill()
            browser.process.wait()
    print(f"{len(names)} pages, {len(SIZES)} sizes, 2 colour schemes: {bad} complaints")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
