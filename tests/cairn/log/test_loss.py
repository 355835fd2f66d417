# SPDX-License-Identifier: MIT
"""What was lost is said last, with how much that is and what keeps more: by check, info and after a boot."""

import json
import re

import pytest

import cairn_boot
import ctf
import frames
from cairn_tool import GOLDEN, cairn, events, machine_that_says, text_of, without
from perfetto import Trace, packets_of

MORE_ROOM = "use more or larger buffers (trace.buffers=, trace.buffer_kib=), or fewer switches (switches=)"
NO_ROOM = f"had no room in the trace buffers: {MORE_ROOM}"
OVERWRITTEN = f"were overwritten by newer ones, as circular sessions do: {MORE_ROOM}"
PEBS_FULL = "found their buffer full: leave more room above pebs.threshold= (pebs.records=)"
LOSSES = {
    "small": [],
    "nods": [],
    "lost": [f"460 of 596 events (77.18 %), with 820 of 1000 records of switches, {NO_ROOM}",
             f"48 of 221 PEBS records (21.72 %) {PEBS_FULL}"],
    "circular": [f"407 of 519 events (78.42 %) {OVERWRITTEN}"],
    "bts": ["33 of 424 branch records (7.78 %) found their buffer full: use a larger buffer (bts.records=)"],
    "ring": ["172 of 364 branch records (47.25 %) were overwritten by newer ones, as bts=circular does: bts.records= "
             "keeps more of them, bts=interrupt keeps all"],
    "hw": [f"an unknown number of PEBS records, in addition to 66 recorded, {PEBS_FULL}",
           "an unknown number of branch records, in addition to 496 recorded, were overwritten by newer ones, as "
           "bts=circular does: bts.records= keeps more of them, bts=interrupt keeps all"],
}


def paragraphs(text):
    """Those that begin with `lost`, each on one line."""
    return [" ".join(words.split()) for words in re.findall(r"^lost:? +(\S.*\n(?: {4,}\S.*\n)*)", text, re.M)]


@pytest.mark.parametrize("log", LOSSES)
def test_losses(log):
    done = cairn("check", GOLDEN / f"{log}.log")
    assert done.returncode == 0
    text = done.stdout.decode("ascii")
    assert paragraphs(text[text.index("\nPASS: every rule held"):]) == LOSSES[log]
    assert paragraphs(text) == LOSSES[log]
    assert paragraphs(text_of(cairn("info", GOLDEN / f"{log}.log"))) == LOSSES[log]
    assert paragraphs(text_of(cairn("info", "--lost", GOLDEN / f"{log}.log"))) == LOSSES[log]


EXPORTED = [*(GOLDEN / f"{log}.log" for log in (*LOSSES, "panic")),
            *(GOLDEN.parent.parent / "samples" / f"{log}.log" for log in ("damaged", "panic"))]


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_exports_say_what_was_lost(path, tmp_path):
    """JSON, CTF and Perfetto: the same words as `cairn info`, the same numbers as `cairn stat`."""
    done = cairn("export", "--to", "json", path)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    first, last = lines[0], lines[-1]
    info, stat = (cairn(command, path).stdout.decode("ascii") for command in ("info", "stat"))
    assert first["losses"] == paragraphs(info)
    assert ("bad_end" in first) == (path.name == "panic.log")
    assert first.get("bad_end", "").split("panicked: ")[-1] in " ".join(info.split())

    def row(name):
        found = re.search(rf"^ *{name} +(\w+)", stat, re.M)
        return 0 if not found else None if found[1] == "unknown" else int(found[1])
    assert [last["missing_frames"], last["damaged_frames"]] == [row("frames missing"), row("frames damaged")]
    for kind, name in (("drain", "lost by processor"), ("branch_drain", "lost, overwritten")):
        drains = [line.get("lost") for line in lines if line["type"] == kind]
        assert row(name) == (None if None in drains else sum(drains))

    cairn("export", "--to", "ctf", path, "-o", tmp_path / "ctf")
    env = dict(re.findall(r'^    (\w+) = "?(.*?)"?;$', (tmp_path / "ctf" / "metadata").read_text("ascii"), re.M))
    assert [int(env[name]) for name in ("missing_frames", "damaged_frames")] == \
        [last["missing_frames"], last["damaged_frames"]]
    assert [value for name, value in env.items() if name.startswith("loss_")] == first["losses"]
    assert env.get("bad_end") == first.get("bad_end")
    assert ctf.read(tmp_path / "ctf").events

    trace = Trace(packets_of(cairn("export", "--to", "perfetto", path).stdout)).attributes
    assert [int(trace[f"cairn.{name}"]) for name in ("missing_frames", "damaged_frames")] == \
        [last["missing_frames"], last["damaged_frames"]]
    assert [value for name, value in trace.items() if name.startswith("cairn.loss.")] == first["losses"]
    assert trace.get("cairn.bad_end") == first.get("bad_end")


@pytest.mark.parametrize("log", ["small", "lost"])
def test_after_a_boot(tmp_path, log):
    result = cairn_boot.boot(tmp_path / "log", "--qemu", machine_that_says(tmp_path, GOLDEN / f"{log}.log"))
    assert result.status == cairn_boot.PASS
    end = result.output[result.output.index("\nverdict"):]
    assert paragraphs(end) == LOSSES[log]
    assert end.index("\nlog  ") < end.find("\nlost  ") < end.index("\ntry  ") or not LOSSES[log]


def test_another_session_and_its_own_buffers():
    parts = frames.read((GOLDEN / "sessions.log").read_bytes())
    for i, (stream, payload) in enumerate(parts):
        if stream == "E":
            payload = re.sub(rb"(end\.session\.2\.events_lost)=0", rb"\1=7", payload)
            parts[i] = ("E", re.sub(rb"(end\.session\.2\.events_tried)=\d+", rb"\1=28", payload))
        if stream == "M":
            parts[i] = ("M", payload.replace(b"ds.scope=thread", b"option.session.2=full:system:sequential:64:4"))
    losses = paragraphs(text_of(cairn("info", "--lost", "-", data=frames.write(parts))))
    [line] = [line for line in losses if line.startswith("session 2: ")]
    assert re.fullmatch(r"session 2: 7 of 28 events \(25.00 %\), with 0 of \d+ records of switches, had no room in the "
                        r"trace buffers: use more or larger buffers \(session.N=\), or fewer switches \(switches=\)",
                        line)


def test_etl_files(tmp_path):
    """One that tells no more than its header, one with the log's own text in it."""
    strict, whole = tmp_path / "strict.etl", tmp_path / "whole.etl"
    assert cairn("export", "--to", "etl", "--strict", GOLDEN / "lost.log", "-o", strict).returncode == 0
    assert cairn("export", "--to", "etl", GOLDEN / "lost.log", "-o", whole).returncode == 0
    assert paragraphs(text_of(cairn("info", strict))) == [
        "460 events, as the file's header says: give the logger more or larger buffers"]
    assert paragraphs(text_of(cairn("info", whole))) == LOSSES["lost"]
    assert paragraphs(text_of(cairn("info", GOLDEN / "windows-19041-64.etl"))) == []


def test_an_etl_file_that_is_cut(tmp_path):
    """What its header counts and the file has not, and the buffer the cut goes through."""
    whole = GOLDEN.parent.parent / "samples" / "cairn.etl"
    (tmp_path / "cut.etl").write_bytes(whole.read_bytes()[:100000])
    words = "4 of 5 buffers are missing or damaged in this file"
    info, stat, dump = (cairn(command, tmp_path / "cut.etl").stdout.decode() for command in ("info", "stat", "dump"))
    assert paragraphs(info) == [f"{words}: they were lost when the file was copied; no option keeps more"]
    assert re.search("^  buffers missing +4   of 5, or damaged", stat, re.M)
    assert dump.startswith(f"# damaged: {words}: cairn check tells\n# where\n")
    assert "missing" not in "".join(text_of(cairn(command, whole)) for command in ("info", "stat", "dump"))


def test_dump_tells_of_its_damage_and_its_end():
    """In its head how much is missing, where what follows may be none; in its last lines where, and why it ends."""
    lines = (GOLDEN / "panic.log").read_bytes().splitlines(keepends=True)
    trace = [i for i, line in enumerate(lines) if line.startswith(b"~T")]
    whole = cairn("dump", "-", data=b"".join(lines)).stdout.decode().splitlines()
    panic = whole[-1]
    assert panic.startswith("! the guest panicked: ") and panic.replace("!", "#", 1) in whole[:9]
    assert not any(line.startswith("# damaged") for line in whole)
    frames_of = [i for i, line in enumerate(lines) if line.startswith(b"~")]
    for gone in (trace[1:2], frames_of[frames_of.index(trace[0]):]):
        text = cairn("dump", "-", data=b"".join(line for i, line in enumerate(lines) if i not in gone))
        shown = text.stdout.decode().splitlines()
        words = f"{len(gone)} of {len(frames_of)} frames {'is' if len(gone) == 1 else 'are'} missing in this log"
        assert f"# damaged: {words}: '!' tells where" in shown[:9], shown[:9]
        row = re.compile(rf"! frames? [\d.]+ of {len(frames_of)} missing")
        ends = [i for i, line in enumerate(shown) if row.fullmatch(line)]
        assert ends and ends[-1] >= len(shown) - 2 and text.returncode == 1
        assert (shown[-1] == panic) == (len(gone) == 1)  # else nobody knows of it


@pytest.mark.parametrize("command, log", [("profile", "small"), ("ds", "small"), ("bts", "bts"), ("locks", "locks")])
def test_heads_tell_of_damage(command, log):
    lines = (GOLDEN / f"{log}.log").read_bytes().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line.startswith(b"~T"))
    assert "damaged" not in text_of(cairn(command, "-", data=b"".join(lines)))
    text = " ".join(text_of(cairn(command, "-", data=b"".join(lines[:last] + lines[last + 1:]))).split()[:70])
    assert re.search(r"damaged: 1 of \d+ frames is missing in this log: cairn (# )?check (# )?tells (# )?where", text)


@pytest.mark.parametrize("every", [2, 3, 5])
def test_what_is_missing_between_the_switches_is_no_lie(every):
    """Gaps all over a log: each event that is left is as the truth has it, and none is missed that was in a gap."""
    parts = frames.read((GOLDEN / "told.log").read_bytes())
    whole = sum(hook in (0x0F2E, 0x0F43) for _, _, hook, _ in events(parts))
    trace = [i for i, (stream, _) in enumerate(parts) if stream == "T"]
    without(parts, lambda i, stream: i in trace[1::every])
    left = sum(hook in (0x0F2E, 0x0F43) for _, _, hook, _ in events(parts))
    text = text_of(cairn("check", "-", data=frames.write(parts)))
    compared, failed = re.search(r"^truth: each event between the switches +(\d+) +(\d+)", text, re.M).groups()
    assert 0 < left < whole and (int(compared), int(failed)) == (left, 0)
    assert "FAIL buffers" in text and "FAIL truth" not in text


def test_drains_of_which_nothing_is_left():
    """The end summary tells of PEBS records that no event of the session has."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    without(parts, lambda i, stream: stream == "T")
    text = text_of(cairn("stat", "-", data=frames.write(parts)))
    assert re.search(r"^  PEBS records +none   the run had 39, but no event shows them$", text, re.M), text
    assert re.search(r"^  PEBS records +none   no PEBS buffer was drained$",
                     text_of(cairn("stat", "--cpu", "0", GOLDEN / "locks.log")), re.M)


def test_what_is_missing_is_on_standard_output():
    """Figures that go into a file say themselves what they are not of; the guest's verdict is none of the log."""
    damaged = GOLDEN.parent.parent / "samples" / "damaged.log"
    stat, info, check, lost = (cairn(*command, damaged).stdout.decode()
                               for command in (["stat"], ["info"], ["check"], ["info", "--lost"]))
    for row in ("missing, 0525H +64   of 439 switches", "frames missing +4   of 72", "frames damaged +2 "):
        assert re.search(f"^  {row}", stat, re.M), stat
    words = ("4 of 72 frames are missing in this log; 64 of 439 switches are not there: they were lost on the line or "
             "when the log was copied; no option keeps more")
    assert all(words in paragraphs(text) for text in (info, check, lost))
    assert re.search(r"^guest's verdict  pass$", info, re.M)
    whole = text_of(cairn("stat", damaged.with_name("plain.log")))
    assert not re.search(r"^  (missing,|frames)", whole, re.M)


def test_whether_emulated_an_etl_file_does_not_tell():
    info = text_of(cairn("info", GOLDEN.parent.parent / "samples" / "cairn.etl"))
    assert info.startswith("emulated         unknown: an ETL file does not say\n")


@pytest.mark.parametrize("log", ["circular", "lost"])
def test_frames_missing_where_the_session_lost_more(log):
    """Which switches the line has lost nobody knows there: none are named."""
    lines = (GOLDEN / f"{log}.log").read_bytes().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if line.startswith(b"~T"))
    said = paragraphs(text_of(cairn("info", "--lost", "-", data=b"".join(lines[:last] + lines[last + 1:]))))
    words = (r"1 of \d+ frames is missing in this log: they were lost on the line or when the log was copied; "
             r"no option keeps more")
    assert sum(bool(re.fullmatch(words, text)) for text in said) == 1
    assert not any("not there" in text for text in said)
