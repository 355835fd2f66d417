# SPDX-License-Identifier: MIT
"""What commands of `cairn` say, as values."""

import re

import cairn_boot
from cairn_tool import GOLDEN

SAMPLES = cairn_boot.ROOT / "samples"
ROW = re.compile(r"^  (.{34}) +(-?[\d.]+) +(-?[\d.]+) +([-+][\d.]+(?: %)?|new|0\.0 %)(?: ([~?]))?$", re.M)


def path_of(name):
    return next(path for path in (GOLDEN / f"{name}.log", GOLDEN / f"{name}.etl", SAMPLES / f"{name}.log")
                if path.exists())


def rows(text):
    """{(title, name): (A, B, change, mark)}"""
    found, title = {}, None
    for line in text.splitlines():
        row = ROW.match(line)
        if row:
            found[title, row[1].strip()] = (float(row[2]), float(row[3]), row[4], row[5] or "")
        elif line and not line.startswith(" "):
            title = re.split(r"  |,", line)[0]
    return found


def figures(block):
    """What a screen says of the whole trace: not of 'now'."""
    lines = block.splitlines()
    switches = re.match(r"(\d+) switches, .*; (\d+) PEBS records$", lines[1])
    lost = re.match(r"unknown: ([\d.]+) % of time; (\d+) gaps?, (\d+) frames? missing, (\d+) damaged$",
                    lines[3])
    threads = {m[1]: m.groups()[1:] for m in re.finditer(r"^(\S+:\d+) +[\d.]+ +([\d.]+) +(\d+) +(\d+)$", block, re.M)}
    reasons = dict(re.findall(r"^([A-Z]\w+) +\d+ +(\d+)\b", block, re.M))
    return switches.groups(), lost.groups(), threads, reasons
