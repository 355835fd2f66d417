# SPDX-License-Identifier: MIT
"""Logs of several sessions: each is read by itself, and a lie in one is found in that one."""

import re
import struct

import pytest

import frames
from cairn_tool import GOLDEN, cairn, errors_of, events, expect_text, patch, text_of, truths

SESSIONS = GOLDEN / "sessions.log"
TELL, FULL, BATCH, TRUTH_SESSION = 0xCA10, 0x0524, 0x0525, 16
START, STOP, MASKS = 1, 2, 3


@pytest.mark.parametrize("name, arguments", [
    ("sessions/check", ["check"]),
    ("sessions/info", ["info"]),
    ("sessions/2.dump", ["dump", "--session", "2", "--until", "2ms"]),
    ("sessions/3.stat", ["stat", "--session", "3"]),
])
def test_golden(name, arguments):
    done = cairn(*arguments, SESSIONS)
    text = text_of(done)
    assert done.returncode == 0, done.stderr
    assert all(line == line.rstrip() for line in text.splitlines())
    expect_text(name, text)


def test_which_session():
    done = cairn("dump", SESSIONS)
    assert done.stderr == b"note: this is session 1 of sessions 1, 2, 3, 4 (--session N shows another)\n"
    assert done.stdout == cairn("dump", "--session", "1", SESSIONS).stdout
    done = cairn("stat", "--session", "5", SESSIONS)
    assert done.returncode == 3 and errors_of(done).endswith("there is no session 5; the log has sessions 1, 2, 3, 4")
    for number in ("0", "9", "one"):
        assert cairn("stat", "--session", number, SESSIONS).returncode == 2
    other = errors_of(cairn("check", "--session", "2", GOLDEN / "small.log"))
    assert other.endswith("there is no session 2; the log has session 1")


def switches(number):
    """(CPU, who left, when in units of 100 ns) of each switch, and how many of the dump's lines say that it stood."""
    text = text_of(cairn("dump", "--session", number, SESSIONS))
    found = re.findall(r"^ +(\d+)\.(\d{7}) +(\d)   (\S+)", text, re.M)
    return [(int(cpu), who, int(s) * 10**7 + int(part)) for s, part, cpu, who in found], text.count("did not run")


def test_all_decode_to_the_same_switches():
    """Whatever the clock: those of the others are of the first one's, at the same time to one unit."""
    first, stood = switches(1)
    assert len(first) == 300 and stood == 0
    for number in (2, 3, 4):
        other, stood = switches(number)
        assert 200 < len(other) < 300 and stood > 0
        at = iter(first)
        for cpu, who, when in other:
            assert any(c == cpu and w == who and abs(t - when) <= 1 for c, w, t in at), (number, cpu, who, when)


def session_of(parts, place):
    return struct.unpack_from("<H", parts[place[0]][1], 0x0A)[0]


def tells(parts, session, what, of=None):
    """(frame, offset) of the events in `session` that tell of session `of`, by default itself."""
    return [(i, at) for i, at, hook, _ in events(parts)
            if hook == TELL and session_of(parts, (i, at)) == session
            and parts[i][1][at + 16] == what and parts[i][1][at + 17] == (of or session)]


def verdicts(change):
    """Of each session what check says, after a change."""
    parts = frames.read(SESSIONS.read_bytes())
    change(parts)
    done = cairn("check", "-", data=frames.write(parts))
    text = text_of(done)
    found = re.split(r"^session (\d): ", text, flags=re.M)
    says = {int(n): part for n, part in zip(found[1::2], found[2::2])}
    assert done.returncode == (1 if any("FAIL" in part for part in says.values()) else 0)
    return says


def lies(session, change):
    """Only that session's check fails; what it says."""
    says = verdicts(change)
    assert [n for n in says if "FAIL" in says[n]] == [session], {n: says[n][-200:] for n in says}
    return says[session]


def test_many_groups():
    """More than a line holds: none is cut."""
    groups = b"compact+process+thread+loader+dispatcher+priority+interrupt+dpc+profile+pmc_profile+spinlock+mark"
    parts = frames.read(SESSIONS.read_bytes())
    last = max(i for i, (stream, _) in enumerate(parts) if stream == "L")
    parts.insert(last + 1, ("L", b"session.1.groups=" + groups + b"\n"))
    head = text_of(cairn("check", "-", data=frames.write(parts))).splitlines()[:3]
    assert head == ["session 1:",
                    "  compact+process+thread+loader+dispatcher+priority+interrupt+dpc+profile+",
                    "  pmc_profile+spinlock+mark, clock type 1, sequential"]


def test_untouched():
    assert all("PASS: every rule held" in part for part in verdicts(lambda parts: None).values())


@pytest.mark.parametrize("what, nth, offset, data, word", [
    (START, 2, 4, b"\x07", "its life is 7, but 1 was expected"),
    (STOP, 0, 4, b"\x07", "its life is 7, but 0 was expected"),
    (START, 1, 0, b"\x02", "a stop of the session, although it did not run"),
    (STOP, 0, 0, b"\x01", "a start of the session, although it already ran"),
    (STOP, 0, 0x24, b"\x00", "it stops with masks that it did not have"),
    (STOP, 0, 0x1C, b"\x01", "it stops with a stamp setting that it did not have"),
    (START, 1, 0x24, b"\x04\x01", "an event 0524H that its masks do not ask for"),
    (START, 1, 2, b"\x01", "it names clock type 1, which is not the session's"),
])
def test_wrong_word_of_a_session(what, nth, offset, data, word):
    text = lies(2, lambda parts: patch(parts, tells(parts, 2, what)[nth], 16 + offset, data))
    assert "FAIL session: starts, stops, masks in order" in text and word in text


def test_stamps_that_were_not_told():
    text = lies(2, lambda parts: patch(parts, tells(parts, 2, START)[1], 16 + 0x1C, b"\x00"))
    assert "FAIL PebsIndex on each switch event" in text
    assert "0524H event with PebsIndex, but the session said otherwise" in text


def test_other_time_than_in_truth():
    text = lies(3, lambda parts: patch(parts, tells(parts, 3, STOP)[1], 16 + 8, b"\x01"))
    assert "FAIL truth: each start, stop, change of masks" in text


@pytest.mark.parametrize("offset, data", [(3, b"\x03"), (4, b"\x09"), (8, b"\x01"), (0x14, b"\xff")])
def test_truth_of_another_session(offset, data):
    """The truth tells of a life that the trace knows otherwise, or not at all."""
    def change(parts):
        place = next(p for p in truths(parts, TRUTH_SESSION)[4:] if parts[p[0]][1][p[1] + 2] == 4)
        patch(parts, place, offset, data)
    assert "FAIL truth: " in lies(4, change)


@pytest.mark.parametrize("session, hook", [(1, BATCH), (2, FULL), (3, BATCH), (3, FULL), (4, BATCH)])
def test_wrong_thread_in_one_session(session, hook):
    """The same switch in the others is not touched."""
    def change(parts):
        place = [(i, at) for i, at, h, _ in events(parts) if h == hook and session_of(parts, (i, at)) == session][2]
        thread = 16 + 8 + (8 if hook == BATCH else 4)  # header, PebsIndex; of the table, or OldThreadId
        patch(parts, place, thread, b"\xf4\x01\x00\x00")
    assert f"FAIL truth: each {hook:04X}H switch" in lies(session, change)


def test_switch_outside_a_life():
    """A life that ends later than it did: the truth has no switch of the time between."""
    def change(parts):
        stop = tells(parts, 2, STOP)[0]
        hook = struct.pack("<H", FULL)
        first = next((i, at) for i, at, h, _ in events(parts) if h == FULL and session_of(parts, (i, at)) == 2)
        body = parts[first[0]][1][first[1]:first[1] + 48]
        size = (0x50 + 7) & ~7
        assert len(body) == 48 and size == 0x50
        lost = body[:4] + struct.pack("<H", 48) + hook + parts[stop[0]][1][stop[1] + 8:stop[1] + 16] + body[16:]
        rest = struct.pack("<IHHq", 0xC0110001, 0x20, 0x0F22, struct.unpack("<q", lost[8:16])[0]) + bytes(16)
        patch(parts, stop, 0, lost + rest)
    text = lies(2, change)
    assert "the truth does not have this switch" in text or "FAIL truth: each 0524H" in text


def test_missing_frame_of_one_session():
    """Damage in one session's stream is that session's."""
    def change(parts):
        i = next(i for i, (stream, payload) in enumerate(parts)
                 if stream == "T" and struct.unpack_from("<H", payload, 0x0A)[0] == 3 and any(payload[0x0C:0x10]))
        del parts[i]
    says = verdicts(change)
    assert "missing" in says[3] and all("FAIL frames" in part for part in says.values())
    assert all("FAIL buffers" not in says[n] for n in (1, 2, 4))


@pytest.mark.parametrize("session", [1, 2, 3, 4])
def test_each_as_an_etl_file(tmp_path, session):
    """One session becomes one file, whose clock and lives are that session's."""
    path = tmp_path / "session.etl"
    done = cairn("export", "--session", session, "--to", "etl", SESSIONS, "-o", path)
    assert done.returncode == 0, done.stderr
    text = text_of(cairn("check", path))
    assert "PASS: every rule held" in text and "session: starts, stops, masks in order" in text, text
    def lines(*arguments):
        return [line for line in text_of(cairn("dump", *arguments)).splitlines() if " > " in line or " ! " in line]
    assert lines(path) == lines("--session", session, SESSIONS)
