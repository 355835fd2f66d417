#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the tree follows the order of tools/rooms.

    tools/rooms.py includes                 no file includes a header of a room further down the list, nor one of a wing
                                            of tools/wings from outside
    tools/rooms.py objects OBJECT...        what is linked has no circle that crosses a room

Prints one line for each violation, and then fails."""

import re
import subprocess
import sys
from pathlib import Path

SOURCES = (".c", ".h", ".asm", ".inc")
# Declared in the ground rooms, defined above: everybody may speak and stop, and arch/ calls the kernel by name.
UPCALLS = ("arch/upcalls.h", "arch/user/user.h", "kernel/lib/print.h", "kernel/lib/panic.h")
COMPILER = {"__stack_chk_fail", "__stack_chk_guard"}  # calls of the compiler's own
# Rooms of one height that must not know each other.
APART = (("ds", "trace"), ("trace", "ds"), ("trace", "arch"), ("boot", "arch"),
         ("tools/qemu-ds", "trace"), ("tools/qemu-ds", "kernel"), ("tools/cairn", "tools/qemu-ds"))
GROUND = ("trace/wire", "arch/firmware", "kernel/lib", "tools/qemu-ds/truth_format.h")
NOT_KERNEL = ("tools/", "labs/", "ds/model/memory/", "ds/model/variant/")  # there all wings are
SHARED = {("boot", f"arch/{name}.h") for name in ("brand", "instructions", "page_tables", "registers", "upcalls")}


class Rooms:
    def __init__(self, root):
        self.root = root
        lines = (root / "tools" / "rooms").read_text(encoding="utf-8").splitlines()
        self.order = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        wings = (root / "tools" / "wings").read_text(encoding="utf-8").splitlines()
        rows = [line.split("|") for line in wings if line.count("|") >= 3]
        self.wings = {}  # of each folder
        for row in rows:
            for folder in row[1].split():
                self.wings.setdefault(folder, set()).add(row[0].strip())
        self.needs = {row[0].strip(): set(row[4].split()) for row in rows if len(row) > 4}

    def of(self, path):
        """The room a file is in: the nearest one listed; None: it is in none."""
        folders = [path.rsplit("/", n)[0] for n in range(1, path.count("/") + 1)]
        return next((room for room in (path, path.rpartition(".")[0], *folders) if room in self.order), None)

    def wings_of(self, path):
        """For the folder of wings that it is in, and for each around that, the wings that link it."""
        folders = [path.rsplit("/", n)[0] for n in range(1, path.count("/") + 1)]
        return [self.wings[folder] for folder in folders if folder in self.wings]

    def links(self, name, header):
        """Whether what is in `header` is linked wherever `name` is."""
        mine = self.wings_of(name)
        return all(any(all(wing in wings or self.needs.get(wing, set()) & wings for wing in around) for around in mine)
                   for wings in self.wings_of(header))

    def height(self, path):
        return self.order.index(self.of(path))

    def files(self):
        for top in sorted({room.split("/")[0] for room in self.order}):
            for path in sorted((self.root / top).rglob("*")):
                name = path.relative_to(self.root).as_posix()
                if path.suffix in SOURCES and self.of(name):
                    yield name

    def allows(self, name, header):
        if (self.of(name), header) in SHARED:
            return True
        for low, high in APART:
            if name.startswith(low + "/") and header.startswith(high + "/") and self.of(header) not in GROUND:
                return False
        return self.height(header) <= self.height(name)


def includes(rooms):
    """Every include that goes up, or to a room that is none."""
    for name in rooms.files():
        text = (rooms.root / name).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*[#%]include "(.+/.+)"', line)
            if not match:
                continue
            header = match[1]
            if not rooms.of(header):
                yield f"{name}:{number}: {header} is in no room of tools/rooms"
            elif not rooms.allows(name, header):
                yield f"{name}:{number}: {rooms.of(name)} may not include {header}: tools/rooms has the order"
            elif not name.startswith(NOT_KERNEL) and not rooms.links(name, header):
                wings = " and ".join(sorted(rooms.wings_of(header)[0]))
                yield f"{name}:{number}: {header} is in wing {wings}: it may be left out"


def upcalls(root):
    names = set(COMPILER)
    for header in UPCALLS:
        names |= set(re.findall(r"\b(k\w+)\(", (root / header).read_text(encoding="utf-8")))
    return names


def graph(rooms, objects):
    """{object: {object it takes something from}}, without upcalls. An object has the name of its source, no suffix."""
    defined, defaults, wanted = {}, {}, {}
    for line in subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout.splitlines():
        path, _, rest = line.partition(":")
        kind, symbol = rest.split()[-2:]
        name = re.sub(r"^.*?/(?:kernel|ring3|host|qemu-ds|san)/(?=[^/]+/|\w+\.o)", "", path, count=1)[:-len(".o")]
        if kind == "U":
            wanted.setdefault(name, set()).add(symbol)
        elif kind in "VW":  # who has the default offers it to be replaced: nobody needs what replaces it
            wanted.setdefault(name, set())
            defaults[symbol] = name
        elif kind in "TDBRC":
            wanted.setdefault(name, set())
            defined[symbol] = name
    defined |= defaults
    allowed = upcalls(rooms.root)
    return {name: {defined[symbol] for symbol in symbols - allowed if symbol in defined} - {name}
            for name, symbols in wanted.items()}


def circles(edges):
    """Tarjan's strongly connected components of more than one member."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(stack[at:])
            del stack[at:]

    for node in edges:
        if node not in index:
            visit(node)
    return sorted((sorted(circle) for circle in found if len(circle) > 1), key=len, reverse=True)


def main(words):
    rooms = Rooms(Path(__file__).resolve().parent.parent)
    sys.setrecursionlimit(10000)
    if words == ["includes"]:
        wrong = list(includes(rooms))
    elif len(words) > 1 and words[0] == "objects":
        wrong = [f"a circle crosses rooms: {' '.join(circle)}" for circle in circles(graph(rooms, words[1:]))
                 if len({rooms.of(name) for name in circle}) > 1]
    else:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
