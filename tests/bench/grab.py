#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What cairn grab costs `perf record -c 1000`, in Debian's Linux under qemu-ds: how many instructions a program
executes in a second, and what perf lost, with and without it. An emulator's time is not a processor's: what can be
compared are the figures of one run."""

import re
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/linux"), str(ROOT / "tools/qemu-ds")]
import checks  # noqa: E402
import guest  # noqa: E402
import known  # noqa: E402

PERIOD, ROUNDS = 1000, 5
KINDS = {"large": "", "single": "-g"}  # with call graphs each record has its interrupt, and is drained
PERF = f"perf record -q -o d {{}} -e instructions:upp -c {PERIOD} known $(seq 19)"
SHOWN, HIDDEN = (f"echo {value} >/proc/sys/kernel/kptr_restrict" for value in (1, 2))
LOSS = "PERF_RECORD_(LOST|LOST_SAMPLES|THROTTLE)"
SAID = f"; perf script -i d -F time,ip -G; perf report -i d -D | grep -E '{LOSS}'; true"
WAYS = {"without": f"{HIDDEN}; {{}}", "with": f"{SHOWN}; cairn-grab -o log -- sh -c '{HIDDEN}; {{}}'; {HIDDEN}"}


def main():
    runs = [(kind, way) for kind in KINDS for _ in range(ROUNDS) for way in WAYS]
    commands = [checks.QUIET, *(WAYS[way].format(PERF.format(KINDS[kind])) + SAID for kind, way in runs)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {"bin/known": known.assemble(folder), "bin/cairn-grab": guest.BUILD / "cairn-grab"}
        said = guest.run(folder, commands, append="nmi_watchdog=0", smp=2, files=files).said[1:]
    figures = {}
    for run, one in zip(runs, said):
        times = [float(time) for time in re.findall(r"^ *(\d+\.\d+): +[0-9a-f]+", one.output, re.M)]
        if len(times) < 100:
            sys.exit(f"{run}: perf has no samples:\n{one.output}")
        speed = PERIOD * (len(times) - 1) / (times[-1] - times[0]) / 1e6
        figures.setdefault(run, []).append((speed, len(times), len(re.findall("PERF_RECORD_", one.output))))
    for (kind, way), seen in figures.items():
        speed, samples, lost = zip(*seen)
        print(f"grab.{kind}.{way}.speed {statistics.median(speed):.2f} Minstructions/s "
              f"({min(speed):.2f} to {max(speed):.2f})")
        print(f"grab.{kind}.{way}.samples {min(samples)} to {max(samples)}, {sum(lost)} events of loss or throttling")


if __name__ == "__main__":
    main()
