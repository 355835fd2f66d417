#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The fault matrix: makes each fault in many variants, and prints for each row how many variants, and what came of
them. A row fails if any variant hangs, or lies."""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import boots
import machine as m
from machine import cb

PAGE = m.ROOT / "docs" / "reference" / "faults.md"
EVERY = 7  # of the driver's variants, in the short form


@dataclass
class Row:
    name: str
    make: str  # how
    variant: object  # function of boots.py
    long: range
    short: range
    snapshot: object = m.Snapshot
    outcomes: Counter = field(default_factory=Counter)
    failed: list = field(default_factory=list)
    over: bool = False  # there are no more variants

    def run(self, snapshots, number):
        if self.over:
            return
        try:
            outcome = self.variant(snapshots[self.snapshot], number)
        except (boots.Wrong, m.Trouble, OSError, EOFError) as wrong:
            print(f"{self.name}, variant {number}: {wrong}", flush=True)
            self.failed.append(number)
            outcome = "WRONG"
        if outcome:
            self.outcomes[outcome] += 1
        else:
            self.over = True

    def words(self):
        return "; ".join(f"{count} {outcome}" for outcome, count in self.outcomes.most_common())

    def verdict(self):
        good = self.outcomes and not self.failed
        return "\n    ".join([f"{'PASS' if good else 'FAIL'}: faults: {self.name}: variants: {self.outcomes.total()}",
                             *self.words().split("; ")])


ROWS = [
    Row("NMI at a random instant", "QMP `inject-nmi`, from the kernel's first lines on", boots.nmi, range(100),
        range(2)),
    Row("machine check at a random instant", "QEMU's `mce`: any CPU, bank and address", boots.machine_check,
        range(100), range(2)),
    Row("a CPU stalls for 10 s during a switch", "the debugger stops it in one of ten phases, from "
        f"`{boots.PHASES[0]}` to `{boots.PHASES[-1]}`", boots.stall, range(30), range(1)),
    Row("the TSC of one CPU jumps", "by 2^20 to 2^62 cycles, forward or back, for 2 to 39 switches", boots.tsc,
        range(28), range(2, 3)),
    Row("a page of DS memory unmapped", "each page of each CPU's DS area and buffers, before recording starts or "
        "before it stops", boots.ds_memory, range(1000), range(0, 4, 3)),
    Row("serial line stuck or gone", "during the dump, the other end stops reading or hangs up", boots.serial,
        range(100), range(2)),
    Row("boot volume full", "`save=esp` with 0 to 1024 KiB free", boots.full_volume, range(10), range(1)),
    Row("ACPI tables damaged", "random changes of nine tables, mostly with correct checksums", boots.acpi,
        range(1000), range(8)),
    Row("memory map damaged", "random changes of the descriptors that the loader reads", boots.memory_map,
        range(1000), range(6), boots.at_memory_map),
    Row("an allocation of pages fails", "call N of `kpage_bitmap_take_aligned` fails, for each N", boots.pages,
        range(1, 4000), range(1, 200, 67)),
]


def run(rows, arguments):
    """Each row's variants until there are no more; in the short form all rows at once."""
    snapshots = {}
    with tempfile.TemporaryDirectory(prefix="cairn-faults.") as folder, ThreadPoolExecutor(arguments.workers) as pool:
        for make in {row.snapshot for row in rows}:
            snapshots[make] = make(Path(folder, str(len(snapshots))))
        running = []
        for row in rows:
            numbers = row.short if arguments.short else row.long
            if arguments.variant is not None:
                numbers = [arguments.variant]
            running += [pool.submit(row.run, snapshots, number) for number in numbers]
        for future in running:
            future.result()
    for row in rows:
        print(row.verdict(), flush=True)
    return all(row.outcomes and not row.failed for row in rows)


def driver(arguments):
    """The rows that need no machine: ([(name, variants, words)], whether they are good)."""
    done = subprocess.run([cb.BUILD / "faults" / "driver", str(EVERY if arguments.short else 1)], capture_output=True,
                          text=True, check=False)
    print(done.stdout[-20000:] + done.stderr[-3000:], end="", flush=True)
    return re.findall(r"^\w+: faults: (.*?): variants: (\d+)\n    (.*)$", done.stdout, re.M), done.returncode == 0


def write_page(found):
    """Puts {name: what the columns of its row are} into the page's tables, and when they ran, at which commit."""
    commit = subprocess.run([m.ROOT / "tools" / "release" / "commit.sh"], capture_output=True, text=True,
                            check=True).stdout[:8]
    lines = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        name = line.split(" | ")[0].removeprefix("| ")
        if line.startswith("| ") and name in found:
            line = f"| {name} | {' | '.join(map(str, found[name]))} |"
        lines.append(line)
    when = rf"{time.strftime('%Y-%m-%d')},\g<1>{commit}"
    text = re.sub(r"\d{4}-\d\d-\d\d,(\s+commit\s+)\w{8}", when, "\n".join(lines))
    PAGE.write_text(text + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few variants of each row")
    parser.add_argument("--page", action="store_true", help="write the outcomes into docs/reference/faults.md")
    parser.add_argument("--row", action="append", help="only rows with this in their name")
    parser.add_argument("--variant", type=int, help="only this one")
    parser.add_argument("--workers", type=int, default=2, help="machines at a time")
    arguments = parser.parse_args()
    rows = [row for row in ROWS if not arguments.row or any(word in row.name for word in arguments.row)]
    if arguments.row and not rows and "model" not in arguments.row:
        sys.exit(f"faults: no row has {arguments.row[0]} in its name, see docs/reference/faults.md")
    if arguments.page and (arguments.row or arguments.short or arguments.variant is not None):
        sys.exit("faults: --page writes the outcomes of all variants: leave out the other options")
    on_model, good = driver(arguments) if not arguments.row or "model" in arguments.row else ([], True)
    good &= not rows or run(rows, arguments)
    if arguments.page:
        write_page({row.name: (row.make, sum(row.outcomes.values()), row.words()) for row in rows}
                   | {name: (count, *re.findall(r"\d+", words)) for name, count, words in on_model})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
