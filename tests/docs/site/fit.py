"""In Chromium, no text of docs/pictures/*_*.svg leaves its picture or lies over another. Exit status 77 without Chromium.

fit.py SOURCE
"""
import glob
import os
import sys
import tempfile

import pages

CHECK = """(function () {
    const room = document.documentElement.viewBox.baseVal, bad = [];
    const all = [...document.querySelectorAll('text')].map(t => [t.textContent, t.getBBox()]);
    for (const [words, b] of all)
        if (b.x < 2 || b.x + b.width > room.width - 2 || b.y + b.height > room.height) bad.push('beyond the edge: ' + words);
    all.forEach(([words, a], i) => { for (const [others, b] of all.slice(i + 1))
        if (Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 0.5 &&
            Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 4) bad.push(words + ' over ' + others); });
    return all.length ? bad : ['no text'];
})()"""

program = pages.chromium()
bad = 0
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = pages.Browser(program, profile)
    try:
        for path in sorted(glob.glob(os.path.join(os.path.abspath(sys.argv[1]), "docs", "pictures", "*_*.svg"))):
            browser.events.clear()
            browser.call("Page.navigate", url="file://" + path)
            while not any(e.get("method") == "Page.loadEventFired" for e in browser.events):
                browser.events.append(browser.message())
            for what in browser.evaluate(CHECK):
                print(f"{os.path.basename(path)}: {what}")
                bad = 1
    finally:
        browser.process.kill()
        browser.process.wait()
sys.exit(bad)
