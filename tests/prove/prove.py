# SPDX-License-Identifier: MIT
"""Proves what tests/prove/proofs.toml lists, with Frama-C, and prints a table: functions, property, proved or not.

A [[proof]] is one run of Frama-C:
    name         also the function of the harness where the analysis begins
    harness      a file of tests/prove
    sources      of the repository, as they are
    functions    what the proof is about; each statement must be reached
    part         of the functions: some of their statements need not be reached
    property     in words; inputs: for which ones
    termination  loops are counted (prove.h)
    eva          more options of Eva
    assumed      functions of the C library that only their specification in Frama-C's stands for
    dead         how many statements of a function no input reaches, and why: {function, statements, reason}
    explain      alarms that stay: {function, kind, count, reason}

A proof holds if Frama-C ends without an error and the end of the harness is reached, and if there is no alarm beyond
those explained. An explanation without its alarm fails, too: the proof base64_error has an error on purpose."""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path("tests/prove")
PAGE = Path("docs/reference/proofs.md")
MADE = "<!-- what follows is made by make prove PROVE=--page -->\n"
TIMEOUT = int(os.environ.get("PROVE_TIMEOUT", "3600"))  # seconds, for one proof
GOOD = ("Valid", "Considered valid", "Dead", "Valid but dead")


class Failure(Exception):
    pass


def command_of(proof, folder):
    defines = " ".join(f"-D{d}" for d in proof.get("define", []) + ["PROVE_TERMINATION"] * proof.get("termination", 0))
    command = ["frama-c", "-machdep", "gcc_x86_64", "-c11",
               f"-cpp-extra-args=-I. -std=gnu17 -U__x86_64__ -include {HERE / 'prove.h'} {defines}",
               HERE / proof["harness"], *proof["sources"],
               "-eva", "-main", proof["name"], "-eva-no-print", "-eva-slevel", "1000000",
               "-eva-split-limit", "100000", *proof.get("eva", [])]
    return [str(word) for word in command + ["-then", "-metrics", "-metrics-eva-cover",
                                             "-then", "-report-csv", folder / "report.csv"]]


def alarms_of(report):
    """Properties of the repository's own files that are not valid, as (function, kind), with their text."""
    with open(report, newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for row in rows if not row["directory"].startswith("FRAMAC_SHARE") and row["status"] not in GOOD
            and not row["function"].startswith("Frama_C_show_each")]


def check(proof, folder):
    """Runs Frama-C. Raises Failure with lines where the proof does not hold."""
    folder.mkdir(parents=True, exist_ok=True)
    report, log = folder / "report.csv", folder / "log"
    report.unlink(missing_ok=True)
    with open(log, "w") as out:
        try:
            status = subprocess.run(command_of(proof, folder), cwd=ROOT, stdout=out, stderr=subprocess.STDOUT,
                                    timeout=TIMEOUT, check=False).returncode
        except subprocess.TimeoutExpired:
            raise Failure([f"not done in {TIMEOUT} s, see {log}"]) from None
    text = log.read_text(errors="replace")
    if status or not report.exists():
        raise Failure([f"Frama-C fails ({status}), see {log}", *text.splitlines()[-3:]])
    bad = []
    if "Frama_C_show_each_end" not in text:
        bad.append("the end of the harness is never reached: nothing is proved")
    for line in re.findall(r"^\[kernel:annot:missing-spec\] .*|^\[eva\] using specification for function .*"
                           r"|.*Neither code nor specification.*", text, re.M):
        name = line.split()[-1]
        if "using specification" in line and not name.startswith("Frama_C_") and name not in proof.get("assumed", []):
            bad.append(f"a function is only assumed: {name}")
    cover = {f: (int(n), int(of)) for f, n, of in re.findall(r"^  (\w+): (\d+) stmts out of (\d+) ", text, re.M)}
    for function in proof["functions"]:
        reached, of = cover.get(function, (0, 1))
        dead = sum(d["statements"] for d in proof.get("dead", []) if d["function"] == function)
        if not reached or of - reached != dead and not proof.get("part"):
            bad.append(f"{function}: {of - reached} of {of} statements are not reached, the table says {dead}")
    found = alarms_of(report)
    count = Counter((row["function"], row["property kind"]) for row in found)
    for e in proof.get("explain", []):
        seen = count.pop((e["function"], e["kind"]), 0)
        if seen != e["count"]:
            bad.append(f"{e['function']}: {e['kind']}: {seen} alarms, {e['count']} are explained")
    for row in found:
        if (row["function"], row["property kind"]) in count:
            bad.append(f"{row['directory']}/{row['file']}:{row['line']}: {row['function']}: {row['property kind']}: "
                       f"{row['status']}: {row['property']}")
    if bad:
        raise Failure(bad)


def run(proof, build):
    """(proof, what is wrong with it, seconds)."""
    begin = time.monotonic()
    try:
        check(proof, build / "prove" / proof["name"])
        bad = []
    except Failure as failure:
        bad = failure.args[0]
    return proof, bad, time.monotonic() - begin


def functions_of(row):
    names = row["functions"]
    return names if isinstance(names, str) else ", ".join(names)


def wrapped(text):
    """The lines of a text on a terminal of 80 columns, of which four are for the indent."""
    return textwrap.wrap(text, 76, break_long_words=False, break_on_hyphens=False)


def brief(words):
    """As the page says it, which defines what `safe` is."""
    for long, short in (("no undefined behaviour, ends", "safe"), (": decode(encode(x)) = x:", " round trip:"),
                        ("decode(encode(x)) = x", "round trip")):
        words = words.replace(long, short)
    return words


def page(table):
    """The lines of docs/reference/proofs.md that are made from the table: it is written where all proofs hold."""
    lines = ["## Proved", "| functions | property | inputs |", "| --- | --- | --- |"]
    last = None
    for p in table["proof"]:
        names = functions_of(p)
        lines.append(f"| {'the same' if names == last else f'`{names}`'} | {brief(p['property'])} | {p['inputs']} |")
        last = names
    lines += ["", "## By test only", "| functions | property | tests |", "| --- | --- | --- |"]
    for t in table["by_test"]:
        tests = ", ".join(f"[{Path(test).name}](../../{test})" for test in t["tests"])
        lines.append(f"| {t['functions']} | {brief(t['property'])} | {tests} |")
    return "\n".join(lines) + "\n"


def check_page(table):
    """What is wrong with the table's second part and the page, without Frama-C."""
    bad = [f"there is no {test}" for t in table["by_test"] for test in t["tests"] if not (ROOT / test).exists()]
    if (ROOT / PAGE).read_text().split(MADE)[1] != "\n" + page(table):
        bad.append(f"{PAGE} is not of this table: run 'make prove PROVE=--page'")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", type=Path)
    parser.add_argument("--page", action="store_true", help=f"if all proofs hold, write {PAGE}")
    parser.add_argument("names", nargs="*", help="only these proofs")
    arguments = parser.parse_args()
    if not shutil.which("frama-c"):
        sys.exit("prove: there is no frama-c: run 'make deps-prove'")
    table = tomllib.loads((ROOT / HERE / "proofs.toml").read_text())
    proofs = [p for p in table["proof"] if p["name"] in arguments.names or not arguments.names]
    if unknown := set(arguments.names) - {p["name"] for p in proofs}:
        sys.exit(f"prove: no such proof: {', '.join(sorted(unknown))}: their names are in tests/prove/proofs.toml")
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for proof, bad, seconds in pool.map(lambda p: run(p, arguments.build.resolve()), proofs):
            failed += bool(bad)
            print(f"{'FAIL' if bad else 'PASS'}: prove: {proof['name']}: {'not ' * bool(bad)}proved, {seconds:.0f} s",
                  *wrapped(f"{functions_of(proof)}: {proof['property']}"), *wrapped(f"inputs: {proof['inputs']}"),
                  *bad, sep="\n    ", flush=True)
    for t in table["by_test"] if not arguments.names else []:
        print(f"by test only: {t['property']}", *wrapped(t["functions"]), *t["tests"], *wrapped(f"why: {t['why']}"),
              sep="\n    ")
    if arguments.page and not failed and not arguments.names:
        head = (ROOT / PAGE).read_text().split(MADE)[0]
        (ROOT / PAGE).write_text(f"{head}{MADE}\n{page(table)}")
    bad = check_page(table)
    failed += bool(bad)
    print(f"{'FAIL' if bad else 'PASS'}: prove: page: it lists what is proved", *bad, sep="\n    ")
    print(f"{len(proofs) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
