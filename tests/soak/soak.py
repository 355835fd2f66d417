#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Linux and Cairn as guests of QEMU with the plugin, both at once and under load, for a time. Each round is a boot, and
a PASS or FAIL line: what perf counts and samples of a known program again and again is what is on paper, Linux has had
the interrupts that the plugin sent, and Cairn's records are those in the plugin's truth."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from itertools import cycle, count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/linux"), str(ROOT / "tools/qemu-ds")]

import checks  # noqa: E402
import guest  # noqa: E402
import known  # noqa: E402

BUILD = guest.BUILD
PRESETS = ("icelake", "skylake", "sapphirerapids", "haswell", "arrowlake")
WORDS = 10  # on the known program's command line
PERIOD = 10007
ROUND = 240  # seconds of a Linux guest, at most
ENDING = 120  # seconds that its boot and end may take beside

# The load: processes that come and go, pipes, a profile of all CPUs by NMIs. Beside it, until the time is over, three
# counted runs of the known program and one that is sampled, all at once. What comes out: each run's counts and how much
# of the time they counted, and where each sample was; --per-thread: one counter, on whichever CPU the program is.
LOAD = checks.QUIET + """
(while :; do dd if=/dev/zero bs=64k count=32 2>/dev/null | gzip | md5sum; done) >/dev/null &
loops=$!
(while :; do sh -c 'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); done'; done) &
loops="$loops $!"
(while :; do perf record -q -a -e branches -c 50021 -o /tmp/all sleep 2; done) >/dev/null 2>&1 &
loops="$loops $!"
cd /tmp
end=$(($(cut -d. -f1 /proc/uptime) + {seconds}))
while [ $(cut -d. -f1 /proc/uptime) -lt $end ]; do
    runs=
    for i in 1 2 3; do
        perf stat -x, -o stat.$i -e instructions:u,branches:u known {words} &
        runs="$runs $!"
    done
    perf record -q --per-thread -e instructions:upp -c {period} -o profile known {words}
    wait $runs
    cat stat.1 stat.2 stat.3
    echo profile $(perf script -i profile -F ip | tr -d ' ')
done
kill $loops
while killall -q perf; do sleep 1; done
"""
# Nothing may count any more: the NMIs of what comes after this nobody has counted.
NMIS = "echo 0 >/proc/sys/kernel/nmi_watchdog; grep NMI: /proc/interrupts"


class Wrong(Exception):
    """What a round found."""


def expect(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


def stops_at_overflow(paper, said):
    """The samples, [IP], are those on paper: with precise distribution a period apart, without it an event more.
    Returns how often Linux stopped the counter right at an overflow, to switch to another process."""
    got, fits = [paper.name.get(int(ip, 16), ip) for ip in said], []
    for spacing in PERIOD, PERIOD + 1:
        expected, stops = paper.follow(known.ALL, PERIOD, spacing, got)
        if [event[0] if event else None for event in expected] == got:
            fits.append(stops)
    expect(fits, "a profile has other samples than on paper:", *got)
    return min(fits)


def linux(folder, preset, seconds):
    program = known.assemble(folder)
    paper = known.Known(program, WORDS)
    words = " ".join(map(str, range(1, WORDS)))
    load = LOAD.format(seconds=seconds, words=words, period=PERIOD)
    run = guest.run(folder, [load, NMIS], preset=preset, smp=2, append="pti=off",
                    plugin="stats=on", files={"bin/known": program}, timeout=20 * (seconds + ENDING))
    expect(not checks.warnings(run.dmesg), *checks.warnings(run.dmesg)[:1])
    lines = run.said[0].output.splitlines()
    counts = [line.split(",") for line in lines if line.count(",") > 4]
    profiles = [line.split()[1:] for line in lines if line.startswith("profile ")]
    expect(counts and profiles, "nothing was counted:", lines[-1:])
    branches = sum(name in known.BRANCHES for name in known.EVEN + known.ODD)
    on_paper = {"instructions:u": paper.instructions, "branches:u": paper.iterations // 2 * branches + 1}
    for value, _, event, _, share, *_ in counts:
        expect(share == "100.00", event, "counted", share, "% of the time")
        expect(value == str(on_paper[event]), event, value, "instead of", on_paper[event])
    stops = sum(stops_at_overflow(paper, profile) for profile in profiles)
    samples = sum(map(len, profiles))
    expect(stops * 20 < samples, "Linux stopped the counter", stops, "times right at an overflow, of", samples)
    sent = sum(map(int, re.findall(r"(\d+) PMIs", run.plugin)))
    had = sum(int(word) for word in run.said[1].output.split() if word.isdigit())
    expect(had == sent > 0, "Linux had", had, "NMIs, the plugin sent", sent)
    return f"{len(counts)} counts and {samples} samples as on paper, {stops} stops at an overflow; {had} NMIs"


def cairn(folder, preset, _):
    log, truth = folder / "log", folder / "truth"
    run = subprocess.run(
        [ROOT / "run-qemu.sh", "--log", log, "--smp", "4", "--timeout", "1800", "ds=hw", "workload=mix", "truth=1",
         "switches=3000", "trace.buffers=1024", "--qemu-ds", f"preset={preset},exact=flags,stats=on,truth={truth}"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    expect(run.returncode == 0, *run.stdout.splitlines()[-12:], run.stderr)
    check = subprocess.run([BUILD / "cairn", "check", "--plugin", truth, log], capture_output=True, text=True,
                           check=False)
    expect(check.returncode == 0, check.stdout, check.stderr)
    same = re.search(r"^truth: each PEBS record, word by word +(\d+) +0 verified$", check.stdout, re.M)
    expect(same and int(same[1]) > 0, check.stdout)
    sent = sum(map(int, re.findall(r"(\d+) PMIs", run.stdout)))
    return f"{same[1]} records as in the plugin's truth, {sent} PMIs"


class Soak:
    """Two kinds of guests, each in rounds on a thread of its own."""

    def __init__(self, minutes, folder):
        self.end = time.monotonic() + 60 * minutes
        self.folder = folder
        self.results = Counter()
        self.lock = threading.Lock()
        self.stopped = False

    def rounds(self, name, guest_runs):
        for number, preset in zip(count(1), cycle(PRESETS)):
            left = self.end - time.monotonic()
            if left <= 0 or self.stopped:
                return
            folder = self.folder / f"{name}-{number}"
            folder.mkdir()
            began = time.monotonic()
            try:
                verdict, text = "PASS", guest_runs(folder, preset, int(min(ROUND, left)))
            except Exception as wrong:  # whatever it was
                verdict, text = "FAIL", f"{wrong!r} (files: {folder})"
            if self.stopped:  # that ended it: no verdict
                shutil.rmtree(folder)
                return
            with self.lock:
                self.results[verdict] += 1
                print(f"{verdict}: soak: {name} {number}: {preset}, {time.monotonic() - began:.0f} s: {text}",
                      flush=True)
            if verdict == "PASS":
                shutil.rmtree(folder)

    def stop(self, threads):
        """Ends what still runs: QEMU, or run-qemu.sh, which ends its own. A round may just be about to begin one."""
        self.stopped = True
        for thread in threads:
            while thread.is_alive():
                for children in Path("/proc/self/task").glob("*/children"):
                    with suppress(OSError):  # it has ended
                        for child in children.read_text(encoding="ascii").split():
                            os.kill(int(child), signal.SIGTERM)
                thread.join(1)
        with suppress(OSError):  # not empty: a round has failed
            self.folder.rmdir()

    def run(self):
        threads = [threading.Thread(target=self.rounds, args=kind) for kind in (("linux", linux), ("cairn", cairn))]
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self.stop(threads)
        print(f"SUMMARY: {self.results['PASS']} passed, {self.results['FAIL']} failed")
        return 1 if self.results["FAIL"] or not self.results["PASS"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    minutes = parser.parse_args().minutes
    try:
        guest.need()
    except guest.Trouble as trouble:
        sys.exit(f"soak: {trouble}")
    sys.exit(Soak(minutes, Path(tempfile.mkdtemp(prefix="cairn-soak."))).run())


if __name__ == "__main__":
    main()
