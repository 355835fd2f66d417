# SPDX-License-Identifier: MIT
"""What commands sum up of each of Windows' files, from what make_etl.py put there and what etl.py finds."""

import re
import struct
from collections import Counter

import pytest

import etl
import make_etl
from cairn_tool import GOLDEN, cairn, text_of

WINDOWS = sorted(make_etl.FILES)
HEADERS = {0x0D: "ERROR", 0x0F: "MESSAGE"} | {
    kind: f"{name}{bits}" for name, kinds in (
        ("SYSTEM", etl.SYSTEM), ("COMPACT", etl.COMPACT), ("PERFINFO", etl.PERFINFO), ("FULL", etl.FULL),
        ("INSTANCE", etl.INSTANCE), ("EVENT", etl.EVENT)) for kind, bits in zip(kinds, (32, 64))}
CLOCKS = {1: "performance counter", 2: "system time", 3: "CPU cycles"}
FORMS = (("IDLE_SHORT", 2), ("IDLE", 4), ("LITE", 4), ("FULL", 8))  # by the low bits of a record


@pytest.fixture(scope="module", name="file", params=WINDOWS)
def _file(request):
    """(its maker, its buffers, what a command says of it)"""
    maker = make_etl.maker(request.param)
    buffers = etl.read(maker.make())

    def told(*command):
        done = cairn(*command, GOLDEN / f"{request.param}.etl")
        assert done.returncode == 0 and done.stderr == b""
        return text_of(done)
    return maker, buffers, told


def test_every_event_is_counted(file):
    """By hook, header and version, with its padding."""
    _, buffers, told = file
    wanted = {}
    for b in buffers:
        for e, end in zip(b.events, [*(e.at for e in b.events[1:]), b.used]):
            own = e.header in etl.SYSTEM + etl.COMPACT + etl.PERFINFO
            key = (f"{e.hook:04X}H" if own else "-", HEADERS[e.header], str(e.version) if own else "-")
            count, size = wanted.get(key, (0, 0))
            wanted[key] = count + 1, size + (end - e.at + 7 & ~7)
    rows = re.findall(r"^  (\w{4}H|-) +([A-Z]+\d*) +(\d+|-) +(\d+) +(\d+)   \w", told("info"), re.M)
    assert {row[:3]: (int(row[3]), int(row[4])) for row in rows} == wanted and len(rows) == len(wanted)


def test_the_header_is_told(file):
    maker, buffers, told = file
    header = etl.header(buffers)
    info = dict(re.findall(r"^  (\w+) +(.*)$", told("info").split("\n\n")[0], re.M))
    assert (info["build"], info["pointer_bytes"], info["cpus"]) == (str(header.build), str(maker.bits // 8), "2")
    assert info["version"] == "{}.{}, layout {}.{}".format(*header.version)
    assert info["clock"].startswith(f"{CLOCKS[maker.clock]}, {maker.frequency} Hz")
    assert (info["logger"], info["file"]) == ("NT Kernel Logger", r"C:\kernel.etl")
    assert (info["buffer_bytes"], info["buffers"]) == (
        "2048", f"{len(buffers)}{', compressed' if maker.compressed else ''}")
    assert (info["began"], info["ended"]) == ("2019-04-17T18:40:00.0000000Z", "2019-04-17T18:40:01.0000000Z")
    masks = struct.unpack("<9I", next(e for e in buffers[1].events if e.hook == 5).payload)
    assert info["group_masks"] == " ".join(f"{mask:x}" for mask in masks[:8]) + " (hexadecimal)"
    assert info["event_version"] == str(masks[8])
    assert (info["processes"], info["threads"], info["images"]) == ("4", "6", "2")


def test_every_record_of_a_batch_is_counted(file):
    maker, buffers, told = file
    forms, batches = Counter(), [e for b in buffers for e in b.events if e.hook == 0x0525]
    for batch in batches:
        at = 8 + 16 * 4 + 16
        while at < len(batch.payload):
            form, size = FORMS[batch.payload[at] & 3]
            forms[form] += 1
            at += size
    stat = told("stat")
    assert {form: int(n) for form, n in re.findall(r"^  (IDLE_SHORT|IDLE|LITE|FULL) +([1-9]\d*) ", stat, re.M)} == forms
    assert sum(forms.values()) == (80 if maker.compact else 0) == 80 * (len(batches) > 0)
    kind, other = ("compact", "full") if maker.compact else ("full", "compact")
    assert re.search(rf"^switches, {kind} +80   ", stat, re.M) and re.search(rf"^switches, {other} +none ", stat, re.M)
    assert f"\nevents {sum(len(b.events) for b in buffers):26}   in {len(buffers)} buffers\n" in stat
    assert f"\nspin locks released {len(maker.locks):13}   0529H" in stat


def test_the_times_of_cpus_and_threads(file):
    """A thread ran from one switch of its CPU, or from the header event, to the next; behind the last nobody knows."""
    maker, buffers, told = file
    header, stat = etl.header(buffers), told("stat", "--top", "100")
    ran, left, cpus = Counter(), Counter(), {0: Counter(), 1: Counter()}
    for cpu, of in cpus.items():
        switches = sorted(switch[0:4:2] for switch in maker.switches if switch[1] == cpu)
        for time, old in switches:
            left[old] += 1
        for (before, _), (time, old) in zip([(1000, None), *switches], switches):
            ran[old] += (time - before) / maker.frequency
            of[old > 0] += (time - before) / maker.frequency
    whole = max((header.end_time - header.start_time) / 1e7,
                *((switch[0] - 1000) / maker.frequency for switch in maker.switches))
    assert re.match(rf"session +{whole:.3f} s\n", stat)
    for cpu, *shares in re.findall(r"^  (\d) +40 +([\d.]+) % +([\d.]+) % +([\d.]+) %$", stat, re.M):
        busy, idle = (100 * cpus[int(cpu)][n] / whole for n in (True, False))
        assert all(abs(float(a) - b) < 0.011 for a, b in zip(shares, (busy, idle, 100 - busy - idle))), (cpu, shares)
        del cpus[int(cpu)]
    rows = re.findall(r"^  \S.*:(\d+) +([\d.]+) % +([\d.]+) (ms|us) +(\d+) +0$", stat, re.M)
    assert not cpus and sorted(int(row[0]) for row in rows) == sorted(set(ran) - {0})
    assert [float(row[1]) for row in rows] == sorted((float(row[1]) for row in rows), reverse=True)
    busy = sum(ran.values()) - ran[0]
    for tid, share, time, unit, times in rows:
        tid = int(tid)
        assert int(times) == left[tid] and abs(float(share) - 100 * ran[tid] / busy) < 0.011
        assert abs(float(time) - ran[tid] * {"ms": 1e3, "us": 1e6}[unit]) < (0.02 if unit == "ms" else 0.2)


def test_the_rules_hold(file):
    """Each that can be known of such a file; how many events and times were compared."""
    maker, buffers, told = file
    check, events = told("check"), [e for b in buffers for e in b.events]
    batches = sum(e.hook == 0x0525 for e in events)
    for rule, compared in (("buffers", len(buffers)), ("events", len(events)),
                           ("batches", batches), ("spin locks", len(maker.locks) + 1)):
        found = re.search(rf"^{rule}: .* (\d+)  +0 consistent$", check, re.M)
        assert int(found[1]) == compared if compared else not found, rule
    assert len(re.findall(r"^\w.*[1-9]\d* +0 consistent$", check, re.M)) == (6 if batches else 5)
    assert re.search(r"^PASS: every rule held: 0 verified, ", check, re.M)
