#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the PMU lists of LKVS, Intel's Linux Kernel Validation Suite, in Linux guests under qemu-ds. Compares how each
test ends with expected.txt. Nothing of LKVS is here: --lkvs names a checkout that has been built. Prints each test with
how it ends, the output of those that end in another way, and a PASS or FAIL line for each guest."""

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tools/qemu-ds", "tests/linux")]
import checks  # noqa: E402
import guest   # noqa: E402

EXPECTED = Path(__file__).with_name("expected.txt")
DEBIAN = guest.BUILD / "lkvs/root"
# What a checkout must have, the last one built; and what its scripts need: each adds all folders below BM to $PATH.
NEEDED = ("BM/.env", "BM/common/common.sh", "BM/pmu/pmu_tests.sh", "BM/tools/cpuid_check/cpuid_check")
FOLDERS = ("common", "pmu", "tools/cpuid_check")
MSR = "usr/lib/modules/*/kernel/arch/x86/kernel/msr.ko.xz"  # which only Debian 13's own kernel has here
PROGRAMS = ("perf", "bash", "gawk", "rdmsr", "cat", "cut", "date", "dirname", "find", "grep", "head", "realpath", "rm",
            "sed", "sort", "tac", "tail", "tee", "timeout", "tr", "uniq", "wc", "whoami")
EACH, ALL = 900, 7200  # seconds for a test and a guest that do not hang: slowness is no verdict
VERDICTS = {0: "Pass", 32: "Skip"}  # die() of LKVS ends with 1, block_test() with 2


@dataclass
class Guest:
    preset: str
    kernel: str
    plugin: str                                # more options of it, or ""
    tests: dict = field(default_factory=dict)  # {its line in a list: verdict}, in parentheses where both may be

    def __str__(self):
        return " ".join(filter(None, (self.preset, self.kernel, self.plugin)))


def expected(text):
    """({preset: lists of BM/pmu}, [Guest]), as expected.txt has them."""
    lists, guests = {}, []
    for line in filter(None, (line.split("#")[0].strip() for line in text.splitlines())):
        word, rest = line.split(maxsplit=1)
        if word == "lists":
            preset, *lists[preset] = rest.split()
        elif word == "guest":
            preset, kernel, *plugin = rest.split()
            guests.append(Guest(preset, kernel, "".join(plugin)))
        else:
            guests[-1].tests[rest] = word
    return lists, guests


def listed(path):
    """Tests of a list of LKVS', each once."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def unlike_the_lists(lists, guests, folder):
    """What the lists in `folder` have and the guests have not, and the other way round."""
    wrong = []
    for preset, names in lists.items():
        have = {test for one in guests if one.preset == preset for test in one.tests}
        want = {test: name for name in names for test in listed(folder / name)}
        wrong += [f"{name} has {test}, which expected.txt has not" for test, name in want.items() if test not in have]
        wrong += [f"expected.txt has {test}, which {' and '.join(names)} have not" for test in sorted(have - set(want))]
    return wrong


def summary(lists, ended, folder):
    """How many tests of each list pass. `ended`: {preset: {test: verdict}}."""
    lines = []
    for preset, names in lists.items():
        for name in names:
            verdicts = [ended[preset][test] for test in listed(folder / name) if test in ended.get(preset, {})]
            if verdicts:
                lines.append(f"{name:24}{preset:20}{verdicts.count('Pass'):3} of {len(verdicts)} pass")
    return lines


def lacks(lkvs):
    """What to say of a checkout that cannot be used."""
    if not lkvs:
        return "give a checkout of https://github.com/intel/lkvs: make test-lkvs LKVS=DIR"
    missing = [name for name in NEEDED if not (lkvs / name).exists()]
    if missing == list(NEEDED[-1:]):
        return f"{lkvs}: {missing[0]} is not there: build LKVS first, as its README says"
    return f"{lkvs}: {missing[0]} is not there: this is no checkout of LKVS" if missing else None


def run(one, lkvs):
    """[(test, verdict, what it said)]"""
    bm = lkvs / "BM"
    files = {f"root/BM/{path.relative_to(bm)}": path for folder in FOLDERS for path in sorted((bm / folder).rglob("*"))
             if path.is_file()}
    files["root/BM/.env"] = bm / ".env"
    msr = [MSR] if one.kernel == guest.KERNEL else []
    setup = checks.BY_FREQUENCY + "".join(f"; insmod /{module}" for module in msr)
    commands = [f"cd /root/BM/pmu && timeout -s KILL {EACH} ./{test}" for test in one.tests]
    with tempfile.TemporaryDirectory() as folder:
        ready, *said = guest.run(Path(folder), [setup, *commands], preset=one.preset, kernel=one.kernel,
                                 plugin=one.plugin, append="pti=off nmi_watchdog=0", files=files, root=DEBIAN,
                                 programs=(*PROGRAMS, *msr), timeout=ALL).said
    if ready.status:
        raise guest.Trouble(ready.output)
    return [(test, VERDICTS.get(done.status, "Fail"), done.output) for test, done in zip(one.tests, said)]


def compare(one, results):
    """(lines to print, how many are not as expected). A verdict in parentheses: it may end in another way, too."""
    lines, wrong = [], 0
    for test, verdict, output in results:
        want = one.tests[test]
        other = verdict != want.strip("()")
        lines.append(f"{verdict:6}{test}" + (f"   # expected.txt: {want}" if other else ""))
        if other and not want.startswith("("):
            wrong += 1
            lines += [f"    {line}" for line in output.splitlines()]
    how = f"{wrong} of {len(results)} are not" if wrong else f"all {len(results)} are"
    return [*lines, f"{'FAIL' if wrong else 'PASS'}: lkvs {one}: {how} as in expected.txt"], wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lkvs", metavar="DIR", type=lambda name: Path(name) if name else None,
                        help="the checkout of LKVS")
    parser.add_argument("--only", metavar="TEXT", default="", help="only tests whose line has this")
    a = parser.parse_args()
    if why := lacks(a.lkvs):
        sys.exit(f"test-lkvs: {why}")
    folder = a.lkvs / "BM/pmu"
    lists, guests = expected(EXPECTED.read_text())
    failed = unlike_the_lists(lists, guests, folder)
    print("".join(f"FAIL: lkvs: {line}\n" for line in failed), end="")
    ended = {}
    for one in guests:
        one.tests = {test: verdict for test, verdict in one.tests.items() if a.only in test}
        if not one.tests:
            continue
        print(f"\n{one}", flush=True)
        try:
            results = run(one, a.lkvs)
            lines, wrong = compare(one, results)
        except (guest.Trouble, guest.of_root.Missing, OSError) as trouble:
            results, lines, wrong = [], [f"FAIL: lkvs {one}: {trouble}"], 1
        print("\n".join(lines), flush=True)
        ended.setdefault(one.preset, {}).update({test: verdict for test, verdict, _ in results})
        failed += [one] if wrong else []
    print("", *summary(lists, ended, folder), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
