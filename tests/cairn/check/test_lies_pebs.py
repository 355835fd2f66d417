# SPDX-License-Identifier: MIT
"""Logs that lie of PEBS where no truth tells: each a golden one with something changed; `cairn check` must say what."""

import json
import re
import struct

import pytest

import frames
from cairn_tool import GOLDEN, cairn, events, patch, text_of, with_keys
from lying import AREA, EPOCH, PAYLOAD, lies

RECORDS = PAYLOAD + 0x18  # the first record of a records event
RESET = (1 << 48) - 1000


def of_kind(parts, kind):
    return [e[:2] for e in events(parts) if e[2] == EPOCH and parts[e[0]][1][e[1] + PAYLOAD] == kind]


def said_in(pattern, text):
    """Whatever line a word has come into."""
    return re.search(pattern, re.sub(r"\s+", " ", text))


def word(value):
    return struct.pack("<Q", value & (1 << 64) - 1)


@pytest.mark.parametrize("log", ["hw", "small"])
@pytest.mark.parametrize("offset, data, said", [
    (AREA + 0x40, word(0), "FAIL DS areas.*the reset value of PMC0, 0x0, is not that of its period"),
    (AREA + 0x40, word(12345), "FAIL DS areas.*the reset value of PMC0, 0x3039, is not that of its period"),
    (AREA + 0x40, word(RESET - 1), "FAIL DS areas.*the reset value of PMC0"),
    (AREA + 0x48, word(RESET), "FAIL DS areas.*the reset value of PMC1, .* is not that of a counter without PEBS"),
    (AREA + 0x80, word(1), "FAIL DS areas.*the reset value of FIXED_CTR0, 0x1,"),
    (AREA + 0x38, word(0xffff8000aaaaaaa8), "FAIL DS areas.*the threshold 0xffff8000aaaaaaa8 is not 6 records above"),
    (PAYLOAD + 8, word(1), "FAIL epochs.*a drain is earlier than the previous drain"),
    (PAYLOAD + 3, b"\x03", "FAIL epochs.*format 3 on a CPU of format 4"),
    (PAYLOAD + 2, b"\x05", "FAIL epochs.*drained by a panic, but this dump is not from a panic"),
])
def test_wrong_epoch(log, offset, data, said):
    assert said_in(said, lies(log, lambda parts: patch(parts, of_kind(parts, 1)[2], offset, data)))


@pytest.mark.parametrize("log, why", [("hw", "the buffer was not full"), ("small", "the buffer was not full"),
                                      ("lost", "the model counts them")])
def test_loss_unknown_without_reason(log, why):
    """Only of a processor's full buffer nobody knows."""
    def change(parts):
        for frame, at in of_kind(parts, 1)[1:]:
            used, lost = struct.unpack_from("<I", parts[frame][1], at + PAYLOAD + 0x18)[0], 0x10
            if (used == 8 * 176) == (log == "lost"):
                patch(parts, (frame, at), PAYLOAD + lost, word(-1))
                return
    assert said_in(f"FAIL DS areas.*the number of lost records is unknown, but {why}", lies(log, change))


@pytest.mark.parametrize("told", [-176, -8, 8])
def test_more_or_fewer_records_than_told(told):
    """None is missing where there are more."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    frame, at = of_kind(parts, 1)[1]
    cpu, number = parts[frame][1][8], struct.unpack_from("<I", parts[frame][1], at + PAYLOAD + 4)[0]
    size = struct.unpack_from("<I", parts[frame][1], at + PAYLOAD + 0x18)[0] + told
    patch(parts, (frame, at), PAYLOAD + 0x18, struct.pack("<I", size))
    log = frames.write(parts)
    for command in (["ds", "-", "--cpu", str(cpu), "--epoch", str(number)], ["profile", "-"], ["dump", "-"]):
        text = text_of(cairn(*command, data=log))
        said = said_in("(bytes of its records are missing|missing in this log:|others are missing)", text)
        assert bool(said) == (told > 0), text
        assert told < 0 or command[0] == "dump" or said_in(r"\b8 (of \d+ )?bytes of (its )?records", text), text
    assert said_in(f"FAIL PEBS records.*{size - told} bytes of records in .*, not {size} in", text_of(
        cairn("check", "-", data=log)))


@pytest.mark.parametrize("cpu, drain, said", [(1, -1, False), (1, -2, True), (0, -1, True)])
def test_a_panic_in_the_middle_of_a_drain(cpu, drain, said):
    """Fewer records than its first event told may follow the last drain of a CPU, but for that which the panic made."""
    parts = frames.read((GOLDEN / "panic.log").read_bytes())
    frame, at = [place for place in of_kind(parts, 1) if parts[place[0]][1][8] == cpu][drain]
    size = struct.unpack_from("<I", parts[frame][1], at + PAYLOAD + 0x18)[0] + 176
    patch(parts, (frame, at), PAYLOAD + 0x18, struct.pack("<I", size))
    text = text_of(cairn("check", "-", data=frames.write(parts)))
    assert bool(said_in(f"{size - 176} bytes of records in .*, not {size} in", text)) == said, text


@pytest.mark.parametrize("later, periods, right", [
    ("77", [1000, 77], True), ("77", [1000, 1000], False), ("77", [77, 77], False), ("77", [1000, 78], False),
    (None, [1000, 78], True), (None, [999, 999], False), ("none", [1000, 5], True), ("7,7", [1000, 5], True),
])
def test_resets_after_a_new_configuration(later, periods, right):
    """What was drained for it was recorded with the old periods; where the log does not say the new ones, they may be
    any."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    drains = [(frame, at) for frame, at in of_kind(parts, 1) if parts[frame][1][8] == 0]  # CPU 0
    patch(parts, drains[1], PAYLOAD + 2, b"\x04")
    for i, (frame, at) in enumerate(drains):
        patch(parts, (frame, at), AREA + 0x40, word((1 << 48) - periods[i > 1]))
    for i, (stream, payload) in enumerate(parts):
        if stream == "M" and later:  # a frame can be no longer
            option = b"option.pebs.later=%s\n" % later.encode()
            parts[i] = (stream, payload.replace(b"firmware.vendor=script\n", option))
    done = cairn("check", "-", data=frames.write(parts))
    assert (done.returncode == 0) == right, text_of(done)
    assert ("is not that of its period" in text_of(done)) != right


@pytest.mark.parametrize("offset, data, said", [
    (PAYLOAD + 0x14, struct.pack("<I", 7), r"part 7 of a drain's records, but \d was expected"),
    (PAYLOAD + 2, b"\x05", "records of format 5 in an epoch of format 4"),
    (PAYLOAD + 4, struct.pack("<I", 77), r"records of epoch 77 after the drain of \d+"),
])
def test_wrong_records_event(offset, data, said):
    assert said_in(f"FAIL PEBS records.*{said}",
                   lies("hw", lambda parts: patch(parts, of_kind(parts, 2)[1], offset, data)))


@pytest.mark.parametrize("offset, data, said", [
    (0x10, word(0), "counters 0x0 are not among 0x1"),
    (0x10, word(1 << 40), "counters 0x10000000000 are not among 0x1"),
    (0x10, word(3), "counters 0x3 are not among 0x1"),
    (0x00, struct.pack("<I", 4), "176 bytes, but its groups, 0x4, have 288"),
    (0x00, struct.pack("<I", 0), "176 bytes, but its groups, 0x0, have 32"),
    (0x00, struct.pack("<I", 0xffff), "176 bytes, but its groups, 0xffff, have "),
    (0x00, struct.pack("<I", 0x42), "groups 0x42, but MSR_PEBS_DATA_CFG was 0x2"),
    (0x18, word(1), r"TSC 1 is before its epoch, \d+"),
])
def test_impossible_record(offset, data, said):
    text = lies("hw", lambda parts: patch(parts, of_kind(parts, 2)[0], RECORDS + offset, data))
    assert said_in(f"FAIL PEBS records.*{said}", text)


def test_record_behind_its_drain():
    def change(parts):
        frame, at = of_kind(parts, 2)[0]
        size, = struct.unpack_from("<I", parts[frame][1], at + PAYLOAD + 0x10)
        patch(parts, (frame, at), RECORDS + size - 176 + 0x18, word(1 << 62))
    assert said_in(r"FAIL PEBS records.*TSC 4611686018427387904 is after its drain, \d+", lies("hw", change))


def nobody_sampled(parts):
    for i, (stream, payload) in enumerate(parts):
        if stream == "N":
            parts[i] = (stream, re.sub(rb"(?m)^(\d+ -?\d+) s ", rb"\1 - ", payload))


def test_record_of_a_thread_that_is_not_sampled():
    text = lies("hw", nobody_sampled)
    assert said_in("FAIL PEBS records.*attribution by time shows that no sampled thread can have caused it", text)
    assert said_in("FAIL PEBS records.*attribution by index shows that no sampled thread can have caused it", text)
    parts = frames.read((GOLDEN / "hw.log").read_bytes())
    nobody_sampled(parts)
    profile = text_of(cairn("profile", "--per", "thread", "-", data=frames.write(parts)))
    rows = re.findall(r"^ +\d+ +[\d.]+ % +(.*)$", profile, re.M)
    assert "unknown: none was sampled" in rows and not [row for row in rows if ":" in row and " " not in row]


@pytest.mark.parametrize("ip, maps, failed, said", [
    (0x401000, {}, 0, "mapped code +1 +0 consistent"),
    (0x401fff, {}, 0, "mapped code +1 +0 consistent"),
    (0x402000, {}, 1, "FAIL programs.*instruction 0x402000 is in no mapped code of process 7"),
    (0x400fff, {}, 1, "FAIL programs.*instruction 0x400fff is in no mapped code of process 7"),
    (0x600000, {"grab.map.1": "7 0x600000 0x700000 0x1000 /lib/b"}, 0, "mapped code +1 +0 consistent"),
    (0x402000, {"grab.maps_lost": 1}, 0, ""),
])
def test_instruction_in_no_code_of_its_process(ip, maps, failed, said):
    """A log of cairn grab tells where processes have code; here the first record is a program's, all its threads are of
    one process."""
    parts = frames.read((GOLDEN / "hw.log").read_bytes())
    patch(parts, of_kind(parts, 2)[0], RECORDS + 8, word(ip))
    lines = map(json.loads, cairn("export", "--to", "json", GOLDEN / "hw.log").stdout.splitlines())
    with_keys(parts, {f"grab.process.{line['tid']}": 7 for line in lines if line["type"] == "thread"} |
              {"grab.map.0": "7 0x401000 0x402000 0x1000 /bin/a b"} | maps)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == failed and said_in(said, text_of(done)), text_of(done)
    assert ("programs:" in text_of(done)) == bool(said)
