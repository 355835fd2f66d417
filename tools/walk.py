#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Walks through a function of the kernel as it runs, and says which files and rooms (tools/rooms) it comes to:

    tools/walk.py [--build FOLDER] [--tree] [FUNCTION...] [KEY=VALUE...]

Without functions: switch_to, a context switch, and ds_pmi, a record from the Debug Store. It boots the kernel of FOLDER
(build) in the QEMU of `make deps-ds`, with the plugin and these kernel options (ds=hw workload=mix), and follows the
blocks that QEMU executes. Of the first runs of a function that return it takes the way that most of them go.

A call is one that is executed, also a jump to the beginning of a function; what the compiler has inlined is none. It
climbs if the room of what is called is further down in tools/rooms than that of the caller. --tree prints each call
that the walk has, once, and marks those that climb with ^."""

import argparse
import bisect
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

from rooms import Rooms

ROOT = Path(__file__).resolve().parent.parent
WALKS = 20  # of a function, of which the way is taken that most go


class Functions:
    """Of a kernel, by address: (name, file)."""
    def __init__(self, kernel):
        text = kernel.with_suffix(".map").read_text(encoding="utf-8")
        sections = sorted((int(start, 16), re.sub(r"^.*?/(?:kernel|ring3)/(?=[^/]+/)", "", name)) for start, name
                          in re.findall(r"^ \.text\S*\s+0x(\w+)\s+0x(?!0 )\w+ (\S+)\.o$", text, re.M))
        self.at, self.known = {}, {}
        for line in subprocess.run(["nm", kernel], capture_output=True, text=True, check=True).stdout.splitlines():
            start, kind, name = line.split()
            at = bisect.bisect(sections, (int(start, 16), "~"))
            if kind in "tTW" and at:
                file = sections[at - 1][1]
                self.at[int(start, 16)] = (name.split(".")[0], file if file.endswith(".asm") else file + ".c")
        self.starts = sorted(self.at)

    def of(self, pc):
        """The function that an address is in, and whether it begins there."""
        if pc not in self.known:
            start = self.starts[bisect.bisect(self.starts, pc) - 1]
            self.known[pc] = (self.at[start], start == pc)
        return self.known[pc]


class Walk:
    """The runs of one function: of each, the calls that it makes."""
    def __init__(self, name):
        self.name, self.stack, self.calls, self.done = name, None, [], []

    def step(self, last, now, begins):
        """Execution goes on from one function to another, or to the beginning of one."""
        if begins and now[0] == self.name:
            self.stack, self.calls = [now], []
        elif self.stack is None:
            return
        elif begins:
            self.calls.append((last, now))
            self.stack.append(now)
            if len(self.calls) > 20000:  # a thread that begins returns from nowhere
                self.stack = None
        else:
            while self.stack and self.stack[-1] != now:
                self.stack.pop()
            if not self.stack:
                self.done.append(tuple(self.calls))
                self.stack = None

    def usual(self):
        ways = Counter(frozenset(calls) for calls in self.done)
        way = max(ways, key=lambda way: (ways[way], len(way)))
        return next(calls for calls in self.done if frozenset(calls) == way)


def follow(lines, functions, walks):
    last, before = None, 0
    for line in lines:
        match = re.match(r"Trace \d+: \S+ \[[^/]*/([0-9a-f]+)/", line)
        pc = int(match[1], 16) if match else before
        if pc == before:  # or the plugin has begun the block anew
            continue
        now, begins = functions.of(pc)
        if begins or now != last:
            for walk in walks:
                walk.step(last, now, begins)
            if all(len(walk.done) >= WALKS for walk in walks):
                return
        last, before = now, pc


def end_with(machine, fifo):
    """A machine that ends before QEMU runs leaves a FIFO that nobody opens: then this does."""
    machine.wait()
    with suppress(FileNotFoundError):
        os.close(os.open(fifo, os.O_RDWR | os.O_NONBLOCK))


def run(build, options, functions, walks):
    with tempfile.TemporaryDirectory() as folder:
        fifo, qemu = Path(folder, "blocks"), Path(folder, "qemu")
        os.mkfifo(fifo)
        qemu.write_text(f'#!/bin/sh\nexec {build}/qemu11/qemu-system-x86_64 "$@" -d exec,nochain -D {fifo} '
                        f"-dfilter {functions.starts[0]:#x}..{functions.starts[-1]:#x}\n", encoding="utf-8")
        qemu.chmod(0o755)
        command = [ROOT / "run-qemu.sh", "--qemu", qemu, "--smp", "1", "--log", Path(folder, "log"), *options]
        with subprocess.Popen(command, env={**os.environ, "CAIRN_BUILD": str(build)}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as machine:
            threading.Thread(target=end_with, args=(machine, fifo), daemon=True).start()
            with fifo.open(encoding="utf-8", errors="replace") as lines:
                follow(lines, functions, walks)
            if machine.poll() is None:
                os.killpg(machine.pid, signal.SIGKILL)
            elif machine.returncode:
                sys.exit(machine.stdout.read().decode(errors="replace") + "walk: the machine ended before it ran")


def tell(walk, rooms, tree):
    def count(what, calls):
        climbs = [call for call in calls if climbing(call)]
        files = {file for call in calls for _, file in call}
        print(f"{walk.name}, {what}: {len(files)} files, {len({rooms.of(file) for file in files})} rooms, "
              f"{len(set(climbs))} climbs in {len(set(calls))} calls; with repetitions {len(climbs)} in {len(calls)}")

    def climbing(call):
        return rooms.height(call[1][1]) > rooms.height(call[0][1])

    count("one walk", walk.usual())
    count(f"all {len(walk.done)}", [call for calls in walk.done for call in calls])
    for call in dict.fromkeys(walk.usual()) if tree else ():
        print(f"  {'^' if climbing(call) else ' '} {' -> '.join(f'{name} ({file})' for name, file in call)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--tree", action="store_true")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    build = given.build.resolve()
    if not (build / "qemu11" / "qemu-system-x86_64").exists():
        sys.exit(f"walk: {build}/qemu11 is not there: run 'make deps-ds'")
    options = [word for word in given.words if "=" in word] or ["ds=hw", "workload=mix"]
    functions, rooms = Functions(build / "kernel.elf"), Rooms(ROOT)
    walks = [Walk(word) for word in given.words if "=" not in word] or [Walk("switch_to"), Walk("ds_pmi")]
    run(build, options, functions, walks)
    for walk in walks:
        if not walk.done:
            sys.exit(f"walk: {walk.name} has not run, or has not returned")
        tell(walk, rooms, given.tree)


if __name__ == "__main__":
    main()
