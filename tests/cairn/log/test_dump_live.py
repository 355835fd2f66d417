# SPDX-License-Identifier: MIT
"""A live dump: part of the trace came while the run went on, the rest at its end; together they are one trace."""

import re
import struct

import pytest

import frames
from cairn_tool import GOLDEN, cairn, expect_text, patch, text_of, without

LIVE = GOLDEN / "live.log"
NOTE = b"note: 1 frame was cut short by other output, and came whole later\n"
LOST_HERE = 4  # in BufferFlag


@pytest.mark.parametrize("command, options", [("dump", ["--from", "70ms", "--until", "85ms"]), ("info", []),
                                              ("check", [])])
def test_golden(command, options):
    done = cairn(command, *options, LIVE)
    text = text_of(done)
    assert done.returncode == 0 and done.stderr == NOTE
    expect_text(f"live/{command}", text)


def parts_of():
    return frames.read(LIVE.read_bytes())


def second_header(parts):
    return [i for i, (stream, _) in enumerate(parts) if stream == "H"][1]


def starts(parts):
    """Trace frames that begin a buffer: (frame, 20), where the buffer header lies."""
    return [(i, 20) for i, (stream, payload) in enumerate(parts)
            if stream == "T" and struct.unpack_from("<I", payload, 12)[0] == 0]


def flags(parts, place):
    return struct.unpack_from("<H", parts[place[0]][1], place[1] + 0x34)[0]


def check(parts):
    done = cairn("check", "-", data=frames.write(parts))
    return done.returncode, text_of(done)


def test_untouched():
    status, text = check(parts_of())
    assert status == 0 and "live: 15 of 19 buffers came during the run\n" in text


def test_each_frame_that_is_missing_is_missed():
    """Each line of the trace taken out in turn, live or not: check says so, and that frame's number."""
    parts = parts_of()
    log = frames.write(parts)
    lines = log.split(b"\r\n")
    for i, (stream, _) in enumerate(parts):
        if stream == "T" and i % 5 == 0:
            done = cairn("check", "-", data=b"\r\n".join(lines[:i] + lines[i + 1:]))
            assert done.returncode == 1 and b"missing: frame %d of 108 (" % i in done.stderr, (i, done.stderr)


@pytest.mark.parametrize("key, what", [("end.live.frames", "trace frames sent while it ran"),
                                       ("end.live.buffers", "buffers sent while it ran")])
def test_other_counts(key, what):
    parts = parts_of()
    i = next(i for i, (stream, _) in enumerate(parts) if stream == "E")
    value = int(re.search(rb"%s=(\d+)\n" % key.encode(), parts[i][1])[1])
    lie = b"%s=%d\n" % (key.encode(), value + 1)
    parts[i] = ("E", re.sub(rb"%s=\d+\n" % key.encode(), lie, parts[i][1]))
    status, text = check(parts)
    assert status == 1 and f"{what}: {value} here, but the kernel counted {value + 1}" in text
    parts[i] = ("E", parts[i][1].replace(lie, b""))
    status, text = check(parts)
    assert status == 1 and f"{key.replace('end.live.b', 'end: live.b')}: missing or ill-formed" in text


def test_loss_that_is_not_told():
    """Without the flag a buffer seems to follow the one before: the truth knows better."""
    told = [place for place in starts(parts_of()) if flags(parts_of(), place) & LOST_HERE]
    assert len(told) > 5
    for place in told[::4]:
        parts = parts_of()
        patch(parts, place, 0x34, struct.pack("<H", flags(parts, place) & ~LOST_HERE))
        status, text = check(parts)
        assert status == 1 and "FAIL truth: each 052" in text


def test_buffers_of_a_cpu_out_of_order():
    parts = parts_of()
    first, second = [p for p in starts(parts) if parts[p[0]][1][8:10] == b"\1\0"][2:4]
    numbers = [parts[p[0]][1][:4] for p in (first, second)]
    for i, (stream, payload) in enumerate(parts):
        if stream == "T" and payload[:4] in numbers:
            other = numbers[1 - numbers.index(payload[:4])]
            body = bytearray(payload)
            body[:4] = other
            if (i, 20) in (first, second):
                body[20 + 0x18:20 + 0x1C] = other
            parts[i] = ("T", bytes(body))
    status, text = check(parts)
    assert status == 1 and "above that of a later one" in text


def test_capture(tmp_path):
    """A line that was cut and came again is no damage; its halves are no console text."""
    done = cairn("capture", "-", "-o", tmp_path / "log", data=LIVE.read_bytes())
    assert done.returncode == 0 and b"108 frames of 108, 0 damaged, 0 missing" in done.stderr
    assert "a text in the middle of a line\n" in text_of(done) and "~" not in text_of(done)


def test_another_live_dump_behind_one_that_was_cut():
    """The two begin alike but for the TSC: they are told apart, and the last one is read."""
    parts = parts_of()
    other = [(stream, payload.replace(b"dump.tsc=9", b"dump.tsc=8")) for stream, payload in parts]
    log = frames.write(other[:second_header(parts) - 3]) + frames.write(parts)
    done = cairn("check", "-", data=log)
    assert done.returncode == 0 and "live: 15 of 19" in text_of(done)
    assert b"the log has several dumps; this is dump 2" in done.stderr, done.stderr


def test_cut_while_the_run_went_on():
    """All that came is there, though nothing of the end is: no names, no counts."""
    parts = parts_of()
    cut = parts[:second_header(parts) - 3]
    done = cairn("dump", "-", data=frames.write(cut))
    assert done.returncode == 1 and b"the number of frames is unknown" in done.stderr
    assert len(re.findall(r"^ +\d+\.\d{7} ", text_of(done), re.M)) > 300
    assert b" trace frames; the others came at the end" in cairn("info", "-", data=frames.write(cut)).stdout


def test_the_end_alone():
    """What came live is lost: buffers are missing, and each is named."""
    parts = parts_of()
    without(parts, lambda i, stream: stream == "T" and i < second_header(parts_of()))
    status, text = check(parts)
    assert status == 1 and re.search(r"buffers 0\.\.\d+ missing", text), text


def test_export(tmp_path):
    """An ETL file has no frames: it is the one trace, and loses nothing but what was lost."""
    path = tmp_path / "live.etl"
    assert cairn("export", "--to", "etl", LIVE, "-o", path).returncode == 0
    done = cairn("check", path)
    text = text_of(done)
    assert done.returncode == 0 and "truth: switches lost = truth - recorded" in text, text
    shown = text_of(cairn("dump", path))
    switches = re.findall(r"^ +\d+\.\d{7}  \d   .*", shown, re.M)
    assert len(switches) == len(re.findall(r"^ +\d+\.\d{7}  \d   .*", text_of(cairn("dump", LIVE)), re.M)) == 456
