# SPDX-License-Identifier: MIT
"""`cairn export --to ctf`: babeltrace2 reads it without a warning, and reads what `--to json` tells, event by event."""

import json
import resource
import signal
import subprocess

import pytest

import cairn_boot
import ctf
import frames
from cairn_tool import ALL_LOGS, CAIRN, GOLDEN, SAMPLES, cairn, damaged, errors_of, events, with_keys


def check(folder, source, *options, data=None, in_order=False):
    """Both exports of one log; what babeltrace2 reads."""
    done = cairn("export", "--to", "ctf", *options, source, "-o", folder, data=data)
    assert not done.stdout and b"Sanitizer" not in done.stderr, done.stderr.decode()
    other = cairn("export", "--to", "json", *options, source, data=data)
    assert (done.returncode, done.stderr) == (other.returncode, other.stderr)
    return ctf.equal(folder, [json.loads(line) for line in other.stdout.decode("utf-8").splitlines()], in_order)


@pytest.mark.parametrize("log", ALL_LOGS, ids=lambda path: path.name)
def test_ctf_is_what_json_is(tmp_path, log):
    """In the order of time over all CPUs; no time of these logs goes back."""
    got = check(tmp_path / "ctf", log, in_order=True)
    assert got.events and all(e["clock"] - ctf.ORIGIN == e["ns"] for e in got.events)


@pytest.mark.parametrize("session", [2, 3, 4])
def test_sessions(tmp_path, session):
    check(tmp_path / "ctf", GOLDEN / "sessions.log", "--session", session, in_order=True)


@pytest.mark.parametrize("log, options", [
    ("lost", ["--cpu", "0"]), ("lost", ["--cpu", "0,1"]), ("lost", ["--from", "10ms", "--until", "20ms"]),
    ("lost", ["--cpu", "1", "--until", "20ms"])])
def test_part(tmp_path, log, options):
    folder = tmp_path / "ctf"
    got = check(folder, GOLDEN / f"{log}.log", *options, in_order=True)
    assert {e["type"] for e in got.events} >= {"thread", "sched_switch"}
    assert f'    only = "{" ".join(options)}";\n' in (folder / "metadata").read_text(encoding="ascii")


@pytest.mark.parametrize("step", range(7))
def test_damaged(tmp_path, step):
    """Lines of the log missing, from each part of it."""
    lines = (GOLDEN / "lost.log").read_bytes().splitlines(keepends=True)
    check(tmp_path / "ctf", "-", data=b"".join(line for i, line in enumerate(lines) if i % 7 != step or i < 7))


@pytest.mark.parametrize("seed", [*range(4), *map(cairn_boot.long, range(4, 16))])
def test_hostile(tmp_path, seed):
    check(tmp_path / "ctf", "-", data=damaged(seed, ["bts", "full", "life", "locks", "lost", "ring", "small", "told"]))


def test_times_that_go_back(tmp_path):
    """An event behind a later one keeps its own time, and so does one that no clock of a reader has room for."""
    parts = frames.read((GOLDEN / "full.log").read_bytes())
    places = [(i, at) for i, at, hook, _ in events(parts) if hook == 0x0524]
    for (frame, at), time in zip(places[20:60:10], (1, 0, 2**62, -5)):
        payload = parts[frame][1]
        parts[frame] = ("T", payload[:at + 8] + time.to_bytes(8, "little", signed=True) + payload[at + 16:])
    got = check(tmp_path / "ctf", "-", data=frames.write(parts))
    assert sum(e["clock"] - ctf.ORIGIN != e["ns"] for e in got.events) >= 4


def test_empty(tmp_path):
    """A log whose trace is missing altogether."""
    kept = [part for part in frames.read((GOLDEN / "small.log").read_bytes()) if part[0] != "T"]
    check(tmp_path / "ctf", "-", data=frames.write(kept))


def test_discarded_events_are_told_where_they_are_missing(tmp_path):
    """What a drain tells lies before it, and behind the drain before."""
    got = check(tmp_path / "ctf", GOLDEN / "lost.log", in_order=True)
    drains = [e for e in got.events if e["type"] == "drain" and e["lost"] > 0]
    assert drains and len(got.discarded) > len(drains)
    for drain in drains:
        assert [d for d in got.discarded if d["count"] == drain["lost"] and d["from"] <= drain["clock"] == d["to"]]


def test_metadata_says_that_the_debug_store_was_emulated(tmp_path):
    for log, emulated in (("small", "1"), ("hw", "0")):
        cairn("export", "--to", "ctf", GOLDEN / f"{log}.log", "-o", tmp_path / log)
        assert f"    emulated_ds = {emulated};\n" in (tmp_path / log / "metadata").read_text(encoding="ascii")


@pytest.mark.parametrize("boot, seconds", [("2026-11-21T02:10:59", 1795227059), ("", None),
                                           ("1600-01-01T00:00:00", None), ("9999-12-31T00:00:00", None)])
def test_clock_tells_the_time_of_day(tmp_path, boot, seconds):
    """From boot.time on, where the log has a plausible one."""
    parts = frames.read((SAMPLES / "plain.log").read_bytes())
    with_keys(parts, {"boot.time": boot})
    log = frames.write(parts)
    first = check(tmp_path / "ctf", "-", data=log, in_order=True).events[0]
    began = first["date"] - (first["clock"] - ctf.ORIGIN)
    keys = json.loads(cairn("export", "--to", "json", "-", data=log).stdout.splitlines()[0])["keys"]
    start, base, hz = (int(keys[f"session.1.{name}"]) for name in ("start_tsc", "tsc_base", "tsc_hz"))
    boot = int(keys.get("boot.tsc", base))
    assert abs(began - (seconds * 10**9 + (start - boot) * 10**9 // hz if seconds else 0)) <= 100  # a unit of the clock


def test_env_takes_any_key(tmp_path):
    """Names that become one in TSDL, and values with what TSDL has a meaning for."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    with_keys(parts, {"ds.a.b": "one", "ds.a_b": "two", 'option.x"y': 'a"b\\c', "option.y\x7f": "\u00fc", "ds.": "",
                      "machine.long": "l" * 5000})
    check(tmp_path / "ctf", "-", data=frames.write(parts), in_order=True)


def test_folders(tmp_path):
    """Its own folder is written over, with nothing of the old one left; others, and files, are kept."""
    folder = tmp_path / "ctf"
    for log in ("lost", "small"):
        assert cairn("export", "--to", "ctf", GOLDEN / f"{log}.log", "-o", folder).returncode == 0
        (folder / "cpu_63").write_bytes(b"of a run with more CPUs")
    assert cairn("export", "--to", "ctf", GOLDEN / "small.log", "-o", folder).returncode == 0
    assert not (folder / "cpu_63").exists() and ctf.read(folder).events
    other, file = tmp_path / "other", tmp_path / "file"
    other.mkdir()
    (other / "notes").write_bytes(b"notes\n")
    file.write_bytes(b"notes\n")
    for path in (other, file):
        done = cairn("export", "--to", "ctf", GOLDEN / "small.log", "-o", path)
        assert done.returncode == 2 and done.stderr.count(b"cairn: ") == 1 and \
            b"not a file of the format ctf" in b" ".join(done.stderr.split())
    assert [path.name for path in other.iterdir()] == ["notes"] and file.read_bytes() == b"notes\n"
    assert cairn("export", "--to", "ctf", GOLDEN / "small.log").returncode == 2


@pytest.mark.parametrize("what, most, why", [(resource.RLIMIT_FSIZE, 8192, "File too large"),
                                             (resource.RLIMIT_NOFILE, 5, "Too many open files")])
def test_nothing_partial_is_left(tmp_path, what, most, why):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(what, (most, most))

    done = subprocess.run([CAIRN, "export", "--to", "ctf", GOLDEN / "small.log", "-o", tmp_path / "ctf"],
                          capture_output=True, timeout=60, check=False, preexec_fn=limit)
    assert done.returncode == 3 and why in errors_of(done), done.stderr
    assert not (tmp_path / "ctf").exists()
