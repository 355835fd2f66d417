#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long the machine of `make run` takes to the first decoded line, phase by phase, as `name value unit` lines: what
is on the console, line by line, is timed as it comes. `dump` is the second of a dump's two passes, the one that sends;
`dump.of_line` is twice that, divided by the time on a line of 921600 baud.

    tests/bench/start.py BUILD"""

import os
import re
import subprocess
import sys
import time

# The first line behind each phase. What follows the last is `cairn dump`.
PHASES = [("firmware", "Cairn loader"), ("loader", r"Cairn \d"), ("kernel", "run: workload"), ("run", r"dump: \d"),
          ("dump", "dump: done"), ("verdict", None)]
FAST = 92160  # characters a second at 921600 baud
OPTIONS = re.compile(r"^RUN_ARGS := (.*)$", re.M)


def main(build):
    with open("Makefile", encoding="ascii") as makefile:
        options = OPTIONS.search(makefile.read())[1].split()
    log = os.path.join(build, "bench", "start.log")
    left, begin = list(PHASES), time.monotonic()
    last = begin
    with subprocess.Popen(["./run-qemu.sh", "--raw", "--log", log, *options], stdin=subprocess.DEVNULL, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, CAIRN_BUILD=build)) as machine:
        for line in machine.stdout:
            if left[0][1] and re.match(r"(\x1b\[[0-9;=]*[A-Za-z])*" + left[0][1], line):
                now = time.monotonic()
                print(f"start.{left[0][0]} {now - last:.2f} seconds")
                if left.pop(0)[0] == "run":
                    characters = int(re.search(r"dump: (\d+) bytes", line)[1])
                elif left[0][0] == "verdict":
                    print(f"start.dump.of_line {2 * (now - last) * FAST / characters:.3f} at_921600_baud")
                last = now
    if machine.returncode or len(left) != 1:
        sys.exit(f"bench: start: the machine of `make run` ended with {machine.returncode} before its {left[0][0]}")
    with subprocess.Popen([os.path.join(build, "cairn"), "dump", log], stdout=subprocess.PIPE) as dump:
        dump.stdout.readline()
        print(f"start.decode {time.monotonic() - last:.2f} seconds")
        print(f"start.first_line {time.monotonic() - begin:.2f} seconds")
        dump.stdout.close()


if __name__ == "__main__":
    main(sys.argv[1])
