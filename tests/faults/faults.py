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
    Row("a CPU stalled 10 s in a phase of the switch path", "the debugger lets all other CPUs run; phases: "
        + ", ".join(f"`{phase}`" for phase in boots.PHASES), boots.stall, range(30), range(1)),
    Row("the TSC of one CPU jumps", "the debugger changes what RDTSC returns, for 2 to 39 switches, by 2^20 to 2^62 "
        "cycles, forward or back", boots.tsc, range(28), range(2, 3)),
    Row("a page of DS memory unmapped", "each page of the DS area, PEBS and BTS buffers of each CPU leaves the page "
        "tables before recording starts, or before it stops", boots.ds_memory, range(1000), range(0, 4, 3)),
    Row("serial line gone, or stuck, in mid-dump", "the other end hangs up, or reads no more", boots.serial,
        range(100), range(2)),
    Row("boot volume full", "`save=esp`, and 0 to 1024 KiB are free", boots.full_volume, range(10), range(1)),
    Row("ACPI tables damaged", "seeded changes of RSDP, XSDT, MADT, FADT, HPET, MCFG, WAET, BGRT, DSDT, mostly with "
        "right checksums", boots.acpi, range(1000), range(8)),
    Row("memory map damaged", "seeded changes of the firmware's descriptors, as the loader reads them",
        boots.memory_map, range(1000), range(6), boots.at_memory_map),
    Row("an allocation of pages fails", "the debugger makes call N of `kpage_bitmap_take_aligned` fail, for each N",
        boots.pages, range(1, 4000), range(1, 200, 67)),
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
    """Puts {name: what the columns of its row are} into the page's tables; rows that have not run stay."""
    commit = subprocess.run([m.ROOT / "tools" / "release" / "commit.sh"], capture_output=True, text=True,
                            check=True).stdout[:8]
    lines = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        name = line.split(" | ")[0].removeprefix("| ")
        if line.startswith("| ") and name in found:
            line = f"| {name} | {' | '.join(map(str, found[name]))} | {time.strftime('%Y-%m-%d')}, {commit} |"
        lines.append(line)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few variants of each row")
    parser.add_argument("--page", action="store_true", help="write what came of them into docs/reference/faults.md")
    parser.add_argument("--row", action="append", help="only rows with this in their name")
    parser.add_argument("--variant", type=int, help="only this one")
    parser.add_argument("--workers", type=int, default=2, help="machines at a time")
    arguments = parser.parse_args()
    rows = [row for row in ROWS if not arguments.row or any(word in row.name for word in arguments.row)]
    if arguments.row and not rows and "model" not in arguments.row:
        sys.exit(f"faults: no row has {arguments.row[0]} in its name, see docs/reference/faults.md")
    on_model, good = driver(arguments) if not arguments.row or "model" in arguments.row else ([], True)
    good &= not rows or run(rows, arguments)
    if arguments.page:
        write_page({row.name: (row.make, sum(row.outcomes.values()), row.words()) for row in rows}
                   | {name: (count, words) for name, count, words in on_model})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
