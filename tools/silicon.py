#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints docs/silicon/README.md: what the reports in docs/silicon/reports say, machines by rows."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

FOLDER = Path(__file__).resolve().parents[1] / "docs/silicon"
ASKED = re.compile(r"^(\w+) +(\S+) +model (\S+) +(equal|differs)$")
NOT_ASKED = re.compile(r"^(\w+) +not asked$")
HEAD = """# What silicon does

How processors answer the questions that `cairn grab --report` asks, machine by machine, beside the model's answers.
[own-records.md](../how-to/own-records.md), section 4, says what the rows mean, and how you add your machine. A script
makes this page from the reports: `tools/silicon.py >docs/silicon/README.md`.
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
    return "" if answer is None else f"`{answer}`" if equal else f"**`{answer}`**"


def page(reports):
    real = [report for report in reports if report.lines["emulated"] == "no"]
    emulated = [report for report in reports if report not in real]
    out = [HEAD]
    if not real:
        out.append("**There is no report of a real processor yet.** What stands here comes from the emulator, which is "
                   "the model\nitself: that it agrees with the model shows that the measurements work, and nothing "
                   "about silicon.\n")
    for number, report in enumerate([*real, *emulated], 1):
        lines = report.lines
        core = f", {lines['cpuid.1a']}" if "cpuid.1a" in lines else ""
        out.append(fill(f"- {number}: [{report.name}](reports/{report.name}.txt): {lines['cpuid.1']}{core}, microcode "
                        f"{lines['microcode']}; {lines['source']}", 120, subsequent_indent="  "))
    reports = [*real, *emulated]
    rows = dict.fromkeys(name for report in reports for name in report.rows)
    model = {name: next((report.rows[name][1] for report in reports if report.rows.get(name, (None,))[0]), None)
             for name in rows}
    out += ["\nAn answer in bold is not the model's. Where nothing stands, the question was not asked; the report says "
            "why.\n", f"| row | model | {' | '.join(str(n) for n in range(1, len(reports) + 1))} |",
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
