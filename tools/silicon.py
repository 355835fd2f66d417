#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints docs/silicon/README.md: what the reports in docs/silicon/reports say, machines by rows."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs/silicon"
ASKED = re.compile(r"^(\w+) +(\S+) +model (\S+) +(equal|differs)$")
NOT_ASKED = re.compile(r"^(\w+) +not asked$")
HEAD = """# What silicon does

This page compares how processors answered the questions of `cairn grab --report` with the model's answers. Section 4 of
[own-records.md](../how-to/own-records.md) says what the rows mean and how you add your machine. The page is made from
the reports: `tools/silicon.py >docs/silicon/README.md`.
"""


class Trouble(Exception):
    """One line that says what is wrong with a report."""


@dataclass
class Report:
    name: str
    lines: dict  # of the head: {what: text}
    rows: dict   # {row: (answer or None, model's answer or None, equal)}


def read(path):
    """A report for each kind of core."""
    first, *parts = re.split(r"^cairn silicon report 1, .*\n", path.read_text(encoding="utf-8"), flags=re.M)
    if first or not parts:
        raise Trouble(f"{path.name}: its first line is not of a report that this script knows")
    return [read_part(path, part.splitlines()) for part in parts]


def read_part(path, lines):
    head, rows = {}, {}
    for line in lines:
        if asked := ASKED.match(line):
            rows[asked[1]] = asked[2], asked[3], asked[4] == "equal"
        elif not_asked := NOT_ASKED.match(line):
            rows[not_asked[1]] = None, None, True
        elif not rows and ": " in line:
            what, text = line.split(": ", 1)
            head[what] = text
    if not rows or not {"source", "emulated", "cpuid.1", "microcode"} <= set(head):
        raise Trouble(f"{path.name}: it is not whole")
    return Report(path.stem, head, rows)


def cell(row):
    answer, _, equal = row
    return "" if answer is None else "=" if equal else f"**`{answer}`**"


def page(reports):
    real = [report for report in reports if report.lines["emulated"] == "no"]
    emulated = [report for report in reports if report not in real]
    out = [HEAD]
    if not real:
        out.append("**No report of a real processor has come yet.** These are from the emulator, which is the model "
                   "itself, so they show\nthat the measurements work, but nothing about silicon.\n")
    out += ["| | report | processor | microcode | Linux |", "| --- | --- | --- | --- | --- |"]
    reports = [*real, *emulated]
    for number, report in enumerate(reports, 1):
        lines = report.lines
        linux, _, machine = lines["source"].removeprefix("Linux ").partition(" on ")
        core = ", ".join(lines[key] for key in ("cpuid.1", "cpuid.1a") if key in lines)
        core, linux = (core, f"{linux}, emulated") if report in emulated else (f"{machine}: {core}", linux)
        link = f"[{report.name}](reports/{report.name}.txt)"
        out.append(f"| {number} | {link} | {core} | {lines['microcode']} | {linux} |")
    rows = dict.fromkeys(name for report in reports for name in report.rows)
    model = {name: next((report.rows[name][1] for report in reports if report.rows.get(name, (None,))[0]), None)
             for name in rows}
    out += ["\nA cell with `=` has the model's answer, and a bold answer differs from it. In an empty cell the "
            "question was not asked;\nthe report says why.\n",
            f"| row | model | {' | '.join(str(n) for n in range(1, len(reports) + 1))} |",
            f"| --- | --- |{' --- |' * len(reports)}"]
    for name in rows:
        cells = [cell(report.rows.get(name, (None, None, True))) for report in reports]
        out.append(f"| `{name}` | {f'`{model[name]}`' if model[name] else ''} | {' | '.join(cells)} |")
    return "\n".join(out) + "\n"


def main():
    try:
        print(page([report for path in sorted((FOLDER / "reports").glob("*.txt")) for report in read(path)]), end="")
    except Trouble as trouble:
        sys.exit(f"silicon.py: {trouble}")


if __name__ == "__main__":
    main()
