# SPDX-License-Identifier: MIT
"""`cairn ds --life`: one record's life out of the model's log, and what is said where there is none, or part of it."""

import re
import struct

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, cairn, errors_of, events, expect_text, patch, text_of

HOOK = 0xCA03
HEAD, ACTION = 0x38, 0x18
OVERFLOWED, ARMED, STORED, DROPPED, RELOADED, COMPARED, RAISED, LATCHED, LOST = range(1, 10)
LIFE = GOLDEN / "life.log"


def shown(*arguments, data=None):
    done = cairn("ds", *arguments, *(["-"] if data else []), data=data)
    text = text_of(done)
    assert all(line == line.rstrip() for line in text.splitlines())
    return done, text


def test_a_branch_is_where_it_is_and_names_its_target():
    """The place first: "in FUNCTION" behind a call reads as if it led there."""
    data = (cairn_boot.ROOT / "samples" / "life.log").read_bytes()
    texts = [" ".join(text_of(cairn("ds", "--epoch", "0", "--life", f"0:{n}", "-", data=data)).split())
             for n in range(6)]
    assert any(re.search(r" kwait\+0xc1: call 0x[0-9a-f]{16} \(ds_pause\) ", text) for text in texts)
    assert any(re.search(r" kpart_compute\+0x23: jae 0x[0-9a-f]{16} \(kpart_compute\+0x18\) ", text) for text in texts)


@pytest.mark.parametrize("name, arguments", [
    ("life/first", ["0:0", LIFE]),                               # the driver loaded its counter
    ("life/second", ["--epoch", "0", "0:5", LIFE]),              # threshold and PMI
    ("life/masked", ["--epoch", "0", "0:7", LIFE]),              # at a masked LVTPC
    ("life/across", ["--epoch", "1", "1:0", "--by", "index", LIFE]),  # loaded in the epoch before
    ("life/hw", ["0:1", GOLDEN / "hw.log"]),                     # a processor, which keeps none
    ("life/sample", ["--epoch", "0", "0:5", cairn_boot.ROOT / "samples" / "life.log"]),
    ("life/check", None),
])
def test_golden(name, arguments):
    if arguments:
        done, text = shown("--life", *arguments) if arguments[0][0] != "-" else \
            shown(*arguments[:2], "--life", *arguments[2:])
    else:
        done = cairn("check", LIFE)
        text = text_of(done)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    expect_text(name, text)


# ---- the log read by nothing but this -------------------------------------------------------------------------------

class Entry:
    def __init__(self, parts, frame, at):
        self.place = (frame, at)
        payload = parts[frame][1]
        self.cpu = struct.unpack_from("<H", payload, 8)[0]
        (self.sequence, self.epoch, self.tsc, self.ip, self.next_ip, self.tid, self.cpl, self.length, count,
         self.code) = struct.unpack_from("<IIQQQIBBH16s", payload, at + 16)
        self.actions = [struct.unpack_from("<BBHIQQ", payload, at + 16 + HEAD + ACTION * i) for i in range(count)]

    def stored(self):
        return next((a for a in self.actions if a[0] == STORED), None)


def entries(parts):
    return [Entry(parts, frame, at) for frame, at, hook, _ in events(parts) if hook == HOOK]


def golden():
    return frames.read(LIFE.read_bytes())


def steps(text):
    """{title: text} of the steps, lines joined."""
    found, title = {}, None
    for line in text.splitlines():
        head = re.match(r"[ \d]\d (\w+) +(.*)", line)
        if head:
            title = head[1]
            found[title] = head[2]
        elif title:
            found[title] += " " + line.strip()
    return found


def lives(parts):
    """(CPU, epoch, number within the epoch, entry) of each stored record."""
    number = {}
    for e in entries(parts):
        if e.stored():
            key = e.cpu, e.epoch
            yield *key, number.setdefault(key, 0), e
            number[key] += 1


def test_every_life():
    parts = golden()
    log = entries(parts)
    total = 0
    for cpu, epoch, number, e in lives(parts):
        total += 1
        text = shown("--epoch", epoch, "--life", f"{cpu}:{number}", LIFE)[1]
        of = steps(text)
        behind = [x for x in log if x.cpu == cpu and x.sequence < e.sequence]
        overflow = next(x for x in reversed(behind) if x.actions[0][0] == OVERFLOWED)
        loads = [x for x in behind if x.sequence < overflow.sequence and any(a[0] == RELOADED for a in x.actions)]
        assert f"{overflow.ip:016x}  {overflow.code[:4].hex(' ')} " in of["overflow"]
        assert f"{e.ip:016x}  {e.code[:4].hex(' ')} " in of["capture"]
        assert of["arming"] == "PMC0=INST_RETIRED.ANY_P: its next event writes a record"
        assert of["index"] == f"PebsIndex {e.stored()[4]:016x} -> {e.stored()[5]:016x}, + B0H"
        assert of["threshold"].startswith("reached: " if e.stored()[5] >= e.actions[2][5] else "not reached: ")
        assert of["PMI"].startswith("none" if len(e.actions) == 3 else "delivered: vector EEH"
                                    if e.actions[3][0] == RAISED else "LVTPC is masked, 100ee: lost")
        assert of["load"].startswith("PMC0=INST_RETIRED.ANY_P: set by the driver") == (not loads)
        if loads:
            last = loads[-1]
            with_record = "a record that was dropped" if not last.stored() else \
                f"record {number - 1}" if last.epoch == epoch else f"a record of epoch {last.epoch}"
            assert of["load"].endswith(f"with {with_record}"), of["load"]
        assert of["thread"].endswith(f":{e.tid}, by the model's log")
        assert "missing" not in text and "unseen" not in text
    assert total == 35


# ---- what is missing is named ---------------------------------------------------------------------------------------

def without_entry(wanted):
    """The log in which nobody can read the entries that `wanted` picks; and those."""
    parts = golden()
    gone = [e for e in entries(parts) if wanted(e)]
    for e in gone:
        patch(parts, e.place, 6, struct.pack("<H", 0xCAFE))
    return frames.write(parts), gone


@pytest.mark.parametrize("kind", [STORED, OVERFLOWED])
def test_missing_entry(kind):
    records = [life for life in lives(golden()) if life[1] == 0 and life[0] == 0]
    *_, number, e = records[3]
    at = e.sequence if kind == STORED else e.sequence - 1
    log, gone = without_entry(lambda x: x.cpu == 0 and x.sequence == at)
    assert len(gone) == 1
    told = "missing: 1 entry of the model's log is not in this trace"
    for n, *_ in [(life[2],) for life in records]:
        done, text = shown("--life", f"0:{n}", data=log)
        of = steps(text)
        missing = {title for title, words in of.items() if words.startswith(told)}
        if n == number:
            assert missing == ({"load", "overflow", "arming", "capture", "index", "reload", "threshold", "PMI"}
                               if kind == STORED else {"load", "overflow", "arming"})
        else:  # the record behind it: its counter was loaded by the entry that is gone
            assert missing == ({"load"} if kind == STORED and n == number + 1 else set()), (n, missing)
        assert done.returncode == 0
    done = cairn("check", "-", data=log)
    assert done.returncode == 1 and "1 entry is missing" in text_of(done)


def test_all_entries_missing():
    log, gone = without_entry(lambda x: True)
    done, text = shown("--life", "0:0", data=log)
    assert done.returncode == 0
    mine = sum(e.cpu == 0 for e in gone)
    assert text.count(f"missing: {mine} entries of the model's log are not in this") == 8


def test_first_and_last_entries_missing():
    last = max(e.sequence for e in entries(golden()) if e.cpu == 0)
    for at in (0, last):
        log, _ = without_entry(lambda x: x.cpu == 0 and x.sequence == at)
        done = cairn("check", "-", data=log)
        assert done.returncode == 1 and "1 entry is missing" in text_of(done)
    log, _ = without_entry(lambda x: x.cpu == 0 and x.sequence == 0)
    assert steps(shown("--life", "0:0", data=log)[1])["load"].startswith("missing: 1 entry")


def test_frames_missing():
    """Whichever frame of the trace is gone: what is shown of the rest is what it was, or 'missing'."""
    parts = golden()
    whole = {(cpu, epoch, number): steps(shown("--epoch", epoch, "--life", f"{cpu}:{number}", LIFE)[1])
             for cpu, epoch, number, _ in lives(parts)}
    trace = [i for i, (stream, _) in enumerate(parts) if stream == "T"]
    lines = LIFE.read_bytes().split(b"\r\n")
    compared = 0
    for i in trace[::3]:
        data = b"\r\n".join(line for line in lines if not re.match(b"~.%08x:" % i, line))
        for (cpu, epoch, number), before in list(whole.items())[::9]:
            done = cairn("ds", "--epoch", epoch, "--life", f"{cpu}:{number}", "-", data=data)
            assert done.returncode == 1
            after = steps(text_of(done))
            if after.get("write") != before["write"]:
                continue  # other records are missing: this is another's number
            for title in ("load", "overflow", "arming", "capture", "index", "reload", "threshold", "PMI"):
                same = after[title].replace("a record of epoch", "record") == \
                    before[title].replace("a record of epoch", "record")
                assert same or after[title].startswith("missing: ") or "with a record" in after[title], title
                compared += 1
    assert compared > 50


# ---- nobody saw it --------------------------------------------------------------------------------------------------

def without_machine():
    """A log that does not say who wrote the records."""
    lines = (GOLDEN / "small.log").read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if line[1:2] != b"M")


@pytest.mark.parametrize("data, status, reason", [
    ((GOLDEN / "hw.log").read_bytes(), 0, "A real processor does not show its steps"),
    (without_machine(), 1, "does not say whether a model kept a log"),
])
def test_unseen(data, status, reason):
    done, text = shown("--life", "0:0", data=data)
    assert done.returncode == status and reason in text
    unseen = {title for title, words in steps(text).items() if words.startswith("unseen")}
    assert unseen == {"load", "overflow", "arming", "capture", "index", "reload", "threshold", "PMI"}
    assert "by the DS area" in text and "EventingIP" in text


# ---- logs that lie --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("offset, value, words", [
    (0x00, struct.pack("<I", 7777), "entries are missing"),
    (0x04, struct.pack("<I", 7), "no entry describes the record"),
    (0x08, struct.pack("<Q", 1), "different times"),
    (0x10, struct.pack("<Q", 1), "names another instruction"),
    (0x18, struct.pack("<Q", 1), "its entry elsewhere"),
    (HEAD + 4, struct.pack("<I", 2), "different counters"),
    (HEAD + 8, struct.pack("<Q", 8), "there is none"),
    (HEAD + 16, struct.pack("<Q", 8), "but PebsIndex moves by"),
])
def test_lies_are_noticed(offset, value, words):
    parts = golden()
    entry = [e for *_, e in lives(parts)][4]
    patch(parts, entry.place, 16 + offset, value)
    done = cairn("check", "-", data=frames.write(parts))
    text = text_of(done)
    assert done.returncode == 1
    assert "FAIL model's log: complete, matches the records" in text and words in text


@pytest.mark.parametrize("offset, value", [
    (0x25, b"\x10"),                                          # 16 bytes of code
    (0x26, b"\x00\x00"), (0x26, b"\x01\x00"), (0x26, b"\xff\xff"),  # no actions, fewer than there are, more
    (HEAD, b"\x00"), (HEAD, b"\x0a"), (HEAD + 1, b"\x30"),    # no such action, no such counter
])
def test_malformed_entry(offset, value):
    parts = golden()
    entry = [e for *_, e in lives(parts)][4]
    patch(parts, entry.place, 16 + offset, value)
    done = cairn("check", "-", data=frames.write(parts))
    text_of(done)
    assert done.returncode == 1


@pytest.mark.parametrize("length, code, words", [
    (4, b"\x06\x06\x06\x06", ": (no instruction)"),
    (3, b"\x90\x90\x90", ": (no instruction)"),  # three of them
    (2, b"\xeb\xfe", "jmp 0x"),
    (0, bytes(4), "(its bytes could not be read)"),
])
def test_code(length, code, words):
    parts = golden()
    cpu, epoch, number, entry = next(lives(parts))
    patch(parts, entry.place, 16 + 0x25, bytes([length]))
    patch(parts, entry.place, 16 + 0x28, code)
    _, text = shown("--epoch", epoch, "--life", f"{cpu}:{number}", data=frames.write(parts))
    assert words in steps(text)["capture"]


@pytest.mark.parametrize("life, status, words", [
    ("0", 2, "--life 0: must be CPU:RECORD"),
    (":", 2, "must be CPU:RECORD"),
    ("0:", 2, "must be CPU:RECORD"),
    ("0:x", 2, "must be CPU:RECORD"),
    ("x:0", 2, "must be CPU:RECORD"),
    ("2:0", 2, "this trace has 2 CPUs, numbered from 0"),
    ("0:99", 1, "epoch 0 has 8 records, counted from 0"),
])
def test_status(life, status, words):
    done = cairn("ds", "--life", life, LIFE)
    assert done.returncode == status and words in errors_of(done)


def test_status_of_other_options():
    done = cairn("ds", "--life", "0:0", "--cpu", "0", LIFE)
    assert done.returncode == 2 and b"leave out --cpu" in done.stderr
    for option in (["--bytes"], ["--records", "3"], ["--record", "0"]):
        done = cairn("ds", "--life", "0:0", *option, LIFE)
        assert done.returncode == 2 and b"leave out --records, --record" in done.stderr
    done = cairn("ds", "--life", "0:0", "--epoch", "99", LIFE)
    assert done.returncode == 1 and b"there is no drain of epoch 99" in done.stderr
    done = cairn("ds", "--life", "0:0", GOLDEN / "nods.log")
    assert done.returncode == 1 and b"no drain of a Debug Store" in done.stderr
