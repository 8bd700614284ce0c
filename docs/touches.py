"""What a trace (docs/trace.md) says of who touches which data: elements of operands, banks, fragments, stages."""
import collections
import functools
import json

WARP, BANKS, BLOCKS = 32, 32, 4  # blocks: those that a trace has of a step; behind them come its base's


class Missing(Exception):
    """A kernel does not do what a picture shows."""


# One instruction of a warp that touches memory. `at`: bytes, by lane, or None; `elements`: by lane, the elements of an
# operand that it loads, stores or finds there, as (operand, row, column).
Access = collections.namedtuple("Access", "block warp kind memory bytes at line text elements")


class Trace:
    """`elements`: whether to find those of block 0, and of C those of all blocks, which takes most of the time."""

    def __init__(self, path, elements=True):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        self.operands = {o["name"]: o for o in found["runs"][0]["operands"]}
        self.events = sorted((e for e in found["traceEvents"] if e["ph"] == "X" and e["pid"] < BLOCKS),
                             key=lambda e: (e["pid"], e["tid"], e["ts"]))
        self.flights = [e for e in found["traceEvents"] if e["ph"] in "be" and e["pid"] == 0]
        of = {e["args"]["event"]: e for e in self.events}
        self.accesses = []
        for number, memory, size, at in found["accesses"]:
            if number in of:
                e = of[number]
                known = elements and memory in self.operands and (e["pid"] == 0 or memory == "C")
                found_there = self.elements(memory, size, at) if known else [()] * len(at)
                self.accesses.append(Access(e["pid"], e["tid"] - 1, e["cat"], memory, size, at, e["args"]["line"],
                                            e["args"]["text"], found_there))
        if elements:
            self.follow()

    def elements(self, memory, size, lanes):
        """The elements of an operand at the lanes' addresses."""
        unit, ld = self.operands[memory]["element_bytes"], self.operands[memory]["ld"]
        count = max(1, size // unit)
        return [() if at is None else tuple((memory, i // ld, i % ld) for i in range(at // unit, at // unit + count))
                for at in lanes]

    def follow(self):
        """Gives each access to shared memory the elements of A, B or x that lie there."""
        ways = collections.defaultdict(lambda: collections.defaultdict(list))  # of one line of a warp: what, in order
        of_block_0 = [a for a in self.accesses if a.block == 0]
        for a in of_block_0:
            to = a.memory == "shared"
            if a.kind == "copy" or (a.kind == "store") == to:
                ways[a.warp, a.line, a.kind == "copy"]["to" if to else "from"].append(a)
        for way in ways.values():  # the n-th load of a statement is what its n-th store stores
            for source, target in zip(way["from"], way["to"]):
                target.elements[:] = source.elements
        lies = {}
        for a in of_block_0:
            if a.memory != "shared":
                continue
            for lane, at in enumerate(a.at):
                if at is not None and a.kind in ("store", "copy"):
                    lies.update((at + 4 * i, e) for i, e in enumerate(a.elements[lane]))
                elif at is not None:
                    a.elements[lane] = tuple(lies[at + i] for i in range(0, a.bytes, 4) if at + i in lies)

    def first(self, kinds, operand):
        """The first instruction of warp 0 of block 0 that touches elements of this operand alone in shared memory."""
        for a in self.accesses:
            if (a.block, a.warp, a.memory) == (0, 0, "shared") and a.kind in kinds and {
                    e[0] for elements in a.elements for e in elements} == {operand}:
                return a
        raise Missing(f"no {' or '.join(kinds)} of {operand} in shared memory")


# ---- shared memory ----

def wavefronts(access):
    """How the banks serve an instruction: groups of lanes, each a list of wavefronts, each {bank: lanes}.

    8 bytes a lane go out in two groups of lanes, 16 bytes in four, or in two if lanes read by twos: as
    common/cpu/checked/counters.cpp counts, which the tests compare.
    """
    lanes = [(lane, at) for lane, at in enumerate(access.at) if at is not None]
    twos = access.kind == "load" and access.bytes == 16 and len(lanes) == WARP and any(
        all(at == access.at[lane ^ bit] for lane, at in lanes) for bit in (1, 2))
    together = WARP if access.bytes <= 4 else 16 if access.bytes <= 8 or twos else 8
    groups = []
    for number in sorted({lane // together for lane, _ in lanes}):
        words = collections.defaultdict(list)
        for lane, at in lanes:
            if lane // together == number:
                for word in range(at // 4, (at + access.bytes - 1) // 4 + 1):
                    words[word].append(lane)
        rows = []
        for word in sorted(words):
            bank = word % BANKS
            row = next((r for r in rows if bank not in r), None)
            if row is None:
                rows.append(row := {})
            row[bank] = words[word]
        groups.append(rows)
    return groups


def cycles(access):
    low = min(at for at in access.at if at is not None) // (4 * BANKS) * (4 * BANKS)
    return cycles_of(access.kind, access.bytes, tuple(None if at is None else at - low for at in access.at))


@functools.cache
def cycles_of(kind, size, at):
    return sum(len(rows) for rows in wavefronts(Access(0, 0, kind, "shared", size, at, "", "", [])))


def copies(trace, operand=None):
    """Asynchronous copies of an operand, or of all: (what is read, where it goes, sectors of global memory, sectors served).
    A sector is 32 bytes. Two copies of 16 bytes are served by one only if they share 32 bytes of shared memory as well."""
    for source, target in zip(trace.accesses, trace.accesses[1:]):
        if source.kind == "copy" and source.memory in ([operand] if operand else trace.operands):
            pairs = {(s // 32, t // 32) for s, t in zip(source.at, target.at) if s is not None}
            read = len({s for s, _ in pairs})
            yield source, target, read, len(pairs) if source.bytes == 16 else read


# ---- tiles ----

class Tiles:
    """What block 0 does with its tiles of A, B and C."""

    def __init__(self, trace, values):
        self.owner, self.stores = {}, collections.Counter()
        self.blocks = collections.defaultdict(set)
        self.loads = []
        for a in trace.accesses:
            if a.memory == "C" and a.kind == "store":
                for lane, elements in enumerate(a.elements):
                    for _, row, col in elements:
                        self.blocks[a.block].add((row, col))
                        if a.block == 0:
                            self.owner[row, col] = a.warp, lane
                            self.stores[row, col] += 1
            elif a.block == 0 and a.memory in ("A", "B") and a.kind in ("load", "copy"):
                self.loads.append(a)
        if not self.owner or {a.memory for a in self.loads} != {"A", "B"}:
            raise Missing("block 0 does not load A and B and store C")
        self.direct = not any(a.memory == "shared" and a.kind == "load" for a in trace.accesses)
        self.mma = any(e["cat"] == "mma" for e in trace.events)
        self.rows = 1 + max(row for row, _ in self.owner)
        self.cols = 1 + max(col for _, col in self.owner)
        self.depth = min(values.get("BK", trace.operands["A"]["cols"]), trace.operands["A"]["cols"])
        self.warps = 1 + max(warp for warp, _ in self.owner.values())

    def loaders(self, operand):
        """Of the first K-tile: how often each warp loads each element, {(row, col): {warp: times}}."""
        found = collections.defaultdict(collections.Counter)
        for a in self.loads:
            if a.memory == operand:
                for elements in set(a.elements):
                    for _, row, col in elements:
                        if (col if operand == "A" else row) < self.depth:
                            found[row, col][a.warp] += 1
        return found


# ---- stages ----

Phase = collections.namedtuple("Phase", "kind stage event count tile")


def phases(trace, depth):
    """What warp 0 of block 0 does, from the first copy to the last multiply: copy, wait, barrier, multiply, in order."""
    copied = [[e[2] // depth for elements in a.elements for e in elements if e[0] == "A"] for a in trace.accesses
              if (a.block, a.warp, a.kind, a.memory) == (0, 0, "copy", "shared")]  # the K-tiles that each copy is of
    found, at, holds = [], 0, {}
    for e in (e for e in trace.events if (e["pid"], e["tid"]) == (0, 1)):
        stage, count = e["args"].get("stage"), e["args"]["instructions"]
        kind = {"copy": "copy", "wait": "wait", "barrier": "barrier", "mma": "multiply", "load": "multiply"}.get(e["cat"])
        if kind == "multiply" and (stage is None or e["cat"] == "load" and e["name"] != "load shared"):
            kind = None
        if kind == "copy":
            holds[stage] = min((k for ks in copied[at:at + count] for k in ks), default=None)
            at += count
        if kind is None:
            continue
        tile = holds.get(stage)
        last = found[-1] if found else None
        if last and kind in ("copy", "multiply") and (last.kind, last.stage, last.tile) == (kind, stage, tile):
            found[-1] = last._replace(count=last.count + count, event=e if e["cat"] == "mma" else last.event)
        else:
            found.append(Phase(kind, stage, e, count, tile))
    while found and found[-1].kind != "multiply":
        found.pop()
    stages = {p.stage for p in found if p.kind == "copy"}
    if len(stages) < 2:
        raise Missing("its asynchronous copies go to one stage only" if stages else "it has no asynchronous copies")
    return found
