"""Draws who touches which data, as SVG, from a kernel's constants and its trace: docs/pictures/*.svg, and build/picture.

docs/pictures/pictures.csv names the pictures of each step; each kind is a function draw_* below, which returns an Svg.
What they show, touches.py reads from the trace.
"""
import contextlib
import math
import re

from course import read, read_csv
from fresh import constants
from svg import INNER, MARGIN, WIDTH, Svg
from touches import BANKS, WARP, Missing, Tiles, copies, cycles, phases, wavefronts


# ---- words ----

def runs_of(values):
    values, runs = sorted(set(values)), []
    for v in values:
        if runs and runs[-1][1] == v - 1:
            runs[-1][1] = v
        else:
            runs.append([v, v])
    return runs


def ranges(values):
    """Numbers in short: 0–3, 32–35; many of one length at one distance: 0, 4, …, 28."""
    runs = runs_of(values)
    words = [str(a) if a == b else f"{a}–{b}" for a, b in runs]
    steps, lengths = {b[0] - a[0] for a, b in zip(runs, runs[1:])}, {b - a for a, b in runs}
    even = len(runs) > 3 and len(steps) == len(lengths) == 1
    return ", ".join(words[:2] + ["…"] + words[-1:] if even else words)


def plural(n, word):
    return f"{n} {word}" + "s" * (n != 1)


# ---- tiles of A, B and C ----

def where(operand, elements):
    """Elements of one lane as C has them, such as: A[8][0–3]."""
    return f"{operand}[{ranges(e[-2] for e in elements)}][{ranges(e[-1] for e in elements)}]"


def draw_tiles(step, trace, values, panels):
    t = Tiles(trace, values)
    warp, lane = min(1, t.warps - 1), 5
    wide, gap = 90, 30  # of A; between A and C
    x_a, x_c = MARGIN, MARGIN + wide + gap
    sx, sk = (WIDTH - MARGIN - x_c) / t.cols, wide / t.depth
    sy = min(12, max(3, 200 / t.rows))
    svg = Svg(f"{step}: who loads, who computes",
              f"Block 0 of {step}: which of its {plural(t.warps, 'warp')} loads each element of its tiles of A "
              f"({t.rows} x {t.depth}) and B ({t.depth} x {t.cols}), and computes each element of its tile of C ({t.rows} x "
              f"{t.cols}); what lane {lane} of warp {warp} touches stands out.")
    svg.says(f"C is cut into tiles of {t.rows} x {t.cols}, one a block. Shown: block 0, {plural(t.warps, 'warp')}, "
             + (f"and the first {t.depth} k." if t.direct else f"and K-tile 0, which is {t.depth} deep."), "faint")
    y_b = svg.y + 26
    y_c = y_b + wide + 10

    # the grid, in the corner
    o = trace.operands["C"]
    across = max(44, min(wide, wide * o["cols"] / o["rows"])) / o["cols"]
    down = max(40, min(wide - 4, wide * o["rows"] / o["cols"])) / o["rows"]
    blocks = math.ceil(o["rows"] / t.rows) * math.ceil(o["cols"] / t.cols)
    svg.text(x_a, y_b - 6, f"grid: {plural(blocks, 'block')}", "faint")
    for block, elements in sorted(t.blocks.items()):
        row, col = min(r for r, _ in elements), min(c for _, c in elements)
        x, y = x_a + col * across, y_b + row * down
        w, h = min(t.cols, o["cols"] - col) * across, min(t.rows, o["rows"] - row) * down
        svg.rect(x, y, w, h, "s0" if block == 0 else "empty")
        svg.rect(x, y, w, h, "l")
        svg.text(x + w / 2, y + h / 2 + 4, str(block), "m b on-hot" if block == 0 else "m faint")

    # who loads
    lines = []
    for operand, x, y, w, h in (("A", x_a, y_c, sk, sy), ("B", x_c, y_b, sx, sk)):
        looks = {e: f"w{next(iter(by)) % 4}" if len(by) == 1 else "all" for e, by in t.loaders(operand).items()}
        of_warp = [a for a in t.loads if (a.memory, a.warp) == (operand, warp)]
        if not of_warp:
            raise Missing(f"warp {warp} loads nothing of {operand}")
        one = of_warp[0]
        strong = {e[1:] for elements in one.elements for e in elements}
        own = [e[1:] for a in (of_warp if t.direct else [one]) for e in a.elements[lane]]
        hot = {e for e in own if e[operand == "A"] < t.depth}
        looks |= dict.fromkeys(strong, f"s{warp % 4}") | dict.fromkeys(hot, "hot")
        svg.cells(x, y, w, h, looks)
        height, width = (t.rows, t.depth) if operand == "A" else (t.depth, t.cols)
        svg.rect(x, y, width * w, height * h, "l")
        lanes = sum(at is not None for at in one.at)
        verb = "copy" if one.kind == "copy" else "load"
        lines.append((f"One {verb} of {operand} by warp {warp}, {lanes} lanes of {one.bytes} bytes:",
                      ",  ".join(f"lane {l}: {where(operand, one.elements[l])}"
                                 for l in (0, 1, WARP - 1) if one.elements[l])))

    # who computes
    mine = sorted(e for e, owner in t.owner.items() if owner == (warp, lane))
    looks = {e: f"w{w % 4}" for e, (w, _) in t.owner.items()}
    if not t.mma:
        looks |= dict.fromkeys(mine, "hot")
    svg.cells(x_c, y_c, sx, sy, looks)
    if t.mma:
        m, n = values.get("WMMA_M", 16), values.get("WMMA_N", 16)
        for r in range(0, t.rows, m):
            svg.path("l", (x_c, y_c + r * sy), (x_c + t.cols * sx, y_c + r * sy))
        for c in range(0, t.cols, n):
            svg.path("l", (x_c + c * sx, y_c), (x_c + c * sx, y_c + t.rows * sy))
    svg.rect(x_c, y_c, t.cols * sx, t.rows * sy, "l")
    for w in range(t.warps):
        rows = [r for (r, _), (v, _) in t.owner.items() if v == w]
        cols = [c for (_, c), (v, _) in t.owner.items() if v == w]
        high = (max(rows) - min(rows) + 1) * sy
        if high >= 11:
            svg.text(x_c + (min(cols) + max(cols) + 1) / 2 * sx, y_c + min(rows) * sy + high / 2 + 4, f"warp {w}", "m",
                     min(12, high - 1.5))

    # what the edges are
    middle = x_c - gap / 2
    for y, first, last, high in ((y_c, 0, t.rows - 1, t.rows * sy), (y_b, 0, t.depth - 1, t.depth * sk)):
        svg.text(middle, y + 9, str(first), "m faint", 10.5)
        svg.text(middle, y + high - 1, str(last), "m faint", 10.5)
    svg.text(middle, y_c + t.rows * sy / 2 + 4, "row", "m faint", 10.5)
    svg.text(middle, y_b + wide / 2 + 4, "k", "m faint", 10.5)
    svg.text(x_c, y_b - 6, "column 0", "faint", 10.5)
    svg.text(x_c + t.cols * sx, y_b - 6, str(t.cols - 1), "e faint", 10.5)
    svg.text(x_c, y_c + t.rows * sy + 14, "column 0", "faint", 10.5)
    svg.text(x_c + t.cols * sx, y_c + t.rows * sy + 14, str(t.cols - 1), "e faint", 10.5)
    svg.text(x_c + t.cols * sx / 2, y_b - 6, f"B: {t.depth} x {t.cols}", "m b")
    svg.y = y_c + t.rows * sy + 14
    svg.text(x_a, svg.y, "k 0", "faint", 10.5)
    svg.text(x_a + wide, svg.y, str(t.depth - 1), "e faint", 10.5)
    svg.y += 13
    svg.text(x_a + wide / 2, svg.y, f"A: {t.rows} x {t.depth}", "m b")
    svg.text(x_c + t.cols * sx / 2, svg.y, f"C: {t.rows} x {t.cols}", "m b")
    svg.y += 4

    warps = [(f"w{w}", f"warp {w}" + ", …" * (t.warps > 4 and w == 3)) for w in range(min(t.warps, 4))]
    shared = any(len(by) > 1 for operand in "AB" for by in t.loaders(operand).values())
    svg.key(*warps, *[("all", "several warps")] * shared, (f"s{warp % 4}", f"one {verb} of warp {warp}"),
            ("hot", f"its lane {lane}"))
    for head, words in lines:
        svg.says(head, "b")
        svg.says(words)
    if t.mma:
        svg.says(f"C is computed in fragments of {m} x {n}, each by a whole warp.")
    else:
        svg.says(f"Lane {lane} of warp {warp} computes {plural(len(mine), 'element')} of C:", "b")
        svg.says(where("C", mine))
    return svg


# ---- banks ----

def lanes_in(width, lanes):
    """Lanes in words that fit a cell, if any do."""
    full = "all" if len(lanes) == WARP else ranges(lanes).replace(", …, ", "…").replace(", ", " ")
    for words in (full, f"{lanes[0]}…{lanes[-1]}", f"{lanes[0]}+"):
        if 5.6 * len(words) <= width + 1.5:
            return words
    return ""


def in_words(access, operand):
    """What an instruction touches, such as: 32 lanes of 4 bytes: A[0–7][0–3]."""
    return (f"{plural(sum(at is not None for at in access.at), 'lane')} of {plural(access.bytes, 'byte')}: "
            + where(operand, [e for lane in access.elements for e in lane]))


def merged(banks):
    """Neighbouring banks that the same lanes want: [first, last, lanes]."""
    found = []
    for bank in sorted(banks):
        if found and found[-1][1] == bank - 1 and found[-1][2] == banks[bank]:
            found[-1][1] = bank
        else:
            found.append([bank, bank, banks[bank]])
    return found


def lanes_in(lanes):
    return "all" if len(lanes) == WARP else ranges(lanes).replace(", …, ", "…").replace(", ", " ")


def draw_access(svg, operand, access):
    """The banks that an instruction hits, a row for each wavefront. Returns whether there is a conflict."""
    groups, x, cell, high = wavefronts(access), 24, 12, 16
    svg.text(MARGIN, svg.y, in_words(access, operand), "faint")
    svg.y += 6
    row = 0
    for rows in groups:
        for i, banks in enumerate(rows):
            y = svg.y + row * high
            row += 1
            svg.text(x - 5, y + 11.5, str(row), "e faint", 10)
            svg.rect(x, y, BANKS * cell, high - 1.5, "empty")
            for first, last, lanes in merged(banks):
                width = (last - first + 1) * cell
                svg.rect(x + first * cell + 0.6, y, width - 1.2, high - 1.5, "late" if i else f"w{lanes[0] // 8 % 4}", 1)
                words = lanes_in(lanes)
                svg.text(x + first * cell + width / 2, y + 11, words, "m", 9.8, width - 2.6 - 3 * (len(words) == 1))
    svg.y += row * high + 9
    svg.text(x, svg.y, "bank 0", "faint", 10)
    for bank in (8, 16, 24, 31):
        svg.text(x + (bank + 0.5) * cell, svg.y, str(bank), "m faint", 10)
    return any(len(rows) > 1 for rows in groups)


def draw_copy(svg, operand, source, target, read, served):
    """Where a warp's first 16 lanes copy to, and which of them share 32 bytes there as well as in global memory. Returns
    whether some do not."""
    svg.text(MARGIN, svg.y, f"{in_words(source, operand)}; {read} sectors of global memory", "faint")
    lanes = [lane for lane in range(WARP // 2) if source.at[lane] is not None]
    low = min(target.at[lane] for lane in lanes) // 32 * 32
    end = -(-max(target.at[lane] + source.bytes for lane in lanes) // 32) * 32
    unit, x = (WIDTH - MARGIN - 24) / (end - low), 24
    y = svg.y + 20
    svg.rect(x, y, (end - low) * unit, 17, "empty")
    partner = {lane: [l for l in lanes if source.at[l] // 32 == source.at[lane] // 32] for lane in lanes}
    for lane in lanes:
        split = len({target.at[l] // 32 for l in partner[lane]}) > 1
        at, width = x + (target.at[lane] - low) * unit, source.bytes * unit
        svg.rect(at + 0.6, y, width - 1.2, 17, "late" if split else f"w{lane // 8 % 4}", 1)
        svg.text(at + width / 2, y + 12, str(lane), "m", 9.8, width - 4)
    for at in range(low, end + 1, 32):
        svg.path("i", (x + (at - low) * unit, y - 4), (x + (at - low) * unit, y + 21))
    svg.y = y + 34
    svg.text(x, svg.y, "shared memory, a line every 32 bytes; lanes 0 to 15", "faint", 10)
    return served > read


KINDS = {"read": ("load",), "fill": ("store", "copy")}


def draw_banks(step, trace, values, panels):
    svg = Svg(f"{step}: banks that one instruction hits", "")
    svg.says("A cell is a bank, in it the lanes it serves. A row is a wavefront: one cycle, in which each bank serves one "
             "word of 4 bytes, to any number of lanes. 16 bytes a lane go out by groups of lanes.", "faint")
    shown, best = [], {}
    for what, operand, variant, of in panels:
        with contextlib.suppress(Missing):  # such as copies in a kernel that stores
            found = next(copies(of, operand), None) if what == "copy" else of.first(KINDS[what], operand)
            if found is None:
                continue
            cost = found[-1] if what == "copy" else cycles(found)
            shown.append((what, operand, variant, found, cost))
            best[what, operand] = min(cost, best.get((what, operand), cost))
    if not shown:
        raise Missing("no K-tile in shared memory")
    said, late = [], False
    for what, operand, variant, found, cost in shown:
        verb = {"load": "reads", "copy": "copies", "store": "stores"}["copy" if what == "copy" else found.kind]
        name = f"{verb} {operand}" + (f", as in {variant}" if variant else "")
        words = plural(cost, "sector" if what == "copy" else "wavefront")
        svg.y += 22
        svg.text(MARGIN, svg.y, f"Warp 0 {name}", "b")
        svg.text(WIDTH - MARGIN, svg.y, words, "e b" + " hot" * (cost > best[what, operand]))
        svg.y += 14
        late |= draw_copy(svg, operand, *found) if what == "copy" else draw_access(svg, operand, found)
        said.append(f"{name.replace(',', '')}: {words}")
    svg.key(("w0", "lanes 0–7"), ("w1", "8–15"), ("w2", "16–23"), ("w3", "24–31"), *[("late", "costs one more")] * late)
    svg.alt = (f"The banks of shared memory that one instruction of warp 0 hits in {step}, lane by lane. "
               f"It {'; '.join(said)}.")
    return svg


# ---- fragments ----

def fragment(trace, what, operand, count):
    """The first fragment of warp 0: {(row, column): lane}; `count` instructions load or store it."""
    held = {}
    if operand == "C":  # by way of a staging buffer: what is stored from where it lies
        mine = [a for a in trace.accesses if (a.block, a.warp) == (0, 0)]
        stored = next((i for i, a in enumerate(mine) if "store_matrix_sync" in a.text), None)
        if stored is None:
            raise Missing("no store_matrix_sync()")
        loads = [a for a in mine[stored:] if a.kind == "load" and a.memory == "shared"]
        out = [a for a in mine[stored:] if a.kind == "store" and a.memory == "C"]
        lies = {}
        for load, store in zip(loads, out):
            for at, elements in zip(load.at, store.elements):
                for e in elements:
                    lies.setdefault(at, e[1:])
        for a in mine[stored:stored + count]:
            for lane, at in enumerate(a.at):
                for byte in range(0, a.bytes, 4):
                    if at is not None and at + byte in lies:
                        held[lies[at + byte]] = lane
    else:
        loads = [a for a in trace.accesses if (a.block, a.warp, a.kind) == (0, 0, "load") and "load_matrix_sync" in a.text
                 and {e[0] for lane in a.elements for e in lane} == {operand}]
        for a in loads[:count]:
            for lane, elements in enumerate(a.elements):
                held.update((e[1:], lane) for e in elements)
    if not held:
        raise Missing(what)
    return held


def draw_fragments(step, trace, values, panels):
    m, n, k = (values.get("WMMA_" + x, d) for x, d in zip("MNK", (16, 16, 8)))
    lane, cell, gap = 5, 15, 20
    svg = Svg(f"{step}: which lane holds which element", f"The fragments of one mma_sync in {step}: A, {m} x {k}, B, {k} x "
              f"{n}, and C, {m} x {n}; each element with the number of the lane that holds it. Lane {lane} stands out.")
    svg.says("The first fragments of warp 0, as the CPU device spreads them over the lanes: a number is a lane. How a GPU "
             "does it is not specified, so a kernel must not use it.", "faint")
    x_a = MARGIN + 22
    x_c = x_a + k * cell + gap
    y_b = svg.y + 24
    y_c = y_b + k * cell + gap
    words = []
    for operand, x, y, count in (("A", x_a, y_c, m * k // WARP), ("B", x_c, y_b, k * n // WARP),
                                 ("C", x_c, y_c, m * n // WARP // 2)):
        held = fragment(trace, f"no fragment of {operand} is loaded or stored", operand, count)
        rows, cols = sorted({r for r, _ in held}), sorted({c for _, c in held})
        for (r, c), l in held.items():
            cx, cy = x + (c - cols[0]) * cell, y + (r - rows[0]) * cell
            svg.rect(cx + 0.4, cy + 0.4, cell - 0.8, cell - 0.8, "hot" if l == lane else f"w{l // 8}", 1)
            svg.text(cx + cell / 2, cy + 11, str(l), "m b on-hot" if l == lane else "m", 9.8, 11.5 * (l > 9))
        for r in (rows[0], rows[-1]):
            if operand != "C":
                svg.text(x - 4, y + (r - rows[0]) * cell + 11, str(r), "e faint", 10)
        for c in (cols[0], cols[-1]):
            if operand != "C":
                svg.text(x + (c - cols[0] + 0.5) * cell, y - 4, str(c), "m faint", 10)
        svg.text(x + len(cols) * cell / 2, y - 4 if operand != "C" else y + len(rows) * cell + 14,
                 {"A": "A: row, k", "B": "B: k, column", "C": "C: row, column"}[operand], "m b", 10.5)
        own = sorted(e for e, l in held.items() if l == lane)
        words.append(", ".join(f"{operand}[{r}][{c}]" for r, c in own))
    svg.y = y_c + m * cell + 18
    svg.key(("w0", "lanes 0–7"), ("w1", "8–15"), ("w2", "16–23"), ("w3", "24–31"), ("hot", f"lane {lane}"))
    svg.says(f"Lane {lane} holds", "b")
    for line in words:
        svg.says(line)
    return svg


# ---- stages ----

def draw_stages(step, trace, values, panels):
    depth = values.get("BK", trace.operands["A"]["cols"])
    found = phases(trace, depth)
    group = {e["args"]["group"]: e["args"]["bytes"] for e in trace.flights}
    svg = Svg(f"{step}: two stages, and their hand-over", f"What warp 0 of {step} does, from top to bottom, and what is in "
              "its stages: while it multiplies the K-tile in one, the copies of the next K-tile to the other are in flight. "
              "A wait and a barrier stand between the copy of a K-tile and its multiply.")
    svg.says(f"Warp 0 of block 0, from top to bottom: an order of events, not time. A K-tile is {depth} deep, "
             f"{max(group.values())} bytes of A and B, which all warps copy together.", "faint")
    stages = sorted({p.stage for p in found if p.kind == "copy"})
    left = 124
    wide = (WIDTH - MARGIN - left) / len(stages)
    heights = {"copy": 30, "wait": 20, "barrier": 20, "multiply": 34}
    top = svg.y + 24
    for s in stages:
        svg.text(left + (s + 0.5) * wide, top - 6, f"stage {s}", "m b")
    y, flying, boxes = top, {}, []
    for p in found:
        high = heights[p.kind]
        line = p.event["args"]["line"].rpartition(":")[2]
        svg.text(MARGIN, y + high / 2 + 4, f"{p.count} copies" if p.kind == "copy" else p.kind)
        if p.event["cat"] != "load":  # such loads are of many lines
            svg.text(left - 8, y + high / 2 + 4, f"line {line}", "e faint", 10)
        if p.kind == "copy":
            flying[p.stage] = (y + 3, p.tile)
        if p.kind == "wait":
            for s, (since, tile) in flying.items():
                boxes.append((s, since, y + high / 2, tile))
            flying = {}
        if p.kind in ("wait", "barrier"):
            svg.path("i d" if p.kind == "wait" else "i", (left, y + high / 2), (WIDTH - MARGIN, y + high / 2))
        if p.kind == "multiply":
            x = left + p.stage * wide
            svg.rect(x + 6, y + 2, wide - 12, high - 4, f"s{(p.tile or 0) % 4}", 3)
            svg.text(x + wide / 2, y + high / 2 + 4, f"multiply K-tile {p.tile}", "m b on-hot")
        y += high
    for s, since, until, tile in boxes:
        x = left + s * wide + 6
        svg.rect(x, since, wide - 12, until - since, f"w{(tile or 0) % 4}", 3)
        svg.rect(x, since, wide - 12, until - since, "l d", 3)
        svg.text(x + wide / 2 - 6, since + 17, f"copy K-tile {tile}", "m b")
        if until - since > 60:
            svg.text(x + wide / 2 - 6, since + 33, "in flight", "m faint")
    for s in stages + [len(stages)]:
        svg.path("l", (left + s * wide, top), (left + s * wide, y))
    svg.y = y + 2
    svg.says("After a wait (dashed) a thread's own copies have landed. After the barrier (line) so have all others', and "
             "the other stage is free: nobody multiplies it any more.")
    return svg


# ---- vectors ----

def draw_tile(step, trace, values, panels):
    """The vectors of block 0's first tile: a column for each thread, a row for each of its loads."""
    taken = {}  # thread: its accesses
    for a in trace.accesses:
        if (a.block, a.memory, a.bytes) == (0, "x", 16) and a.kind in ("load", "copy"):
            for lane, elements in enumerate(a.elements):
                if elements:
                    taken.setdefault(a.warp * WARP + lane, []).append((elements[0][2] // 4, a))
    rows = values.get("ROWS", values.get("LOADS"))
    if not taken or not rows:
        raise Missing("no 16-byte loads of x, or neither ROWS nor LOADS vectors a thread")
    taken = {thread: sorted(((v, a) for v, a in found), key=lambda f: f[0])[:rows] for thread, found in taken.items()}
    threads, warp, lane = len(taken), 1, 5
    last = max(v for found in taken.values() for v, _ in found)
    kinds = {a.kind for found in taken.values() for _, a in found}
    svg = Svg(f"{step}: threads and vectors", f"The first tile of block 0 of {step}: {last + 1} vectors of 16 bytes, "
              f"{rows} for each of {threads} threads; those of one load of warp {warp} and of its lane {lane} stand out.")
    svg.says(f"Tile 0 is vectors 0 to {last} of x, 16 bytes each. A column is a thread of block 0, a row is one load of "
             "every thread. In a warp's load the 32 lanes take neighbours, 512 bytes.", "faint")
    wide, high = INNER / threads, max(6, min(9, 150 / rows))
    looks = {}
    for thread, found in taken.items():
        for row, (_, a) in enumerate(found):
            look = f"w{thread // WARP % 4}" if a.kind == "copy" or len(kinds) == 1 else "all"
            if thread // WARP == warp and row == 0:
                look = f"s{warp % 4}"
            looks[row, thread] = "hot" if thread == warp * WARP + lane else look
    y = svg.y + 26
    svg.cells(MARGIN, y, wide, high, looks)
    warps = threads // WARP
    for w in range(warps):
        x = MARGIN + w * WARP * wide
        svg.rect(x, y, WARP * wide, rows * high, "l")
        svg.text(x + WARP * wide / 2, y - 5, f"warp {w}" if warps <= 8 else str(w) if w else "warp 0", "m faint",
                 10.5 if warps <= 8 else 9.8)
    svg.y = y + rows * high + 2
    keys = [("w0", "copied to shared memory" if "copy" in kinds else "loaded")]
    if len(kinds) > 1:
        keys.append(("all", "loaded to registers"))
    svg.key(*keys, (f"s{warp}", f"one load of warp {warp}"), ("hot", f"its lane {lane}"))

    def row_of(row, w):
        first, to = taken[w * WARP][row][0], taken[w * WARP + 31][row][0]
        return f"{first} to {to}"
    svg.says(f"Row 0 is vectors {row_of(0, 0)} for warp 0, {row_of(0, 1)} for warp 1; "
             f"row 1 is {row_of(1, 0)} and {row_of(1, 1)}.")
    mine = [v for v, _ in taken[warp * WARP + lane]]
    svg.says(f"Thread {warp * WARP + lane}, lane {lane} of warp {warp}: vectors {ranges(mine)}.")
    return svg


def draw_tree(step, trace, values, panels):
    source = values["source"]
    distances = re.search(r"distance = (\d+); distance > 0; distance /= 2", source)
    if not distances or "__shfl_xor_sync" not in source:
        raise Missing("no shuffles of lane ^ distance, halved from one to the next")
    first = int(distances[1])
    shared = [a for a in trace.accesses if a.block == 0 and a.memory == "shared" and a.bytes == 4 and not any(a.elements)]
    sums = [(a.warp, lane, at) for a in shared if a.kind == "store" for lane, at in enumerate(a.at) if at is not None]
    read = next(([(lane, at) for lane, at in enumerate(a.at) if at is not None] for a in shared
                 if a.kind == "load" and {at for at in a.at if at is not None} == {at for _, _, at in sums}), None)
    of_blocks = [(a, lane, at) for a in trace.accesses if a.memory == "workspace"
                 for lane, at in enumerate(a.at) if at is not None]
    stored = [(a.block, at) for a, _, at in of_blocks if a.kind == "store"]
    last = [(a.block, a.warp * WARP + lane, at) for a, lane, at in of_blocks if a.kind == "load"]
    if not sums or read is None or not stored or not last:
        raise Missing("no sums of warps in shared memory, or no partial sums of blocks in the workspace")
    svg = Svg(f"{step}: the tree of the sum", f"How {step} adds up: in a warp by shuffles at distance {first} down to 1, in "
              f"a block by shared memory from {len(sums)} warps, in the grid by the workspace from {len(stored)} blocks, "
              "which the last block to finish reads.")
    svg.says("From top to bottom. Each thread has added its own vectors already. The order never changes, so neither do the "
             "bits.", "faint")
    x, cell, gap = MARGIN, 12.2, 25

    def dot(lane, y, look, words):
        svg.rect(x + lane * cell + 0.5, y - 7.5, cell - 1, 15, look, 3)
        svg.text(x + (lane + 0.5) * cell, y + 4, words, "m on-hot b" if look == "hot" else "m", 9.8, 10 * (lane > 9))

    svg.y += 22
    svg.text(MARGIN, svg.y, "In a warp: 32 lanes, by shuffles", "b")
    y, distance, levels = svg.y + 20, first, []
    while distance > 0:
        levels.append((y, distance))
        for lane in sorted({distance - 1, 0}, reverse=True):  # the outermost two, of all that go in parallel
            for other in (lane, lane + distance):
                ends = (x + (other + 0.5) * cell, y + 8), (x + (lane + 0.5) * cell, y + gap - 8)
                svg.path("h" if lane == 0 else "l", *ends)
        y, distance = y + gap, distance // 2
    for level, d in levels + [(y, 0)]:
        for lane in range(max(1, 2 * d)):
            dot(lane, level, "hot" if lane in (0, d) else "w0", str(lane))
        if 2 * d < 2 * first:
            before = max(1, 2 * d)
            svg.text(x + 17 * cell, level + 4, f"distance {before}: lane 0 + lane {before}", "faint")
    svg.y = y + 12
    svg.says(f"At distance {first} lane 0 adds lane {first}, lane 1 lane {first + 1}, and so on. Each lane adds its "
             "partner, lane ^ distance, so that in the end all have the sum; drawn is what reaches lane 0.", "faint")

    def boxes(title, of, look):
        svg.y += 20
        svg.text(MARGIN, svg.y, title, "b")
        svg.y += 8
        wide = INNER / len(of)
        for i, lines in enumerate(of):
            svg.rect(MARGIN + i * wide + 3, svg.y, wide - 6, 18 + 14 * (len(lines) - 1), look, 3)
            for j, line in enumerate(lines):
                svg.text(MARGIN + (i + 0.5) * wide, svg.y + 13 + 14 * j, line, *(("m", 10.5) if j else ("m b",)))
        svg.y += 18 + 14 * (len(of[0]) - 1)

    def arrows(of, to):
        wide = INNER / of
        for i in range(of):
            svg.path("i", (MARGIN + (i + 0.5) * wide, svg.y), (MARGIN + to * INNER, svg.y + 20))
        svg.y += 20

    base = min(at for _, _, at in sums)
    who = dict((at, lane) for lane, at in read)
    boxes("In a block: one sum of each warp, by shared memory",
          [(f"warp {w}", f"lane {lane} stores", f"byte {at - base},", f"lane {who[at]} reads") for w, lane, at in sums],
          "w1")
    arrows(len(sums), 0.5)
    svg.rect(MARGIN + INNER / 2 - 165, svg.y, 330, 20, "s1", 3)
    svg.text(WIDTH / 2, svg.y + 14, f"warp 0 adds its lanes as before, {plural(len(sums), 'sum')}", "m b on-hot")
    svg.y += 20
    reader, reader_of = last[0][0], {at: thread for _, thread, at in last}
    boxes("In the grid: one sum of each block, by the workspace",
          [(f"block {b}", "thread 0 stores", f"byte {at},", f"thread {reader_of.get(at, '?')} reads") for b, at in stored],
          "w2")
    arrows(len(stored), 0.5)
    svg.rect(MARGIN + INNER / 2 - 165, svg.y, 330, 20, "s2", 3)
    svg.text(WIDTH / 2, svg.y + 14, f"the last block to finish, here {reader}: the sum of x", "m b on-hot")
    svg.y += 22
    blocks = values.get("BLOCKS")
    if blocks:
        svg.says(f"Here x has {len(stored)} tiles, so there are {len(stored)} blocks; a long x has {blocks}, and thread t "
                 f"adds the sums of blocks t, t + {values.get('THREADS', '?')}, …", "faint")
    return svg


def draw_lookback(step, trace, values, panels):
    stores, reads, order = {}, {}, []
    for a in trace.accesses:
        if a.memory != "workspace" or a.bytes != 8:
            continue
        order += [a.block] * (a.block not in order)
        for lane, at in enumerate(a.at):
            if at is not None and a.kind == "store":
                stores.setdefault(a.block, []).append((at, "AGGREGATE" if "AGGREGATE" in a.text else "PREFIX"))
            elif at is not None and a.kind == "load":
                reads.setdefault(a.block, {})[at] = lane
    if not stores or any(sorted(s for _, s in stores[b])[:1] != ["AGGREGATE"] for b in stores):
        raise Missing("no status of 8 bytes that is an AGGREGATE, then a PREFIX, in the workspace")
    places = sorted({at for found in stores.values() for at, _ in found})
    svg = Svg(f"{step}: the look-back", f"The first {len(order)} tiles of {step}: each publishes its own sum, its "
              "aggregate, then reads the status of the tiles before it, the nearest by lane 0, and publishes the sum of "
              "everything up to its end, its prefix.")
    svg.says("From top to bottom, a band for each tile. A column is a status word in the workspace: the offset of its byte, "
             "and whose it is. Lanes of warp 0 read them, the nearest tile by lane 0.", "faint")
    left = 118
    wide = (WIDTH - MARGIN - left) / len(places)
    svg.y += 20
    for i, at in enumerate(places):
        svg.text(left + (i + 0.5) * wide, svg.y, "head" if i == 0 else f"tile {i - 1}", "m b")
        svg.text(left + (i + 0.5) * wide, svg.y + 14, f"byte {at}", "m faint", 10)
    svg.y += 20
    high, top = 21, svg.y

    def box(i, row, look, words, ink=""):
        svg.rect(left + i * wide + 2, svg.y + row * high + 1.5, wide - 4, high - 3, look, 3)
        svg.text(left + (i + 0.5) * wide, svg.y + row * high + 14.5, words, f"m {ink}".strip(), 10.5, wide - 12)

    for tile, block in enumerate(order):
        own = next(at for at, what in stores[block] if what == "AGGREGATE")
        svg.text(MARGIN, svg.y + 14.5, f"tile {tile}", "b")
        for row, words in enumerate(("adds up", "looks back", "knows")):
            svg.text(left - 8, svg.y + row * high + 14.5, words, "e faint", 10.5)
        box(places.index(own), 0, "w0", "aggregate")
        for at, what in stores[block]:
            if at != own:
                box(places.index(at), 0, "s2", "prefix", "on-hot b")
        for at, lane in reads.get(block, {}).items():
            box(places.index(at), 1, "w3", f"lane {lane}")
        box(places.index(own), 2, "s2", "prefix", "on-hot b")
        svg.y += 3 * high
        svg.path("l", (MARGIN, svg.y + 2), (WIDTH - MARGIN, svg.y + 2))
        svg.y += 5
    svg.says("A lane reads again until its status is there. What is added: every aggregate from the nearest tile back to "
             "the nearest prefix, and that prefix.")
    if "(prefixes & -prefixes) * 2 - 1" in values["source"]:
        tile = len(order) - 1
        seen = ["aggregate"] + ["prefix"] * (len(places) - 2)  # by lane
        prefixes = sum(1 << lane for lane, s in enumerate(seen) if s == "prefix")
        lowest, needed = prefixes & -prefixes, (prefixes & -prefixes) * 2 - 1
        lanes = range(len(seen))
        svg.says(f"For example, tile {tile} looks back while tile {tile - 1} has only its aggregate:", "b", 20)
        svg.y += 6
        for name, cells in (("lane", lanes), ("sees", seen), ("prefixes", [prefixes >> l & 1 for l in lanes]),
                            ("prefixes & -prefixes", [lowest >> l & 1 for l in lanes]),
                            ("… * 2 - 1 = needed", [needed >> l & 1 for l in lanes])):
            svg.y += 18
            svg.text(MARGIN, svg.y, name)
            for l, words in enumerate(cells):  # as bits: lane 0 is the lowest, on the right
                x = WIDTH - MARGIN - (l + 1) * 66 + 4
                look = {"prefix": "s2", "aggregate": "w0"}.get(words, "s3" if words == 1 and "needed" in name else "empty")
                svg.rect(x, svg.y - 12, 62, 16, look, 3)
                svg.text(x + 31, svg.y, str(words), "m on-hot b" if look[0] == "s" else "m", 10.5)
        svg.y += 4
        svg.says(f"Lanes {ranges(l for l in lanes if needed >> l & 1)} are needed: the aggregate of tile {tile - 1} and the "
                 f"prefix of tile {tile - 2}. What lies before, that prefix has in it already.")
    return svg


DRAW = {"tiles": draw_tiles, "banks": draw_banks, "fragments": draw_fragments, "stages": draw_stages, "tile": draw_tile,
        "tree": draw_tree, "lookback": draw_lookback}


# ---- what a kernel's pictures need, and where they come from ----

def shape(track, values, blocks=4):
    """The size of a run that shows what pictures need: 2 x 2 blocks, or four; one K-tile, or three if there are stages."""
    if track == "gemm":
        m, n = ((2 if blocks == 4 else 1) * values.get(name, 64) for name in ("BM", "BN"))
        return f"{m}x{n}x{(3 if values.get('STAGES', 1) > 1 and blocks == 4 else 1) * values.get('BK', 8)}"
    return str(blocks * 4 * values.get("TILE", 2048))


def pictures_of(step):
    """The rows of docs/pictures/pictures.csv."""
    return [row for row in read_csv("docs/pictures/pictures.csv")[1] if row["step"] == step]


def of_kernel(step, kernel, trace, variant):
    """The pictures of a kernel file that does what the step does: (name, Svg, or Missing if it does not do what one shows).
    `variant`: returns the trace of a variant by its name."""
    values = constants(kernel)
    values["source"] = read(kernel)
    for row in pictures_of(step):
        panels = []
        for words in filter(None, row["panels"].split("; ")):
            what, operand, name = (words.split() + [None])[:3]
            panels.append((what, operand, name, variant(name) if name else trace))
        try:
            drawn = DRAW[row["picture"]](step, trace, values, panels)
        except Missing as why:
            drawn = why
        yield f"{step}_{row['picture']}", drawn
