# SPDX-License-Identifier: MIT
"""What `cairn info` counts in a log is there: frames by stream, events by hook and version, with their bytes."""

import re
import struct
from collections import Counter

import pytest

import frames
from cairn_tool import GOLDEN, LOGS, cairn, events, text_of

LINES = re.compile(r"^  ([A-Z]) [a-z ]+? +(\d+) +(\d+)\b", re.M)
EVENTS = re.compile(r"^  (\w{4}H) ([A-Z]+\d\d) +(\d+) +(\d+) +(\d+)   \w", re.M)
HEADERS = {0x02: "SYSTEM64", 0x04: "COMPACT64", 0x11: "PERFINFO64"}


@pytest.mark.parametrize("log", [*LOGS, "bts", "ring", "life", "locks", "told"])
def test_frames_and_events(log):
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    text = text_of(cairn("info", GOLDEN / f"{log}.log"))
    streams, sizes, kinds, bytes_of = Counter(), Counter(), Counter(), Counter()
    for stream, payload in parts:
        streams[stream] += 1
        sizes[stream] += len(payload)
    for i, at, hook, size in events(parts):
        version, _, header = struct.unpack_from("<BBB", parts[i][1], at)
        kind = (f"{hook:04X}H", HEADERS[header], str(version))
        kinds[kind] += 1
        bytes_of[kind] += size + 7 & ~7
    assert {row[0]: (int(row[1]), int(row[2])) for row in LINES.findall(text) if row[1] != "0"} == {
        stream: (streams[stream], sizes[stream]) for stream in streams}
    assert re.search(rf"^  all +{len(parts)} +{sum(sizes.values())} ", text, re.M)
    assert {row[:3]: (int(row[3]), int(row[4])) for row in EVENTS.findall(text)} == {
        kind: (count, bytes_of[kind]) for kind, count in kinds.items()}
