"""A picture as SVG, for a light and a dark page, in one style. Lengths are in units of which a picture is 420 wide: a phone
shows nine tenths of a pixel for each."""
import html
import itertools
import textwrap

WIDTH, MARGIN = 420, 12
INNER = WIDTH - 2 * MARGIN
COLOURS = {  # light, dark
    "paper": ("#ffffff", "#1b1f25"), "ink": ("#1f2430", "#e6e9ee"), "faint": ("#525b69", "#a9b3c0"),
    "line": ("#b9c1cc", "#4a5360"), "empty": ("#f1f3f6", "#262b33"), "all": ("#d9dee6", "#39414d"),
    "w0": ("#cfe1f7", "#22405f"), "w1": ("#d3ecd1", "#264b2b"), "w2": ("#e7dbf6", "#43355f"), "w3": ("#f8e6c2", "#5a4720"),
    "s0": ("#2f70b8", "#5b97dc"), "s1": ("#2c7d3a", "#57ab5b"), "s2": ("#7550b0", "#a184d6"), "s3": ("#8f6a12", "#cfa045"),
    "hot": ("#d9480f", "#ff8a50"), "on-hot": ("#ffffff", "#1b1f25"), "late": ("#f6c3ad", "#7a3a1f"),
}


def style():
    schemes = ["".join(f"--{name}:{pair[i]};" for name, pair in COLOURS.items()) for i in (0, 1)]
    fills = "".join(f".{name}{{fill:var(--{name})}}" for name in COLOURS)
    return (f"svg{{{schemes[0]}font-family:system-ui,'DejaVu Sans',sans-serif;font-size:11.5px}}"
            f"@media(prefers-color-scheme:dark){{svg{{{schemes[1]}}}}}{fills}"
            "text{fill:var(--ink)}text.faint{fill:var(--faint)}text.on-hot{fill:var(--on-hot)}text.hot{fill:var(--hot)}"
            ".b{font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}"
            ".l{fill:none;stroke:var(--line)}.i{fill:none;stroke:var(--ink)}.h{fill:none;stroke:var(--hot);stroke-width:1.6}"
            ".d{stroke-dasharray:4 3}")


def number(x):
    return f"{x:.2f}".rstrip("0").rstrip(".")


class Svg:
    """A picture that grows downwards: y is where the next thing goes."""

    def __init__(self, title, alt):
        self.title, self.alt, self.parts, self.y = title, alt, [], 24
        self.text(MARGIN, self.y, title, "b", 13.5)
        self.y += 8

    def text(self, x, y, words, look="", size=None, room=None):
        """`room`: a width into which the words are pressed if they are longer in any usual font."""
        size = f' font-size="{number(size)}"' if size else ""
        if room and 6.4 * len(words) > room:
            size += f' textLength="{number(room)}" lengthAdjust="spacingAndGlyphs"'
        look = f' class="{look}"' if look else ""
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}"{look}{size}>{html.escape(words, quote=False)}</text>')

    def rect(self, x, y, width, height, look, round=0):
        corner = f' rx="{round}"' if round else ""
        self.parts.append(f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"{corner} '
                          f'class="{look}"/>')

    def path(self, look, *points):
        moves = "".join(("M" if i == 0 else "L") + f"{number(x)} {number(y)}" for i, (x, y) in enumerate(points))
        self.parts.append(f'<path class="{look}" d="{moves}"/>')

    def says(self, words, look="", gap=15):
        """A paragraph."""
        most = 56 if look == "b" else 61  # letters of a line
        for i, line in enumerate(textwrap.wrap(words, most, break_long_words=False, break_on_hyphens=False)):
            self.y += 15 if i else gap
            self.text(MARGIN, self.y, line, look)
        self.y += 3

    def key(self, *entries):
        """Swatches, each with its words, from left to right."""
        self.y += 18
        x = MARGIN
        for look, words in entries:
            width = 18 + 6.1 * len(words) + 12
            if x > MARGIN and x + width > WIDTH:
                x, self.y = MARGIN, self.y + 17
            self.rect(x, self.y - 10, 13, 12, look, 2)
            self.text(x + 18, self.y, words)
            x += width
        self.y += 3

    def cells(self, x, y, wide, high, looks):
        """Cells of a grid, {(row, column): look}, of which equal neighbours become one rectangle."""
        runs = {}  # (first column, last column, look): rows
        for row, cells in itertools.groupby(sorted(looks), lambda cell: cell[0]):
            columns = [c for _, c in cells]
            start = columns[0]
            for c, after in zip(columns, columns[1:] + [None]):
                if after != c + 1 or looks[row, after] != looks[row, c]:
                    runs.setdefault((start, c, looks[row, c]), []).append(row)
                    start = after
        self.parts.append('<g shape-rendering="crispEdges">')
        for (first, last, look), rows in runs.items():
            start = rows[0]
            for r, after in zip(rows, rows[1:] + [None]):
                if after != r + 1:
                    self.rect(x + first * wide, y + start * high, (last - first + 1) * wide, (r - start + 1) * high, look)
                    start = after
        self.parts.append("</g>")

    def svg(self, more=""):
        """`more`: a style sheet of the picture's own."""
        height = number(self.y + 14)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH * 4 // 3}" '
                f'role="img" aria-labelledby="t d">\n<title id="t">{html.escape(self.title, quote=False)}</title>\n'
                f'<desc id="d">{html.escape(self.alt, quote=False)}</desc>\n<style>{style()}{more}</style>\n'
                f'<rect width="{WIDTH}" height="{height}" class="paper"/>\n' + "\n".join(self.parts) + "\n</svg>\n")
