#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Switches of real boots, many: each piece is a boot on four CPUs with truth and a live dump, and `cairn check`
compares every switch and every record of it with the truth. A PASS or FAIL line for each piece, the sums at the end."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("CAIRN_BUILD", "build")
PRESETS = ("skylake", "off", "icelake", "pantherlake", "off", "haswell", "sapphirerapids", "clearwaterforest", "off")
WORKLOADS = ("mix", "mix", "pingpong", "prodcons", "mix", "lockfight", "user", "locks")
COMPARED = {"switches": "each 052[45]H switch equal, in order", "records": "each PEBS record equal",
            "words": "each PEBS record, word by word"}


def options_of(number, switches):
    preset, workload = PRESETS[number % len(PRESETS)], WORKLOADS[number % len(WORKLOADS)]
    soft = ["ds=off"] if preset == "off" else ["ds=soft", f"ds.preset={preset}"]
    return [*soft, f"workload={workload}", f"seed={number + 1}", f"switches={switches}", f"dump.pack={number % 2}",
            "truth=1", "dump=live", "dump.pace=0", "seconds=3600"]


def run_piece(log, options):
    """({what: compared}, None) or (None, what is wrong)."""
    run = subprocess.run([ROOT / "run-qemu.sh", "--log", log, "--smp", "4", "--timeout", "7200", *options],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode:
        return None, "\n".join([*run.stdout.splitlines()[-12:], run.stderr])
    check = subprocess.run([BUILD / "cairn", "check", log], capture_output=True, text=True, errors="replace",
                           check=False)
    if check.returncode:
        return None, check.stdout + check.stderr
    return {what: int(found[1]) if (found := re.search(rf"^truth: {rule} +(\d+) +0 verified$", check.stdout, re.M))
            else 0 for what, rule in COMPARED.items()}, None


def soak(switches, piece, folder):
    total, results, began = Counter(), Counter(), time.monotonic()
    for number in count():
        if total["switches"] >= switches or results["FAIL"]:
            break
        options, start = options_of(number, min(piece, switches - total["switches"])), time.monotonic()
        log = folder / f"{number}.log"
        compared, wrong = run_piece(log, options)
        if not wrong and not compared["switches"]:
            wrong = "no switch was compared"
        verdict = "FAIL" if wrong else "PASS"
        results[verdict] += 1
        text = wrong or ", ".join(f"{n} {what}" for what, n in compared.items())
        print(f"{verdict}: soak-boot: {number}: {' '.join(options[:3])}, {time.monotonic() - start:.0f} s\n    {text}",
              flush=True)
        if wrong:
            print(f"the log is {log}, its options are: {' '.join(options)}")
        else:
            total.update(compared)
            log.unlink()
    print(f"{results['PASS']} boots, {time.monotonic() - began:.0f} s, equal to the truth: "
          + ", ".join(f"{total[what]} {what}" for what in COMPARED))
    print(f"SUMMARY: {results['PASS']} passed, {results['FAIL']} failed")
    return 1 if results["FAIL"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--switches", type=int, default=10_000_000)
    parser.add_argument("--piece", type=int, default=200_000, help="switches of a boot")
    arguments = parser.parse_args()
    sys.exit(soak(arguments.switches, arguments.piece, Path(tempfile.mkdtemp(prefix="cairn-soak-boot."))))


if __name__ == "__main__":
    main()
