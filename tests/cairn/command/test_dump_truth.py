# SPDX-License-Identifier: MIT
"""Every switch and every sample that `cairn dump` shows is one that happened: held against the truth in the log, which
is read here, apart from the C code."""

import json
import re
import struct

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, TRUTH_PEBS, TRUTH_SWITCH, cairn, text_of, truths

WORDS = re.findall(r'"(\w+)"', (cairn_boot.ROOT / "trace/wire/switch_words.h").read_text(encoding="ascii"))
STATES, REASONS, WAITING = WORDS[:10], WORDS[10:], 5
WHOLE = ["small", "full", "nods", "hw", "life", "locks", "told", "bts", "ring", "arch", "fragments"]
PARTS = ["circular", "lost", "live"]  # events are missing
CASES = [*((log, "1") for log in (*WHOLE, *PARTS)), *(("sessions", session) for session in "1234")]
LINE = re.compile(r"^ *(\d+)\.(\d{7}) +(\d+)   (\S+)(?:  not known)? +(\S+) +(\d+|) *> (\S+) +(\S+)$", re.M)
HZ = 2_400_000_000  # of the scripted machine's TSC


def tid_of(name):
    return None if name == "unknown" else 0 if name == "idle" else int(name.split(":")[1])


@pytest.mark.parametrize("log, session", CASES)
def test_switches(log, session):
    """In order on each CPU, with its threads, its state or reason, its priority and its ticks; all of them, but for
    sessions that were lossy or did not run all the time. Times are equal but for one offset."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    happened = {}
    for frame, at in truths(parts, TRUTH_SWITCH):
        record = parts[frame][1][at:at + 48]
        _, cpu, state, reason, priority = struct.unpack_from("<4Bb", record)
        old, new, tsc = struct.unpack_from("<IIQ", record, 8)
        word = REASONS[reason] if state == WAITING else STATES[state]
        happened.setdefault(cpu, []).append((old, new, word, priority, struct.unpack_from("<I", record, 0x20)[0], tsc))
    text = text_of(cairn("dump", "--session", session, GOLDEN / f"{log}.log"))
    shown, offsets = 0, set()
    full = " these are the 0524H" in text
    at = {cpu: iter(switches) for cpu, switches in happened.items()}
    for seconds, part, cpu, who, why, priority, came, ticks in LINE.findall(text):
        for old, new, word, was, wait, tsc in at[int(cpu)]:
            bare = why == "-"
            there = priority == str(was) and (ticks == str(wait) or (ticks == "<=1" and wait <= 1))
            if old == tid_of(who) and tid_of(came) in (None, new) and (bare or (why == word[:17] and there)):
                break
        else:
            pytest.fail(f"no such switch: {seconds}.{part} {cpu} {who} {why} {priority} > {came} {ticks}")
        assert not bare or (old == 0 and not full)
        offsets.add(round(tsc / HZ * 1e7) - int(seconds + part))
        shown += 1
    count = sum(map(len, happened.values()))
    assert shown == count if log in WHOLE or session == "1" and log == "sessions" else 50 < shown < count
    assert max(offsets) - min(offsets) <= 1


@pytest.mark.parametrize("log", [*(log for log in WHOLE if log not in ("nods", "hw", "locks", "told")), *PARTS])
def test_samples(log):
    """In order on each CPU: instruction and thread, or that the thread cannot be known. What the dump shows of an
    address is its function and its distance from there."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    happened = {}
    for frame, at in truths(parts, TRUTH_PEBS):
        cpu, stored, _, tid, _, ip = struct.unpack_from("<3BIQQ", parts[frame][1], at + 1)
        if stored:
            happened.setdefault(cpu, []).append((ip, tid))
    samples = [line for line in map(json.loads, cairn("export", "--to", "json", GOLDEN / f"{log}.log")
                                    .stdout.decode().splitlines()) if line["type"] == "sample"]
    lines = re.findall(r"^ *(\d+\.\d+) +(\d+) [*>] (\S+) +(.+)$", text_of(cairn("dump", GOLDEN / f"{log}.log")), re.M)
    assert len(lines) == len(samples) > 20
    at, starts = {cpu: iter(records) for cpu, records in happened.items()}, {}
    for sample, (time, cpu, where, who) in zip(samples, lines):
        ip, thread = int(sample["ip"], 16), sample.get("thread", {}).get("tid")
        assert any(ip == event_ip and thread in (None, tid) for event_ip, tid in at[int(cpu)]), (time, cpu, where)
        function, offset = where.split("+")
        starts.setdefault(function, set()).add(ip - int(offset, 16))
        assert function == sample["function"] and (who.endswith(f":{thread}") if thread is not None else "no_thread"
                                                   in sample)
    assert all(len(addresses) == 1 for addresses in starts.values())
    assert len(lines) == sum(map(len, happened.values())) or log in PARTS
