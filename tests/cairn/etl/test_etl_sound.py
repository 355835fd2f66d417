# SPDX-License-Identifier: MIT
"""Files of Windows that are sound, though something in them looks like damage or loss: `check` fails only where no
Windows can have written the file, and says what it cannot know. Each file is made here, and each has a neighbour that
is really wrong."""

import contextlib
import json
import re
import sqlite3
import struct
import subprocess

import pytest

import cairn_boot
import etl
import make_etl
from cairn_tool import GOLDEN, cairn, measured, text_of
from etl_rundown import rule

MODE, WRITTEN, EVENTS_LOST, BUFFERS_LOST = 0x20, 0x24, 0x30, 0x114
IDLE, SYSTEM, PROGRAM = 0, 4, 900
CIRCULAR, APPEND, NEW_FILE, IN_MEMORY = 2, 4, 8, 0x400


class Trace(make_etl.Maker):
    """A file of these buffers: (CPU, events). Fields of its header are `header`: offset, value."""

    def __init__(self, build=19041, *, clock=1, **header):
        super().__init__(10240, 64, clock=clock)
        self.is_build, self.fields, self.parts, self.sequences = build, header, [], None

    def header(self):
        """That of a merged file has no name of one file."""
        whole, name = super().header(), "NT Kernel Logger\0C:\\kernel.etl\0".encode("utf-16-le")
        assert whole.endswith(name)
        if self.fields.get("merged"):
            whole = whole[:-len(name)] + "Relogger\0[multiple files]\0".encode("utf-16-le")
        return whole[:4] + struct.pack("<H", len(whole)) + whole[6:]

    def process_event(self, hook, time, pid):
        version, payload = self.process(pid, f"p{pid}.exe")
        return self.system(hook, version, time, 0, pid, payload)

    def thread_event(self, hook, time, tid, pid):
        return self.system(hook, 3, time, tid, pid, self.thread(tid, pid))

    def masks(self, hook, time, groups=3):
        return self.perfinfo(hook, 2, time, struct.pack("<9I", groups, 4, *[0] * 6, 85))

    def switch(self, time, old, new, state=5):
        payload = struct.pack("<IIbbBbBBBBIi", new, old, 8, 8, 0, 0, 0, 1, state, 0, 1, 100)
        return self.perfinfo(0x0524, 4, time, payload)

    def complete(self, time):
        return self.perfinfo(0x0008, 2, time, b"")

    def listed(self, end, time, processes, threads):
        """The list of the beginning, or of the end."""
        yield from (self.process_event(0x0303 + end, time, pid) for pid in processes)
        yield from (self.thread_event(0x0503 + end, time, tid, pid) for tid, pid in threads)

    def session(self, events=(), *, begin=((8, SYSTEM),), end=((8, SYSTEM),), processes=(IDLE, SYSTEM)):
        """One with both lists; (time, thread, process)s in them; `end` None: it has not stopped."""
        yield self.masks(0x0005, 1500)
        yield from self.listed(False, 1600, processes, begin)
        yield self.complete(1700)
        yield from events
        if end is not None:
            yield self.masks(0x0020, 5000)
            yield from self.listed(True, 5100, processes, end)
            yield self.masks(0x0005, 5200, 0)
            yield self.complete(5300)

    def made(self, *parts, sequences=None):
        parts = [(cpu, list(events)) for cpu, events in parts]
        for _ in range(2):  # the header counts the buffers
            header, self.buffers = self.header(), []
            self.buffer(0, [header], kind=4)
            for cpu, events in parts:
                self.split(cpu, events)
        data = bytearray(b"".join(self.buffers))
        fields = {"build": (8, self.is_build), "mode": (MODE, None), "written": (WRITTEN, None), "cpus": (12, None),
                  "events_lost": (EVENTS_LOST, None), "buffers_lost": (BUFFERS_LOST, None)}
        for name, (offset, value) in fields.items():
            value = self.fields.get(name, value)
            if value is not None:
                struct.pack_into("<I", data, 0x48 + 0x20 + offset, value)
        if self.fields.get("end_time") == 0:
            struct.pack_into("<Q", data, 0x48 + 0x20 + 0x10, 0)
        for buffer, number in zip(etl.read(bytes(data)), sequences or ()):
            struct.pack_into("<q", data, buffer.at + 0x18, number)
        return bytes(data)


def said(data, *command):
    """All that a command says, its wrapped lines made one; and its status."""
    done = cairn(*command, "-", data=data)
    return " ".join(text_of(done).split()), done.returncode


# ---- who is told of --------------------------------------------------------------------------------------------------

DELEGATES = ((44, IDLE), (48, IDLE))


@pytest.mark.parametrize("build", [20348, 22000, 26100])
def test_threads_of_the_idle_process_are_listed_at_the_end_alone(build):
    """One a CPU runs its DPCs. Any other thread that only the end lists is still a failure."""
    t = Trace(build)
    both = ((8, SYSTEM),)
    compared, failed, word, text = rule(t.made((0, t.session(end=DELEGATES + both))))
    assert compared and failed == 0 and word == "consistent" and "PASS" in text
    assert "2 items are not checked: Windows lists threads of the idle process only at the end" in text
    _, failed, _, text = rule(t.made((0, t.session(end=((44, SYSTEM), *both)))))
    assert failed == 1 and "thread 44 is in the end rundown, but has no start event" in text


@pytest.mark.parametrize("build, sound", [(19041, False), (20348, True), (26100, True)])
def test_a_thread_that_runs_and_that_only_the_end_would_have_named(build, sound):
    """The session has not stopped, so there is no list of the end. Older builds list each thread at the start."""
    t = Trace(build)
    runs = [t.switch(2000, 8, 44), t.switch(2100, 44, 8)]
    _, failed, _, text = rule(t.made((0, t.session(runs, end=None))))
    assert (failed == 0) == sound and ("thread 44 runs, but has no start event" in text) != sound
    _, failed, _, text = rule(t.made((0, t.session(runs))))  # it has stopped, and its list has no such thread
    assert failed == 2 and "thread 44 runs, but has no start event" in text
    _, failed, _, text = rule(t.made((0, t.session(runs, end=((44, IDLE), (8, SYSTEM))))))
    assert failed == 0


def test_a_thread_that_ended_before_the_session_began_may_still_leave_a_cpu():
    t = Trace()
    for state, failures in ((4, 0), (5, 2)):
        _, failed, _, text = rule(t.made((0, t.session([t.switch(2000, 8, 60), t.switch(2100, 60, 8, state)]))))
        assert failed == failures and ("thread 60 runs, but has no start event" in text) == bool(failures)
    again = [t.switch(2000, 8, 60), t.switch(2100, 60, 8, 4), t.switch(2200, 8, 60), t.switch(2300, 60, 8, 1)]
    assert rule(t.made((0, t.session(again))))[1] == 4


def test_lists_and_events_may_cross():
    """What is being made or ends while a list is made may be in it, though its own event comes later or came before."""
    t = Trace()
    for events, begin, end in (([t.thread_event(0x0501, 1800, 16, SYSTEM)], ((8, SYSTEM), (16, SYSTEM)),
                                ((8, SYSTEM), (16, SYSTEM))),
                               ([t.thread_event(0x0502, 4900, 16, SYSTEM)], ((8, SYSTEM), (16, SYSTEM)),
                                ((8, SYSTEM), (16, SYSTEM)))):
        compared, failed, _, text = rule(t.made((0, t.session(events, begin=begin, end=end))))
        assert compared and failed == 0 and "1 item is not checked: something that begins or ends as a list" in text
    gone = [t.masks(0x0005, 1500), t.thread_event(0x0502, 1550, 16, SYSTEM)]
    rest = list(t.session(begin=((8, SYSTEM), (16, SYSTEM))))[1:]
    assert rule(t.made((0, gone + rest)))[1] == 0
    twice = [t.thread_event(0x0501, 1800, 16, SYSTEM), t.thread_event(0x0501, 1900, 16, SYSTEM)]
    _, failed, _, text = rule(t.made((0, t.session(twice, end=((8, SYSTEM), (16, SYSTEM))))))
    assert failed == 1 and "thread 16 begins again, but has not ended" in text


@pytest.mark.parametrize("merged", [False, True])
def test_two_sessions_of_a_merged_file_may_tell_of_the_same(merged):
    """Each lists who is there, and tells of a thread that begins and ends."""
    t, both = Trace(merged=merged), ((8, SYSTEM), (8, SYSTEM))
    lived = [t.thread_event(hook, time, 20, SYSTEM) for hook, time in ((0x0501, 2000), (0x0501, 2001), (0x0502, 2100),
                                                                       (0x0502, 2101))]
    compared, failed, _, text = rule(t.made((0, t.session(lived, begin=both, end=both))))
    assert compared and failed == (0 if merged else 4)
    assert ("4 items are not checked: several sessions may tell of it in this merged file" in text) == merged
    _, failed, _, text = rule(t.made((0, t.session(end=((24, SYSTEM), (8, SYSTEM))))))  # still a failure
    assert failed == 1 and "thread 24 is in the end rundown, but has no start event" in text


@pytest.mark.parametrize("mode, why", [
    (1, None), (0x11001, "the file was relogged, and events may have been filtered out"),
    (1 | NEW_FILE, "a session with several files may have its beginning in another one"),
    (1 | APPEND, "a session with several files may have its beginning in another one")])
def test_a_file_that_need_not_have_all_its_events_is_not_compared(mode, why):
    """A process begins and neither ends nor is listed at the end: its end was filtered out, or is missing."""
    t = Trace(mode=mode)
    data = t.made((0, t.session([t.process_event(0x0301, 2000, PROGRAM)])))
    compared, failed, word, text = rule(data)
    if why:
        assert (compared, failed, word) == (0, 0, "cannot be known here") and f"not checked: {why}" in text
    else:
        assert failed == 1 and f"process {PROGRAM} neither ends nor is in the end rundown" in text


# ---- buffers ---------------------------------------------------------------------------------------------------------

def buffers(t, times=(2000, 2100, 2200), cpu=0):
    """One for each time."""
    return [(cpu, [t.perfinfo(0x7F99, 1, time, bytes(1500))]) for time in times]


@pytest.mark.parametrize("mode, sequences, times", [(CIRCULAR, (0, 56, 54, 55), (2200, 2000, 2100)),
                                                    (1 | NEW_FILE, (0, 54, 55, 56), (2000, 2100, 2200)),
                                                    (1 | IN_MEMORY, (0, 54, 55, 56), (2000, 2100, 2200))])
def test_a_session_may_have_written_more_than_its_file_keeps(mode, sequences, times):
    """The header's count is the session's: what a circular file wrote over was not lost by who copied it."""
    t = Trace(mode=mode, written=57)
    data = t.made(*buffers(t, times), sequences=sequences)
    text, status = said(data, "check")
    assert status == 0 and "PASS" in text and "copied" not in text and "damaged" not in text
    over = "53 of 57 buffers were overwritten by newer ones, as circular files do: use a larger file"
    for command in ("check", "info"):
        assert (over in said(data, command)[0]) == (mode == CIRCULAR)
    assert "! events may be missing here: older buffers are not in this file" in said(data, "dump")[0]
    assert "sequence numbers leave out" not in text


def test_a_file_of_fewer_or_more_buffers_than_it_counts_is_still_damaged():
    for mode, written in ((1, 57), (1, 3), (CIRCULAR, 3)):
        t = Trace(mode=mode, written=written)
        text, status = said(t.made(*buffers(t)), "check")
        assert status == 1 and f"the file's header counts {written} buffers, but the file has 4" in text
        assert ("they were lost when the file was copied" in text) == (written == 57)
    t = Trace(mode=1 | APPEND, written=3)  # counts those of the last session
    assert said(t.made(*buffers(t)), "check")[1] == 0


@pytest.mark.parametrize("sequences, where", [((0, 2, 3, 4), "the first right behind the file's header"),
                                              ((0, 1, 3, 4), "between others"), ((0, 1, 2, 3), None)])
@pytest.mark.parametrize("cpu", [0, 1])
def test_a_gap_in_the_sequence_is_said_also_behind_the_header(sequences, where, cpu):
    t = Trace()
    data = t.made(*buffers(t, cpu=cpu), sequences=sequences)
    text, status = said(data, "check")
    said_so = f"lost: sequence numbers leave out 1 buffer, {where}: events may be missing there"
    assert status == 0 and (said_so in text) == bool(where) and ("lost" in text) == bool(where)
    dump = said(data, "dump")[0]
    assert dump.count("! events may be missing here: sequence numbers skip a buffer") == bool(where)
    if where and "header" in where:
        assert dump.index("sequence numbers skip") < dump.index("7F99H")
    whole = t.made((0, t.session()), *buffers(t, cpu=1), sequences=(0, 2, 3, 4, 5) if where else range(5))
    assert (rule(whole)[2] == "cannot be known here") == bool(where)


@pytest.mark.parametrize("events, lost", [(0, 2), (7, 0), (7, 2), (0, 0)])
def test_lost_buffers_are_said_without_lost_events(events, lost):
    t = Trace(events_lost=events, buffers_lost=lost)
    data = t.made(*buffers(t))
    for command in ("check", "info"):
        text, status = said(data, command)
        assert status == 0
        assert (f"{events} events, as the file's header says: give the logger more" in text) == bool(events)
        assert (f"{lost} buffers with an unknown number of events, as the file's header says" in text) == bool(lost)


def test_a_flag_of_a_buffer_tells_of_loss_that_the_header_does_not_count():
    t = Trace()
    data = bytearray(t.made(*buffers(t)))
    assert "flags" not in said(bytes(data), "check")[0]
    struct.pack_into("<H", data, etl.read(bytes(data))[1].at + 0x34, 0x24)
    assert "events were lost behind 1 buffer, as flags say, which the file's header does not count" in said(
        bytes(data), "check")[0]


def test_the_end_of_a_file_that_was_never_closed_may_be_empty():
    """Windows may make a file longer ahead of its buffers."""
    for end_time, empty, status in ((0, bytes(5000), 0), (None, bytes(5000), 1), (0, bytes(4999) + b"\1", 1)):
        t = Trace(end_time=end_time, written=1 if end_time == 0 else None)
        assert said(t.made(*buffers(t)) + empty, "check")[1] == status


# ---- times -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("clock, mode, why", [
    (1, 1, None), (2, 1, "system time may have been set back"), (3, 1, "a cycle counter begins again after sleep"),
    (1, 0x10000001, "CPUs shared buffers"), (1, 0x801, "threads of a process shared buffers"),
    (1, 0x10001, "whoever relogged the file chose the times")])
def test_time_may_go_back_where_nothing_forbids_it(clock, mode, why):
    t = Trace(clock=clock, mode=mode)
    data = t.made((0, [t.perfinfo(0x7F99, 1, 3000, b""), t.perfinfo(0x7F99, 1, 2000, b"")]))
    text, status = said(data, "check")
    assert status == (0 if why else 1)
    if why:
        assert f"consistent: 1 step back is not judged: {why}" in text
    else:
        assert "an event is earlier than the previous event" in text


# ---- CPUs ------------------------------------------------------------------------------------------------------------

def test_cpus_above_255():
    """Windows numbers up to 2,048. Each is shown, counted and checked, and nothing is kept of those without events."""
    t = Trace(cpus=2048)
    parts = [(cpu, [t.switch(2000 + cpu, 8, 12), t.switch(2100 + cpu, 12, 8)]) for cpu in (0, 255, 256, 300, 2047)]
    data = t.made(*parts)
    text, status = said(data, "check")
    assert status == 0 and "time stamps never decrease on a CPU 11" in re.sub(" +", " ", text)
    for options, cpus in (((), {"0", "255", "256", "300", "2047"}), (("--cpu", "300"), {"300"})):
        shown = re.findall(r"^ +[\d.]+ +(\d+) .* > ", text_of(cairn("dump", *options, "-", data=data)), re.M)
        assert set(shown) == cpus and len(shown) == 2 * len(cpus)
    stat = text_of(cairn("stat", "--cpu", "256,300", "-", data=data))
    assert re.search(r"^events +4 ", stat, re.M), stat
    assert b"0 to 2047" in cairn("dump", "--cpu", "2048", "-", data=data).stderr


def test_cpus_without_anything_take_no_time(tmp_path):
    """A file of Cairn's, truth and all, whose last buffer says that it is of CPU 255, or 2047: instructions."""
    path = tmp_path / "t.etl"
    done = cairn("export", "--to", "etl", GOLDEN / "small.log", "-o", path)
    assert done.returncode == 0, done.stderr
    taken = []
    for cpus in (256, 2048):
        data = bytearray(path.read_bytes())
        struct.pack_into("<H", data, etl.read(bytes(data))[-1].at + 0x28, cpus - 1)
        path.write_bytes(data)
        subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={tmp_path / 'out'}",
                        cairn_boot.BUILD / "cairn", "check", path], check=False, capture_output=True)
        taken.append(int((tmp_path / "out").read_text().rsplit("summary:", 1)[1].split()[0]))
    assert taken[1] < 2 * taken[0], taken


FORMATS = ["ctf", "html", "json", "perf.data", "perfetto", "sqlite", "svg"]


@pytest.mark.parametrize("to", FORMATS)
def test_exports_of_cpus_above_255(tmp_path, to):
    t, out = Trace(cpus=2048), tmp_path / "x"
    (tmp_path / "t.etl").write_bytes(t.made(*[(cpu, [t.switch(2000 + cpu, 8, 12), t.switch(2100 + cpu, 12, 8)])
                                              for cpu in (0, 300, 2047)]))
    done = cairn("export", "--to", to, tmp_path / "t.etl", "-o", out)
    assert done.returncode == 0, done.stderr
    if to == "json":
        cpus = {event.get("cpu") for event in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
        assert {0, 300, 2047} <= cpus
    if to == "sqlite":
        with contextlib.closing(sqlite3.connect(out)) as database:
            assert {cpu for cpu, in database.execute("select distinct cpu from switches")} == {0, 300, 2047}
    if to == "ctf":
        assert len(list(out.glob("cpu_*"))) == 2048


@pytest.mark.parametrize("active", [3, 2048])
def test_thousands_of_cpus_take_little_memory(tmp_path, active):
    t, path = Trace(cpus=2048), tmp_path / "t.etl"
    path.write_bytes(t.made(*[(2047 - cpu, [t.switch(2000 + cpu, 8, 12), t.switch(9000 + cpu, 12, 8)])
                              for cpu in range(active)]))
    for command in ("info", "check", "stat", "dump"):
        status, errors, memory = measured([command, path])
        most = (24 if active < 2048 else 96) << 20
        assert (status, errors) == (0, "") and memory < most, (command, memory >> 20)
