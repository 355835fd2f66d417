#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: tools/grade_points.py RESULTS

For tools/grade.sh: makes of RESULTS/grades.csv, and of what the solutions have printed (RESULTS/.solution), the files
RESULTS/STUDENT/results.json (Gradescope, "Autograder Specifications") and classroom.json (what GitHub Classroom's
autograding-grading-reporter takes). A lab's check stops at the first mistake, so `checks_passed` says which parts have
passed. A part has the points that tools/teacher/points.csv gives it, if it has passed in each boot and on each Debug
Store. For a lab that is not in that file, or without it, there is a point for each part in each boot on each store."""

import csv
import json
import re
import sys
from pathlib import Path


POINTS = Path(__file__).resolve().parent / "teacher" / "points.csv"
MESSAGE = 4000  # characters that classroom.json keeps: the reporter gets the file in an environment variable


def points_of_kit():
    """{lab's number: {part: points}}"""
    found = {}
    if POINTS.exists():
        with POINTS.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found.setdefault(int(row["lab"]), {})[row["check"]] = int(row["points"])
    return found


def parts_of(results, lab):
    """(name, store) of each part of a lab's check, in order, as often as the solution has passed it."""
    for store in ("soft", "hw"):
        said = results / ".solution" / f"{lab}.{store}"
        if said.exists():
            for name in re.findall(r"^PASS: ([^:]+): ", said.read_text(encoding="utf-8", errors="replace"), re.M):
                yield name, store


def scores_of(results, row, kit):
    """(name, points, whether they are reached) for a line of the table."""
    lab, passed = row["lab"], int(row["checks_passed"])
    parts = list(parts_of(results, lab))
    points = kit.get(int(lab[:2]))
    if not points:
        return [(f"{lab}, {store}, check {i + 1}: {name}", 1, i < passed) for i, (name, store) in enumerate(parts)]
    missing = {name for name, _ in parts} ^ points.keys()
    if missing:
        sys.exit(f"grade_points.py: {POINTS}: lab {lab}: {', '.join(sorted(missing))}: not the parts of its check")
    left = {name for name, _ in parts[passed:]}
    return [(f"{lab}: {name}", of, name not in left) for name, of in points.items()]


def tests_of(results, row, kit):
    """(name, points, reached, why). The first one that has not passed says why."""
    said = results / row["student"] / f"{row['lab']}.txt"
    why = said.read_text(encoding="utf-8", errors="replace") if said.exists() else "there is no lab.c\n"
    why = f"{row['result']}\n{why}"
    for name, points, reached in scores_of(results, row, kit):
        yield name, points, reached, "" if reached else why
        why = why if reached else ""


def gradescope(tests):
    return {"tests": [{"name": name, "score": points if reached else 0, "max_score": points,
                       "status": "passed" if reached else "failed", "output": why}
                      for name, points, reached, why in tests]}


def classroom(tests):
    return {"version": 1, "status": "pass" if all(reached for _, _, reached, _ in tests) else "fail",
            "max_score": sum(points for _, points, _, _ in tests),
            "tests": [{"name": name, "status": "pass" if reached else "fail", "score": points if reached else 0,
                       "message": why[-MESSAGE:]} for name, points, reached, why in tests]}


def main():
    results = Path(sys.argv[1])
    with (results / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kit = points_of_kit()
    for student in {row["student"] for row in rows}:
        tests = [test for row in rows if row["student"] == student for test in tests_of(results, row, kit)]
        for name, form in (("results.json", gradescope), ("classroom.json", classroom)):
            (results / student / name).write_text(json.dumps(form(tests), indent=1) + "\n", encoding="utf-8")


main()
