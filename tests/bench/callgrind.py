#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions of ten programs as callgrind and as qemu-ds-perf count them, and the seconds that each takes: a table.
All programs are one static busybox, so that both run the same code.

usage: tests/bench/callgrind.py BUILD"""

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PERF = Path(__file__).resolve().parents[2] / "tools/qemu-ds/perf.py"
PROGRAMS = ("sha256sum text", "md5sum text", "sort text", "gzip -c text", "bzip2 -c text", "sed s/1/22/g text",
            "grep -c 77 text", "wc text", "od -x text", "awk {s+=$1}END{print+s} text")
LINES = 20000


def run(folder, *command):
    """(what it printed on its streams, seconds)."""
    begin = time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        sys.exit(f"bench: {command[0]} is not there: 'apt-get install valgrind', and 'make deps-ds all'")
    if done.returncode:
        sys.exit(f"bench: {' '.join(map(str, command))}: status {done.returncode}: {done.stderr.decode()[-500:]}")
    return done.stderr.decode(), time.monotonic() - begin


def main():
    os.environ["CAIRN_BUILD"] = os.path.abspath(sys.argv[1])
    busybox = Path(sys.argv[1]).resolve() / "linux/root/usr/bin/busybox"
    numbers = random.Random(1)
    print(f"{'program':<30} {'callgrind':>11} {'qemu-ds-perf':>12} {'differ':>7} {'s':>6} {'s':>6}  again")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "text").write_text("".join(f"{numbers.randrange(10 ** 6)}\n" for _ in range(LINES)),
                                        encoding="ascii")
        run(folder, PERF, "stat", "-e", "instructions:u", "--", busybox, "true")  # there is a snapshot from here on
        for program in PROGRAMS:
            words = [busybox, *program.split()]
            said, valgrind = run(folder, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words)
            collected = int(re.search(r"Collected : (\d+)", said)[1])
            counted = []
            for _ in range(2):
                said, perf = run(folder, PERF, "stat", "-e", "instructions:u", "--", *words)
                counted.append(int(re.search(r"([\d,]+) +instructions:u", said)[1].replace(",", "")))
            print(f"{program:<30} {collected:>11} {counted[0]:>12} {100 * (counted[0] / collected - 1):>+6.2f}% "
                  f"{valgrind:>6.2f} {perf:>6.2f}  {'equal' if counted[0] == counted[1] else counted[1] - counted[0]}",
                  flush=True)


if __name__ == "__main__":
    main()
