# SPDX-License-Identifier: MIT
"""Logs that lie: each is a golden one with something changed, and `cairn check` must say what."""

import re
import struct

import pytest

import frames
from cairn_tool import (GOLDEN, TRUTH_PEBS, TRUTH_SWALLOWED, TRUTH_SWITCH, TRUTH_WORDS, cairn, events, patch, text_of,
                        truths, without)
from lying import AREA, EPOCH, HOOK_SESSION, OLD, PAYLOAD, in_format_1, lies

TRUTH_SESSION = 16


@pytest.mark.parametrize("offset, data, word", [
    (0x02, b"\x01", "state"),
    (0x04, b"\x1f", "priority"),
    (0x08, b"\xcc\x00\x00\x00", "outgoing thread"),
    (0x0C, b"\xcc\x00\x00\x00", "incoming thread"),
    (0x10, struct.pack("<Q", 9700000000), "time"),
])
def test_wrong_switch(offset, data, word):
    # a switch of a thread that waits, so that its state is told
    def change(parts):
        for place in truths(parts, TRUTH_SWITCH)[10:]:
            record = parts[place[0]][1][place[1]:place[1] + 48]
            if record[2] == 5 and struct.unpack_from("<I", record, 8)[0]:
                patch(parts, place, offset, data)
                return
    text = lies("small", change)
    assert "FAIL truth: each 0525H switch" in text and word in text


@pytest.mark.parametrize("offset, data, word", [
    (0x06, b"\x1f", "NewThreadPriority"),
    (0x03, b"\x26", "OldThreadWaitReason"),
    (0x07, b"\x09", "OldThreadIdealProcessor"),
    (0x18, struct.pack("<Q", 1), "PebsIndex"),
    (0x20, b"\xff\xff\x00\x00", "NewThreadWaitTime"),
    (0x24, b"\xff\xff\x00\x00", "OldThreadRemainingQuantum"),
])
def test_wrong_field_of_the_full_event(offset, data, word):
    text = lies("full", lambda parts: patch(parts, truths(parts, TRUTH_SWITCH)[30], offset, data))
    assert "FAIL truth: each 0524H switch" in text and word in text


RECORD_LIES = [
    (0x08, b"\x01", "TSC"),
    (0x10, b"\xFF\xFF", "instruction 0x"),
    (0x18, b"\xFF\xFF", "continued at 0x"),
    (0x28, b"\x02", "its counters are not those of the truth, 0x2"),
    (0x28, b"\x03", "its counters are not those of the truth, 0x3"),
]


@pytest.mark.parametrize("offset, data, word", RECORD_LIES)
def test_wrong_field_of_a_record(offset, data, word):
    stored = 5
    text = lies("small", lambda parts: patch(parts, truths(parts, TRUTH_PEBS)[stored], offset, data))
    assert "FAIL truth: each PEBS record equal" in text and word in text


def test_swallowed_sample_not_counted():
    text = lies("small", lambda parts: patch(parts, truths(parts, TRUTH_PEBS)[5], 0, bytes([TRUTH_SWALLOWED])))
    assert "epoch 0: 0 samples swallowed, in truth 1" in text


STATES = ["RFLAGS", "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", *[f"R{n}" for n in range(8, 16)]]


def words_of(parts, record):
    """The words of the truth that belong to a stored PEBS record, counted over all CPUs: (frame, offset) of each."""
    where = []
    for frame, at in truths(parts, TRUTH_WORDS):
        where += [(frame, at + 8 + 8 * i) for i in range(5)]
    return where[20 * record:20 * record + 20]


@pytest.mark.parametrize("word, name", [
    *[(i, f"GPR {name} is 0x") for i, name in enumerate(STATES)],
    (17, "BASIC TSC is 0x"), (18, "BASIC TSC is 0x"), (19, "BASIC head is 0x"),
])
def test_wrong_register_in_a_record(word, name):
    def change(parts):
        value = {17: 2**63, 18: 1, 19: 3}.get(word)
        frame, at = words_of(parts, 7)[word]
        was, = struct.unpack_from("<Q", parts[frame][1], at)
        patch(parts, (frame, at), 0, struct.pack("<Q", was ^ 1 << 40 if value is None else value))
    text = lies("life", change)
    assert "FAIL truth: each PEBS record, word by word" in text and name in text
    assert re.search(r"word by word +\d+ +1 FAILED$", text, re.M) and "FAIL truth: each PEBS record equal" not in text


def test_no_retire_latency_in_format_4():
    """Which later formats have in bits 47:32 of the head, and of which the truth knows nothing."""
    def change(parts):
        frame, at = next(e[:2] for e in events(parts) if e[2] == EPOCH and parts[e[0]][1][e[1] + PAYLOAD] == 2)
        patch(parts, (frame, at + PAYLOAD + 0x18), 4, b"\x01")
    assert re.search("word by word.*BASIC head is 0x", lies("life", change), re.S)


def test_wrong_word_in_the_trace():
    """The last register of a record that was drained."""
    def change(parts):
        frame, at = next(e[:2] for e in events(parts) if e[2] == EPOCH and parts[e[0]][1][e[1] + PAYLOAD] == 2)
        patch(parts, (frame, at + PAYLOAD + 0x18), 0xA8, b"\x00" * 8)
    text = lies("life", change)
    assert re.search("word by word\n.*: GPR R15 is 0x0, in truth 0x", text)


def test_part_of_the_words_missing():
    """A frame of the truth that was lost costs no more than what it held."""
    parts = frames.read((GOLDEN / "life.log").read_bytes())
    frame = next(i for i, at in truths(parts, TRUTH_WORDS) if at == 8)  # of a record in the frame before
    lines = frames.write(parts).splitlines(True)
    del lines[frame]
    text = text_of(cairn("check", "-", data=b"".join(lines)))
    assert "FAIL truth" not in text, text
    assert re.search(r"PEBS record, word by word +[1-9]\d+ +0 verified in part\n", text), text
    said = text.replace("\n  ", " ")  # wrapped
    assert re.search(r"^verified in part: \d+ PEBS records have no truth for all of their words", said, re.M), text




@pytest.mark.parametrize("offset, data, right, word", [
    (0x28, b"\x01", True, ""), (0x28, b"\x05\x00\x01", True, ""), (0x10, b"\xFF\xFF", True, ""),
    (0x28, b"\x02", False, "its counters are not"), (0x28, b"\x01\x00\x02", False, "its counters are not"),
    (0x18, b"\xFF\xFF", False, "continued at 0x"),
])
def test_records_of_format_1(offset, data, right, word):
    parts = frames.read(OLD)
    in_format_1(parts)
    patch(parts, truths(parts, TRUTH_PEBS)[5], offset, data)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == (0 if right else 1), text_of(done)
    assert word in text_of(done) and "PEBS records: 39: " in text_of(done)
    assert "  by index (no TSC)\n" in text_of(done)
    text = text_of(cairn("dump", "-", data=frames.write(parts)))
    shown = [line for line in text.splitlines() if re.match(r" *\S+ +\d+ @ ", line)]
    assert len(shown) == len(truths(parts, TRUTH_PEBS))


def test_switch_left_out():
    def change(parts):
        frame, at = [place for place in truths(parts, TRUTH_SWITCH) if len(parts[place[0]][1]) < 1480][3]
        payload = parts[frame][1]
        doubled = payload[:at + 48] + payload[at:]  # the truth has one more than the trace
        count = struct.unpack_from("<H", payload, 2)[0] + 1
        parts[frame] = ("U", payload[:2] + struct.pack("<H", count) + doubled[4:])
        for i in range(frame + 1, len(parts)):
            stream, payload = parts[i]
            if stream == "U" and payload[:2] == parts[frame][1][:2]:
                first = struct.unpack_from("<I", payload, 4)[0] + 1
                parts[i] = ("U", payload[:4] + struct.pack("<I", first) + payload[8:])
    text = lies("small", change)
    assert "FAIL truth" in text


def panicked(parts):
    for i, (stream, payload) in enumerate(parts):
        if stream == "H":
            parts[i] = ("H", re.sub(rb"dump.cause=\w+", b"dump.cause=panic", payload))


def truth_cut_off(parts, which, cpu=0, kind=TRUTH_SWITCH):
    """Takes one record of a kind, counted from the last, out of a CPU's truth."""
    frame, at = [p for p in truths(parts, kind) if parts[p[0]][1][0] == cpu][-which]
    payload = parts[frame][1]
    count = struct.unpack_from("<H", payload, 2)[0] - 1
    parts[frame] = ("U", payload[:2] + struct.pack("<H", count) + payload[4:at] + payload[at + 48:])
    for i, (stream, payload) in enumerate(parts):
        if stream == "U" and payload[0] == cpu and i > frame:
            parts[i] = ("U", payload[:4] + struct.pack("<I", struct.unpack_from("<I", payload, 4)[0] - 1) + payload[8:])
        elif stream == "E":
            before = b"" if kind == TRUTH_SWITCH else rb"\d+ "
            parts[i] = ("E", re.sub(rb"(end\.cpu\.%d\.truth=%s)(\d+)" % (cpu, before),
                                    lambda m: m.group(1) + b"%d" % (int(m.group(2)) - 1), payload))


@pytest.mark.parametrize("cpus", [[0], [1], [0, 1]])
@pytest.mark.parametrize("log", ["small", "full"])
def test_panic_within_the_last_switch(log, cpus):
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    panicked(parts)
    for cpu in cpus:
        truth_cut_off(parts, 1, cpu)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == 0, text_of(done)
    assert f"within the last switch of {len(cpus)} CPU{'s' if len(cpus) > 1 else ''}, which" in text_of(done)


@pytest.mark.parametrize("panic, cuts", [(False, [1]), (True, [1, 1]), (True, [2]), (True, [2, 1])])
def test_truth_of_no_last_switch_missing(panic, cuts):
    def change(parts):
        if panic:
            panicked(parts)
        for which in cuts:
            truth_cut_off(parts, which)
    assert "FAIL truth: each 0525H switch" in lies("small", change)


@pytest.mark.parametrize("panic, more", [(True, 1), (True, 2), (False, 1)])
def test_panic_within_a_switch_that_was_lost(panic, more):
    """Stopped while it wrote the trace: counted as lost, and not in the truth."""
    parts = frames.read((GOLDEN / "lost.log").read_bytes())
    if panic:
        panicked(parts)
    for i, (stream, payload) in enumerate(parts):
        if stream == "E":
            for key in (rb"end\.cpu\.0\.(?:events|switches|compact)", rb"end\.events_(?:tried|lost)"):
                payload = re.sub(rb"(%s=)(\d+)( \d+ )?(\d+)?" % key, lambda m: m.group(1) + b"%d" % (
                    int(m.group(2)) + more) + (m.group(3) + b"%d" % (int(m.group(4)) + more) if m.group(3) else b""),
                    payload)
            parts[i] = ("E", payload)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == (0 if panic and more == 1 else 1), text_of(done)


def stop_not_in_the_truth(parts):
    truth_cut_off(parts, 1, kind=TRUTH_SESSION)


def drain_behind_the_stop(parts):
    """Of CPU 0: it changes places with the stop, whose time it gets."""
    (_, drain, *_), (frame, stop, hook, size) = [e for e in events(parts) if parts[e[0]][1][8] == 0][-2:]
    assert hook == HOOK_SESSION
    payload = parts[frame][1]
    end = stop + (size + 7 & ~7)
    stopped = payload[stop:stop + 8] + payload[drain + 8:drain + 16] + payload[stop + 16:end]
    parts[frame] = ("T", payload[:drain] + stopped + payload[drain:stop] + payload[end:])


@pytest.mark.parametrize("panic", [False, True])
@pytest.mark.parametrize("log", ["small", "full"])
@pytest.mark.parametrize("change, rule", [(stop_not_in_the_truth, "truth: each start, stop"),
                                          (drain_behind_the_stop, "session: starts, stops")])
def test_panic_within_a_stop(log, change, rule, panic):
    """The end is told, and what comes behind that was not done."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    change(parts)
    if panic:
        panicked(parts)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == (0 if panic else 1), text_of(done)
    assert (f"FAIL {rule}" in text_of(done)) == (not panic)


def test_cpus_swapped():
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream == "U":
                parts[i] = ("U", struct.pack("<H", 1 - struct.unpack_from("<H", payload)[0]) + payload[2:])
    assert "FAIL truth" in lies("small", change)


@pytest.mark.parametrize("offset, data", [(0x04, b"\xcc\x00\x00\x00"), (0x08, b"\x01" * 8), (0x10, b"\x01" * 8),
                                          (0x20, b"\x01" * 8), (0x02, b"\x00")])
def test_wrong_record(offset, data):
    text = lies("small", lambda parts: patch(parts, truths(parts, TRUTH_PEBS)[5], offset, data))
    assert "FAIL truth: each" in text and "record" in text


def test_record_lost_beside_counted_loss():
    """Where events were lost, an epoch that is there must still have all of its records."""
    def change(parts):
        there = max(struct.unpack_from("<I", parts[i][1], at + PAYLOAD + 4)[0] for i, at, hook, _ in events(parts)
                    if hook == EPOCH and struct.unpack_from("<H", parts[i][1], 8)[0] == 0)
        for place in truths(parts, TRUTH_PEBS):
            record = parts[place[0]][1][place[1]:place[1] + 48]
            if record[1] == 0 and record[2] and struct.unpack_from("<I", record, 0x2C)[0] > there:
                patch(parts, place, 0x2C, struct.pack("<I", there))
                return
    assert re.search(r"FAIL truth: each PEBS record.*\n.* \d+ records, in truth \d+", lies("lost", change))


def test_wrong_base_priority():
    def change(parts):
        first = next((i, at) for i, at in truths(parts, TRUTH_SWITCH) if any(parts[i][1][at + 8:at + 12]))
        patch(parts, first, 5, b"\x1f")
    text = lies("small", change)
    assert "FAIL truth: each 0525H switch" in text and "the base priority" in text


def test_wrong_base_priority_in_a_later_batch():
    def change(parts):
        for place in [place for place in truths(parts, TRUTH_SWITCH) if parts[place[0]][1][0] == 1][-20:]:
            patch(parts, place, 5, b"\x1f")
    assert "the base priority" in lies("small", change)


@pytest.mark.parametrize("change, word", [
    # the stamp of another CPU: 10000H further on
    (lambda parts, e: patch(parts, e[:2], 18, b"\x11"), "PebsIndex grows"),
    (lambda parts, e: patch(parts, e[:2], 16, b"\x08"), "between stamps"),
    (lambda parts, e: patch(parts, e[:2], 8, b"\x00" * 8), "time stamps"),
    (lambda parts, e: patch(parts, e[:2], 24, b"\x00" * 8), "time stamps never decrease|epochs"),
    (lambda parts, e: patch(parts, e[:2], 32 + 15 * 4, b"\x99"), "batches: table"),
])
def test_wrong_batch(change, word):
    def second(parts):
        change(parts, [e for e in events(parts) if e[2] == 0x525][2])
    assert re.search("FAIL .*(" + word + ")", lies("small", second))


def test_batch_that_spans_a_drain():
    """Its first switch just before the drain, and still behind all of the batch before."""
    def change(parts):
        log = list(events(parts))
        drain = next(i for i, e in enumerate(log) if e[2] == EPOCH
                     and parts[e[0]][1][e[1] + PAYLOAD + 2] == 2)
        cpu = parts[log[drain][0]][1][8:10]
        batch = next(e for e in log[drain:] if e[2] == 0x525 and parts[e[0]][1][8:10] == cpu)
        time, = struct.unpack_from("<q", parts[log[drain][0]][1], log[drain][1] + 8)
        patch(parts, batch[:2], 24, struct.pack("<q", time - 1))
    text = lies("small", change)
    assert "a batch that began before the drain was written after it" in text
    assert "FAIL time stamps" not in text


def test_batch_without_records():
    def change(parts):
        frame, at, _, size = [e for e in events(parts) if e[2] == 0x525][2]
        payload, head = bytearray(parts[frame][1]), 16 + 8 + 0x58
        rest = ((size + 7) & ~7) - head
        struct.pack_into("<H", payload, at + 4, head)
        struct.pack_into("<IHHq", payload, at + head, 0xC0110002, rest, 0x0123,
                         struct.unpack_from("<q", payload, at + 8)[0])  # a hook of someone else's
        parts[frame] = ("T", bytes(payload))
    assert re.search("FAIL batches.*\n.*no record in it", lies("small", change))


@pytest.mark.parametrize("offset, data, word", [
    (PAYLOAD + 2, b"\x02", "no event says that it began"),
    (PAYLOAD + 2, b"\x0A", "reason 10 does not exist"),
    (AREA + 5 * 8, b"\x08", "DS areas: base <= index <= maximum"),
    (AREA + 5 * 8 + 2, b"\x20", "are not in order"),
    (AREA + 4 * 8 + 2, b"\x00", "is not in this CPU's buffer"),
])
def test_wrong_start(offset, data, word):
    def change(parts):
        patch(parts, next(e for e in events(parts) if e[2] == EPOCH)[:2], offset, data)
    assert word in lies("small", change)


@pytest.mark.parametrize("emulated, fit, above, right", [
    (1, "end_le", 0, True), (1, "end_le", 1, False), (1, "start_lt", 1, True), (1, "start_lt", 2, False),
    (0, "", 1, True), (0, "", 2, False),
])
def test_index_above_the_maximum(emulated, fit, above, right):
    """Real hardware may write one record over the maximum, into the slack record; the model only by its policy."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    machine = b"".join(payload for stream, payload in parts if stream == "M")
    size, count = (int(re.search(key + rb"=(\d+)", machine)[1]) for key in (b"ds.record_bytes", b"ds.records"))
    for i, (stream, payload) in enumerate(parts):
        if stream == "M":
            payload = re.sub(rb"ds.reason=.*", b"ds.policy.fit=%s|when?" % fit.encode(), payload)
            parts[i] = (stream, payload.replace(b"ds.emulated=1", b"ds.emulated=%d" % emulated))
    frame, at = next(e for e in events(parts) if e[2] == EPOCH)[:2]
    base = struct.unpack_from("<Q", parts[frame][1], at + AREA + 4 * 8)[0]
    patch(parts, (frame, at), AREA + 5 * 8, struct.pack("<Q", base + (count + above) * size))
    assert ("are not in order" in text_of(cairn("check", "-", data=frames.write(parts)))) != right


def test_records_while_throttled():
    """Between the drain that says 'throttled' and the one after it nothing is counted."""
    def change(parts):
        patch(parts, [e for e in events(parts) if e[2] == EPOCH][1][:2], PAYLOAD + 2, b"\x07")
    assert "bytes of records while counting was paused" in lies("small", change)


def test_throttled_over_a_reconfiguration():
    """Counting stands still until the drain that says so, whatever comes between."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    first, *drains = [e[:2] for e in events(parts) if e[2] == EPOCH and parts[e[0]][1][e[1] + PAYLOAD] == 1]
    times = []
    for (frame, at), reason in zip(drains, b"\x07\x04\x08"):
        patch(parts, (frame, at), PAYLOAD + 2, bytes([reason]))
        times += struct.unpack_from("<Q", parts[frame][1], at + PAYLOAD + 8)
    text = text_of(cairn("stat", "-", data=frames.write(parts)))
    hz = int(re.search(rb"tsc_hz=(\d+)", b"".join(payload for _, payload in parts)).group(1))
    assert len(times) == 3 and f"throttled                     1   time, {(times[2] - times[0]) / hz:.6f} s" in text


def test_epoch_left_out():
    def change(parts):
        drains = [e for e in events(parts) if e[2] == EPOCH and parts[e[0]][1][e[1] + PAYLOAD] == 1]
        patch(parts, drains[-1][:2], PAYLOAD + 4, b"\x07")
    assert "FAIL epochs consecutive" in lies("small", change)


@pytest.mark.parametrize("offset, data, word", [
    (0x04, b"\x00\x00", "SavedOffset"),
    (0x18, b"\x77", "SequenceNumber"),
    (0x28, b"\x03", "ProcessorIndex"),
    (0x34, b"\x00", "BufferFlag"),
])
def test_wrong_buffer_header(offset, data, word):
    def change(parts):
        frame = next(i for i, (stream, _) in enumerate(parts) if stream == "T")
        patch(parts, (frame, 20), offset, data)
    text = lies("small", change)
    assert "FAIL buffers: headers correct" in text and word in text


def test_no_event():
    text = lies("small", lambda parts: patch(parts, list(events(parts))[3][:2], 3, b"\x00"))
    assert "FAIL events: headers" in text and "no event begins there" in text


def test_bytes_left_out_of_a_whole_dump():
    def change(parts):
        second = [i for i, (stream, _) in enumerate(parts) if stream == "T"][1]
        without(parts, lambda i, _: i == second)
    text = lies("small", change)
    assert re.search(r"FAIL buffers.*\n.*bytes of buffer 0 missing", text)
    assert "frames" not in text.split("FAIL buffers")[1].split("rule")[0]


def test_truth_left_out_of_a_whole_dump():
    text = lies("small", lambda parts: without(parts, lambda _, stream: stream == "U"))
    assert "the truth: missing" in text and "0 records of truth" in text


@pytest.mark.parametrize("key", ["session.1.tsc_hz", "session.1.events", "session.1.pebs", "session.1.start_tsc",
                                 "session.1.tick_units", "session.1.buffer_bytes", "end.cpu.0.events",
                                 "end.cpu.1.compact", "end.cpu.0.buffers", "end.cpu.0.ds", "end.cpu.1.truth",
                                 "end.events_lost", "ds.record_bytes", "ds.cpu.1.buffer"])
def test_key_left_out(key):
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream in "MLE":
                parts[i] = (stream, payload.replace(key.encode() + b"=", b"x" + key.encode() + b"="))
    assert re.search("FAIL counts.*\n.*missing or ill-formed", lies("small", change))


def test_no_stamp_although_the_session_says_so():
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream == "L":
                parts[i] = ("L", payload.replace(b"session.1.pebs=1", b"session.1.pebs=0"))
    assert "FAIL PebsIndex on each" in lies("small", change)


@pytest.mark.parametrize("key", ["events", "switches", "compact", "buffers", "batches", "ds", "truth"])
def test_wrong_count(key):  # a buffer that is counted but not there is a hole
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream == "E":
                parts[i] = ("E", re.sub(rb"(end\.cpu\.0\.%s=)(\d+)" % key.encode(),
                                        lambda m: m.group(1) + b"%d" % (int(m.group(2)) + 1), payload))
    assert ("FAIL buffers" if key == "buffers" else "FAIL counts") in lies("small", change)


def test_overwritten_left_out():
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            parts[i] = (stream, payload.replace(b"end.overwritten.full=", b"end.overwritten.Full="))
    assert "end.overwritten: missing or ill-formed" in lies("circular", change)


def test_batch_closed_for_another_reason():
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream == "E":
                parts[i] = (stream, re.sub(rb"(end\.cpu\.1\.batches=)(\d+) (\d+)", lambda m: m.group(1) + b"%d %d" % (
                    int(m.group(2)) - 1, int(m.group(3)) + 1), payload))
    text = lies("nods", change)
    assert "batches closed (17th thread): " in text and "batches closed (500 ticks old): " in text


def test_batch_closed_without_a_reason():
    def change(parts):
        batches = [e for e in events(parts) if e[2] == 0x525]
        for before, after in zip(batches, batches[1:]):  # who leaves first had a slot in the batch before
            if parts[before[0]][1][8:10] == parts[after[0]][1][8:10]:
                at = before[1] + 16 + 8
                patch(parts, after[:2], 16 + 8, parts[before[0]][1][at:at + 4])
    assert re.search("FAIL batches.*\n.*it had room for this switch", lies("nods", change))


@pytest.mark.parametrize("log, key", [("lost", "compact"), ("lost", "full"), ("circular", "compact")])
def test_wrong_loss(log, key):
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream == "E":
                if log == "circular":
                    payload = re.sub(rb"(end\.overwritten\.%s=)(\d+)" % key.encode(),
                                     lambda m: m.group(1) + b"%d" % (int(m.group(2)) + 1), payload)
                else:  # still balanced, but not true
                    payload = re.sub(rb"(end\.cpu\.0\.%s=)(\d+) (\d+) (\d+)" % key.encode(),
                                     lambda m: m.group(1) + b"%d %s %d" % (int(m.group(2)) + 1, m.group(3),
                                                                         int(m.group(4)) + 1), payload)
                parts[i] = ("E", payload)
    assert "FAIL truth: switches lost = truth - recorded" in lies(log, change)
