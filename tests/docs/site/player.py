"""The players of traces, in headless Chromium: they play, step, go back, and light the line that the trace names.

  player.py SITE CHECKED_FOLDER [--shots FOLDER] [STEP ...]    (default: every step that has a player)

What a player shows is compared with a trace that the step's program writes here. Exit status 77 without Chromium or
without a site.
"""
import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import pages
import watch
from course import read, step

STATE = """() => { const w = document.querySelector('.watch'), q = s => w.querySelector(s);
    const code = [...w.querySelectorAll('.watch-code')].find(c => !c.hidden), lit = [...code.querySelectorAll('.lit')];
    const svg = q('.watch-lanes svg'), place = e => e.getBoundingClientRect();
    const seen = lit.length && place(lit[0]).top >= place(code).top - 1 && place(lit[0]).bottom <= place(code).bottom + 1;
    return {at: +q('.watch-at').value, last: +q('.watch-at').max, lit: lit.map(l => +l.firstChild.textContent),
        text: lit.map(l => l.textContent.replace(/^[0-9]+/, '')), seen,
        also: [...code.querySelectorAll('.also')].map(l => +l.firstChild.textContent), file: code.getAttribute('aria-label'),
        stages: [...w.querySelectorAll('.watch-stages > div')].map(d => d.lastChild.textContent),
        play: q('.watch-play').textContent, cursor: +q('.cursor').getAttribute('x'), now: q('.watch-now').textContent,
        view: svg.getAttribute('viewBox').split(' ').map(Number),
        wide: place(w).width}; }"""
KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, " ": 32, "Tab": 9}


class Trace:
    """Block 0 of one run of the trace: what each warp does at each moment, a moment being the begin of something."""

    def __init__(self, trace, pid):
        events = [e for e in trace["traceEvents"] if e["pid"] == pid]
        self.spans = [e for e in events if e["ph"] == "X"]
        self.times = sorted({e["ts"] for e in self.spans})
        self.warps = max(e["tid"] for e in self.spans)
        copies = [e for e in events if e["ph"] in "be"]
        self.groups = [(b["ts"], e["ts"], b["args"]["stage"]) for b, e in zip(copies[::2], copies[1::2])]

    def lines(self, moment, warp=None):
        at = self.times[moment]
        return sorted({int(e["args"]["line"].rpartition(":")[2]) for e in self.spans
                       if e["ts"] <= at < e["ts"] + e["dur"] and warp in (None, e["tid"] - 1)})

    def copied(self, moment):
        """The stages that copies are in flight to."""
        return {stage for begin, end, stage in self.groups if begin <= self.times[moment] < end}

    def read(self, moment, stage):
        at = self.times[moment]
        return any(e["ts"] <= at < e["ts"] + e["dur"] and e["cat"] in ("load", "mma") and e["args"].get("stage") == stage
                   for e in self.spans)


class Test:
    def __init__(self, browser, step):
        self.browser, self.step, self.bad = browser, step, 0

    def check(self, what, good, said=""):
        if not good and self.bad < 10:
            print(f"{self.step.name}: FAILED: {what}: {said}")
        self.bad += not good

    def do(self, script=""):
        """What the player shows after a script, in which w is the player and q() finds what is in it."""
        return self.browser.evaluate(f"(() => {{ const state = {STATE}, w = document.querySelector('.watch'), "
                                     f"q = s => w.querySelector(s); {script}; return state(); }})()")

    def key(self, key):
        more = {"text": " "} if key == " " else {}
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code="Space" if key == " " else key,
                              windowsVirtualKeyCode=KEYS[key], **(more if kind == "keyDown" else {}))
        return self.do()

    def at(self, moment):
        return self.do(f"q('.watch-at').value = {moment}; q('.watch-at').dispatchEvent(new Event('input'))")

    def all_moments(self, trace):
        states = self.browser.evaluate(f"""(() => {{ const state = {STATE}, at = document.querySelector('.watch-at');
            return Array.from({{length: {len(trace.times)}}}, (_, i) => {{
                at.value = i; at.dispatchEvent(new Event('input')); return state(); }}); }})()""")
        for moment, state in enumerate(states):
            self.check("moment", state["at"] == moment, state)
            self.compare(trace, state)

    def compare(self, trace, state, warp=0):
        want = trace.lines(state["at"], warp)
        self.check(f"line at moment {state['at']}, warp {warp}", state["lit"] == want, f"{state['lit']}, wanted {want}")
        self.check("lines of all warps", state["also"] == trace.lines(state["at"]), state)
        self.check("the line is in sight", state["seen"] or not want, state)
        first, _, wide, _ = state["view"]
        self.check("cursor", first <= state["cursor"] == state["at"] < first + wide, state)
        for stage, words in enumerate(state["stages"]):
            flies = stage in trace.copied(state["at"])
            self.check(f"stage {stage} at moment {state['at']}", ("being copied" in words) == flies, state)
            if trace.groups:
                reads = trace.read(state["at"], stage)
                self.check(f"stage {stage} read at {state['at']}", ("being read" in words) == reads, state)
        text = read(state["file"]).splitlines()
        self.check("text of the line", [l.rstrip() for l in state["text"]] == [text[l - 1].rstrip() for l in want], state)

    def run(self, traces):
        own, base = traces
        start = self.do()
        self.check("moments", start["last"] + 1 == len(own.times), f"{start['last'] + 1}, wanted {len(own.times)}")
        self.check("it stands at the first moment", start["at"] == 0 and start["play"] == "Play", start)
        self.all_moments(own)

        # Step forwards and backwards, by button and by key.
        self.at(3)
        self.check("on", self.do("q('.watch-on').click()")["at"] == 4)
        self.check("back", self.do("q('.watch-back').click()")["at"] == 3)
        self.check("last", self.do("q('.watch-last').click()")["at"] == start["last"])
        self.check("first", self.do("q('.watch-first').click()")["at"] == 0)
        self.check("back at the first", self.do("q('.watch-back').click()")["at"] == 0)
        self.do("document.activeElement.blur(); w.focus();")
        for key, want in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", start["last"]),
                          ("ArrowRight", start["last"]), ("Home", 0)):
            state = self.key(key)
            self.check(f"key {key}", state["at"] == want, state)
            self.compare(own, state)

        # Space plays, and pauses; so does the button. At the end it stops.
        self.check("space plays", self.key(" ")["play"] == "Pause")
        self.browser.evaluate("new Promise(done => setTimeout(done, 700))")
        state = self.key(" ")
        self.check("it has played", 1 <= state["at"] <= 4 and state["play"] == "Play", state)
        self.check("focus stays", self.browser.evaluate("document.activeElement.className") == "watch")
        self.at(start["last"] - 1)
        self.do("q('.watch-play').click()")
        self.browser.evaluate("new Promise(done => setTimeout(done, 400))")
        state = self.do()
        self.check("it stops at the end", (state["at"], state["play"]) == (start["last"], "Play"), state)
        self.check("from the end it plays from the first", self.do("q('.watch-play').click()")["at"] == 0)
        self.do("q('.watch-play').click()")

        # Another warp; and the base, at about the same place.
        warp = own.warps - 1
        state = self.do(f"q('.watch-warp').value = {warp}; q('.watch-warp').dispatchEvent(new Event('change'));")
        self.compare(own, state, warp)
        state = self.do("q('.watch-warp').value = 0; q('.watch-warp').dispatchEvent(new Event('change'));"
                        "w.querySelectorAll('.watch-run')[1].click();")
        self.check("base", state["last"] + 1 == len(base.times) and state["file"] == self.step.base_kernel, state)
        self.all_moments(base)
        self.do("w.querySelectorAll('.watch-run')[0].click();")

    def drag(self):
        """Through the lanes, with the mouse."""
        first, _, wide, _ = self.at(0)["view"]
        x, y, width, height = self.browser.evaluate("""(() => { const l = document.querySelector('.watch-lanes');
            l.scrollIntoView({block: 'center'});
            const r = l.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()""")
        for kind, share, buttons in (("mousePressed", 0.1, 1), ("mouseMoved", 0.8, 1), ("mouseMoved", 0.7, 1)):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x + share * width, y=y + height - 3, button="left",
                              buttons=buttons, clickCount=1)
        state = self.do()
        self.check("drag", abs(state["at"] - first - 0.7 * wide) <= 1 and state["view"][0] == first, state)
        self.check("the last warp is chosen", f"warp {self.warps - 1}:" in state["now"], state)
        self.browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
        state = self.do()
        self.check("released", state["view"][0] <= state["at"] < state["view"][0] + wide, state)


def without_programs():
    """A build that has no checked programs says so, and leaves the page as it is."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/generated")
        shutil.copy(os.path.join(watch.build_folder(), "generated", "course.json"), f"{folder}/generated")
        for s in watch.watched():
            with open(f"{folder}/{pages.for_doxygen.label(s.page)}.html", "w", encoding="utf-8") as file:
                file.write(f'<figure><img src="{os.path.basename(watch.picture_of(s))}"></figure>')
        script = os.path.join(os.path.dirname(watch.__file__), "for_doxygen.py")
        done = subprocess.run([sys.executable, script, "--files", folder], env=dict(os.environ, OVERLAP_BUILD=folder),
                              capture_output=True, text=True)
        name = pages.for_doxygen.label(watch.watched()[0].page)
        with open(f"{folder}/{name}.html", encoding="utf-8") as file:
            page = file.read()
        if done.returncode or "no player" not in done.stdout or "watch-bar" in page:
            print(f"FAILED: without programs: {done.stdout}{done.stderr}")
            return 1
    return 0


def shot(browser, path):
    browser.evaluate("document.querySelector('.watch').previousElementSibling.scrollIntoView()")
    browser.evaluate("new Promise(done => setTimeout(done, 500))")
    with open(path, "wb") as file:
        file.write(base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=os.path.abspath)
    parser.add_argument("programs", type=os.path.abspath)
    parser.add_argument("--shots")
    parser.add_argument("steps", nargs="*", metavar="step")
    arguments = parser.parse_args()
    chosen = [step(name) for name in arguments.steps] or watch.watched()
    program = pages.chromium()
    if not os.path.exists(f"{arguments.site}/index.html"):
        pages.skip(f"no site in {arguments.site} (cmake --build build --target site)")
    bad = without_programs()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = pages.Browser(program, profile)
        try:
            for s in chosen:
                path = os.path.join(profile, "trace.json")
                program_of = f"{arguments.programs}/{s.name}"
                subprocess.run([program_of, "--trace", path, "--base"], check=True, capture_output=True)
                with open(path, encoding="utf-8") as file:
                    trace = json.load(file)
                test, page = Test(browser, s), f"file://{arguments.site}/{pages.for_doxygen.label(s.page)}.html"
                traces = [Trace(trace, run["pid"]) for run in trace["runs"]]
                test.warps = traces[0].warps
                for size in ("desktop", "phone"):
                    width, height = pages.SIZES[size]
                    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                                 mobile=size == "phone")
                    browser.load(page)
                    if browser.evaluate("document.querySelectorAll('.watch:not([hidden])').length") != 1:
                        test.check(f"a player, {size}", False)
                        continue
                    if size == "desktop":
                        test.run(traces)
                    test.drag()
                    state = test.do()
                    test.check(f"width, {size}", 200 < state["wide"] <= width, state["wide"])
                    if arguments.shots:
                        os.makedirs(arguments.shots, exist_ok=True)
                        for scheme in ("light", "dark"):
                            features = [{"name": "prefers-color-scheme", "value": scheme}]
                            browser.call("Emulation.setEmulatedMedia", features=features)
                            shot(browser, f"{arguments.shots}/{s.name}-{size}-{scheme}.png")
                for what in browser.complaints():
                    test.check("console", False, what)

                # Without script the picture is there, and nothing of the player.
                browser.call("Emulation.setScriptExecutionDisabled", value=True)
                browser.events.clear()
                browser.call("Page.navigate", url=page)
                while not any(e.get("method") == "Page.loadEventFired" for e in browser.events):
                    browser.events.append(browser.message())
                browser.call("Emulation.setScriptExecutionDisabled", value=False)
                seen = browser.evaluate("""(() => { const w = document.querySelector('.watch');
                    const i = w.previousElementSibling.querySelector('img');
                    return [w.getClientRects().length, i.getAttribute('src'), i.complete && i.naturalWidth > 0,
                            i.clientWidth > 200]; })()""")
                picture = os.path.basename(watch.picture_of(s))
                test.check("without script", seen == [0, picture, True, True], seen)
                bad += test.bad
        finally:
            browser.process.kill()
            browser.process.wait()
    print(f"{len(chosen)} players: {bad} complaints")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
