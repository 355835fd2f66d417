# SPDX-License-Identifier: MIT
"""Who an ETL file tells of: what holds in files of Windows and of `cairn export --strict`, and files that lie."""

import re
import struct

import pytest

import etl
import make_etl
from cairn_tool import GOLDEN, cairn
from etl_rundown import rule

WINDOWS = ["windows-7600-32", "windows-10240-64", "windows-19041-64", "windows-22000-32"]


@pytest.fixture(scope="module", name="strict")
def _strict(tmp_path_factory):
    """A file with a rundown at the end, too."""
    path = tmp_path_factory.mktemp("etl") / "t.etl"
    assert cairn("export", "--to", "etl", "--strict", GOLDEN / "small.log", "-o", path).returncode == 0
    return path.read_bytes()


def places(data, hook):
    """Where the payloads of all events of a hook begin, in the order of the file."""
    return [b.at + e.at + {1: 0x20, 2: 0x20, 0x10: 16, 0x11: 16}[e.header]
            for b in etl.read(data) for e in b.events if e.hook == hook]


def changed(data, at, text):
    return data[:at] + text + data[at + len(text):]


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_files_tell_of_everybody(name):
    """Each process, thread, image and each thread of a switch, idle threads apart."""
    data, maker = (GOLDEN / f"{name}.etl").read_bytes(), make_etl.maker(name)
    maker.make()
    threads = sum(bool(old) + bool(new) for _, _, old, new, *_ in maker.switches)
    compared, failed, word, _ = rule(data)
    assert compared == len(make_etl.PROCESSES) + len(make_etl.THREADS) + 2 + threads
    assert failed == 0 and word == "consistent"


def test_an_exported_file_tells_of_everybody(strict):
    compared, failed, word, _ = rule(strict)
    assert compared > 100 and failed == 0 and word == "consistent"


def test_a_thread_that_runs_and_is_not_told_of():
    data = (GOLDEN / "windows-19041-64.etl").read_bytes()
    at = places(data, 0x0503)[1]
    tid, = struct.unpack_from("<I", data, at + 4)
    _, failed, word, text = rule(changed(data, at + 4, words(tid + 1)))
    assert failed and word == "FAILED" and f"thread {tid} runs, but has no start event" in text


def test_a_thread_of_no_process():
    data = (GOLDEN / "windows-10240-64.etl").read_bytes()
    _, failed, _, text = rule(changed(data, places(data, 0x0503)[0], words(77)))
    assert failed and re.search(r"thread \d+ of process 77, which has no start event", text)


def test_who_is_told_of_twice(strict):
    first, second = places(strict, 0x0503)[-2:]
    tid = strict[first + 4:first + 8]
    _, failed, _, text = rule(changed(strict, second + 4, tid))
    assert failed and f"thread {struct.unpack('<I', tid)[0]} begins again, but has not ended" in text
    first, second = places(strict, 0x0504)[-2:]
    tid = strict[first + 4:first + 8]
    _, failed, _, text = rule(changed(strict, second + 4, tid))
    assert failed and f"thread {struct.unpack('<I', tid)[0]} is in the end rundown twice" in text


def test_who_is_not_there_at_the_end(strict):
    at = places(strict, 0x0504)[-1]
    tid, = struct.unpack_from("<I", strict, at + 4)
    _, failed, _, text = rule(changed(strict, at + 4, words(7777)))
    assert failed == 2 and f"thread {tid} neither ends nor is in the end rundown" in text
    assert "thread 7777 is in the end rundown, but has no start event" in text
    at = places(strict, 0x0304)[-1]
    _, failed, _, text = rule(changed(strict, at + 8, words(9)))
    assert failed == 2 and "process 4 neither ends nor" in text and "process 9 is in the end rundown" in text
    at = places(strict, 0x1404)[-1]
    _, failed, _, text = rule(changed(strict, at, struct.pack("<Q", 0x1000)))
    assert failed == 2 and "the image at 0x1000 of process 0 is in the end rundown, but has" in text


def lives(strict, first, *hooks):
    """The file with the last threads' events of the end instead of others, in the middle: (hook, thread ID)."""
    data, spare = strict, places(strict, first)
    for at, (hook, tid) in zip(spare[-len(hooks):], hooks):
        data = changed(changed(data, at - 0x20 + 6, struct.pack("<H", hook)), at + 4, words(tid))
    return data


def test_ids_are_used_again(strict):
    """While the rundown of the start goes on some end before it, and some begin and are told of again; behind it not.
    Who begins behind the last masks need not end."""
    for hooks, said in ((((0x0502, 5000),), None), (((0x0501, 5000), (0x0503, 5000), (0x0502, 5000)), None),
                        (((0x0501, 5000), (0x0502, 5000), (0x0501, 5000), (0x0502, 5000)), None),
                        (((0x0501, 5000),), "thread 5000 neither ends nor is in the end rundown")):
        data = lives(strict, 0x0503, *hooks)
        gone = {struct.unpack_from("<I", strict, at + 4)[0] for at in places(strict, 0x0503)[-len(hooks):]}
        _, failed, _, text = rule(data)
        told = [line for line in text.splitlines() if "thread" in line and "CPU" not in line
                and not any(f"thread {tid} " in line for tid in gone)]
        assert failed >= len(gone) and (any(said in line for line in told) if said else not told), told
    for hooks, said in ((((0x0502, 5000),), "thread 5000 ends, but has no start event"), (((0x0501, 5000),), None),
                        (((0x0501, 5000), (0x0501, 5000)), "thread 5000 begins again, but has not ended"),
                        (((0x0501, 5000), (0x0504, 5000)), None)):
        _, failed, _, text = rule(lives(strict, 0x0504, *hooks))
        assert failed == len(hooks) + bool(said) and ("thread 5000" in text) == bool(said) and (said or "") in text


def test_what_cannot_be_checked_says_why(strict):
    data = (GOLDEN / "windows-10240-64.etl").read_bytes()
    masks = places(data, 0x0005)[0] - 0x20
    lost, mode = 0x48 + 0x20 + 0x30, 0x48 + 0x20 + 0x20
    for other, why in ((changed(data, lost, words(3)), "events are missing"),
                       (changed(data, mode, words(2)), "a circular file may have lost its beginning"),
                       (changed(data, masks + 6, b"\x42\0"), "no event 0005H says which groups the session had")):
        compared, failed, word, text = rule(other)
        assert (compared, failed, word) == (0, 0, "cannot be known here")
        assert f"not checked: {why}" in text
    other = data
    for hook in (0x0303, 0x0503, 0x0548):
        for at in places(data, hook):
            other = changed(other, at - (0x10 if hook == 0x0303 else 0x20) + 6, b"\x99\x7f")
    assert "not checked: the file has no start and end events of processes and threads" in rule(other)[3]
    assert rule(strict[:len(strict) // 2])[2] != "consistent"
