# SPDX-License-Identifier: MIT
"""Spin locks in the host tool: expected text, filters, what is summed up against the truth, logs that lie."""

import re
import struct

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, cairn, events, expect_text, patch, text_of, truths, without

LOG = GOLDEN / "locks.log"
SPINLOCK, DC_START, DC_END = 0x0529, 0x0F4B, 0x0F4C
ACQUIRED, RELEASED = 6, 7
PAYLOAD = 16  # in an event
MODES = ["ordinary", "queued", "shared", "exclusive", "converted"]
CONVERTED = 4


@pytest.mark.parametrize("command, options", [("locks", ["--top", "3"]), ("check", []), ("dump", ["--until", "3ms"])])
def test_golden(command, options):
    done = cairn(command, *options, LOG)
    text = text_of(done)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    expect_text(f"locks/{command}", text)


def test_table():
    """A row a lock, with the numbers of its detail; --top N is of both."""
    text = text_of(cairn("locks", LOG))
    head, *blocks = text.split("\n\n")
    rows = re.findall(r"^(\S+) +(\w+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", head, re.M)
    assert len(rows) == len(blocks) > 5
    for (name, mode, acquired, count, contended, wait, hold), block in zip(rows, blocks):
        assert block.startswith(f"{name}, {mode}\n"), block
        assert re.search(rf" {acquired} acquired; {count} events?, {contended} contended\n", block)
        for field, value in (("wait", wait), ("hold", hold)):
            assert re.search(rf"^  {field} .* {value}(?: \(\S+ us\))?$", block, re.M)
    assert [int(row[4]) for row in rows] == sorted((int(row[4]) for row in rows), reverse=True)
    few = text_of(cairn("locks", "--top", "2", LOG))
    assert few.count(" acquired; ") == 2 and f"\nand {len(rows) - 2} more locks (--top N)\n" in few
    assert few.split("\n\n")[1:3] == blocks[:2]
    assert head.count("# a lock shown as an address is on the heap") == 1 and re.search(r"^0x\w+ ", head, re.M)


# ---- the truth, replayed by nothing but what is in this file ---------------------------------------------------------

def samplings(parts):
    """[(clock units, SpinThreshold, ContentionSampleRate, AcquireSampleRate, HoldThreshold)] of CPU 0, in order."""
    return [(struct.unpack_from("<q", parts[i][1], at + 8)[0], *struct.unpack_from("<4I", parts[i][1], at + PAYLOAD))
            for i, at, hook, _ in events(parts) if hook == DC_START and parts[i][1][8] == 0]


def replay(parts):
    """[(lock, mode, spins, wait, hold, caller, depth, wanted)] of every tracked release."""
    text = b"".join(payload for stream, payload in parts if stream == "L").decode()
    clock = {key: int(value) for key, value in re.findall(r"session\.1\.(tsc_base|multiplier)=(\d+)", text)}
    rates = samplings(parts)
    found, cpus = [], {}
    for i, at in ((i, at) for i, (stream, payload) in enumerate(parts) if stream == "U"
                  for at in range(8, len(payload), 48)):
        record = parts[i][1][at:at + 48]
        kind, cpu, mode, _, _, lock = struct.unpack_from("<4BIQ", record)
        held, tracked, count = cpus.setdefault(cpu, ([], [0], [0, 0]))
        if kind == ACQUIRED and mode == CONVERTED:
            next(h for h in reversed(held) if h[0] == lock)[1] = CONVERTED
        elif kind == ACQUIRED:
            query, tsc, spins = struct.unpack_from("<QQI", record, 0x10)
            held.append([lock, mode, spins, tsc - query, tsc, tracked[0] < 8])
            tracked[0] += tracked[0] < 8
            count[spins == 0] += 1
        elif kind == RELEASED:
            caller, tsc = struct.unpack_from("<QQ", record, 0x10)
            hold = next(h for h in reversed(held) if h[0] == lock)
            held.remove(hold)
            if not hold[5]:
                continue
            units = (tsc - clock["tsc_base"]) * clock["multiplier"] >> 64
            _, threshold, contention, acquire, longest = [r for r in rates if r[0] <= units][-1]
            spins, cycles = hold[2], tsc - hold[4]
            wanted = (longest and cycles > longest or spins and spins >= threshold and count[0] % contention == 0
                      or not spins and count[1] % acquire == 0)
            found.append((lock, hold[1], spins, hold[3], cycles, caller, tracked[0], wanted))
            tracked[0] -= 1
    return found


def read_events(parts):
    for i, at, hook, _ in events(parts):
        if hook == SPINLOCK:
            lock, caller, acquired, released, wait, spins, _, _, _, depth, flags = struct.unpack_from(
                "<4Q4I3B", parts[i][1], at + PAYLOAD)
            yield lock, flags & 0x3F, spins, wait, released - acquired, caller, depth, True


def test_events_are_those_the_sampling_wants():
    parts = frames.read(LOG.read_bytes())
    wanted = [r for r in replay(parts) if r[-1]]
    assert sorted(read_events(parts)) == sorted((*r[:-1], True) for r in wanted)
    assert len({r[1] for r in wanted}) == 5 and max(r[6] for r in wanted) == 8


def test_sums():
    """Each number of `cairn locks` from the events, by nothing but this."""
    rows = {}
    for lock, mode, spins, wait, hold, _, _, _ in read_events(frames.read(LOG.read_bytes())):
        rows.setdefault((lock, mode), []).append((spins, wait, hold))
    text = text_of(cairn("locks", LOG))
    symbols = {name: int(address, 16) for address, name in re.findall(
        r"^([0-9a-f]{16}) \w+ (\w+)$",
        b"".join(p for s, p in frames.read(LOG.read_bytes()) if s == "S").decode(), re.M)}
    blocks = re.findall(r"^(\S+), (\w+)\n  (?:about )?\d+ acquired; (\d+) events?, (\d+) contended\n((?:  .*\n)+)",
                        text, re.M)
    assert len(blocks) == len(rows) == text.count(" acquired; ")
    for name, mode, count, contended, rest in blocks:
        base, _, offset = name.partition("+")
        address = symbols.get(base, int(base, 16) if base.startswith("0x") else 0) + int(offset or "0", 16)
        row = rows[address, MODES.index(mode)]
        assert len(row) == int(count) and sum(spins > 0 for spins, _, _ in row) == int(contended)
        for i, field in enumerate(["spins", "wait", "hold"]):
            values = sorted(r[i] for r in row if i or r[0])
            shown = re.search(rf"^  {field} +(\d+)(?: \(.*?\))? +(\d+)", rest, re.M)
            assert (shown is None) == (not values)
            if values:
                assert [int(shown[1]), int(shown[2])] == [values[(len(values) - 1) // 2], values[-1]]


def test_filter_and_refusals():
    whole, one = text_of(cairn("locks", LOG)), text_of(cairn("locks", "--cpu", "1", LOG))
    count = lambda text: sum(map(int, re.findall(r"; (\d+) event", text)))
    assert 0 < count(one) < count(whole)
    assert cairn("locks", "--cpu", "2", LOG).returncode == 2
    done = cairn("locks", GOLDEN / "small.log")
    assert done.returncode == 1 and b"session.1=auto+spinlock:qpc:sequential)" in done.stderr
    done = cairn("locks", cairn_boot.ROOT / "samples" / "cairn.etl")
    assert done.returncode == 1 and done.stderr == b"cairn: no spin lock events in this file\n"


def test_every_release_as_windows_would_write_it(tmp_path):
    """Strict files cannot say spinlock.every=1: the command does."""
    parts = frames.read(LOG.read_bytes())
    every = [(s, p + b"option.spinlock.every=1\n" if s == "M" else p) for s, p in parts]
    for variant, noted in ((parts, False), (every, True)):
        done = cairn("export", "--to", "etl", "--strict", "-", "-o", tmp_path / "t.etl", data=frames.write(variant))
        assert done.returncode == 0 and (b"note: every release" in done.stdout) == noted
    done = cairn("export", "--to", "etl", "-", "-o", tmp_path / "t.etl", data=frames.write(every))
    assert done.returncode == 0 and b"note: every release" not in done.stdout


# ---- logs that lie ---------------------------------------------------------------------------------------------------

def lies(change):
    parts = frames.read(LOG.read_bytes())
    change(parts)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == 1
    return text_of(done)


def event(parts, n=20):
    return [(i, at + PAYLOAD) for i, at, hook, _ in events(parts) if hook == SPINLOCK][n]


@pytest.mark.parametrize("offset, data, word", [
    (0x00, b"\x01", "SpinLockAddress is "),
    (0x08, b"\x01", "CallerAddress is "),
    (0x10, b"\x01", "AcquireTime is "),
    (0x20, b"\x01\x01", "WaitTimeInCycles is "),
    (0x24, b"\x2D", "SpinCount is 45, in truth "),
    (0x28, b"\x01", "ThreadId is "),
    (0x2C, b"\x07", "InterruptCount is 7, in truth "),
    (0x30, b"\x05", "Irql is 5, in truth 2"),
    (0x31, b"\x06", "AcquireDepth is 6, in truth "),
    (0x32, b"\x44", "Flags is 68, in truth "),
])
def test_wrong_field(offset, data, word):
    text = lies(lambda parts: patch(parts, event(parts), offset, data))
    assert "FAIL truth: each lock's release, sampled or not\n" in text and word in text, text


def test_a_thread_that_does_not_run():
    """Event and truth agree on who lets go of it, but by the truth of the switches another one runs there."""
    def change(parts):
        i, at = event(parts)
        time, = struct.unpack_from("<Q", parts[i][1], at + 0x18)
        truth = next((j, place) for j, place in truths(parts, RELEASED)
                     if struct.unpack_from("<Q", parts[j][1], place + 0x18)[0] == time)
        patch(parts, (i, at), 0x28, struct.pack("<I", 9999))
        patch(parts, truth, 4, struct.pack("<I", 9999))
    assert "thread 9999 releases 0x" in " ".join(lies(change).split())


@pytest.mark.parametrize("offset, data, word", [
    (0x32, b"\x05", "AcquireMode 5 does not exist"),
    (0x31, b"\x00", "AcquireDepth is 0, not 1 to 8"),
    (0x31, b"\x09", "AcquireDepth is 9, not 1 to 8"),
    (0x37, b"\x01", "Reserved is not 0"),
    (0x17, b"\xFF", "released before it was acquired"),
    (0x1B, b"\xFF", "the event's time is before its ReleaseTime"),
])
def test_impossible_field(offset, data, word):
    """Told without any truth, too."""
    def change(parts):
        patch(parts, event(parts), offset, data)
        without(parts, lambda i, stream: stream == "U")
    text = lies(change)
    assert "FAIL spin locks: fields, times, sampling\n" in text and word in text, text


def test_an_event_nobody_wants():
    """By a sampling that wants only what is contended, or held long: without truth, too."""
    def change(parts):
        for i, at, hook, _ in events(parts):
            if hook in (DC_START, DC_END):
                patch(parts, (i, at + PAYLOAD), 0, struct.pack("<4I", 2**31, 1, 1000, 2**31))
        without(parts, lambda i, stream: stream == "U")
    assert "no sampling rule selects it" in lies(change)


def test_a_change_that_is_not_followed():
    """The events go on as before, but the configuration says otherwise."""
    def change(parts):
        i, at = [(i, at) for i, at, hook, _ in events(parts) if hook == DC_START][-1]
        patch(parts, (i, at + PAYLOAD), 8, struct.pack("<I", 3))  # AcquireSampleRate
    text = lies(change)
    assert "has no event, but should have one" in text


def test_an_event_too_many():
    """Its truth is another lock's."""
    def change(parts):
        lock, = struct.unpack_from("<Q", parts[event(parts)[0]][1], event(parts)[1] + 0x18)
        i, at = next((i, at) for i, at in truths(parts, RELEASED)
                     if struct.unpack_from("<Q", parts[i][1], at + 0x18)[0] == lock)
        patch(parts, (i, at), 0x18, struct.pack("<Q", lock + 1))
    text = lies(change)
    assert "has no event, but should have one" in text and "but the truth has no such release" in text


def test_counts():
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream == "E":
                parts[i] = stream, re.sub(rb"(cpu\.1\.locks=)(\d)", lambda m: m[1] + b"%d" % ((int(m[2]) + 1) % 10),
                                          payload)
    assert "contended acquisitions: " in lies(change)


def test_truth_cut_short():
    """What there is no truth for is said, and is no failure."""
    parts = frames.read(LOG.read_bytes())
    last = max(i for i, (stream, _) in enumerate(parts) if stream == "U")
    lines = frames.write(parts).splitlines(True)
    del lines[last]
    text = text_of(cairn("check", "-", data=b"".join(lines)))
    assert "FAIL truth" not in text, text
    assert re.search(r"each lock's release, sampled or not +\d+ +0 verified in part", text), text


def test_what_is_missing_is_said(tmp_path):
    """The counts are of what is there."""
    said = "# events are missing (see cairn stat); releases among them are not counted"
    parts = frames.read(LOG.read_bytes())
    second = [i for i, (stream, _) in enumerate(parts) if stream == "T"][1]
    lines = frames.write(parts).splitlines(True)
    del lines[second]
    assert said in text_of(cairn("locks", "-", data=b"".join(lines)))
    for i, (stream, payload) in enumerate(parts):
        if stream == "E":
            parts[i] = stream, re.sub(rb"(cpu\.1\.events=\d+ \d+) 0\b", rb"\1 3", payload)
    log = tmp_path / "log"
    log.write_bytes(frames.write(parts))
    assert said in text_of(cairn("locks", log)) and said not in text_of(cairn("locks", "--cpu", "0", log))
    assert said not in text_of(cairn("locks", LOG))
