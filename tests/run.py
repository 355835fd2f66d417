# SPDX-License-Identifier: MIT
"""Runs the suites of `make test` and its like: finds them by name, prints the time of each (of pytest's folders: the
sum of their tests' times), and ends with the line `N passed, N failed` (and `, N skipped` where there are any). Exits
with 1 where something failed."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNIT_TIMEOUT = 1800  # seconds, for one program: it hangs; slowness is no verdict
FEWER_STEPS = "200000"  # of each processor in tests/unit/model/test_property*.c; `make test-all`: its own million
WORKERS = os.cpu_count() or 1
# Folders whose tests boot the QEMU of `make deps-ds`: only where asked for.
WITH_QEMU_11 = ("linux", "rr", "qemu_ds", "clients")
# All of pytest's tests are one session, so no processor waits for the last test of a folder. First come those of which
# many share a guest or a browser, one after the other; two more than there are processors, as each waits at times.
LONG_FIRST = (*WITH_QEMU_11, "playground", "labs", "site", "house", "cairn")
AT_ONCE = WORKERS + 2


def quick_python():
    """What starts `python3` gets the Python that runs this: that of a version manager may take ten times as long. And
    what Python compiles is kept, or else each of pytest's processes compiles all tests."""
    folders = os.environ["PATH"].split(os.pathsep)
    first = os.path.dirname(shutil.which("python3") or "")
    folders.insert(folders.index(first) if first in folders else 0, os.path.dirname(sys.executable))
    os.environ["PATH"] = os.pathsep.join(folders)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def run_program(program):
    """(status, output) of one program."""
    try:
        done = subprocess.run([program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=UNIT_TIMEOUT, check=False)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as expired:
        return -1, (expired.stdout or b"").decode(errors="replace") + "\ntimed out\n"


def unit_sources(stem="test_*"):
    return sorted((ROOT / "tests" / "unit").glob(f"*/{stem}.c"))


def run_unit(build, sources):
    """cmocka programs: counts come from their last lines; one that dies before them is one failure."""
    counts = Counter()
    programs = [build / "unit" / source.parent.name / source.stem for source in sources]
    with ThreadPoolExecutor(WORKERS) as pool:
        for program, (status, output) in zip(programs, pool.map(run_program, programs)):
            seen = Counter()
            for word, key in (("PASSED", "passed"), ("FAILED", "failed"), ("SKIPPED", "skipped")):
                for count in re.findall(rf"^\[\s*{word}\s*\] (\d+) test", output, re.M):
                    seen[key] += int(count)
            if not seen["failed"] and (status != 0 or not sum(seen.values())):  # one that tests nothing fails, too
                seen["failed"] = 1
            if seen["failed"]:
                print(output)
            name = f"{program.parent.name}/{program.stem}"
            print(f"  {name}: {seen['passed']} passed, {seen['failed']} failed", flush=True)
            counts += seen
    return counts


def run_pytest(folders, everything):
    """[(folder, counts, seconds of its tests)]"""
    counts, seconds = {folder.name: Counter() for folder in folders}, Counter()
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider",
                   f"--numprocesses={AT_ONCE}", "--dist=loadgroup", "--max-worker-restart=3", "--durations=10",
                   f"--junitxml={report}", *map(str, folders)]
        if not everything:
            command += ["-m", "not long"]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if not report.exists() and len(folders) > 1:  # a folder lacks what its tests need: it alone fails
            return [row for folder in folders for row in run_pytest([folder], everything)]
        for case in xml.parse(report).getroot().iter("testcase") if report.exists() else []:
            name = (case.get("classname") or case.get("name")).split(".")[1]  # tests.FOLDER...
            ends = {child.tag for child in case}
            counts[name]["failed" if ends & {"failure", "error"} else "skipped" if "skipped" in ends else "passed"] += 1
            seconds[name] += float(case.get("time"))
    none_selected = status == 5 and not everything  # all are long
    if status and not none_selected and not any(count["failed"] for count in counts.values()):
        counts[folders[0].name if len(folders) == 1 else "pytest"] = Counter(failed=1)
    return [(name, count, seconds[name]) for name, count in counts.items()]


def run_make(target, build):
    """A make target that prints `PASS|FAIL|SKIP: name: text` lines, as the guest does: (counts, output, seconds)."""
    start = time.monotonic()
    print(f"-- {target} begins", flush=True)
    done = subprocess.run(["make", "--no-print-directory", f"-j{WORKERS}", f"B={build}", target], cwd=ROOT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    lines = done.stdout.splitlines()
    words = Counter(line.split(":", 1)[0] for line in lines)
    counts = Counter(passed=words["PASS"], failed=words["FAIL"], skipped=words["SKIP"])
    if not counts["failed"] and (done.returncode or not sum(counts.values())):  # one that says nothing is one failure
        counts["failed"] += 1
    return counts, "".join(f"  {line}\n" for line in lines), time.monotonic() - start


def folders_of(only, with_qemu_11):
    """Of tests/ those that are named, else all that have tests."""
    found = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/test_*.py")}
    if only:
        unknown = [name for name in only if name not in found]
        if unknown:
            sys.exit(f"tests/run.py: --only {unknown[0]}: tests/{unknown[0]} has no test of pytest's")
        return [ROOT / "tests" / name for name in only]
    found -= set() if with_qemu_11 else set(WITH_QEMU_11)
    return [ROOT / "tests" / name for name in (*filter(found.__contains__, LONG_FIRST), *sorted(found - {*LONG_FIRST}))]


def run_named(name, build, suites):
    """One test, by what a person calls it: a suite, a file or folder, a unit test's program, or part of the name of
    tests of pytest's. The status."""
    stem = Path(name).stem
    units = unit_sources(stem) if name in (stem, f"{stem}.c") or "/unit/" in f"/{name}" else []
    if name in suites:
        return subprocess.run(["make", "--no-print-directory", f"B={build}", name], cwd=ROOT, check=False).returncode
    if units:
        return 1 if run_unit(build, units)["failed"] else 0
    path = ROOT / name.split("::", 1)[0]
    where = [name] if path.exists() else [*folders_of(None, (build / "qemu11").exists()), "-k", name]
    status = subprocess.run([sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider",
                             *map(str, where)], cwd=ROOT, check=False).returncode
    if status == 5:
        print(f"tests/run.py: no test, file or suite is named {name}", file=sys.stderr)
    return 1 if status else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build", help="build directory")
    parser.add_argument("--all", action="store_true", help="the tests marked `long` as well")
    parser.add_argument("--only", action="append", metavar="FOLDER", help="the tests in tests/FOLDER, no others")
    parser.add_argument("--with-qemu-11", action="store_true", help="also the tests that need `make deps-ds`")
    parser.add_argument("--test", metavar="NAME", help="this one alone: a file, the name of a test, or of a target")
    parser.add_argument("targets", nargs="*", help="make targets that print PASS, FAIL and SKIP lines")
    arguments = parser.parse_args()
    build = (ROOT / arguments.build).resolve()
    os.environ["CAIRN_BUILD"] = str(build)
    if not arguments.all:
        os.environ.setdefault("CAIRN_STEPS", FEWER_STEPS)
    quick_python()

    if arguments.test:
        return run_named(arguments.test, build, arguments.targets)
    total = Counter()
    table = []

    def add(name, counts, seconds):
        nonlocal total
        total += counts
        table.append(f"{name:16} {seconds:7.1f} s  {counts['passed']:5} passed {counts['failed']:4} failed "
                     f"{counts['skipped']:4} skipped")

    if not arguments.only:
        print("== unit", flush=True)
        start = time.monotonic()
        counts = run_unit(build, unit_sources())
        add("unit", counts, time.monotonic() - start)
    print("== pytest", flush=True)
    for row in run_pytest(folders_of(arguments.only, arguments.with_qemu_11), arguments.all):
        add(*row)
    with ThreadPoolExecutor(WORKERS) as pool:  # few of the targets use more than one processor
        made = pool.map(lambda target: run_make(target, arguments.build), arguments.targets)
        for name, (counts, output, seconds) in zip(arguments.targets, made):
            print(f"== {name}\n{output}", end="", flush=True)
            add(name, counts, seconds)
    print("\n" + "\n".join(table))
    print(f"{total['passed']} passed, {total['failed']} failed"
          + (f", {total['skipped']} skipped" if total["skipped"] else ""))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
