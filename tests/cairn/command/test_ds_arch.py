# SPDX-License-Identifier: MIT
"""Architectural PEBS: `cairn ds` and others on logs made by hand, from the structures of Linux and its registers."""

import json
import re
import struct

import pytest

import frames
from cairn_tool import GOLDEN, cairn, events, expect_first_record, patch, text_of, without

BASE = 0x12340000
PAYLOAD, REGISTERS = 16, 16 + 0x20  # of a Debug Store event: its payload; of an epoch's: the registers
EN, FULL = 1 << 32, 1 << 31
BASIC, AUX, GPR, XMM, YMMH, LBR, CNTR = 1 << 63, 1 << 62, 1 << 61, 1 << 49, 1 << 50, 3 << 40, 7 << 36
MODE64, CONT = 1 << 30, 1 << 31


def word(n):
    """A value whose bytes tell where in the record they come from."""
    return 0x0101010101010101 * (n % 256)


def fragment(first, groups, more=False, depth=2):
    """A header, and the groups it names; words from `first` on."""
    words = [0, 0]
    if groups & BASIC:
        words += [word(first + i) for i in range(2)] + [word(first + 2), 0x10005, 0, 0]
    if groups & AUX:
        words += [word(first + 8), 0, 0, 0, 0, word(first + 9), word(first + 10), word(first + 11)]
    if groups & GPR:
        words += [word(first + 16 + i) for i in range(19)] + [0]
    if groups & (XMM | YMMH):
        words += [2 if groups & XMM else 0, 0]
    for group in (XMM, YMMH):
        words += [word(first + 40 + i) for i in range(32)] if groups & group else []
    if groups & LBR:
        words += [0, 7, depth, word(1), word(2), word(3)] + [word(first + 80 + i) for i in range(3 * depth)]
    if groups & CNTR:
        words += [0x100000081, 3, 7, 8, 9, 10, 11]  # PMC0, PMC7, FIXED_CTR0, then slots and PERF_METRICS
    words += [0] * (len(words) % 2)
    words[0] = groups | MODE64 | (CONT if more else 0) | 8 * len(words)
    return words


def record(kind, salt=0):
    if kind == "whole":
        words = fragment(1, BASIC | AUX | GPR | XMM | YMMH | LBR | CNTR)
    elif kind == "large":
        words = fragment(1, BASIC | AUX | GPR | XMM | YMMH | LBR | CNTR, depth=32)
    elif kind == "fragments":
        words = [16, 0] + fragment(1, BASIC, True) + fragment(1, GPR, True) + fragment(1, LBR | CNTR)
    else:
        words = fragment(1, BASIC)
    words[{"whole": 16, "large": 16, "fragments": 14, "basic": 3}[kind]] ^= salt
    return struct.pack(f"<{len(words)}Q", *words)


def event(payload):
    size = 16 + len(payload)
    return struct.pack("<IHHq", 0xC0110002, size, 0xCA01, 1000) + payload + bytes(-size % 8)


def log(kind="basic", registers=None, keys="", count=2):
    """One CPU, one epoch of records, which differ in one word; each in an event of its own, the first event of a record
    of 1392 bytes at most. `registers`: by their place, else as the records want."""
    records = [record(kind, i) for i in range(count)]
    size = len(records[0])
    words = [BASE | 1, 0, *[0] * 48]
    words[1] = EN | 2 * size << 32 | count * size
    words[2] = BASIC | GPR | CNTR | 1 << 35 | (1 << 32) - 10000
    words[34] = BASIC | (1 << 32) - 7
    for at, value in (registers or {}).items():
        words[at // 8] = value
    pieces = []
    for i, one in enumerate(records):
        for at in range(0, size, 1392):
            head = struct.pack("<HBBIQII", 2, 15, at != 0, 0, BASE + i * size + at, len(one[at:at + 1392]), len(pieces))
            pieces.append(event(head + one[at:at + 1392]))
    pieces.insert(0, event(struct.pack("<HBBIQQII", 1, 2, 15, 0, 0, 0, count * size, len(pieces)) +
                           struct.pack("<50Q", *words)))
    used, offset, trace = 0x48 + sum(map(len, pieces)), 0, []
    for i, one in enumerate(pieces):
        body = bytes(0x48) + one if not i else one
        trace.append(("T", struct.pack("<IIHHII", 1, 0, 0, 1, offset, used) + body))
        offset += len(body)
    text = f"ds.format=15\nds.record_bytes={size}\nds.cpu.0.area=0xffff800000200000\nds.cpu.0.counters=0 32\n" \
        f"ds.event.0=A_GP_EVENT:10000:uk\nds.event.1=A_FIXED_EVENT:7:u\n{keys}"
    parts = [("H", b"cairn.format=1\ndump.frames=0\n"), ("M", text.encode()), ("L", b"session.1.cpus=1\n"), *trace,
             ("Z", b"dump.frames=0\n")]
    without(parts, lambda i, stream: False)
    return frames.write(parts)


@pytest.mark.parametrize("kind", ["basic", "whole", "fragments"])
def test_every_group(kind):
    done = cairn("ds", "--bytes", "-", data=log(kind), env={"COLUMNS": "80"})
    text = text_of(done)
    assert done.returncode == 0, done.stderr
    assert all(line == line.rstrip() for line in text.splitlines())
    expect_first_record(f"format15/{kind}", text)


@pytest.mark.parametrize("kind", ["basic", "whole", "fragments"])
def test_life(kind):
    """Each row of bytes begins with its address, which is physical, and together they are the record."""
    done = cairn("ds", "--life", "0:1", "-", data=log(kind))
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^  [A-Z0-9 ]{7} ([0-9a-f]{16}) ((?: +[0-9a-f]{2})+)$", text_of(done), re.M)
    expected = record(kind, 1)
    assert bytes.fromhex("".join(row[1] for row in rows)) == expected
    at = BASE + len(expected)
    for address, row in rows:
        assert int(address, 16) == at
        at += len(row.split())


def said(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("registers, words", [
    ({0: BASE}, "4096 bytes, physical"),
    ({0: BASE | 15}, "134217728 bytes, physical address[51:12]=12340H, SIZE[3:0]=FH"),
    ({0: 0}, "PEBS buffer: none"),
    ({0: 0}, "no buffer"),
    ({0: BASE | 1 << 60 | 1}, "SIZE[3:0]=1, reserved bits: 1000000000000000H"),
    ({8: EN | FULL | 0x1000 << 32 | 0x80}, "THRESH[58:36]=100H, EN[32]=1, FULL[31]=1, WR[26:4]=8"),
    ({8: 0}, "THRESH[58:36]=0, EN[32]=0, FULL[31]=0, WR[26:4]=0"),
    ({8: 0}, "next: base, PMI: base"),
    ({8: (1 << 64) - 1}, "reserved bits: F800000E7800000FH"),
    ({16: 0}, "IA32_PMC_GP0..31_CFG_C 0000000000000000 d not used"),
    ({24: 1 << 35}, "1907 IA32_PMC_GP1_CFG_C 0000000800000000 d no PEBS PMC1 ALLOW[35]"),
    ({24: BASIC | 2 << 40 | 1 << 55}, "not reloaded PMC1 EN[63], H16ZMM[55], LBR[41:40]=2"),
    ({24: 1 << 42}, "no PEBS PMC1 reserved bits: 40000000000H"),
    ({0x110 + 8: 1 << 35}, "1987 IA32_PMC_FX1_CFG_C 0000000800000000 d no PEBS FIXED_CTR1 ALLOW[35]"),
])
def test_registers(registers, words):
    text = text_of(cairn("ds", "--records", "0", "-", data=log(registers=registers), env={"COLUMNS": "80"}))
    assert words in said(text), text


@pytest.mark.parametrize("command", ["ds", "info", "stat", "check", "profile", "dump"])
def test_what_kind_of_pebs(command):
    """Each says so; of the Debug Store's PEBS none does."""
    for name, there in (("arch", True), ("fragments", True), ("small", False), ("life", False)):
        text = text_of(cairn(command, GOLDEN / f"{name}.log"))
        assert ("architectural" in text.lower()) == there


@pytest.mark.parametrize("form", ["perfetto", "svg", "json", "html", "ctf"])
def test_what_kind_of_pebs_exports_say(form, tmp_path):
    for name, there in (("arch", True), ("small", False)):
        path = tmp_path / f"{name}.{form}"
        assert cairn("export", "--to", form, GOLDEN / f"{name}.log", "-o", path).returncode == 0
        data = b"".join(p.read_bytes() for p in path.iterdir()) if form == "ctf" else path.read_bytes()
        # JSON and CTF tell by the number of the format alone
        if form in ("perfetto", "svg"):
            assert (b"architectural PEBS" in data) == there
            assert any(said in data for said in (b"Debug Store is emulated", b"model of the Debug Store")) != there
        elif form == "json":
            assert (b'"format":15' in data) == there and (b'"format":4' in data) != there


@pytest.mark.parametrize("name", ["arch", "fragments"])
def test_json_names_are_unique(name):
    """Each word of a record is there under a name of its own."""
    def unique(pairs):
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)
    lines = [json.loads(line, object_pairs_hook=unique) for line in
             text_of(cairn("export", "--to", "json", GOLDEN / f"{name}.log")).splitlines()]
    samples = [line for line in lines if line["type"] == "sample"]
    size = {"arch": 272, "fragments": 1456}[name]
    assert samples and all(len(sample["record"]) == size // 8 for sample in samples)
    assert all(sample["record"]["EventingIP"] == sample["ip"] for sample in samples)


@pytest.mark.parametrize("store, words", [
    ("bts", "The Debug Store at 0xffff800000200000 (IA32_DS_AREA) holds branch records (BTS) only."),
    (None, "The Debug Store at 0xffff800000200000 (IA32_DS_AREA) holds branch records (BTS) only."),
    ("CPUID has none.", "There is no BTS, so no Debug Store."),
])
def test_what_the_debug_store_is_for(store, words):
    keys = "ds.backend=hw\nds.reason=Asked for.\n" + (f"ds.store={store}\n" if store else "")
    data = log(keys=keys)
    assert words in said(text_of(cairn("ds", "-", data=data)))
    info = text_of(cairn("info", "-", data=data))
    assert ("no BTS" in info) == (store not in (None, "bts")) and "architectural PEBS" in info


# ---- parts of records ------------------------------------------------------------------------------------------------


def parts_of_records(parts):
    """(frame, offset) of each records event: those that begin a record, and those that go on with one."""
    begin, go_on = [], []
    for frame, at, hook, _ in events(parts):
        if hook == 0xCA01 and parts[frame][1][at + PAYLOAD] == 2:
            (go_on if parts[frame][1][at + PAYLOAD + 3] else begin).append((frame, at))
    return begin, go_on


@pytest.mark.parametrize("which", ["begin", "go_on"])
def test_a_part_is_missing(which):
    """It costs one record, which is named, and its bytes; all others are as they were."""
    whole = log("large", count=4)
    text = text_of(cairn("ds", "--records", "9", "-", data=whole))
    size = len(record("large"))
    assert size > 1392 and "not shown" not in text
    parts = frames.read(whole)
    begin, go_on = parts_of_records(parts)
    frame, _ = (begin if which == "begin" else go_on)[2]
    without(parts, lambda i, stream: i == frame)
    data = frames.write(parts)
    less = text_of(cairn("ds", "--records", "9", "-", data=data))
    assert "1 record is not shown: part of it is missing in this log\n" in less
    assert f"{size} of {4 * size} bytes of its records are missing in this log\n" in less
    blocks, left = ([(one.split(",")[0], one[one.index("\n  HEADER"):].strip()) for one in
                     re.split(r"^record \d+ ", shown.replace("*", " "), flags=re.M)[1:]] for shown in (text, less))
    assert len(blocks) == 4 and left == [blocks[0], blocks[1], blocks[3]]
    assert f"# missing in this log: {size} bytes of records" in text_of(cairn("profile", "-", data=data))
    assert "(others are missing)" in said(text_of(cairn("dump", "-", data=data)))


def test_a_part_that_lies():
    """Its frame is sound, but it goes on elsewhere: no record is made up of it, and check says which is not whole."""
    parts = frames.read(log("large", count=3))
    _, go_on = parts_of_records(parts)
    patch(parts, go_on[1], PAYLOAD + 8, struct.pack("<Q", BASE))
    data = frames.write(parts)
    assert "1 record is not shown" in text_of(cairn("ds", "-", data=data))
    assert "FAIL PEBS records" in text_of(cairn("check", "-", data=data))
