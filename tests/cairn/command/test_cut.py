# SPDX-License-Identifier: MIT
"""A name that a column cuts has a mark in its last column, and the columns stay where they are."""

import re

import pytest

import frames
from cairn_tool import GOLDEN, cairn, on_a_terminal, text_of

LONG = b"sampled-with-a-name-that-no-column-holds"


@pytest.fixture(scope="module", name="log")
def a_log_with_a_long_name(tmp_path_factory):
    """Thread 12's, and a function's."""
    path = tmp_path_factory.mktemp("cut") / "log"
    parts = frames.read((GOLDEN / "full.log").read_bytes())
    function = b"workload_" + b"h" * 60
    renamed = [(stream, payload.replace(b"sampled-1\n", LONG + b"\n").replace(b"workload_hash", function))
               for stream, payload in parts]
    path.write_bytes(frames.write(renamed))
    assert LONG in b"".join(payload for _, payload in renamed)
    return path


def columns(text):
    return {line.index("%") for line in text.splitlines() if " % " in line}


@pytest.mark.parametrize("command, room", [("dump", 14), ("stat", 28), ("profile", 27), ("ds", 20)])
def test_the_mark(command, room, log):
    text = text_of(cairn(command, log))
    assert f" {LONG.decode()[:room - 4]}+:12" in text
    assert LONG.decode() not in text and all(len(line) <= 80 for line in text.splitlines())
    assert columns(text) == columns(text_of(cairn(command, GOLDEN / "full.log")))


def test_the_mark_of_an_address(log):
    assert re.search(r"\* workload_h+\+\+0x[0-9a-f]+ ", text_of(cairn("dump", log)))


def test_an_ellipsis_where_a_terminal_has_it(log):
    """It is one column, though of three bytes."""
    utf8 = on_a_terminal("dump", log, env={"LC_ALL": "C.UTF-8", "TERM": "dumb"}).stdout.decode("utf-8")
    plain = on_a_terminal("dump", log, env={"LC_ALL": "C", "TERM": "dumb"}).stdout.decode("ascii")
    assert "…:12" in utf8 and "…" not in plain
    assert re.sub("…", "+", utf8) == plain
    piped = cairn("dump", log, env={"LC_ALL": "C.UTF-8"}).stdout
    assert b"+:12" in piped and "…".encode() not in piped


def test_numbers_of_cairn_grab_have_words():
    text = " ".join(text_of(cairn("info", "--all", GOLDEN / "grab.log")).split())
    assert "clock times exact to 61 ns, by 2 pairs of TSC and clock; 0 moved, by up to 0 ns " in text
    assert "skipped 0 hooks of drains, 0 hooks of switches " in text
    parts = frames.read((GOLDEN / "grab.log").read_bytes())
    other = [(stream, payload.replace(b"grab.skipped=0 0\n", b"grab.skipped=unknown\n")) for stream, payload in parts]
    assert "skipped unknown " in " ".join(text_of(cairn("info", "--all", "-", data=frames.write(other))).split())


@pytest.mark.parametrize("command, words", [
    ("locks", b"no spin lock events in this log: cairn grab does not record them"),
    ("probe", b"this log has no answers of the probe; 'cairn grab --report' tests this processor")])
def test_a_log_of_linux_is_not_booted(command, words):
    done = cairn(command, GOLDEN / "grab.log")
    assert done.returncode == 1 and words in b" ".join(done.stderr.split()) and b"boot with" not in done.stderr
    stat = text_of(cairn("stat", GOLDEN / "grab.log"))
    assert "boot with" not in stat and "  unknown: cairn grab does not measure it\n" in stat
