# SPDX-License-Identifier: MIT
# Longer than 500 lines: files of Windows and those of `cairn export` are held against the same tables.
"""ETL files: Windows' own as make_etl.py writes them, and those of `cairn export`, which the reader in etl.py, made
apart from the C code, takes to pieces."""

import re
import struct

import pytest

import cairn_boot
import etl
import frames
import make_etl
from cairn_tool import GOLDEN, cairn, events, expect_text, patch, switch_lines, text_of, without

WINDOWS = sorted(make_etl.FILES)
TEXTS = ["windows-7600-32", "windows-10240-64", "windows-19041-64"]  # full switches, batches, names
LOGS = ["small", "full", "nods", "circular", "lost", "panic", "hw", "bts", "ring", "life", "locks", "live", "told",
        "arch", "fragments"]
WORDS = (cairn_boot.ROOT / "trace/wire/switch_words.h").read_text(encoding="ascii")
REASONS = re.findall(r'"(\w+)"', WORDS)[10:]  # behind the states
STATES = {1: "Ready", 4: "Terminated", 7: "DeferredReady"}


def quiet(done):
    """Whether it had nothing to say but that a frame of live.log came again."""
    return not re.sub(rb"note: 1 frame was cut short .*\n", b"", done.stderr)


def without_other(text):
    """A dump without the lines of events that are neither switches nor the Debug Store's."""
    return [line for line in re.sub(r"\n {18}(?=\S)", " ", text).splitlines() if line[16:17] != "+"]


# ---- Windows' own files ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", WINDOWS)
def test_golden_files_are_what_their_maker_writes(name):
    data = make_etl.maker(name).make()
    assert data == (GOLDEN / f"{name}.etl").read_bytes()
    assert sum(len(b.events) for b in etl.read(data)) > 30


def shown(maker, log_names):
    """The switches as dump is to show them, by time."""
    def name(tid, width):
        if tid is None:
            return "unknown"
        room, whole = width - len(f":{tid}"), log_names.get(tid, "thread")
        return "idle" if tid == 0 else f"{whole if len(whole) <= room else whole[:room - 1] + '+'}:{tid}"
    lines = []
    for time, cpu, old, new, state, reason, priority, ticks, known in maker.switches:
        units = (time - 1000) * 10_000_000 // maker.frequency
        why = "-" if state is None else f"raw {reason}" if not known else STATES.get(state) or (
            "Running" if state == 2 else REASONS[reason])
        lines.append((time, cpu, f"{units // 10_000_000:4d}.{units % 10_000_000:07d} {cpu:2d}   {name(old, 16):<16} "
                      f"{why[:17]:<17} {'' if priority is None else priority:>2} > {name(new, 14):<14} {ticks:>5}"))
    return [line for _, _, line in sorted(lines, key=lambda entry: entry[:2])]


def names_of(maker):
    names = {tid: make_etl.PROCESSES[pid] for tid, pid in make_etl.THREADS.items()}
    return names | (make_etl.NAMES if maker.build >= 19041 else {})


@pytest.mark.parametrize("name", WINDOWS)
def test_every_switch_of_a_windows_file(name):
    maker = make_etl.maker(name)
    maker.make()
    text = text_of(cairn("dump", GOLDEN / f"{name}.etl"))
    got, wanted = switch_lines(text), shown(maker, names_of(maker))
    assert len(got) == 80 and got == wanted
    assert text.count(" + ") == maker.other


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("command", ["dump", "stat", "info", "check"])
def test_expected_text(name, command):
    done = cairn(command, GOLDEN / f"{name}.etl")
    text = text_of(done)
    assert done.returncode == 0 and done.stderr == b""
    expect_text(f"{name}/{command}", text)


MODES = ["ordinary", "queued", "shared", "exclusive", "converted"]


def middle_and_most(values):
    values = sorted(values)
    return values[(len(values) - 1) // 2], values[-1]


@pytest.mark.parametrize("name", WINDOWS)
def test_spin_locks(name):
    """What `cairn locks` sums up, of 64-bit and 32-bit events; of Windows 7 no lock is one that was held long."""
    maker = make_etl.maker(name)
    maker.make()
    text = text_of(cairn("locks", GOLDEN / f"{name}.etl"))
    wanted = {}
    for lock, mode, spins, wait, hold, caller in maker.locks:
        wanted.setdefault((f"0x{lock:016x}", MODES[mode]), []).append((spins, wait, hold, caller))
    found = re.findall(r"^(0x\w{16}), (\w+)\n((?:  .*\n)+)", text, re.M)
    assert len(found) == len(wanted) == 5
    for lock, mode, part in found:
        rows = wanted[lock, mode]
        spins = [row[0] for row in rows if row[0]]
        assert f"{len(rows)} events, {len(spins)} contended\n" in part
        for field, values in ("spins", spins), ("wait", [row[1] for row in rows]), ("hold", [row[2] for row in rows]):
            got = re.search(rf"^  {field} +(\d+) +(\d+)$", part, re.M)
            assert (int(got[1]), int(got[2])) == middle_and_most(values)
        long = 0 if maker.build == 7600 else sum(row[2] > 1_000_000 for row in rows)
        rule = re.search(r"^  events chosen by: (.*)$", part, re.M)[1]
        assert (f"held long {long}" in rule) == (long > 0) and "no rule" not in rule
        acquired = int(re.search(r"about (\d+) acquired", part)[1])
        assert acquired == sum(1 if row[0] or (long and row[2] > 1_000_000) else 1000 for row in rows)
        for caller in {row[3] for row in rows}:
            assert f"0x{caller:016x} {sum(row[3] == caller for row in rows)}" in part
    dump = re.sub(r"\n {18}(?=\S)", " ", text_of(cairn("dump", GOLDEN / f"{name}.etl")))
    assert len(re.findall(r" released by (?:worker|thread|explorer\.exe):908(?:, in an interrupt|, in a DPC)?: depth ",
                          dump)) == 30
    assert dump.count(", in an interrupt: depth") == dump.count(", in a DPC: depth") == 1
    assert len(re.findall(r"\+ 0529H spin lock$", dump, re.M)) == 1  # of the version that is not known


def test_every_header_is_named():
    text = text_of(cairn("info", GOLDEN / "windows-19041-64.etl"))
    for header in ("SYSTEM64", "COMPACT64", "PERFINFO64", "FULL64", "INSTANCE64", "EVENT64", "MESSAGE", "ERROR"):
        assert header in text
    text = text_of(cairn("info", GOLDEN / "windows-7600-32.etl"))
    for header in ("SYSTEM32", "COMPACT32", "PERFINFO32", "FULL32", "INSTANCE32", "EVENT32"):
        assert header in text


def other_lines(maker):
    """What dump is to say of the events of CPU 0 that are neither switches nor spin locks. Those of versions nobody
    knows are named alone."""
    old, names, source = maker.build == 7600, names_of(maker), f"{{{make_etl.PROVIDER}}}"
    yield from ("0000H file header", "0005H header extension")
    for pid, name in make_etl.PROCESSES.items():
        yield f"0303H process (rundown) {pid} of {4 if pid > 4 else 0}, {name}"
        yield from (f"0503H thread (rundown) {tid} of {pid}, {names[tid]}"
                    for tid, of in make_etl.THREADS.items() if of == pid)
    yield from ["0548H thread name 912 of 900, renamed"] * (maker.build >= 19041)
    yield from (f"1403H image (rundown) of {pid}, {name}" for pid, name in ((0, "ntoskrnl.exe"), (900, "explorer.exe")))
    yield ("spin locks from here: SpinThreshold 1, ContentionSampleRate 1, AcquireSampleRate 1000, "
           f"HoldThreshold {0 if old else 1_000_000}")
    yield "0008H rundown complete"
    yield from (f"type 5 of {source}, PID 4, TID 12", "type 5 of a class without a name, PID 4, TID 12",
                f"event 7 of {source}, PID 4, TID 12, level 4, opcode 1, keyword 0x1, 8 bytes",
                f"message 77 of {source}, sequence 5, PID 900, TID 908",
                "ERROR (header 0DH), 24 bytes", "0A20H unknown event", "7F99H unknown event", "0524H context switch")
    yield f"timer at 0x0000000000001000: System:8{'' if old else ', priority 0'} : counters at 1, 2, 3"
    took = f"{37e6 / maker.frequency:.1f} us" if maker.frequency < 1e8 else "0.0 us"
    yield from (f"{what} ntoskrnl.exe+0x1230: {took}" for what in ("interrupt D1H,", "DPC", "timer DPC"))
    at = f"at ntoskrnl.exe+0x4560: {names[908]}:908"
    yield f"timer {at}{'' if old else ', priority 9, in a DPC'}, for 2"  # Windows 7 has no flags
    yield from (f"source 10 {at}", "0F43H interrupt", "0F44H DPC", "0F2EH sampled profile")


@pytest.mark.parametrize("name", WINDOWS)
def test_every_other_event(name):
    dump = text_of(cairn("dump", GOLDEN / f"{name}.etl"))
    lines = re.sub(r"\n {16}(?: {2}(?=\S)|(?=: counters))", " ", dump).splitlines()
    found = [re.sub(r": (UniqueProcessKey|ImageBase)=.*", "", line[18:]) for line in lines if line[12:18] == "  0 + "]
    maker = make_etl.maker(name)
    maker.make()
    assert found == list(other_lines(maker))
    counters = [n % 9 % 8 for n in range(40)] * 2
    assert sorted(line.count(",") + 1 for line in lines if " > " in line and ": counters at 0" in line) == (
        [] if maker.compact else sorted(n for n in counters if n))


@pytest.mark.parametrize("name", ["windows-7600-64", "windows-19041-32"])
def test_the_last_padding_need_not_be_used(name):
    """A used size that ends with the last event is as good; one byte less is damage."""
    whole = (GOLDEN / f"{name}.etl").read_bytes()
    data, shorter, changed = bytearray(whole), bytearray(whole), 0
    for b in etl.read(whole)[1:]:
        last = b.at + b.events[-1].at
        pad = -struct.unpack_from("<H", whole, last + 4)[0] % 8
        changed += pad > 0
        for out, used in ((data, b.used - pad), (shorter, b.used - pad - 1)):
            struct.pack_into("<I", out, b.at + 4, used)
            struct.pack_into("<I", out, b.at + 0x30, used)
        data[b.at + b.used - pad:b.at + b.used] = shorter[b.at + b.used - pad:b.at + b.used] = b"\xff" * pad
    assert changed and sum(len(b.events) for b in etl.read(bytes(data))) == sum(
        len(b.events) for b in etl.read(whole))
    for command in ("dump", "check"):
        done = cairn(command, "-", data=bytes(data))
        assert done.returncode == 0 and done.stdout == cairn(command, GOLDEN / f"{name}.etl").stdout
    assert cairn("check", "-", data=bytes(shorter)).returncode == 1


def test_bare_states_and_max_wait_reason():
    path = GOLDEN / "windows-unknown.etl"
    bare, told = text_of(cairn("dump", path)), text_of(cairn("dump", "--max-wait-reason", "43", path))
    assert "raw 44" in bare and "is unknown" in bare and "raw" not in told
    maker = make_etl.maker("windows-unknown")
    maker.make()
    for a, b in zip(switch_lines(bare), switch_lines(told)):
        raw = re.search(r"raw (\d+)", a)
        if raw:
            n = int(raw[1])
            assert (STATES[n - 43] if n >= 43 else REASONS[n])[:17] in b


def test_a_wrong_max_wait_reason_is_damage():
    done = cairn("check", "--max-wait-reason", "1", GOLDEN / "windows-unknown.etl")
    assert done.returncode == 1 and b"are not events" in done.stdout


@pytest.mark.parametrize("number, name", [(2, b"LZNT1"), (4, b"Xpress Huffman"), (9, b"without a name")])
def test_other_compression_is_refused_by_name(number, name):
    data = bytearray((GOLDEN / "windows-compressed.etl").read_bytes())
    data[0x2C:0x2E] = struct.pack("<H", number)
    done = cairn("dump", "-", data=bytes(data))
    assert done.returncode == 3 and name in b" ".join(done.stderr.split()) and done.stdout == b""
    assert done.stderr.count(b"cairn: ") == 1


@pytest.mark.parametrize("command", ["dump", "stat", "check"])
@pytest.mark.parametrize("name, plain", [("compressed", "19041-64"), ("system-time", "22000-64")])
def test_the_same_trace(name, plain, command):
    """Once compressed and once not, once of one clock and once of another of that rate: no line differs."""
    assert text_of(cairn(command, GOLDEN / f"windows-{name}.etl")) == text_of(
        cairn(command, GOLDEN / f"windows-{plain}.etl"))


# ---- damage ----------------------------------------------------------------------------------------------------------

def test_a_file_that_was_cut():
    data = (GOLDEN / "windows-10240-64.etl").read_bytes()
    for size in (*range(0, 0x80, 8), *range(0x80, len(data), 611)):
        for command in ("dump", "check"):
            done = cairn(command, "-", data=data[:size])
            text_of(done)
            assert done.returncode in (1, 3), size
            assert done.stderr


@pytest.mark.parametrize("name", ["windows-19041-64", "windows-compressed", "windows-7600-32"])
def test_bytes_that_cannot_be(name):
    """Whatever is written over a file, the reader says so or shows something, and never fails otherwise."""
    whole = (GOLDEN / f"{name}.etl").read_bytes()
    for at in (0, 4, 0x30, 0x34, 0x48, 0x4C, 0x70, 2048, 2048 + 0x30, 2048 + 0x34, 2048 + 0x48, 2048 + 0x60):
        for value in (0, 1, 0x47, 0x7FFFFFFF, 0xFFFFFFFF):
            data = bytearray(whole)
            data[at:at + 4] = struct.pack("<I", value)
            done = cairn("check", "-", data=bytes(data))
            text_of(done)
            assert done.returncode in (0, 1, 3)
            assert done.returncode == 0 or done.stderr or b"FAIL" in done.stdout


def test_what_was_lost_leaves_incoming_threads_unknown():
    """EventsLost in the header: nothing says where, so between any two buffers."""
    data = bytearray((GOLDEN / "windows-7600-64.etl").read_bytes())
    at = 0x48 + 0x20 + 0x30
    assert struct.unpack_from("<I", data, at)[0] == 0
    struct.pack_into("<I", data, at, 7)
    text = text_of(cairn("dump", "-", data=bytes(data)))
    assert text.count("! events may be missing here") > 1
    assert "events lost                   7" in text_of(cairn("stat", "-", data=bytes(data)))


def test_a_missing_sequence_number_is_seen():
    data = (GOLDEN / "windows-10240-32.etl").read_bytes()
    buffers = etl.read(data)
    gone = next(b for b in buffers[2:] if b.cpu == 1)
    done = cairn("check", "-", data=data[:gone.at] + data[gone.at + gone.size:])
    assert done.returncode == 1 and b"counts" in done.stdout
    assert "may be missing" in text_of(cairn("dump", "-", data=data[:gone.at] + data[gone.at + gone.size:]))


# ---- export ----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module", name="exported")
def _exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("etl")

    def export(log, *options):
        path = folder / f"{log}{''.join(options)}.etl"
        if not path.exists():
            done = cairn("export", "--to", "etl", *options, GOLDEN / f"{log}.log", "-o", path)
            assert done.returncode == 0 and quiet(done)
            assert all(len(line.replace(str(path), "")) <= 80 for line in text_of(done).splitlines())
        return path
    return export


def kernel_events(log):
    """{CPU: [the events of the log, as bytes]}."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    order = {}
    for frame, at, _, size in events(parts):
        payload = parts[frame][1]
        ordinal, cpu, offset = struct.unpack_from("<I", payload, 4)[0], *struct.unpack_from("<H2xI", payload, 8)
        order.setdefault(cpu, []).append(((ordinal, offset, at), payload[at:at + size]))
    return {cpu: [event for _, event in sorted(found)] for cpu, found in order.items()}


@pytest.mark.parametrize("log", LOGS)
def test_every_event_is_in_the_file(exported, log):
    data = exported(log).read_bytes()
    buffers = etl.read(data)
    size = buffers[0].size
    for cpu, wanted in kernel_events(log).items():
        got = [data[b.at + e.at:b.at + e.at + len(e.payload) + (16 if e.header == 0x11 else 32) + 8 * len(e.items)]
               for b in buffers if b.cpu == cpu for e in b.events]
        at = got.index(wanted[0])
        assert got[at:at + len(wanted)] == wanted, cpu
    for n, b in enumerate(buffers):
        assert b.sequence == n and b.size == size and b.used % 8 == 0
        assert b.type == (4 if n == 0 else 0) and b.state == 3
        assert b.flag & ~6 == (0x21 if n in (0, len(buffers) - 1) else 0x20)
        times = [e.time for e in b.events]
        assert times == sorted(times) and (n == 0 or b.time == times[-1])
        assert struct.unpack_from("<III", data, b.at + 4)[:2] == (b.used, b.used)
        assert struct.unpack_from("<Q", data, b.at + 0x20)[0] == 0
        for e, following in zip(b.events, b.events[1:]):  # what is between events is 0
            end = b.at + e.at + struct.unpack_from("<H", data, b.at + e.at + 4)[0]
            assert not any(data[end:b.at + following.at])
    assert [b.time for b in buffers] == sorted(b.time for b in buffers)


def starts_as_windows_does(buffers):
    """The header event, then the masks: in the file, and by time."""
    for order in (lambda e: 0, lambda e: e.time):
        first, second = sorted((e for b in buffers for e in b.events), key=order)[:2]
        assert (first.hook, second.hook) == (0x0000, 0x0005) and first.time == second.time
        assert second.header == 2 and second.version == 2
    assert [e.hook for e in buffers[0].events] == [0x0000, 0x0005]


@pytest.mark.parametrize("build, windows, version", [(10240, (10, 0), 60), (10586, (10, 0), 60), (14393, (10, 0), 65),
                                                     (17134, (10, 0), 65), (18362, (10, 0), 70), (19041, (10, 0), 80),
                                                     (22621, (10, 0), 85), (9200, (6, 2), 42), (7601, (6, 1), 25)])
def test_versions_are_those_of_the_build(tmp_path, build, windows, version):
    """Whatever build the log's session claims to be of."""
    parts = [(s, p.replace(b"session.1.build=10240\n", b"session.1.build=%d\n" % build))
             for s, p in frames.read((GOLDEN / "small.log").read_bytes())]
    buffers = exported_from(tmp_path / "x.etl", parts)
    header = etl.header(buffers)
    assert header.build == build and header.version[:2] == windows
    assert struct.unpack_from("<I", buffers[0].events[1].payload, 0x20)[0] == version


@pytest.mark.parametrize("log", LOGS)
def test_the_masks_are_behind_the_header(exported, log):
    for options in ((), ("--strict",)):
        starts_as_windows_does(etl.read(exported(log, *options).read_bytes()))


def test_the_date_is_the_same_by_every_clock(tmp_path):
    """The three sessions began together: the TSC's 0 was long before the boot."""
    headers = []
    for session in "123":
        path = tmp_path / f"{session}.etl"
        done = cairn("export", "--to", "etl", "--session", session, GOLDEN / "sessions.log", "-o", path)
        assert done.returncode == 0
        headers.append(etl.header(etl.read(path.read_bytes())))
    assert [h.clock for h in headers] == [1, 2, 3]
    assert max(h.start_time for h in headers) - min(h.start_time for h in headers) < 10_000_000
    assert max(h.end_time for h in headers) - min(h.end_time for h in headers) < 10_000_000


@pytest.mark.parametrize("log", ["small", "lost", "hw"])
def test_the_header_of_the_file(exported, log):
    buffers = etl.read(exported(log).read_bytes())
    header, first, last = etl.header(buffers), buffers[0].events[0], max(e.time for b in buffers for e in b.events)
    assert (header.build, header.cpus, header.pointer, header.clock) == (10240, 2, 8, 1)
    assert header.version == (10, 0, 1, 5) and header.frequency == 10_000_000
    assert header.buffer_size == buffers[0].size and header.buffers_written == len(buffers)
    assert header.start_buffers == 1 and header.timer_resolution == 10_000
    assert header.names == ["Cairn", "cairn.etl"]
    assert header.start_time - header.boot_time == first.time
    assert header.end_time - header.start_time == last - first.time
    assert 132_000_000_000_000_000 < header.boot_time < 160_000_000_000_000_000
    lost = int(re.search(r"events lost +(\d+)", text_of(cairn("stat", GOLDEN / f"{log}.log")))[1])
    assert header.events_lost == lost and header.buffers_lost == 0


def test_the_order_of_the_rundown(exported):
    """As Windows 8 was seen to write it: header, masks, processes with their threads and images; at the end the
    machine, masks, the same again, and masks of nothing."""
    buffers = etl.read(exported("small", "--strict").read_bytes())
    hooks = [e.hook for b in buffers for e in b.events]
    text = " ".join(f"{h:04x}" for h in hooks)
    assert re.fullmatch(r"0000 0005 0303( 0503){2} 0303( 0503)+ 1403 0008( 0525)+ 0b0a 0b1a 0b1b 0020 0304( 0504){2} "
                        r"0304( 0504)+ 1404 0005 0008", text), text
    by_hook = {}
    for b in buffers:
        for e in b.events:
            by_hook.setdefault(e.hook, []).append(e)
    forms = {hook: {(e.header, e.version) for e in found} for hook, found in by_hook.items()}
    assert forms[0x0303] == forms[0x0304] == {(0x11, 4)} and forms[0x0503] == forms[0x0504] == {(2, 3)}
    assert forms[0x1403] == forms[0x1404] == {(2, 3)} and forms[0x0B0A] == {(2, 3)} and forms[0x0008] == {(0x11, 2)}
    assert [e.header for e in by_hook[0x0005]] == [2, 0x11]  # the file's first alone has the other header
    assert forms[0x0020] == forms[0x0B1A] == forms[0x0B1B] == {(0x11, 2)}
    assert by_hook[0x0B1B][0].payload == struct.pack("<IHBBHBB", 2, 0, 0, 0, 0, 1, 0)  # group, number
    assert [len(e.payload) for e in by_hook[0x0005]] == [0x24, 0x24] and len(by_hook[0x0B0A][0].payload) == 0x33C
    masks = [struct.unpack("<9I", e.payload) for e in by_hook[0x0005]]
    assert masks[0] == (7, 0x104, 0x10000, 0, 0, 0, 0, 0, 60) and not any(masks[1][:8])


def test_processes_and_threads(exported):
    buffers = etl.read(exported("small", "--strict").read_bytes())
    processes, threads = {}, {}
    for e in (e for b in buffers for e in b.events):
        if e.hook == 0x0303:
            pid = struct.unpack_from("<I", e.payload, 8)[0]
            assert struct.unpack_from("<I", e.payload, 0x24)[0] and e.payload[0x34:0x40] == bytes.fromhex(
                "010100000000000512000000")  # TOKEN_USER, then S-1-5-18
            processes[pid] = e.payload[0x40:].split(b"\0")[0].decode()
            assert e.payload[0x40 + len(processes[pid]):] == bytes(7)
        if e.hook == 0x0503:
            pid, tid = struct.unpack_from("<II", e.payload)
            assert (e.tid, e.pid) == (tid, pid)
            threads.setdefault(tid, []).append((pid, struct.unpack_from("<Q", e.payload, 0x28)[0],
                                                e.payload[0x44], e.payload[0x48:].decode("utf-16-le")))
    assert processes == {0: "Idle", 4: "Cairn"}
    assert threads.pop(0) == [(0, 1, 0, "idle/0\0"), (0, 2, 0, "idle/1\0")]
    lines = [p.decode() for s, p in frames.read((GOLDEN / "small.log").read_bytes()) if s == "N"]
    names = {int(tid): (4, 3, int(base), f"{name}\0") for tid, base, _, name in
             (line.split(" ", 3) for line in "".join(lines).splitlines()) if tid != "0"}
    assert {tid: found[0] for tid, found in threads.items()} == names


def test_strict_has_nothing_of_cairns_own(exported):
    for log in LOGS:
        for e in (e for b in etl.read(exported(log, "--strict").read_bytes()) for e in b.events):
            assert e.hook >> 8 != 0xCA
            assert not e.items  # nor a PEBS index, which the word of the version would tell of
    both = {e.hook for b in etl.read(exported("full", "--strict").read_bytes()) for e in b.events}
    assert 0x0524 in both and 0x0525 not in both


# ---- there and back --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("log", LOGS)
def test_dump_of_the_file_is_that_of_the_log(exported, log):
    def lines(path):
        text = "\n".join(without_other(text_of(cairn("dump", path))))
        return re.sub("events lost (?:from here on: no buffer was left|here: no empty buffer was left)",
                      "events may be missing here: some were lost", text)
    assert lines(exported(log)) == lines(GOLDEN / f"{log}.log")


@pytest.mark.parametrize("log", LOGS)
def test_check_of_the_file_is_that_of_the_log(exported, log):
    def rows(path):
        done = cairn("check", path)
        assert done.returncode == 0 and quiet(done)
        text = text_of(done)
        if log == "live" and path.suffix == ".log":  # frames and buffers that came while it ran: not in the file
            text = re.sub("(?<=all found)( +[0-9]+)", lambda n: f"{int(n[0]) - 2:{len(n[0])}}", text)
        kept = [line for line in text.splitlines() if not line.startswith(
            ("frames: ", "buffers: ", "events: ", "time stamps", "live: "))]  # of which the file has others, or none
        return [re.sub(r"\d+ consistent,", "N consistent,", line) for line in kept]
    assert rows(exported(log)) == rows(GOLDEN / f"{log}.log")


@pytest.mark.parametrize("log", LOGS)
def test_stat_of_the_file_is_that_of_the_log(exported, log):
    def rows(path):
        return [line for line in text_of(cairn("stat", path)).splitlines() if "of other kinds" not in line]
    assert rows(exported(log)) == rows(GOLDEN / f"{log}.log")


@pytest.mark.parametrize("log", ["small", "full", "nods", "life", "hw"])
def test_strict_has_every_switch(exported, log):
    assert switch_lines(text_of(cairn("dump", exported(log, "--strict")))) == switch_lines(
        text_of(cairn("dump", GOLDEN / f"{log}.log")))
    done = cairn("check", exported(log, "--strict"))
    assert done.returncode == 0 and b"PASS" in done.stdout


def test_spin_locks_of_an_exported_file(exported):
    """They are all there, and the file says that its session had them."""
    assert cairn("locks", exported("locks")).stdout == cairn("locks", GOLDEN / "locks.log").stdout
    assert re.search(rb"each lock's release, sampled or not +[1-9]\d* +0 verified", cairn("check",
                                                                                         exported("locks")).stdout)
    written = [e for b in etl.read(exported("locks", "--strict").read_bytes()) for e in b.events]
    assert sum(e.hook == 0x0529 for e in written) == sum(
        hook == 0x0529 for _, _, hook, _ in events(frames.read((GOLDEN / "locks.log").read_bytes())))
    masks = next(struct.unpack("<9I", e.payload) for e in written if e.hook == 0x0005)
    assert masks == (7, 0x10104, 0x10000, 0, 0, 0, 0, 0, 60)


def test_commands_of_the_debug_store_read_the_file(exported):
    for command in (["ds"], ["profile"], ["ds", "--life", "0:3"]):
        assert cairn(*command, exported("life")).stdout == cairn(*command, GOLDEN / "life.log").stdout
    assert cairn("bts", exported("bts")).stdout == cairn("bts", GOLDEN / "bts.log").stdout


def test_a_damaged_log_makes_a_file_that_says_so(tmp_path):
    log = (GOLDEN / "small.log").read_bytes().splitlines(keepends=True)
    cut = next(i for i, line in enumerate(log) if line.startswith(b"~T"))
    del log[cut]
    path = tmp_path / "damaged.etl"
    done = cairn("export", "--to", "etl", "-", "-o", path, data=b"".join(log))
    assert done.returncode == 1 and b"damaged" in done.stderr
    etl.read(path.read_bytes())
    done = cairn("check", path)
    assert done.returncode == 1 and b"the log that the file was made from was damaged" in done.stdout


def exported_from(path, parts, *options):
    """The buffers of what becomes of a log that was changed."""
    done = cairn("export", "--to", "etl", *options, "-", "-o", path, data=frames.write(parts))
    text_of(done)
    assert done.returncode in (0, 1), done.stderr
    return etl.read(path.read_bytes())


def with_hooks(log, hooks, payload=b""):
    """A log whose first events CA01H are of these hooks instead, of version 2."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    for hook, (i, at, _, _) in zip(hooks, [e for e in events(parts) if e[2] == 0xCA01]):
        patch(parts, (i, at), 0, b"\2")
        patch(parts, (i, at), 6, struct.pack("<H", hook))
        patch(parts, (i, at), 16, payload)
    return parts


def test_what_the_kernel_wrote_is_not_made(tmp_path):
    """Nothing is to stand before and behind such a log's events: no buffer is for it."""
    kernels = (0x0005, 0x0008, 0x0503, 0x1403, 0x0B0A)
    buffers = exported_from(tmp_path / "x.etl", with_hooks("small", kernels), "--strict")
    hooks = [e.hook for b in buffers for e in b.events]
    assert all(b.events for b in buffers) and all(hooks.count(hook) == 1 for hook in kernels)
    assert set(hooks) == {0, 0x0525, *kernels} and [b.sequence for b in buffers] == list(range(len(buffers)))
    assert etl.header(buffers).buffers_written == len(buffers) and buffers[-1].flag & 0x21 == 0x21


@pytest.mark.parametrize("log, compact", [("small", 0x100), ("full", 0)])
def test_strict_masks_are_those_of_windows(tmp_path, log, compact):
    """Cairn's own groups are in the last mask; batches of a session with both kinds of switches are left out."""
    masks = [7, 0x186, 0x10000, 0, 0, 0, 0, 0x18000000, 60]
    parts = with_hooks(log, (0x0005, 0x0020), struct.pack("<9I", *masks))
    for options, wanted in (((), masks), (("--strict",), [7, 0x86 | compact, 0x10000, 0, 0, 0, 0, 0, 60])):
        buffers = exported_from(tmp_path / "x.etl", parts, *options)
        told = [struct.unpack_from("<9I", e.payload) for b in buffers for e in b.events if e.hook in (0x0005, 0x0020)]
        assert told == (2 if options else 3) * [tuple(wanted)]
        starts_as_windows_does(buffers)


def with_old_headers(log):
    """A log whose first events CA01H are what kernels up to version 0.3.0 wrote: SYSTEM headers, and the numbers of
    the CPUs as they are. Each payload is as long as the event has room; and the numbers."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    masks, payloads = struct.pack("<9I", 7, 0x186, 0x10000, 0, 0, 0, 0, 0, 60), {}
    for hook, (i, at, _, size) in zip((0x0005, 0x0020, 0x0B1A, 0x0B1B), [e for e in events(parts) if e[2] == 0xCA01]):
        room = size - 0x20
        numbers = [*range((room - 4) // 4 - 2), 64, 65]
        payload = {0x0B1A: struct.pack("<IQQ", 2, 2**64 - 1, 3),
                   0x0B1B: struct.pack(f"<{1 + len(numbers)}I", len(numbers), *numbers)}.get(hook, masks)
        payloads[hook] = payload.ljust(room, b"\0")
        head = struct.pack("<IHHII8sII", 0xC0020002, size, hook, 1, 4, parts[i][1][at + 8:at + 16], 0, 0)
        patch(parts, (i, at), 0, head + payloads[hook])
    return parts, payloads, numbers


def test_a_log_of_an_older_kernel(tmp_path):
    """Read as it was meant, copied as it is, and made into what Windows writes by --strict."""
    parts, payloads, numbers = with_old_headers("small")
    shown = "ProcessorNumber=" + " ".join(f"{n // 64}:{n % 64}" for n in numbers) + "\n"
    assert shown in text_of(cairn("dump", "-", data=frames.write(parts), env={"COLUMNS": ""}))
    for options in ((), ("--strict",)):
        buffers = exported_from(tmp_path / "x.etl", parts, *options)
        found = [e for b in buffers[1:] for e in b.events if e.hook in payloads]
        if options:  # those behind them are made: the log has no 0B0AH
            assert [e.hook for e in found[:3]] == [0x0020, 0x0B1A, 0x0B1B] and {e.header for e in found} == {0x11}
            assert struct.unpack_from("<4xHBBHBB", found[2].payload) == (0, 0, 0, 0, 1, 0)
            assert struct.unpack("<HBBHBB", found[2].payload[4 + 4 * (len(numbers) - 2):][:8]) == (1, 0, 0, 1, 1, 0)
        else:
            assert [e.payload for e in found if e.header == 2] == list(payloads.values())
        assert shown in text_of(cairn("dump", tmp_path / "x.etl", env={"COLUMNS": ""}))


def test_groups_are_those_of_the_whole_session(exported):
    """A session that is begun with no group gets them later: info tells of all."""
    data = bytearray(exported("small").read_bytes())
    first, last = [b.at + e.at + (0x20 if e.header == 2 else 0x10) for b in etl.read(data) for e in b.events
                   if e.hook == 0x0005]
    data[last:last + 0x20], data[first:first + 0x20] = data[first:first + 0x20], bytes(0x20)
    assert re.search(r"group_masks +7 104 10000 0 0 0 0 0 ", text_of(cairn("info", "-", data=bytes(data))))


def test_as_many_cpus_as_there_can_be(tmp_path):
    """Each with the most buffers overwritten: what the file says of that is as long as it can be."""
    parts, first = frames.read((GOLDEN / "circular.log").read_bytes()), None
    for i, (stream, payload) in enumerate(parts):
        if stream == "T" and payload[8:10] == b"\0\0" and first is None:
            first = i
    copies = []
    for cpu in range(256):
        payload = bytearray(parts[first][1])
        struct.pack_into("<I", payload, 4, 0xFFFFFF00)
        struct.pack_into("<H", payload, 8, cpu)
        struct.pack_into("<H", payload, 20 + 0x28, cpu)
        copies.append(("T", bytes(payload)))
    parts[first:first + 1] = copies
    without(parts, lambda i, stream: stream == "T" and not first <= i < first + 256)
    path = tmp_path / "x.etl"
    events = [event for buffer in exported_from(path, parts) for event in buffer.events]
    accounts = [text for event in events if "export.cpu." in (text := event.payload[8:].decode(errors="replace"))]
    assert len(accounts) == 4 and "export.events" in accounts[-1] and accounts[-1].encode() in events[-1].payload
    told = dict(line.split("=") for account in accounts for line in account.splitlines())
    assert all(int(told[f"export.cpu.{n}.overwritten"]) == 0xFFFFFF00 for n in range(256))
    assert all(account.endswith("\n") for account in accounts)
    info = text_of(cairn("info", path))
    assert all(f"cpu.{n}.overwritten" in info for n in range(256)) and f"cpu.255.overwritten      {0xFFFFFF00}" in info


@pytest.mark.parametrize("time", [0x7FFFFFFFFFFFFFFF, -0x8000000000000000])
def test_a_time_stamp_beyond_all_dates(tmp_path, time):
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    i, at, _, _ = list(events(parts))[-1]
    patch(parts, (i, at), 8, struct.pack("<q", time))
    header = etl.header(exported_from(tmp_path / "x.etl", parts))
    assert (header.end_time == time) == (time > 0) and (header.start_time == 0) == (time < 0)
