#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: tools/grade_points.py RESULTS

For tools/grade.sh: makes of RESULTS/grades.csv, and of what the solutions have printed (RESULTS/.solution), the files
RESULTS/STUDENT/results.json (Gradescope, "Autograder Specifications") and classroom.json (what GitHub Classroom's
autograding-grading-reporter takes). Each check is a point. A check stops at the first mistake, so a student has the
first points of a lab, as many as checks have passed."""

import csv
import json
import re
import sys
from pathlib import Path


MESSAGE = 4000  # characters that classroom.json keeps: the reporter gets the file in an environment variable


def checks_of(results, lab):
    """The names of the checks of a lab, on each Debug Store, in order."""
    found = []
    for store in ("soft", "hw"):
        said = results / ".solution" / f"{lab}.{store}"
        if said.exists():
            names = re.findall(r"^PASS: ([^:]+): ", said.read_text(encoding="utf-8", errors="replace"), re.M)
            found += [f"{lab}, {store}, check {i + 1}: {name}" for i, name in enumerate(names)]
    return found


def tests_of(results, row):
    """(name, passed, why) of each check of a line of the table. The first one that has not passed says why."""
    said = results / row["student"] / f"{row['lab']}.txt"
    why = said.read_text(encoding="utf-8", errors="replace") if said.exists() else "there is no lab.c\n"
    passed = int(row["checks_passed"])
    for i, name in enumerate(checks_of(results, row["lab"])):
        yield name, i < passed, f"{row['result']}\n{why}" if i == passed else ""


def gradescope(tests):
    return {"tests": [{"name": name, "score": int(passed), "max_score": 1, "status": "passed" if passed else "failed",
                       "output": why} for name, passed, why in tests]}


def classroom(tests):
    return {"version": 1, "status": "pass" if all(passed for _, passed, _ in tests) else "fail",
            "max_score": len(tests),
            "tests": [{"name": name, "status": "pass" if passed else "fail", "score": int(passed),
                       "message": why[-MESSAGE:]} for name, passed, why in tests]}


def main():
    results = Path(sys.argv[1])
    with (results / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for student in {row["student"] for row in rows}:
        tests = [test for row in rows if row["student"] == student for test in tests_of(results, row)]
        for name, form in (("results.json", gradescope), ("classroom.json", classroom)):
            (results / student / name).write_text(json.dumps(form(tests), indent=1) + "\n", encoding="utf-8")


main()
