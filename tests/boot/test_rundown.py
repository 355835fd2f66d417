# SPDX-License-Identifier: MIT
"""Who and what is there: processes, threads, images and the machine, told to sessions that start, run and stop."""

import re
import struct

import pytest

import cairn_boot as cb
from cairn_log import cairn, frames, keys, run_and_check

# Where a payload names whom it is about, and how an event begins: the layouts of trace/rundown/rundown.h, in numbers.
PROCESS, THREAD, IMAGE = {0x0301: "S", 0x0302: "E", 0x0303: "D", 0x0304: "X"}, \
    {0x0501: "S", 0x0502: "E", 0x0503: "D", 0x0504: "X"}, {0x030A: "S", 0x1402: "E", 0x1403: "D", 0x1404: "X"}
PLACE = {**{h: 8 for h in PROCESS}, **{h: 4 for h in THREAD}, **{h: 0x10 for h in IMAGE}}
VERSION = {**{h: 4 for h in PROCESS}, **{h: 3 for h in THREAD}, **{h: 3 for h in IMAGE}, 0x0548: 2, 0x0B0A: 3,
           0x0B1A: 2, 0x0B1B: 2, 0x1421: 2, 0x0005: 2, 0x0020: 2, 0x0008: 2}
SYSTEM = {0x0301, 0x0302, *THREAD, 0x030A, 0x1402, 0x0B0A}


def events(log, session):
    """(time, hook, process of the header or None, payload) of every event of a session, by time."""
    found, buffers = [], {}
    for payload in frames(log, "T"):
        sequence, _, cpu, number, offset, _ = struct.unpack_from("<IIHHII", payload)
        if number == session:
            buffers.setdefault((cpu, sequence), []).append((offset, payload[20:]))
    for parts in buffers.values():
        buffer = b"".join(part for _, part in sorted(parts))
        at, used = 0x48, struct.unpack_from("<I", buffer, 0x30)[0]
        while at < used:
            marker, size, hook = struct.unpack_from("<IHH", buffer, at)
            system = marker >> 16 == 0xC002
            head = 0x20 if system else 0x10 + (8 if marker & 0x8000 else 0)
            time, = struct.unpack_from("<q", buffer, at + (16 if system else 8))
            if hook in VERSION:
                assert marker & 0xFF == VERSION[hook] and size == len(buffer[at:at + size])
                kernel = hook in (0x1403, 0x1404) and not struct.unpack_from("<I", buffer, at + head + 16)[0]
                assert system == (hook in SYSTEM or kernel), hex(hook)
            process = struct.unpack_from("<I", buffer, at + 12)[0] if system else None
            found.append((time, hook, process, buffer[at + head:at + size]))
            at += (size + 7) // 8 * 8
    return sorted(found, key=lambda event: event[0])


def lives(found, table):
    """For each who: how it was told of, in order."""
    told = {}
    for _, hook, _, payload in found:
        if hook in table:
            who, = struct.unpack_from("<I", payload, PLACE[hook])
            told.setdefault(who, []).append(table[hook])
    return {who: "".join(what) for who, what in told.items()}


def narrow(payload, at):
    return payload[at:payload.index(b"\0", at)].decode()


def wide(payload, at):
    return payload[at:].decode("utf-16-le").rstrip("\0")


def test_all_of_a_run(tmp_path):
    """A session over the whole run, decoded by a second reader: everybody begins once and ends once."""
    result, _ = run_and_check(tmp_path, 2, 2000, "dump.pack=0", "workload=user",
                              "session.1=compact+process+thread+loader:qpc:sequential")
    found = events(result.log, 1)
    hooks = [event[1] for event in found]
    processes, threads, images = (lives(found, table) for table in (PROCESS, THREAD, IMAGE))
    assert processes.pop(0) == processes.pop(4) == images.pop(0) == "DX" and threads.pop(0) == "DDXX"
    assert threads.pop(8) == "DX"  # the one that starts and stops it
    assert set(threads.values()) == set(processes.values()) == set(images.values()) == {"SE"}
    assert len(processes) >= 8 and set(processes) == set(images) and not set(processes) & set(threads)

    mine = {}  # each process' thread
    names, called = {}, {}
    for _, hook, header, payload in found:
        if hook in THREAD:
            pid, tid = struct.unpack_from("<II", payload)
            mine.setdefault(pid, set()).add(tid)
            stack, limit, user, user_limit = struct.unpack_from("<4Q", payload, 8)
            assert 28672 - 512 < stack - limit < 28672 and (user - user_limit == 16384) == (pid not in (0, 4))
            assert len(payload) == 0x48 if hook == 0x0501 else wide(payload, 0x48)
            assert header == (4 if hook == 0x0501 else pid)  # who did it
            if hook == 0x0503:
                called[tid] = wide(payload, 0x48)
        if hook == 0x0548:
            called[struct.unpack_from("<I", payload, 4)[0]] = wide(payload, 8)
        if hook in PROCESS:
            assert payload[0x24:0x40] == bytes([1] + 15 * [0] + [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0])
            names[struct.unpack_from("<I", payload, 8)[0]] = narrow(payload, 0x40)
        if hook == 0x0302:
            assert struct.unpack_from("<i", payload, 0x14)[0] == 0
        if hook in IMAGE:
            base, size, pid = struct.unpack_from("<QQI", payload)
            assert wide(payload, 0x38) == ("\\Cairn\\programs" if pid else "\\Cairn\\kernel.elf")
            assert base == (0x400000 if pid else 0xFFFFFFFF80000000) and size % 4096 == 0 and size
    assert names[0] == "Idle" and names[4] == "System"
    assert all(len(mine[pid]) == 1 and names[pid] == called[min(mine[pid])] for pid in processes)
    stream = dict(re.findall(r"^(\d+) -?\d+ \S+ (.+)$", b"".join(frames(result.log, "N")).decode(), re.M))
    assert {int(tid): name for tid, name in stream.items() if tid != "0"} == \
           {tid: name for tid, name in called.items() if tid}

    told = [hook for hook in hooks if hook in VERSION]
    machine_hooks = [0x0B0A, 0x0B1A, 0x0B1B]
    assert told[:told.index(0x0008) + 1] == \
        [0x0005, 0x0303, 0x0503, 0x0503, 0x0303, 0x0503, 0x1403, *machine_hooks, 0x0008]
    assert told[told.index(0x0020) - 3:] == \
        [*machine_hooks, 0x0020, 0x1404, 0x0504, 0x0304, 0x0504, 0x0504, 0x0304, 0x1421, 0x0005, 0x0008]
    masks = [struct.unpack("<9I", p) for _, h, _, p in found if h in (0x0005, 0x0020)]
    asked = (7, 0x104, 0, 0, 0, 0, 0, 0, 60)
    assert masks == [asked, asked, (0,) * 8 + (60,)]

    machine = keys(result.log, "M")
    config = next(p for _, h, _, p in found if h == 0x0B0A)
    mhz, cpus, megabytes = struct.unpack_from("<3I", config)
    assert len(config) == 0x33C and config[0x14:0x20] == "CAIRN\0".encode("utf-16-le")
    assert (mhz, cpus) == (int(machine["machine.tsc_hz"]) // 10**6, 2)
    assert megabytes == int(machine["machine.memory_bytes"]) >> 20
    cpuid = int(machine["cpu.0.cpuid.00000001.00000000"].split()[0], 16)
    family, stepping = struct.unpack_from("<HH", config, 0x332)
    assert stepping & 0xF == cpuid & 0xF and family >= 6
    assert next(p for _, h, _, p in found if h == 0x0B1A) == struct.pack("<IQ", 1, 3)
    assert next(p for _, h, _, p in found if h == 0x0B1B) == struct.pack("<IHBBHBB", 2, 0, 0, 0, 0, 1, 0)


@pytest.mark.long
def test_names_without_the_names(tmp_path):
    """A log whose names stream is gone names its threads by the session's own events."""
    result, _ = run_and_check(tmp_path, 2, 1500, "workload=mix", "session.1=compact+thread:qpc:sequential")
    whole = cairn("dump", result.log)[1].splitlines()
    lines = result.log.read_bytes().splitlines(keepends=True)
    (tmp_path / "without").write_bytes(b"".join(line for line in lines if not line.startswith(b"~N")))
    without = cairn("dump", tmp_path / "without")[1].splitlines()
    assert sum(" > " in line for line in whole) >= 1500
    assert [line for line in whole if " > " in line] == [line for line in without if " > " in line]
    assert not any("thread:" in line for line in without)


@pytest.mark.long
def test_who_comes_and_goes(tmp_path):
    """Sessions of other clocks, groups and modes that are stopped and started while threads come, run and go; each
    tells of everybody, and only of what it was asked for. The rules of `cairn check` hold it against the truth."""
    result, _ = run_and_check(tmp_path, 4, 4000, "workload=user", "session.1=compact:qpc:sequential",
                              "session.2=both+thread+process+loader:system:sequential:16:512",
                              "session.3=full+thread:tsc:sequential:16:512",
                              "session.4=process+cpu_config+no_sysconfig:qpc:sequential", "session.restarts=9")
    for number, groups in ((1, ""), (2, "PTI"), (3, "T"), (4, "P")):
        status, text = cairn("check", "--session", number, result.log)
        assert status == 0, text
        for rule, word in (("rundown: all that runs is listed, once", "consistent"),
                           ("truth: each thread that ran is listed", "verified")):
            rows = re.findall(rf"^{rule} +(\d+) +0 {word}$", text, re.M)
            assert bool(rows) == (("T" in groups) if "truth" in rule else bool(groups)), text
            assert all(int(n) > 100 for n in rows) or number == 4
        status, text = cairn("stat", "--session", number, result.log)
        counts = {hook: int(n) for n, hook in re.findall(r" (\d+)   ([0-9A-F]{4})H$", text, re.M)}
        for group, hooks in (("P", "0303 0304 0301 0302"), ("T", "0503 0504 0501 0502 0548"), ("I", "1403 1404 1421")):
            for hook in hooks.split():
                assert (counts.get(hook, 0) > 0) == (group in groups), (number, hook, counts)
        starts = 4 if number > 1 else 0  # it runs, and three times again
        assert counts.get("0020", 0) == counts.get("0005", 0) / 2 == counts.get("0008", 0) / 2 == starts
        assert counts.get("0B0A", 0) == (2 * starts if number in (2, 3) else 0)


@pytest.mark.long
def test_panic_keeps_the_start(tmp_path):
    """The start's rundown is in what a panic leaves."""
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=2000", cb.UNHURRIED, "panic=null",
                     "dump.pack=0", "session.1=compact+thread+process:qpc:sequential")
    assert result.status != cb.PASS
    hooks = {event[1] for event in events(result.log, 1)}
    assert {0x0005, 0x0303, 0x0503, 0x0B0A, 0x0008, 0x0501} <= hooks and not {0x0504, 0x0020} & hooks


@pytest.mark.long
def test_mutant(tmp_path):
    """A kernel that does not tell of a thread that is there: check notices."""
    build = cb.build_with(tmp_path / "build", kernel_elf=cb.BUILD / "mutant7" / "kernel.elf")
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=1500", cb.UNHURRIED,
                     "session.1=compact+thread:qpc:sequential", build=build)
    assert result.status == cb.PASS, result.output
    status, text = cairn("check", result.log)
    for rule in ("rundown: all that runs is listed, once", "truth: each thread that ran is listed"):
        assert status == 1 and re.search(f"FAIL {rule}\n.*thread 8 runs, but has no start event", text), text
