#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call of guest.py takes, as `name value unit` lines of real time: one that boots, one that makes a snapshot,
and one that begins with it. They take turns, and the least time of all turns counts.

usage: tests/bench/guest_calls.py BUILD [TURNS]"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GUEST = Path(__file__).resolve().parents[2] / "tools/qemu-ds/guest.py"
CALLS = {
    "boot": ((), "true"),
    "stat": (("perf",), "perf stat -e instructions:u,branches:u busybox true"),
    "record": (("perf",), "mount --bind /kallsyms /proc/kallsyms && "
                          "perf record -q -o /tmp/data -c 10007 -e instructions:upp busybox sha256sum /bin/busybox "
                          ">/dev/null && perf report -i /tmp/data --stdio"),
    "rr": (("rr",), "rr record -o /tmp/trace busybox seq 10 && rr replay -a /tmp/trace"),
}


def seconds(call, *options):
    programs, command = CALLS[call]
    named = [word for name in programs for word in ("--program", name)]
    begin = time.monotonic()
    done = subprocess.run([GUEST, "--preset", "skylake", *named, *options, command], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"bench: {call}: status {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return time.monotonic() - begin


def main():
    os.environ["CAIRN_BUILD"] = os.path.abspath(sys.argv[1])
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    least = {}
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
        for _ in range(turns):
            for call in CALLS:
                cache = Path(folder) / "new"
                taken = {"booted": seconds(call, "--no-cache"), "first": seconds(call, "--cache", cache),
                         "warm": seconds(call, "--cache", cache)}
                shutil.rmtree(cache)
                for how, time_taken in taken.items():
                    name = f"guest.{call}.{how}"
                    least[name] = min(time_taken, least.get(name, time_taken))
    for name, value in least.items():
        print(f"{name} {value:.2f} s")


if __name__ == "__main__":
    main()
