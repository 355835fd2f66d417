# SPDX-License-Identifier: MIT
"""`cairn ds` on records of every format, made by hand from the manual's layouts."""

import re
import struct

import pytest

import frames
from cairn_tool import GOLDEN, cairn, events, expect_first_record, patch, text_of, with_keys
from record_log import BASE, log, record as record_of


@pytest.mark.parametrize("form", range(7))
def test_every_format(form):
    done = cairn("ds", "--bytes", "-", data=log(form))
    text = text_of(done)
    assert done.returncode == 0, done.stderr
    assert all(line == line.rstrip() for line in text.splitlines())
    assert "belong to no group" not in text
    expect_first_record(f"format{form}/ds", text)


def test_one_record():
    """--record: which one, as --life and --epoch count; --records: how many."""
    whole = text_of(cairn("ds", "--cpu", "0", "--records", "9", "--bytes", GOLDEN / "small.log"))
    records = re.findall(r"^record .*\n(?:  .*\n)+", whole, re.M)
    assert len(records) > 2
    for n, record in enumerate(records):
        one = text_of(cairn("ds", "--cpu", "0", "--record", n, "--bytes", GOLDEN / "small.log"))
        assert re.findall(r"^record .*\n(?:  .*\n)+", one, re.M) == [record]
        assert "--records" not in one
    done = cairn("ds", "--cpu", "0", "--record", "999", GOLDEN / "small.log")
    assert done.returncode == 1
    assert done.stderr == b"cairn: --record 999: no drain shown has such a record (numbers begin at 0)\n"
    done = cairn("ds", "--record", "0", "--records", "9", GOLDEN / "small.log")
    assert done.returncode == 2 and b"--records sets how many, --record sets which one" in done.stderr



@pytest.mark.parametrize("form", range(7))
def test_life_of_every_format(form):
    """Each row of bytes begins with its address, and together they are the record."""
    done = cairn("ds", "--life", "0:1", "-", data=log(form))
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^  [A-Z ]{7} ([0-9a-f]{16}) ((?: +[0-9a-f]{2})+)$", text_of(done), re.M)
    expected = record_of(form, 1)
    assert bytes.fromhex("".join(row[1] for row in rows)) == expected
    at = BASE + len(expected)
    for address, row in rows:
        assert int(address, 16) == at
        at += len(row.split())


SAPPHIRE, REDWOOD = 0x806F4, 0xA06A4  # Sapphire Rapids; Meteor Lake


@pytest.mark.parametrize("latency, counters, timing, signature, core, shown", [
    (300, 1, 1, SAPPHIRE, None, "retire latency 300"),
    (0, 1, 1, SAPPHIRE, None, "retire latency 0"),
    (300, 1 << 32, 1, SAPPHIRE, None, "retire latency 300"),
    (300, 1, 1, REDWOOD, 0x40, "retire latency 300"),
    (300, 1 << 32, 1, REDWOOD, 0x40, "no retire latency: not of FIXED_CTR0 on this core"),
    (300, 1 << 32, 1, REDWOOD, 0x20, "retire latency 300"),
    (300, 1, 0, SAPPHIRE, None, "bits 47:32 = 300: no retire latency, PERF_CAPABILITIES[17] is 0"),
    (0, 1, 0, SAPPHIRE, None, None),
    (300, 1, None, SAPPHIRE, None, "bits 47:32 = 300: meaning unknown"),
    (0, 1, None, SAPPHIRE, None, None),
    ])
def test_retire_latency(latency, counters, timing, signature, core, shown):
    """Only where IA32_PERF_CAPABILITIES has it, and not of a counter that has none: elsewhere it says why."""
    keys = f"ds.emulated=0\nds.detect.hw.0.0=CPUID.01H:EAX family and model|0x{signature:x}|ok|of some kind\n"
    if timing is not None:
        keys += f"ds.detect.hw.0.1=IA32_PERF_CAPABILITIES.PEBS_TIMING_INFO[17]|0x{timing:x}|ok|there or not\n"
    if core is not None:
        keys += f"cpu.0.core_type=0x{core:x}\n"
    parts = frames.read(log(5, keys=keys))
    frame = next(i for i, (stream, _) in enumerate(parts) if stream == "T")
    payload = bytearray(parts[frame][1])
    for salt in (0, 1):
        at = payload.index(record_of(5, salt))
        payload[at + 4:at + 6] = struct.pack("<H", latency)
        payload[at + 0x10:at + 0x18] = struct.pack("<Q", counters)
    parts[frame] = ("T", bytes(payload))
    text = re.sub(r"\s+", " ", text_of(cairn("ds", "-", data=frames.write(parts))))
    assert text.count("bytes, BASIC GPR" + (f", {shown} " if shown else " ")) >= 1, text
    assert ("latency" in text or "47:32" in text) == bool(shown)


def test_long_name_of_a_counter():
    """A name longer than its column is shown whole."""
    done = cairn("ds", "--records", "0", "-", data=log(4, name="BR_INST_RETIRED.ALL_BRANCHES"))
    assert "PMC0=BR_INST_RETIRED.ALL_BRANCHES".rjust(80) in text_of(done).splitlines()


def test_a_wide_meaning_goes_on_below():
    """Not cut at the last column: the row of 1024 records and a byte."""
    maximum = 0x1000 + 1024 * 24 + 1
    text = text_of(cairn("ds", "-", data=log(4, {0x00: 0x1000, 0x08: 0x1000, 0x10: maximum, 0x18: maximum - 25})))
    assert re.search(rf"^  10 BtsAbsoluteMaximum +{maximum:016x}  d  end: base \+ 1024 records \+\n {{53}}1$", text,
                     re.M)


@pytest.mark.parametrize("area, words", [
    ({0x20: 0}, "PEBS buffer: none"),
    ({0x30: BASE}, "PEBS buffer: these pointers do not describe a buffer"),        # maximum at base
    ({0x30: BASE - 8}, "PEBS buffer: these pointers do not describe a buffer"),    # below it
    ({0x28: BASE - 8}, "PEBS buffer: these pointers do not describe a buffer"),    # index below base
    ({0x28: BASE - 8}, "next: below base"),
    ({0x38: 1 << 63}, "PEBS buffer: these pointers do not describe a buffer"),     # threshold far away
    ({0x00: 0x1000, 0x08: 0x1018, 0x10: 0x10C1, 0x18: 0x1100}, "BTS buffer: room for 8 records of 24 bytes"),
    ({0x00: 0x1000, 0x08: 0x1018, 0x10: 0x10C1, 0x18: 0x1100}, "next: base + 1 record"),
    ({0x00: 0x1000, 0x08: 0x1018, 0x10: 0x10C1, 0x18: 0x10C0}, "PMI: base + 8 records"),
    ({0x00: 0x1000, 0x08: 0x1018, 0x10: 0x10C1, 0x18: 0x1100}, "no PMI: beyond the end"),  # circular
    ({0x40: 0x7F}, "127"),                                              # no period of any width
    ({0x40: 0x80000001}, "-2147483647 in 32 bits"),
])
def test_areas(area, words):
    done = cairn("ds", "-", data=log(4, area))
    text = text_of(done)
    assert done.returncode == 0 and words in text


def test_a_cpu_of_another_kind():
    """What a CPU says of its own records counts for it, whatever is said of CPU 0's."""
    done = cairn("ds", "-", data=log(2, keys="ds.cpu.0.record_bytes=96\n"))
    assert done.returncode == 0 and "room for 8 records of 96 bytes" in text_of(done)


@pytest.mark.parametrize("form", range(3))
@pytest.mark.parametrize("keys, exact", [
    ("ds.emulated=0\ncpu.0.msr.345=0x100\n", True),                           # fault-like
    ("ds.emulated=0\ncpu.0.msr.345=0x140\n", False),                          # trap-like
    ("ds.emulated=0\ncpu.0.msr.345=fault\ncpu.1.msr.345=0x100\n", False),     # another CPU's
    ("ds.emulated=0\n", False),                                               # no such register
    ("ds.emulated=1\ncpu.0.msr.345=0x100\n", False),                          # the machine's, not the model's
])
def test_which_rip_a_record_holds(form, keys, exact):
    """Formats 0 and 1 have RIP alone; format 2 names the instruction whatever RIP is."""
    data = log(form, keys=keys)
    exact |= form == 2
    marks = re.findall(r"^ *[\d.]+ +0 ([*@]) ", text_of(cairn("dump", "-", data=data)), re.M)
    assert marks == ["*" if exact else "@"] * 2
    behind = "names the instruction after" in text_of(cairn("profile", "-", data=data))
    assert behind == (not exact)
    if "emulated=0" in keys:
        life = text_of(cairn("ds", "--life", "0:0", "-", data=data))
        assert ("EventingIP" in life) == (form == 2) and ("PEBS_TRAP is 0" in life) == (exact and form < 2)


def test_info_of_mixed_cores():
    """CPUs whose records are not like CPU 0's, with the kind of core where the processor tells."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    machine = next(i for i, part in enumerate(parts) if part[0] == "M")
    keys = {"format": 5, "baseline": 1, "record_bytes": 208, "records": 9, "threshold": 7}
    text = "".join(f"ds.cpu.1.{name}={value}\n" for name, value in keys.items()) + "cpu.1.core_type=0x20\n"
    parts.insert(machine + 1, ("M", text.encode()))
    done = cairn("info", "-", data=frames.write(parts))
    assert "  CPU 1          format 5, 208 bytes, 9 records, threshold 7, core type 20H\n" in text_of(done)
    head = text_of(cairn("dump", "-", data=frames.write(parts))).splitlines()[:3]
    assert "# CPU 1          format 5, 208 bytes, 9 records, threshold 7, core type 20H" in head
    assert "a record of" in text_of(cairn("check", "-", data=frames.write(parts)))  # which are not as they are here


def test_info_of_cores_without_pebs():
    """Which CPUs have none, and why; the events of efficient cores are told apart, and so are their counters."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    with_keys(parts, {"ds.atom.event.0": "branches:77:uk", "ds.cpu.0.events": "none|a reason",
                      "ds.cpu.1.events": "atom", "ds.cpu.1.counters": "5"})
    data = frames.write(parts)
    info = text_of(cairn("info", "-", data=data))
    assert "\n    efficient    branches:77:uk\n" in info
    assert "\n  CPU 0          no PEBS: a reason\n" in info and "CPU 1          no PEBS" not in info
    assert "# CPU 0          no PEBS: a reason\n" in text_of(cairn("dump", "-", data=data))
    profile = text_of(cairn("profile", "-", data=data))
    assert "# event branches:77:uk on efficient cores\n" in profile


@pytest.mark.parametrize("command,prefix", [("info", "  "), ("profile", "# ")])
def test_events_that_are_not_precise(command, prefix):
    """Said of each event that the log names, once for CPUs that are alike; nothing where it names none."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    assert "not precise:" not in text_of(cairn(command, "-", data=frames.write(parts)))
    with_keys(parts, {"ds.event.0": "A:1:uk", "ds.event.1": "BC:1:uk", "ds.cpu.0.not_precise": "0 1",
                      "ds.cpu.1.not_precise": "0 1", "ds.cpu.1.alone": "1"})
    text = text_of(cairn(command, "-", data=frames.write(parts)))
    behind = "records may be of a later instruction\n"
    assert re.findall(r"^.*(?:not precise|taken alone):.*\n", text, re.M) == [
        f"{prefix}not precise:   CPU 0, A: {behind}", f"{prefix}not precise:   CPU 0, BC: {behind}",
        f"{prefix}taken alone:   CPU 1, BC: correct only with Hyper-Threading off\n"]


@pytest.mark.parametrize("command,prefix", [("info", "  "), ("profile", "# ")])
def test_events_with_errata(command, prefix):
    """Each event with its errata, again where the CPU before has other ones."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    assert "errata:" not in text_of(cairn(command, "-", data=frames.write(parts)))
    with_keys(parts, {"ds.event.0": "A:1:uk", "ds.event.1": "BC:1:uk", "ds.cpu.0.errata.0": "X1,X2",
                      "ds.cpu.0.errata.1": "X2", "ds.cpu.1.errata.0": "X1,X2", "ds.cpu.1.errata.1": "X3"})
    text = text_of(cairn(command, "-", data=frames.write(parts)))
    assert re.findall(r"^.*errata:.*\n", text, re.M) == [
        f"{prefix}errata:        CPU {which}: counts or records may be wrong\n"
        for which in ("0, A: X1,X2", "0, BC: X2", "1, BC: X3")]


@pytest.mark.parametrize("command,prefix", [("info", "  "), ("profile", "# ")])
def test_marks_of_events_with_long_names(command, prefix):
    """They go on in the next line where 80 columns are not enough."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    event = "MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD"
    with_keys(parts, {"ds.event.0": f"{event}:1:uk", "ds.cpu.0.not_precise": "0", "ds.cpu.0.errata.0": "SKL091,SKL044"})
    text = text_of(cairn(command, "-", data=frames.write(parts), env={"COLUMNS": "80"}))
    for mark, words in (("not precise:", "records may be of a later instruction"),
                        ("errata:", "SKL091,SKL044: counts or records may be wrong")):
        lines = re.search(rf"^{prefix}{mark} .*\n(?:{prefix} {{13}}.*\n)+", text, re.M)[0].splitlines()
        assert all(len(line) <= 80 for line in lines) and len(lines) == 2
        assert f"CPU 0, {event}: {words}" in " ".join(line[len(prefix) + 13:].strip() for line in lines)


@pytest.mark.parametrize("command", [["ds", "--records", "1"], ["profile"]])
def test_no_counter_is_cut(command):
    """However many counters a record names, each is there, with its event whole."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    names = [f"MEM_LOAD_L3_MISS_RETIRED.REMOTE_PMM{i:04}" for i in range(14)]
    numbers = [*range(10), *range(32, 36)]
    with_keys(parts, {**{f"ds.event.{i}": f"{name}:1000:uk" for i, name in enumerate(names)},
                      **{f"ds.cpu.{cpu}.counters": " ".join(map(str, numbers)) for cpu in (0, 1)}})
    bits = sum(1 << n for n in numbers)
    for frame, at, hook, size in list(events(parts)):
        if hook == 0xCA01 and parts[frame][1][at + 16] == 2:
            for record in range(at + 16 + 0x18, at + size, 176):
                patch(parts, (frame, record), 0x10, struct.pack("<Q", bits))
    text = re.sub(r"\n#? *", "", text_of(cairn(*command, "-", data=frames.write(parts))))
    for number, name in zip(numbers, names):
        assert f"{'PMC' if number < 32 else 'FIXED_CTR'}{number % 32}={name}" in text


def meanings(form, words, signature=0, event_name="MEM_TRANS_RETIRED.LOAD_LATENCY", keys=""):
    """What is said of these words of a processor's first record, which is of PMC0 alone; by name."""
    row = f"ds.emulated=0\nds.detect.hw.0.0=CPUID.01H:EAX family and model|0x{signature:x}|ok|\n"
    parts = frames.read(log(form, keys=row + keys, name=event_name))
    held = next(e[:2] for e in events(parts) if parts[e[0]][1][e[1] + 16] == 2)
    for offset, value in {0x90 if form < 4 else 0x10: 1, **words}.items():
        patch(parts, held, 16 + 0x18 + offset, struct.pack("<Q", value))
    text = text_of(cairn("ds", "--records", "1", "-", data=frames.write(parts)))
    return {name: " ".join(rest.split()) for name, rest in re.findall(
        r"^ +\w* +[0-9a-f]+ [ *](head|data source|latency|TX) +[0-9a-f]{16}(.*(?:\n {44,}\S.*)*)", text, re.M)}


NEHALEM, IVYBRIDGE, HASWELL, SKYLAKE, ICELAKE, SAPPHIRERAPIDS, ALDERLAKE, METEORLAKE, LUNARLAKE = \
    0x106A5, 0x306A9, 0x306C3, 0x506E3, 0x706E5, 0x806F8, 0x90672, 0xA06A4, 0xB06D1


@pytest.mark.parametrize("form, signature, source, said", [
    (1, NEHALEM, 0x16, "L3 hit, other core modified"),  # bit 4 says nothing yet
    (1, IVYBRIDGE, 0x37, "L3 hit, modified, STLB miss, locked"),
    (2, HASWELL, 0x0A, "local DRAM, shared"),
    (3, SKYLAKE, 0x1A, "local DRAM, STLB miss"),
    (4, ICELAKE, 0xC1, "L1 hit"),  # bits 6 and 7 say nothing yet
    (4, SAPPHIRERAPIDS, 0xC1, "L1 hit, blocked on data, blocked on address"),
    (1, NEHALEM, 0x07, "reserved"),
    (4, LUNARLAKE, 0x280D, "L3 hit, modified, locked, blocked on address"), (4, LUNARLAKE, 0x10, "memory-side cache"),
    (4, LUNARLAKE, 0x12, "reserved"),
    (4, 0x600F12, 0x03, ""), (3, SKYLAKE, 0, "not told"),
])
def test_data_source(form, signature, source, said):
    at = 0xA0 if form < 4 else 0x28
    name = "MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD" if signature == NEHALEM else "MEM_TRANS_RETIRED.LOAD_LATENCY"
    assert meanings(form, {at: source}, signature, name)["data source"] == said


@pytest.mark.parametrize("signature, core_type, source, said", [
    (ALDERLAKE, 0x40, 0x15, "L3 hit, snoop miss, STLB miss"), (ALDERLAKE, 0x20, 0x15, "L3 hit, snoop hit, locked"),
    (ALDERLAKE, 0x20, 0x68, "L3 hit, forwarded, STLB miss, blocked on data"),
    (METEORLAKE, 0x20, 0x47, "L3 hit, forwarded, STLB miss"), (LUNARLAKE, 0x20, 0xA8, "L3 hit, modified, locked, "
                                                              "blocked on data"),
])
def test_data_source_by_kind_of_core(signature, core_type, source, said):
    assert meanings(4, {0x28: source}, signature, keys=f"cpu.0.core_type={core_type:#x}\n")["data source"] == said


def test_data_source_of_stores():
    """As that of loads, but Golden Cove's are not blocked."""
    name = "MEM_TRANS_RETIRED.STORE_SAMPLE"
    assert meanings(4, {0x28: 0xE1}, SAPPHIRERAPIDS, name)["data source"] == "L1 hit, locked"
    assert meanings(4, {0x28: 0x15}, ALDERLAKE, name, "cpu.0.core_type=0x20\n")["data source"] == \
        "L3 hit, snoop hit, locked"


def test_data_source_of_another_event():
    """Only load latency and sampled stores are coded so."""
    assert not meanings(3, {0xA0: 3}, SKYLAKE, "MEM_INST_RETIRED.ALL_STORES")["data source"]


@pytest.mark.parametrize("form, latency, said", [
    (1, 300, "300 core cycles"), (3, 0x12345, "74565 core cycles"), (4, 0x12345, "74565 core cycles"),
    (4, 250 << 32 | 300, "300 core cycles, cache 250"), (4, 0xAAAA << 48 | 9 << 32 | 0xBBBB << 16 | 12,
                                                         "12 core cycles, cache 9"), (4, 0, "not told"),
])
def test_latency(form, latency, said):
    assert meanings(form, {0xA8 if form < 4 else 0x30: latency})["latency"] == said


@pytest.mark.parametrize("form, at", [(2, 0xB8), (3, 0xB8), (4, 0x38)])
def test_transaction(form, at):
    assert meanings(form, {at: 0x52_00000019})["TX"] == "25 cycles, RTM abort, may be retried, capacity (write)"
    assert meanings(form, {at: 0xAD << 32})["TX"] == \
        "0 cycles, HLE abort, by an instruction, not by an instruction, conflict, capacity (read)"
    assert not meanings(form, {at: 0})["TX"]
