#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What docs/reference/hardware.md and presets/ show of every processor the plugin can be: taken from real boots.
usage: python3 tests/qemu_ds/machines.py   boots them all and writes the page's table and the files of presets/ anew."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "boot"))

import cairn_boot as cb  # noqa: E402  its folder is known only now
from cairn_presets import PRESETS  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "hardware.md"
SHOWN = ROOT / "tests" / "qemu_ds" / "presets"
OPTIONS = ("--smp", "1", "ds=hw", "workload=hogs", "switches=100", "pebs=INST_RETIRED.ANY:100003", "trace.buffers=16")
PROBE = ("--smp", "1", "ds=hw", "workload=probe", "switches=60")
NAMES = list(dict.fromkeys([*(preset[0] for preset in PRESETS), "pantherlake", "clearwaterforest"]))
# The rows of the detection table that differ between processors; `...` stands for the others.
TELLING = re.compile(r"  (CPUID\.(01H:EAX|1AH|0AH:E.X counters|07H|23H\.)|errat|"
                     r"IA32_PERF_CAPABILITIES\.(PEBS_FMT|PEBS_BASELINE|FW_WRITE|LBR_FMT))")
ROWS = 3  # of the profile
WHOLE = "skylake"  # whose output is in a file; each has a row of the page's table
HEAD = ("preset", "CPUID.01H:EAX", "events as on", "counters", "format", "branch history", "errata")


def boot(folder, name, options=OPTIONS):
    """Cairn on that processor; the log."""
    result = cb.boot(Path(folder) / f"{name}.log", *options, "--qemu-ds", f"preset={name},exact=flags", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    return result.log


def cairn(*arguments):
    return subprocess.run([cb.BUILD / "cairn", *arguments], capture_output=True, text=True, check=True,
                          env={**os.environ, "COLUMNS": "80"}).stdout


def detection(log):
    """The Debug Store's part of `cairn info`, with the telling rows of the detection table."""
    info = cairn("info", log)
    part = info[info.index("\nDebug Store\n") + 1:info.index("\noptions\n")].rstrip("\n")
    head, table = part.split("\n\n", 1)
    title, columns, *lines = table.split("\n")
    shown, keep = [], True
    for line in lines:
        if line.startswith("  ") and line[2] != " ":  # else it goes on with what the row before began
            keep = TELLING.match(line) is not None
        if keep:
            shown.append(line)
        elif shown[-1:] != ["  ..."]:
            shown.append("  ...")
    return "\n".join([head, "", title, columns, *shown])


def functions(profile):
    """Its rows' functions, in their order."""
    return re.findall(r"^ *\d+ +[\d.]+ % +\S+ +(\S+)$", profile, re.M)


def profile(log):
    """The head and the first rows of `cairn profile`."""
    lines = cairn("profile", log).splitlines()
    first = next(i for i, line in enumerate(lines) if functions(line))
    return "\n".join([*lines[:first + ROWS], "..."])


def row(name, text):
    """What `detection` says of that processor, in one row; each row of errata is named by its first line."""
    def value(test):
        return int(re.search(rf"^  {re.escape(test)}\S* .*?0x(\w+) ", text, re.M)[1], 16)

    def head(key):
        return re.search(rf"^  {key} +(\w+)$", text, re.M)[1]
    history = re.search(r"branch history by ([\w.]+)", text)
    return (name, f"{value('CPUID.01H:EAX family and model'):X}H", re.search(r"coded as on (.+)$", text, re.M)[1],
            f"{value('CPUID.0AH:EAX counters')}+{value('CPUID.0AH:EDX counters')}", head("record format"),
            history[1] if history else "-",
            "; ".join(re.findall(r"^  errat(?:a|um:|a: .*?:) (.*?)(?:  |:)", text, re.M)) or "-")


def answers(log):
    """What `cairn probe` says of that processor: answer by question, - where it was not determined."""
    machine = json.loads(cairn("probe", "--to", "json", log))
    return {question["name"]: question.get("answer") or "-" for question in machine["questions"]}


def table(head, rows):
    rows = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def answered(found):
    """The table of answers by processor: a row a question, a column a processor."""
    return table(["question", *found], [[f"`{name}`", *(each[name] for each in found.values())]
                                        for name in next(iter(found.values()))])


def main():
    with tempfile.TemporaryDirectory() as folder:
        logs = {name: boot(folder, name) for name in NAMES}
        rows = table(HEAD, [row(name, detection(log)) for name, log in logs.items()])
        whole = f"{detection(logs[WHOLE])}\n\n{profile(logs[WHOLE])}\n"
        found = {name: answers(boot(folder, name, PROBE)) for name in NAMES}
    text = PAGE.read_text(encoding="utf-8")
    at = text.index("| preset |")
    PAGE.write_text(text[:at] + rows + text[text.index("\n\n", at):], encoding="utf-8")
    (SHOWN / "answers.md").write_text(answered(found) + "\n", encoding="utf-8")
    (SHOWN / f"{WHOLE}.txt").write_text(whole, encoding="utf-8")


if __name__ == "__main__":
    main()
