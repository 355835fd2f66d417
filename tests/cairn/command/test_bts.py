# SPDX-License-Identifier: MIT
"""Branch records in the host tool: expected text, filters, logs that were cut or damaged, logs that lie."""

import json
import re
import struct
import subprocess

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, cairn, events, expect_text, patch, text_of, truths, with_keys, without

LOGS = ["bts", "ring"]
HOOK, EPOCH, RECORDS, TRUTH_BRANCH = 0xCA02, 1, 2, 3


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("command, options", [("bts", ["--until", "1ms"]), ("check", [])])
def test_golden(log, command, options):
    done = cairn(command, *options, GOLDEN / f"{log}.log")
    text = text_of(done)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    expect_text(f"{log}/{command}", text)


def parse(text):
    """{thread: [branch lines]}, as they stand there."""
    found, lines = {}, None
    for line in text.splitlines():
        head = re.match(r"(\S+): \d+ branch", line)
        if head:
            lines = found.setdefault(head.group(1), [])
        elif lines is not None and line:
            lines.append(line)
    return found


@pytest.mark.parametrize("log", LOGS)
def test_branches_are_those_of_the_truth(log):
    """What is shown against the truth, by nothing but this: as many lines (repeats counted) as stored records; and in
    JSON each of them, in its order, with its thread."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    shown = parse(text_of(cairn("bts", GOLDEN / f"{log}.log")))
    branches = sum(int(m.group(1)) if (m := re.search(r"  x (\d+)$", line)) else 1
                   for lines in shown.values() for line in lines if re.match(r"  [ ~] ", line))
    lost = sum(int(re.match(r"  ! (\d+)", line).group(1))
               for lines in shown.values() for line in lines if line.startswith("  !"))
    assert branches + lost == len(truths(parts, TRUTH_BRANCH)) and lost > 0
    happened = [{}, {}]
    for frame, at in truths(parts, TRUTH_BRANCH):
        cpu, stored, _, tid, _, *branch = struct.unpack_from("<3BIQQQ", parts[frame][1], at + 1)
        if stored:
            happened[cpu].setdefault(tid, []).append(branch)
    told = [{}, {}]
    for line in map(json.loads, cairn("export", "--to", "json", GOLDEN / f"{log}.log").stdout.splitlines()):
        if line["type"] == "branch":
            branch = [int(line[end], 16) for end in ("from", "to")]
            told[line["cpu"]].setdefault(line["thread"]["tid"], []).append(branch)
    assert sum(map(len, told[0].values())) > 20 and all(
        branch in happened[cpu][tid] for cpu in (0, 1) for tid in told[cpu] for branch in told[cpu][tid])
    assert told == happened or log == "ring"
    for cpu in (0, 1):  # of a ring the newest remain, in their order
        for tid, newest in told[cpu].items():
            rest = iter(happened[cpu][tid])
            assert all(branch in rest for branch in newest)


def test_filters():
    whole = text_of(cairn("bts", GOLDEN / "bts.log"))
    for thread, lines in parse(whole).items():
        text = text_of(cairn("bts", "--thread", thread.split(":")[1], GOLDEN / "bts.log"))
        assert parse(text) == {thread: lines}
    stints = re.findall(r"to .*, CPU (\d), epoch (\d+)", whole)
    assert {cpu for cpu, _ in stints} == {"0", "1"}
    for cpu in "01":
        text = text_of(cairn("bts", "--cpu", cpu, GOLDEN / "bts.log"))
        assert re.findall(r"to .*, CPU (\d), epoch (\d+)", text) == [s for s in stints if s[0] == cpu]


@pytest.mark.parametrize("arguments, status, word", [
    (["--cpu", "7", GOLDEN / "bts.log"], 2, "this trace has 2 CPUs, numbered from 0"),
    (["--thread", "x", GOLDEN / "bts.log"], 2, "--thread x: no thread of this trace"),
    (["--thread", "5", GOLDEN / "bts.log"], 1, "no branch records match the given CPU, thread or time"),
    ([GOLDEN / "small.log"], 1, "boot with bts=circular or bts=interrupt"),
])
def test_status(arguments, status, word):
    done = cairn("bts", *arguments)
    assert b"Sanitizer" not in done.stderr
    assert done.returncode == status and word in done.stderr.decode()


def test_reason_why_there_are_none():
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    for i, (stream, payload) in enumerate(parts):
        parts[i] = (stream, payload.replace(b"ds.scope=thread", b"ds.bts.reason=CPU 0: none there"))
    done = cairn("bts", "-", data=frames.write(parts))
    assert done.returncode == 1 and b"in this log: CPU 0: none there\n" in done.stderr


SPIN, DIGEST, HAND = 0xFFFFFFFF80002000, 0xFFFFFFFF80002200, 0xFFFFFFFF80002340


def shown_of(steps, changed=lambda parts: None):
    """The lines of a drain of 15 branches that begins with these, made by hand, and is the first of its thread."""
    parts = frames.read((GOLDEN / "bts.log").read_bytes())
    changed(parts)
    for i, at, hook, size in events(parts):
        payload = parts[i][1]
        if hook == HOOK and struct.unpack_from("<H", payload, at + 16)[0] == RECORDS and size == 0x28 + 15 * 24:
            patch(parts, (i, at), 0x28, b"".join(struct.pack("<QQQ", *step, 0) for step in steps))
            epoch = struct.unpack_from("<I", payload, at + 20)[0]
            break
    text = text_of(cairn("bts", "-", data=frames.write(parts)))
    return re.search(rf"epoch {epoch}: 15 branches\n((?:    .*\n|  ~.*\n)*)", text)[1].splitlines()


def test_where_no_function_is_named():
    """Main calls through the PLT, and the library branches and returns: what leads to code without a name is unknown,
    and the return is one. Files that were mapped there are named."""
    main, plt, library = 0x401000, 0x402000, 0x7F0000001000
    steps = [(main + 0x10, plt), (plt + 4, library), (library + 8, library + 0x20), (library + 0x30, main + 0x15)]

    def name_main(parts):
        symbols = next(i for i, (stream, _) in enumerate(parts) if stream == "S")
        parts[symbols] = ("S", b"%x 40 main\n" % main + parts[symbols][1])

    def map_files(parts):
        name_main(parts)
        with_keys(parts, {"grab.source": "Linux", "grab.map.0": f"7 {main:#x} {plt + 0x1000:#x} 0x1000 /usr/bin/prog",
                          "grab.map.1": f"7 {library:#x} {library + 0x1000:#x} 0x28000 /usr/lib/libc.so.6",
                          **{f"grab.process.{tid}": 7 for tid in (12, 24, 36)}})

    assert [line.split() for line in shown_of(steps, name_main)[:4]] == [
        ["main+0x10", "?", f"0x{plt:016x}"], [f"0x{plt + 4:016x}", "?", f"0x{library:016x}"],
        [f"0x{library + 8:016x}", "?", f"0x{library + 0x20:016x}"], [f"0x{library + 0x30:016x}", "<", "main+0x15"]]
    assert [line.split() for line in shown_of(steps, map_files)[:4]] == [
        ["main+0x10", "?", "prog+0x2000"], ["prog+0x2004", "?", "libc.so.6+0x28000"],
        ["libc.so.6+0x28008", "?", "libc.so.6+0x28020"], ["libc.so.6+0x28030", "<", "main+0x15"]]


def test_a_call_that_ends_in_a_jump_and_one_whose_return_is_missing():
    """F calls g, which jumps to h; h returns to f. Then a return from nowhere, and back to f."""
    steps = [(SPIN + 0x10, DIGEST), (DIGEST + 0x20, HAND), (HAND + 8, SPIN + 0x15), (SPIN + 0x30, HAND),
             (0xFFFFFFFF80001008, SPIN + 0x99), (SPIN + 0xA0, SPIN + 0x40), (SPIN + 0xA0, SPIN + 0x40),
             (SPIN + 0xB0, DIGEST + 0x11)]
    assert shown_of(steps)[:7] == [
        "    workload_spin+0x10 > workload_hash",
        "      workload_hash+0x20 > workload_pass",
        "      workload_pass+0x8 < workload_spin+0x15",
        "    workload_spin+0x30 > workload_pass",
        "  ~   kernel_main+0x8 < workload_spin+0x99",
        "    workload_spin+0xa0 - +0x40  x 2",
        "      workload_spin+0xb0 < workload_hash+0x11"]


PROGRAM = 0x400000


def with_program(parts):
    for i, (stream, payload) in enumerate(parts):
        if stream == "S":
            parts[i] = (stream, b"400000 100 user_main\n400100 100 user_part\n400200 20 user_part.again\n" + payload)
            return


def test_system_calls_whose_return_is_not_traced():
    """What a program calls in the kernel is open until the program is seen again, and no longer."""
    steps = [(PROGRAM + 0x10, PROGRAM + 0x100),
             *[(PROGRAM + 0x120, DIGEST), (PROGRAM + 0x140, PROGRAM + 0x120)] * 6,
             (PROGRAM + 0x120, DIGEST), (PROGRAM + 0x210, PROGRAM + 0x15)]
    assert shown_of(steps, with_program) == [
        "    user_main+0x10 > user_part",
        "      user_part+0x20 > workload_hash",
        *["  ~   user_part+0x40 - +0x20",
          "      user_part+0x20 > workload_hash"] * 6,
        "  ~   user_part.again+0x10 < user_main+0x15"]


def test_ways_into_a_kernel_without_names():
    """Each is a call, and what comes after it is of the program."""
    steps = [(PROGRAM + 0x10, PROGRAM + 0x100), *[(PROGRAM + 0x120, 0xFFFFFFFFC0001280)] * 2,
             *[(PROGRAM + 0x130, PROGRAM + 0x15), (PROGRAM + 0x20, PROGRAM + 0x100)] * 6]
    assert shown_of(steps, with_program)[:4] == [
        "    user_main+0x10 > user_part",
        "      user_part+0x20 > 0xffffffffc0001280",
        "  ~   user_part+0x20 > 0xffffffffc0001280",
        "  ~   user_part+0x30 < user_main+0x15"]


def test_system_calls_whose_kernel_is_traced():
    """A way back that no record shows, from a kernel whose own branches are there, and one that is shown."""
    steps = [(PROGRAM + 0x10, PROGRAM + 0x100), (PROGRAM + 0x120, DIGEST), (HAND + 0x10, SPIN + 0x20),
             (SPIN + 0x30, HAND), (HAND + 0x8, HAND + 0x0), (PROGRAM + 0x130, PROGRAM + 0x13), (PROGRAM + 0x20, DIGEST),
             (DIGEST + 0x10, HAND), (HAND + 4, DIGEST + 0x15), (DIGEST + 0x20, PROGRAM + 0x22),
             (PROGRAM + 0x30, PROGRAM + 0x100), (PROGRAM + 0x208, PROGRAM + 0x200), (SPIN + 0x10, SPIN),
             (PROGRAM + 0x208, PROGRAM + 0x200), (PROGRAM + 0x208, PROGRAM + 0x35)]
    assert shown_of(steps, with_program) == [
        "    user_main+0x10 > user_part",
        "      user_part+0x20 > workload_hash",
        "  ~       workload_pass+0x10 < workload_spin+0x20",
        "        workload_spin+0x30 > workload_pass",
        "          workload_pass+0x8 - +0x0",
        "  ~   user_part+0x30 < user_main+0x13",
        "    user_main+0x20 > workload_hash",
        "      workload_hash+0x10 > workload_pass",
        "        workload_pass+0x4 < workload_hash+0x15",
        "      workload_hash+0x20 < user_main+0x22",
        "    user_main+0x30 > user_part",
        "      user_part.again+0x8 - +0x0",
        "  ~   workload_spin+0x10 - +0x0",
        "  ~   user_part.again+0x8 - +0x0",
        "      user_part.again+0x8 < user_main+0x35"]


# ---- damage ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("step", [5, cairn_boot.long(1)])
def test_only_the_frames_rules_fail_on_a_cut_log(log, step):
    """Behind every STEPth frame, and before the last ones."""
    data = (GOLDEN / f"{log}.log").read_bytes()
    starts = [m.start() for m in re.finditer(rb"~[TEUZ]", data)][1:]
    for start in {*starts[::step], *starts[-3:]}:
        text = text_of(cairn("check", "-", data=data[:start]))
        rules = set(re.findall(r"^FAIL (\w+):", text, re.MULTILINE))
        assert rules <= {"frames", "buffers"} and "frames" in rules, text
        text_of(cairn("bts", "-", data=data[:start]))


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("step", [5, cairn_boot.long(1)])
def test_a_line_is_missing(log, step):
    """Every STEPth of each stream's."""
    lines = (GOLDEN / f"{log}.log").read_bytes().splitlines(keepends=True)
    of_stream = [[i for i, line in enumerate(lines) if line[:2] == stream] for stream in (b"~T", b"~U", b"~E")]
    for i in (i for places in of_stream for i in places[::step]):
        data = b"".join(lines[:i] + lines[i + 1:])
        text = text_of(cairn("check", "-", data=data))
        rules = set(re.findall(r"^FAIL (\w+):", text, re.MULTILINE))
        assert rules <= {"frames", "buffers"} and "frames" in rules, text
        text_of(cairn("bts", "-", data=data))


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("kind, amount", [("random", 8), cairn_boot.long("random", 60), cairn_boot.long("each", 9001)])
def test_some_damage_sanitized(log, kind, amount):
    done = subprocess.run([cairn_boot.BUILD / "cairn-damage-san", kind, GOLDEN / f"{log}.log", str(amount)],
                          capture_output=True, timeout=1200, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


# ---- lies ------------------------------------------------------------------------------------------------------------

def bts_events(parts, kind):
    """(frame, offset of the payload) of each."""
    return [(i, at + 16) for i, at, hook, _ in events(parts)
            if hook == HOOK and struct.unpack_from("<H", parts[i][1], at + 16)[0] == kind]


def lies(log, change):
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    change(parts)
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == 1
    return text_of(done)


def drains(parts, least=2):
    """Those at a switch, with at least so many records."""
    return [(i, at) for i, at in bts_events(parts, EPOCH)
            if struct.unpack_from("<I", parts[i][1], at + 0x18)[0] >= 24 * least and parts[i][1][at + 2] == 6]


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("offset, data, words", [
    (0x02, b"\x00", ["BTS", "reason 0 does not exist"]),
    (0x02, b"\x01", ["BTS", "was expected"]),
    (0x03, None, ["BTS", "the mode is not that of the session"]),
    (0x04, b"\x63", ["BTS", "epoch 99, but"]),
    (0x08, struct.pack("<Q", 1 << 60), ["BTS", "the drain's TSC is later than its event"]),
    (0x08, struct.pack("<Q", 1), ["BTS", "a drain is earlier than the previous drain"]),
    (0x10, b"\x37", ["truth", "55 records lost"]),
    (0x1C, b"\x09", ["BTS", "in 9"]),
    (0x20, b"\x08", ["BTS", "is not this CPU's buffer"]),
    (0x28, b"\x01", ["BTS", "is not at a record"]),
    (0x30, b"\x00", ["BTS", "16 records above the base"]),
    (0x38, bytes(8), ["BTS", "threshold 0x0"]),
    (0x40, b"\x63", ["BTS", "the branches of thread 99 end at a switch, but another thread leaves there"]),
    (0x40, b"\x63", ["truth", "thread 99, in truth"]),
])
def test_wrong_drain(log, offset, data, words):
    if offset == 0x38 and log == "bts":
        data = b"\xff" * 8

    def change(parts):
        i, at = drains(parts)[1]
        patch(parts, (i, at), offset, data or bytes([not parts[i][1][at + offset]]))
    text = lies(log, change)
    rule = "BTS: drains, areas, order, thread" if words[0] == "BTS" else "truth: each branch, and those lost"
    assert f"FAIL {rule}" in text
    assert words[1] in text or (offset == 0x38 and "threshold 0xffffffffffffffff" in text), text


@pytest.mark.parametrize("log", LOGS)
def test_drain_at_no_switch(log):
    """It says that it came with a switch, but there was none then."""
    def change(parts):
        i, at = drains(parts)[1]
        tsc = struct.unpack_from("<Q", parts[i][1], at + 8)[0]
        patch(parts, (i, at), 8, struct.pack("<Q", tsc - 1000))
    assert "end at a switch, but another thread leaves there" in lies(log, change)


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("reason, offset, data, words", [
    (1, 0x10, b"\x01", "records before the first epoch began"),
    (3, 0x02, b"\x06", "an epoch ends at a switch, but nothing was recorded"),
])
def test_wrong_empty_drain(log, reason, offset, data, words):
    def change(parts):
        empty = [(i, at) for i, at in bts_events(parts, EPOCH) if parts[i][1][at + 2] == reason]
        patch(parts, empty[0], offset, data)
    assert words in lies(log, change)


@pytest.mark.parametrize("log", LOGS)
def test_no_beginning(log):
    text = lies(log, lambda parts: patch(parts, bts_events(parts, EPOCH)[0], 2, b"\x02"))
    assert "FAIL BTS" in text and "epoch 0 ends, but no event says that it began" in text


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("lost", [0, 2**64 - 1])
def test_index_that_was_not_believed(log, lost):
    """A drain that could not believe the index hands over nothing, and says that it does not know what is lost."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    i, at = [(i, at) for i, at in bts_events(parts, EPOCH) if parts[i][1][at + 2] == 3][0]  # of a stop, empty
    index = struct.unpack_from("<Q", parts[i][1], at + 0x28)[0]
    patch(parts, (i, at), 0x28, struct.pack("<Q", index + 1))
    patch(parts, (i, at), 0x10, struct.pack("<Q", lost))
    text = text_of(cairn("check", "-", data=frames.write(parts)))
    assert ("FAIL BTS" in text and "is not at a record, but the drain used it" in text) == (lost == 0), text


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("offset", [0x18, 0x20])
def test_wrong_record(log, offset):
    text = lies(log, lambda parts: patch(parts, bts_events(parts, RECORDS)[3], offset, b"\x55\x55"))
    assert "FAIL truth: each branch" in text and ", in truth 0x" in text


@pytest.mark.parametrize("log", LOGS)
def test_wrong_place(log):
    text = lies(log, lambda parts: patch(parts, bts_events(parts, RECORDS)[3], 8, b"\x00\x00\x33"))
    assert "FAIL BTS" in text and "records are at 0x" in text


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("offset, data, word", [
    (0x04, b"\x63", "in truth 99"), (0x10, b"\x55\x55", "in truth 0x"), (0x18, b"\x55\x55", "in truth 0x"),
    (0x20, b"\xff\xff", "but only"), (0x02, None, "in truth"),
])
def test_wrong_truth(log, offset, data, word):
    def change(parts):
        places = [p for p in truths(parts, TRUTH_BRANCH) if parts[p[0]][1][p[1] + 2]]
        place = places[-1]
        patch(parts, place, offset, data or b"\x00")
    text = lies(log, change)
    assert "FAIL truth: each branch" in text and (word in text or "but only" in text or "lost, in truth" in text)


def test_records_left_out():
    def change(parts):
        i, at = bts_events(parts, RECORDS)[2]
        patch(parts, (i, at - 16), 6, b"\xfe\xca")  # a hook that nobody knows
    text = lies("bts", change)
    assert "FAIL BTS" in text and "0 bytes of records in 0 events follow" in text and "branch records: " in text


@pytest.mark.parametrize("key, word", [("records", "branch records"), ("drains", "drains of branch records"),
                                       ("lost", "branch records lost")])
def test_wrong_counts(key, word):
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream == "E":
                def more(match):
                    numbers = [int(n) for n in match.group(2).split()]
                    numbers[["records", "drains", "lost"].index(key)] += 1
                    return match.group(1) + " ".join(map(str, numbers)).encode()
                parts[i] = ("E", re.sub(rb"(end\.cpu\.0\.bts=)([\d ]+)", more, payload))
    assert word + ": " in lies("bts", change)


def test_key_left_out():
    def change(parts):
        for i, (stream, payload) in enumerate(parts):
            if stream == "E":
                parts[i] = ("E", re.sub(rb"end\.cpu\.0\.bts=[\d ]+\n", b"", payload))
    assert "end.cpu: bts: missing" in lies("bts", change)


def test_epoch_of_the_truth_left_out():
    """A thread's drain that never was: nothing in the trace, all in the truth."""
    def change(parts):
        unwanted = [p for p in bts_events(parts, EPOCH) + bts_events(parts, RECORDS)]
        for i, at in unwanted:
            patch(parts, (i, at - 16), 6, b"\xfe\xca")
    text = lies("ring", change)
    assert "of the truth missing from the trace" in text


@pytest.mark.parametrize("log", ["bts", "ring"])
def test_more_records_than_announced(log):
    """Compared is what the truth has; nothing behind its end is looked at."""
    parts = frames.read((GOLDEN / f"{log}.log").read_bytes())
    for i, at in bts_events(parts, EPOCH):
        patch(parts, (i, at), 0x18, bytes(4))
    done = cairn("check", "-", data=frames.write(parts))
    assert done.returncode == 1 and "FAIL BTS" in text_of(done)


def test_hardware_has_no_truth_of_branches():
    parts = frames.read((GOLDEN / "bts.log").read_bytes())
    for i, (stream, payload) in enumerate(parts):
        parts[i] = (stream, payload.replace(b"ds.emulated=1", b"ds.emulated=0") if stream == "M" else payload)
    for place in truths(parts, TRUTH_BRANCH):
        patch(parts, place, 0, b"\x09")
    text = text_of(cairn("check", "-", data=frames.write(parts)))
    assert "FAIL truth: each branch" not in text
    said = r"\d records? lost, but a processor does not count what a full buffer loses"  # but here it says so
    assert re.search(said, text)
    for i, at in bts_events(parts, EPOCH):
        lost, size = struct.unpack_from("<QI", parts[i][1], at + 0x10)
        if lost or size == 16 * 24:
            patch(parts, (i, at), 0x10, b"\xff" * 8)
    text = text_of(cairn("check", "-", data=frames.write(parts)))
    assert "FAIL truth: each branch" not in text and "FAIL BTS" not in text
    assert re.search(r"^truth: each branch, and those lost +0 +0 cannot be known here$", text, re.M)


def test_loss_that_is_unknown():
    parts = frames.read((GOLDEN / "ring.log").read_bytes())
    for i, at in bts_events(parts, EPOCH):
        if struct.unpack_from("<Q", parts[i][1], at + 0x10)[0]:
            patch(parts, (i, at), 0x10, b"\xff" * 8)
    for i, (stream, payload) in enumerate(parts):
        if stream == "E":
            parts[i] = ("E", re.sub(rb"(bts=\d+ \d+) \d+", rb"\1 unknown", payload))
    data = frames.write(parts)
    assert cairn("check", "-", data=data).returncode == 0
    text = text_of(cairn("bts", "-", data=data))
    assert "lost: unknown" in text and "  ! an unknown number of branches before these were overwritten" in text


def test_without_what_is_not_branches():
    parts = frames.read((GOLDEN / "bts.log").read_bytes())
    without(parts, lambda i, stream: stream in "MNSLEU")
    text = text_of(cairn("bts", "-", data=frames.write(parts)))
    assert "0xffffffff800020" in text and "thread:12" in text
