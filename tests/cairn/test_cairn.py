# SPDX-License-Identifier: MIT
"""The host tool as a user runs it: expected text for the golden logs, exit statuses, liars caught, capture."""

import os
import re
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest

import cairn_boot
import importlib.util

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
EXPECTED = HERE / "expected"
CAIRN = cairn_boot.BUILD / "san" / "cairn"
LOGS = ["small", "full", "nods", "circular", "lost", "panic"]

_spec = importlib.util.spec_from_file_location("frames", HERE / "frames.py")
frames = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(frames)


def cairn(*arguments, data=None, timeout=60):
    return subprocess.run([CAIRN, *map(str, arguments)], input=data, capture_output=True, timeout=timeout, check=False)


def text_of(done):
    assert b"Sanitizer" not in done.stderr, done.stderr.decode()
    return done.stdout.decode("ascii")


# ---- expected text: CAIRN_UPDATE=1 writes it anew ----------------------------------------------------------

@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("command", ["dump", "stat", "info", "check"])
def test_golden(log, command):
    done = cairn(command, GOLDEN / f"{log}.log")
    text = text_of(done)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    assert all(len(line) <= 80 for line in text.splitlines())
    path = EXPECTED / f"{log}.{command}"
    if os.environ.get("CAIRN_UPDATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="ascii")
    assert text == path.read_text(encoding="ascii")


def test_standard_input_is_a_log():
    log = (GOLDEN / "small.log").read_bytes()
    assert text_of(cairn("dump", "-", data=log)) == (EXPECTED / "small.dump").read_text(encoding="ascii")


@pytest.mark.parametrize("cpu", "01")
def test_one_cpu_only(cpu):
    lines = text_of(cairn("dump", "--cpu", cpu, GOLDEN / "small.log")).splitlines()
    whole = (EXPECTED / "small.dump").read_text(encoding="ascii").splitlines()
    assert [line for line in whole if line[0] == "#" or line[12:15] == f"  {cpu}"] == lines


def test_both_kinds_of_switch_events_tell_the_same():
    def switches(option):
        out = text_of(cairn("dump", option, GOLDEN / "full.log")).splitlines()
        # who came, last on the line of a 0525H record, may be unknown; priority and state are not in the idle forms
        return [line for line in out if " > " in line]
    compact, full = switches("--compact"), switches("--full")
    assert len(compact) == len(full) == 150
    for a, b in zip(compact, full):
        assert a[:31] == b[:31]
        if "unknown" not in a:
            assert a.split(" > ")[1].split()[0] == b.split(" > ")[1].split()[0]


# ---- exit statuses -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments, status, word", [
    ([], 2, "usage"),
    (["frobnicate"], 2, "no command"),
    (["dump"], 2, "one LOG"),
    (["dump", "a", "b"], 2, "one LOG"),
    (["dump", "--cpu", "x", "a"], 2, "--cpu x: not a number from 0 to 63"),
    (["dump", "--cpu", "64", "a"], 2, "--cpu 64"),
    (["dump", "--cpu", "7", GOLDEN / "small.log"], 2, "CPUs in this trace: 2"),
    (["check", "--frob", "a"], 2, "unrecognized option"),
    (["stat", "--top", "0", "a"], 2, "--top 0"),
    (["capture", "-"], 2, "-o LOG"),
    (["capture", "/dev/null,1", "-o", "/dev/null"], 2, "115200"),
    (["dump", "/no/such/log"], 3, "No such file"),
    (["dump", "/dev/null"], 3, "not a trace"),
    (["dump", CAIRN], 3, "not a trace"),
    (["dump", "--elf", "/dev/null", GOLDEN / "small.log"], 3, "/dev/null"),
    (["dump", "--dump", "2", GOLDEN / "small.log"], 3, "no dump number 2"),
    (["capture", "/no/such/device", "-o", "/dev/null"], 3, "No such file"),
])
def test_status(arguments, status, word):
    done = cairn(*arguments)
    assert b"Sanitizer" not in done.stderr
    assert done.returncode == status
    assert word in done.stderr.decode()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["stat", "--help"], ["info", GOLDEN / "small.log"]])
def test_output_that_cannot_be_written(arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([CAIRN, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 3 and b"No space left" in done.stderr


def test_unknown_option():
    done = cairn("dump", "--frob", "a")
    assert done.stderr.decode().splitlines()[1:] == ["try cairn dump --help"]


def test_help_of_all():
    text = text_of(cairn("--help"))
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("command", ["dump", "stat", "info", "check", "capture"])
def test_help(command):
    done = cairn(command, "--help")
    assert done.returncode == 0
    assert text_of(done).startswith(f"usage: cairn {command}")
    assert all(len(line) <= 80 for line in text_of(done).splitlines())


def test_elf_names_functions(tmp_path):
    kernel = cairn_boot.BUILD / "kernel.elf.full"
    if not kernel.exists():
        pytest.skip("no kernel built")
    done = cairn("dump", "--elf", kernel, GOLDEN / "small.log")
    assert done.returncode == 0
    assert b"another build" in done.stderr
    assert all(len(line) <= 80 for line in done.stderr.splitlines() if str(kernel).encode() not in line)
    assert "+0x" in text_of(done)


def test_another_format_is_refused():
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    parts[0] = (parts[0][0], parts[0][1].replace(b"cairn.format=1", b"cairn.format=9"))
    done = cairn("dump", "-", data=frames.write(parts))
    assert done.returncode == 3 and b"format 9" in done.stderr


# ---- damage ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("command", ["dump", "stat", "info", "check"])
def test_damaged(command):
    log = (GOLDEN / "small.log").read_bytes()
    start = log.index(b"~T00000009")
    damaged = log[:start + 50] + b"#" + log[start + 51:]
    done = cairn(command, "-", data=damaged)
    text, errors = text_of(done), done.stderr.decode()
    assert done.returncode == 1
    assert "missing: frame 9 of 22 (trace)" in errors
    assert re.search(r"damaged: line \d+: .*frame 9", errors)
    assert re.search(r"missing: CPU \d: \d+ bytes of buffer 0 missing \(frame 9\)", errors)
    if command == "dump":
        assert "! frame 9 missing" in text and "missing (frame 9)" in text
    if command == "check":
        assert "1 of 22 frames is missing" in text


def test_every_hole_is_shown():
    log = (GOLDEN / "full.log").read_bytes().splitlines(keepends=True)
    traced = [i for i, line in enumerate(log) if line[:2] == b"~T"]
    for i in traced[-2:0:-3]:
        del log[i]
    done = cairn("dump", "-", data=b"".join(log))
    reported = re.findall(r"^missing: CPU (\d): (.*)$", done.stderr.decode(), re.M)
    shown = re.findall(r"^ +(\d) ! (.*)$", text_of(done), re.M)
    assert sorted(shown) == sorted(reported) and max(sum(c == cpu for c, _ in shown) for cpu in "01") > 1


def test_the_end_is_missing():
    log = (GOLDEN / "small.log").read_bytes()
    cut = log[:log.index(b"~T0000000b")]
    done = cairn("dump", "-", data=cut)
    assert done.returncode == 1
    assert "missing: frames 11..21 of 22" in done.stderr.decode()
    assert "which CPU's last buffers are missing cannot be told" in done.stderr.decode()
    whole = (EXPECTED / "small.dump").read_text(encoding="ascii").splitlines()
    for line in text_of(done).splitlines():
        expected = any(word in line for word in ("unknown", "!", "ambiguous", "(others are")) or not line[:18].strip()
        assert line in whole or expected, line


def damage(*arguments, sanitized=True, timeout=1200):
    program = cairn_boot.BUILD / ("cairn-damage-san" if sanitized else "cairn-damage")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=timeout, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


@pytest.fixture(scope="module")
def large_log(tmp_path_factory):
    log = tmp_path_factory.mktemp("large") / "large.log"
    with open(log, "wb") as file:
        subprocess.run([cairn_boot.BUILD / "make_golden", "large", "20000"], stdout=file, check=True)
    return log


def test_every_damage():
    assert (GOLDEN / "small.log").stat().st_size <= 32768
    damage("each", GOLDEN / "small.log", sanitized=False)


@pytest.mark.parametrize("log", LOGS)
def test_some_damage_sanitized(log):
    damage("each", GOLDEN / f"{log}.log", 4001)
    damage("random", GOLDEN / f"{log}.log", 150)


def test_random_damage(large_log):
    damage("random", large_log, 200, sanitized=False)


@pytest.mark.long
def test_random_damage_10000(large_log):
    damage("random", large_log, 10000, 7, sanitized=False)


@pytest.mark.long
@pytest.mark.parametrize("log", ["full", "circular", "lost", "panic"])
def test_every_damage_of_the_others(log):
    damage("each", GOLDEN / f"{log}.log", 3, sanitized=False)


@pytest.mark.long
def test_every_damage_sanitized():
    damage("each", GOLDEN / "small.log")


# ---- liars: the truth does not agree with what the trace says ----------------------------------------------

TRUTH_SWITCH, TRUTH_PEBS = 1, 2


def truths(parts, kind):
    """(frame, offset) of every truth record of `kind`."""
    return [(i, at) for i, (stream, payload) in enumerate(parts) if stream == "U"
            for at in range(8, len(payload), 48) if payload[at] == kind]


def patch(parts, place, offset, data):
    frame, at = place
    payload = bytearray(parts[frame][1])
    payload[at + offset:at + offset + len(data)] = data
    parts[frame] = (parts[frame][0], bytes(payload))


def lies(log, change):
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    assert cairn("check", "-", data=frames.write(parts)).returncode == 0
    change(parts)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == 1
    return text_of(done)


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


def truth_cut_off(parts, which, cpu=0):
    """Takes one switch, counted from the last, out of a CPU's truth."""
    frame, at = [p for p in truths(parts, TRUTH_SWITCH) if parts[p[0]][1][0] == cpu][-which]
    payload = parts[frame][1]
    count = struct.unpack_from("<H", payload, 2)[0] - 1
    parts[frame] = ("U", payload[:2] + struct.pack("<H", count) + payload[4:at] + payload[at + 48:])
    for i in range(frame + 1, len(parts)):
        stream, payload = parts[i]
        if stream == "U" and payload[0] == cpu:
            parts[i] = ("U", payload[:4] + struct.pack("<I", struct.unpack_from("<I", payload, 4)[0] - 1) + payload[8:])
        elif stream == "E":
            parts[i] = ("E", re.sub(rb"(end\.cpu\.%d\.truth=)(\d+)" % cpu,
                                    lambda m: m.group(1) + b"%d" % (int(m.group(2)) - 1), payload))
    for i in range(frame):
        stream, payload = parts[i]
        if stream == "E":
            parts[i] = ("E", re.sub(rb"(end\.cpu\.%d\.truth=)(\d+)" % cpu,
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


def events(parts):
    """(frame, offset, hook, size) of every event."""
    for i, (stream, payload) in enumerate(parts):
        if stream == "T":
            at = 20 + (0x48 if struct.unpack_from("<I", payload, 12)[0] == 0 else 0)
            while at < len(payload):
                size, hook = struct.unpack_from("<HH", payload, at + 4)
                yield i, at, hook, size
                at += (size + 7) & ~7


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


EPOCH = 0xCA01
PAYLOAD, AREA = 16, 16 + 0x20  # in a Debug Store event: its payload; in an epoch's: the DS area


@pytest.mark.parametrize("offset, data, word", [
    (PAYLOAD + 2, b"\x02", "no event says that it began"),
    (PAYLOAD + 2, b"\x09", "no reason has the number 9"),
    (AREA + 5 * 8, b"\x08", "DS areas: base <= index <= maximum"),
    (AREA + 5 * 8 + 2, b"\x20", "are not in order"),
    (AREA + 4 * 8 + 2, b"\x00", "is not in this CPU's buffer"),
])
def test_wrong_start(offset, data, word):
    def change(parts):
        patch(parts, next(e for e in events(parts) if e[2] == EPOCH)[:2], offset, data)
    assert word in lies("small", change)


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
    assert "FAIL buffers: headers right" in text and word in text


def test_no_event():
    text = lies("small", lambda parts: patch(parts, list(events(parts))[3][:2], 3, b"\x00"))
    assert "FAIL events: headers" in text and "no event begins there" in text


def without(parts, unwanted):
    """Leaves frames out, as if they had never been."""
    kept = [part for i, part in enumerate(parts) if not unwanted(i, part[0])]
    for i, (stream, payload) in enumerate(kept):
        if stream in "HZ":
            kept[i] = (stream, re.sub(rb"dump.frames=\d+", b"dump.frames=%d" % len(kept), payload))
    parts[:] = kept


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
    assert re.search("FAIL batches.*\n.*could have taken this switch", lies("nods", change))


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


# ---- capture -----------------------------------------------------------------------------------------------

LOADER = b"\x1b[2J\x1b[01;01H\x1b[=3hBdsDxe: starting\r\n"


@pytest.mark.parametrize("end, status", [
    (b"SUMMARY: 3 passed, 0 failed, 0 skipped\r\n", 0),
    (b"SUMMARY: 3 passed, 1 failed, 0 skipped\r\n", 1),
    (b"SUMMARY: 3 pass, 0 fail, 1 skip\r\n", 0),
    (b"", 3),
])
def test_capture(tmp_path, end, status):
    log = (GOLDEN / "small.log").read_bytes()
    log = LOADER + log[:log.index(b"SUMMARY")] + end
    done = cairn("capture", "-", "-o", tmp_path / "log", data=log)
    assert done.returncode == status, done.stderr
    assert (tmp_path / "log").read_bytes() == log
    text = text_of(done)
    assert "BdsDxe: starting" in text and "\x1b" not in text and "~" not in text
    assert "PASS: golden: scripted machine up" in text
    assert b"22 frames of 22, 0 damaged, 0 missing" in done.stderr


def test_capture_raw(tmp_path):
    log = (GOLDEN / "small.log").read_bytes()
    done = cairn("capture", "-", "--raw", "-o", tmp_path / "log", data=log)
    assert done.stdout == log and done.returncode == 0


def test_capture_damaged(tmp_path):
    log = (GOLDEN / "small.log").read_bytes()
    start = log.index(b"~T00000009")
    done = cairn("capture", "-", "-o", tmp_path / "log", data=log[:start + 50] + b"#" + log[start + 51:])
    assert done.returncode == 1
    assert b"21 frames of 22, 1 damaged, 1 missing" in done.stderr


def test_capture_two_frames_in_one_line(tmp_path):
    log = (GOLDEN / "small.log").read_bytes()
    end = log.index(b"\r\n", log.index(b"~T00000009"))
    done = cairn("capture", "-", "-o", tmp_path / "log", data=log[:end] + log[end + 2:])
    assert done.returncode == 0
    assert b"22 frames of 22, 0 damaged, 0 missing" in done.stderr


def test_capture_loader_failed(tmp_path):
    data = LOADER + b"cairn loader: FAILED: \\kernel.elf: not there (Not Found)\r\n"
    reader, writer = os.pipe()
    with subprocess.Popen([CAIRN, "capture", "-", "-o", tmp_path / "log"], stdin=reader, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        os.close(reader)
        os.write(writer, data)  # the line stays open: it must end by itself
        assert process.wait(timeout=20) == 1
        os.close(writer)
        assert b"the loader failed" in process.stderr.read()


def test_capture_ends_by_itself_on_a_tty(tmp_path):
    log = (GOLDEN / "small.log").read_bytes() + b"halted: you can switch the machine off\r\n"
    master, slave = os.openpty()
    with subprocess.Popen([CAIRN, "capture", os.ttyname(slave) + ",115200", "-o", tmp_path / "log"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 20
        while termios.tcgetattr(slave)[3] & termios.ICANON:  # until it has made the line raw
            assert time.monotonic() < deadline
            time.sleep(0.01)
        sent = 0
        while sent < len(log):
            sent += os.write(master, log[sent:sent + 512])
        assert process.wait(timeout=20) == 0
        assert b"halted" in process.stdout.read()
    os.close(slave)
    os.close(master)
    assert (tmp_path / "log").read_bytes() == log


def test_capture_timeout(tmp_path):
    reader, writer = os.pipe()
    with subprocess.Popen([CAIRN, "capture", "-", "--timeout", "1", "-o", tmp_path / "log"], stdin=reader,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(reader)
        assert process.wait(timeout=20) == 3
        os.close(writer)
        assert b"the time was up" in process.stderr.read()


def test_capture_counts_a_frame_once(tmp_path):
    log = (GOLDEN / "small.log").read_bytes()
    start = log.index(b"~T00000009")
    end = log.index(b"\r\n", start) + 2
    twice = log[:end] + log[start:end] + log[end:]
    done = cairn("capture", "-", "-o", tmp_path / "log", data=twice)
    assert done.returncode == 0 and b"22 frames of 22, 0 damaged, 0 missing" in done.stderr
    start = log.index(b"~T0000000a")
    end = log.index(b"\r\n", start) + 2
    done = cairn("capture", "-", "-o", tmp_path / "log", data=twice.replace(log[start:end], b""))
    assert done.returncode == 1 and b"21 frames of 22, 0 damaged, 1 missing" in done.stderr


def test_capture_interrupted_while_nobody_is_there(tmp_path):
    """Opening a line must not wait for its other end: Ctrl-C would be dead."""
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen([CAIRN, "capture", tmp_path / "fifo", "-o", tmp_path / "log"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 20
        while not (tmp_path / "log").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130


def test_capture_log_cannot_be_written(tmp_path):
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    done = cairn("capture", os.ttyname(slave), "-o", tmp_path / "no" / "log")
    assert done.returncode == 3 and b"No such file" in done.stderr
    assert termios.tcgetattr(slave) == before
    os.close(slave)
    os.close(master)


def test_capture_interrupted(tmp_path):
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    with subprocess.Popen([CAIRN, "capture", os.ttyname(slave), "-o", tmp_path / "log"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 20
        while termios.tcgetattr(slave)[3] & termios.ICANON:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        errors = process.stderr.read().decode()
        assert "interrupted" in errors and f"in {tmp_path / 'log'}" in errors
    assert termios.tcgetattr(slave)[3] == before[3]
    os.close(slave)
    os.close(master)


# ---- what a cut log is said to be --------------------------------------------------------------------------

def shares(text):
    rows = text[text.index("\nCPU "):].splitlines()[2:]
    return [[float(n) for n in re.findall(r"([0-9.]+) %", row)] for row in rows[:rows.index("")]]


@pytest.mark.parametrize("log", LOGS)
def test_shares_of_the_session(log):
    whole = shares(text_of(cairn("stat", GOLDEN / f"{log}.log")))
    assert all(abs(sum(row) - 100) < 0.03 for row in whole)
    if log == "lost":
        assert all(row[2] > 10 for row in whole)


def test_kind_of_switches_without_the_session():
    """Without the session stream the events say what there is: 0524H, which know who came."""
    parts = frames.read((GOLDEN / "full.log").read_bytes())
    log = frames.write(parts).splitlines(keepends=True)
    done = cairn("dump", "-", data=b"".join(line for line in log if line[1:2] != b"L"))
    switches = [line for line in text_of(done).splitlines() if " > " in line]
    assert done.returncode == 1 and len(switches) == 150 and "unknown" not in "".join(switches)


def test_cpu_of_which_nothing_is_left():
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    without(parts, lambda i, s: s == "T" and struct.unpack_from("<H", parts[i][1], 8)[0] == 1)
    assert shares(text_of(cairn("stat", "-", data=frames.write(parts))))[1] == [0, 0, 100]


@pytest.mark.parametrize("log", LOGS)
def test_only_the_frames_rule_fails_on_a_cut_log(log):
    data = (GOLDEN / f"{log}.log").read_bytes()
    starts = [m.start() for m in re.finditer(rb"~[TEUZ]", data)]
    for start in starts[1:]:
        text = text_of(cairn("check", "-", data=data[:start]))
        rules = set(re.findall(r"^FAIL (\w+):", text, re.MULTILINE))
        assert rules <= {"frames", "buffers"} and "frames" in rules, text
        assert "boot with truth=1" not in text or log == "panic"


def test_truth_that_did_not_hold_all():
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    for i, (stream, payload) in enumerate(parts):
        if stream == "E":
            parts[i] = ("E", re.sub(rb"(end\.cpu\.0\.truth=\d+ \d+) 0", rb"\1 7", payload))
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == 0
    assert re.search(r"PASS, but the truth covers only \d+ of \d+ switches", text_of(done).splitlines()[-1])


@pytest.mark.parametrize("log, options, status", [("small", ["--full"], 1), ("full", ["--full", "--compact"], 2)])
def test_kind_that_is_not_there(log, options, status):
    done = cairn("dump", *options, GOLDEN / f"{log}.log")
    assert done.returncode == status and text_of(done) == ""
