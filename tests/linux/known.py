# SPDX-License-Identifier: MIT
"""known.asm on paper: what it executes, in which order, with what in its registers. And the little there is to say of
vectors.asm."""

import re
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
UNIT, WORDS = 20000, 512  # as there

BEGIN = "s0 s1 s2 s3".split()
EVEN = "l0 l1 l2 l3 l5 f0 f1 l6 l7 l8 l9".split()
ODD = "l0 l1 l2 l3 l4 l5 f0 f1 l6 l7 l8 l9".split()
END = "e0 e1 e2".split()
PAIR = len(EVEN) + len(ODD)

ALL = BEGIN + ODD
BRANCHES = ("l3", "l5", "f1", "l9")  # taken or not
LOADS = ("s0", "l0", "f1")
VECTORS = 20000  # iterations of vectors.asm
LEADS_TO = {"l3": "l5", "l5": "f0", "f1": "l6", "l9": "l0"}


def labels(program, pattern):
    """{name: address} of those that match."""
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    words = [line.split() for line in lines]  # what is not defined has no value
    return {line[2]: int(line[0], 16) for line in words if len(line) == 3 and re.fullmatch(pattern, line[2])}


class Known:
    """A run of the program with `words` on its command line, its own name included."""

    def __init__(self, program, words):
        self.iterations = UNIT * words
        self.instructions = len(BEGIN) + self.iterations // 2 * PAIR + len(END)
        self.address = labels(program, "[slef][0-9]")
        self.name = {value: name for name, value in self.address.items()}
        self.buffer = labels(program, "buffer")["buffer"]

    def event(self, names, n):
        """(name, iteration) of the n-th of the instructions of these names, from 1 on, before or in the loop. (): there
        are not so many."""
        before, even, odd = ([name for name in part if name in names] for part in (BEGIN, EVEN, ODD))
        both, n = even + odd, n - 1 - len(before)
        if n < 0:
            return before[n], -1
        if n >= self.iterations // 2 * len(both):
            return ()
        pair, at = divmod(n, len(both))
        return both[at], 2 * pair + (at >= len(even))

    def count(self, names, event):
        """How many instructions of these names there are up to this one, in the loop, itself included."""
        name, i = event
        part = ODD if i % 2 else EVEN
        parts = (BEGIN, 1), (EVEN, (i + 1) // 2), (ODD, i // 2), (part[:part.index(name) + 1], 1)
        return sum(times * sum(name in names for name in part) for part, times in parts)

    def follow(self, names, period, spacing, said, seen=lambda event: event[0]):
        """The samples there should be, [(name, iteration)], by what is said of those that are there, which seen() tells
        of each. They are `spacing` events apart, but where Linux stops a counter right at an overflow, to switch
        contexts: with one event left it lets it wait for two (x86_perf_event_set_period), and with none left, before
        the record of an ordinary counter, which comes with the next event, that is lost and a whole period begins.
        Tells how often that was, too."""
        n, stops, samples = 0, 0, []

        def fits(more, k):
            event = self.event(names, n + more + k * spacing)
            return event and seen(event) == said[len(samples) + k]

        for left in range(len(said), 0, -1):
            n += spacing
            if not fits(0, 0):
                n += max((1, period), key=lambda more: sum(bool(fits(more, k)) for k in range(min(left, 8))))
                stops += 1
            samples.append(self.event(names, n))
        while self.event(names, n + spacing):
            n += spacing
            samples.append(self.event(names, n))
        return samples, stops

    def after(self, event):
        """The name of the instruction after this one, in the loop."""
        name, i = event
        names = ODD if i % 2 else EVEN
        return (names + ["l0"])[names.index(name) + 1]

    def branch(self, name, i):
        """(from, to) where this instruction of iteration i is a branch that is taken, else None."""
        if name not in LEADS_TO or (name == "l3" and i % 2) or (name == "l9" and i == self.iterations - 1):
            return None
        return self.address[name], self.address[LEADS_TO[name]]

    def taken(self):
        """All of them, in order."""
        for i in range(self.iterations):
            yield from filter(None, (self.branch(name, i) for name in (ODD if i % 2 else EVEN)))

    def last_taken(self, name, i):
        """All of them from this instruction back, that one included, the last first."""
        names = ODD if i % 2 else EVEN
        names = names[:names.index(name) + 1]
        while i >= 0:
            yield from filter(None, (self.branch(name, i) for name in reversed(names)))
            i -= 1
            names = ODD if i % 2 else EVEN

    def registers(self, name, i):
        """After this instruction of iteration i: {name: value} as perf has them."""
        done = name in ("l8", "l9")
        return {"CX": self.iterations - i - done, "DX": ((i + 1) % WORDS if name in ("l7", "l8", "l9") else
                                                         i % WORDS + (name == "l6")),
                "R8": (i + (name not in ("l0", "l1", "l2", "l3"))) // 2 if i % 2 else i // 2, "BX": self.buffer}

    def iteration(self, name, cx):
        """That in which RCX has this value after the instruction."""
        return self.iterations - cx - (name in ("l8", "l9"))


def assemble(folder, name="known", *options, bits=64):
    """The program, as a file in the folder."""
    program = folder / name
    subprocess.run(["nasm", "-f", f"elf{bits}", *options, "-o", folder / f"{name}.o", FOLDER / f"{name}.asm"],
                   check=True)
    subprocess.run(["ld", "-m", "elf_x86_64" if bits == 64 else "elf_i386", "-o", program, folder / f"{name}.o"],
                   check=True)
    return program


def expected(program):
    """What known32 and known64 execute, as they have it in themselves: {what: how many}."""
    words = re.search(rb"EXPECT ([a-z0-9 ]+)\n", program.read_bytes())[1].decode().split()
    return dict(zip(words[::2], map(int, words[1::2])))


def vectors(name, left):
    """After the instruction of this name of vectors.asm, with so many iterations left: XMM0 and XMM15, (low, high)."""
    own = left + (name in ("v3", "v4"))  # the iteration's
    before = 0 if own == VECTORS else own + 1
    return (own, 0), {"v0": (0, before), "v1": (own, 0)}.get(name, (0, own))
