# SPDX-License-Identifier: MIT
"""`cairn export --to perfetto`: protoc decodes it, and it says what `cairn export --to json` says of the same log."""

import functools
import json
import re
from collections import Counter

import pytest

import cairn_boot
import frames
import perfetto_equal
from cairn_tool import GOLDEN, LOGS, cairn, errors_of
from perfetto import ORIGIN, UNKNOWN, Trace, decoded, one, packets_of
from perfetto_equal import of, switches_equal

pytestmark = pytest.mark.xdist_group("perfetto")  # one exports, for all
SAMPLES = cairn_boot.ROOT / "samples"
LOGS = [f"{log}.log" for log in (*LOGS, "bts", "life", "live", "locks", "ring", "sessions", "told")]
LOGS += [path.name for path in sorted(GOLDEN.glob("windows-*.etl"))]
LOGS += [SAMPLES / "plain.log", SAMPLES / "life.log"]  # boots that were recorded


def export(form, log, *options, data=None):
    done = cairn("export", "--to", form, *options, "-" if data else GOLDEN / log, data=data)
    assert b"Sanitizer" not in done.stderr, done.stderr.decode()
    return done


def lines_of(done):
    return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]


@functools.cache
def both(log, *options):
    text, trace = export("json", log, *options), export("perfetto", log, *options)
    assert (trace.returncode, trace.stderr) == (text.returncode, text.stderr)
    return lines_of(text), Trace(packets_of(trace.stdout))


@pytest.mark.parametrize("log", LOGS)
def test_switches_are_those_of_json(log):
    switches_equal(*both(log))


@pytest.mark.parametrize("options", [("--cpu", "1"), ("--thread", "idle,server*"), ("--reason", "Waiting"),
                                     ("--from", "1ms", "--until", "5ms")])
def test_a_part_of_a_trace(options):
    """It is the same part, and no thread seems to run on where its next switch was left out."""
    lines, trace = both("small.log", *options)
    switches_equal(lines, trace)
    assert trace.switches and trace.attributes["cairn.only"] == lines[0]["only"] == " ".join(options)
    ran, last = {}, {}
    for at, cpu, switch in trace.all_switches:
        if cpu in last and at > last[cpu]:
            ran[one(switch, "prev_pid")] = one(switch, "prev_comm")
        last[cpu] = at
    if options[0] == "--thread":
        assert set(ran) > {0, UNKNOWN} and all(tid in (0, UNKNOWN) or name.startswith("server")
                                               for tid, name in ran.items())
    elif options[0] == "--reason":
        assert set(ran) == {UNKNOWN}
    else:
        assert UNKNOWN not in ran
    assert any("DS buffer fill" in track for _, track, _ in trace.counters) == (options[0] in ("--cpu", "--from"))


@pytest.mark.parametrize("log", LOGS)
def test_who_leaves_is_who_came(log):
    """With the switches that are made up, a viewer never sees one thread come and another leave on a CPU; and they are
    only where the log does not say."""
    lines, trace = both(log)
    runs = {}
    for packet in trace.packets:
        for bundle in packet.get("ftrace_events", []):
            for switch in bundle["event"][0].get("sched_switch", []):
                cpu = one(bundle, "cpu")
                assert runs.get(cpu, one(switch, "prev_pid")) == one(switch, "prev_pid")
                runs[cpu] = one(switch, "next_pid")
    for _, _, switch in trace.made:
        assert UNKNOWN in (one(switch, "prev_pid"), one(switch, "next_pid"))
    if not of(lines, "lost") and all("new" in line for line in of(lines, "switch")):
        last = {line["cpu"]: line["ns"] for line in of(lines, "switch")}
        assert all(at in (0, last[cpu], lines[0]["ends_ns"]) for at, cpu, _ in trace.made)


def shares(trace, ends):
    """What a viewer draws in each CPU's lane, in ns: busy, idle, unknown."""
    lanes, runs = {}, {}
    for at, cpu, switch in sorted(trace.all_switches, key=lambda event: event[0]):
        assert 0 <= at <= ends
        if cpu in runs:
            since, tid = runs[cpu]
            lanes[cpu]["unknown" if tid == UNKNOWN else "busy" if tid else "idle"] += at - since
        lanes.setdefault(cpu, Counter(unknown=at))
        runs[cpu] = at, one(switch, "next_pid")
    for cpu, (since, tid) in runs.items():
        assert tid == UNKNOWN  # nobody is told to run on
        lanes[cpu]["unknown"] += ends - since
    return {str(cpu): [lane[kind] for kind in ("busy", "idle", "unknown")] for cpu, lane in lanes.items()}


@pytest.mark.parametrize("log, options", [
    *((log, ()) for log in LOGS), *((log, options) for log in ("lost.log", "full.log", "locks.log", *LOGS[-4:])
                                    for options in (("--cpu", "0"), ("--from", "2ms", "--until", "9.5ms")))])
def test_time_is_that_of_the_session(log, options):
    """From its beginning to its end, whichever CPU told last; the lanes are those of the picture."""
    lines, trace = both(log, *options)
    ends = lines[0]["ends_ns"]
    begins, ends = (2_000_000, min(9_500_000, ends)) if "--from" in options else (0, ends)
    marks = {name: at for at, track, name, _ in trace.events if track == "Cairn"}
    slack = len(trace.all_switches) if str(log).startswith("windows") else 0  # units of other clocks are cut to ns
    begun = marks["--from" if begins else "the session begins"]
    assert 0 <= begun - begins < 1000
    assert 0 <= marks["--until" if ends < lines[0]["ends_ns"] else "the session ends"] - ends < 1000
    ends = max(packet["timestamp"][0] for packet in trace.packets if "timestamp" in packet) - ORIGIN
    assert ends in marks.values()
    svg = export("svg", log, *options).stdout.decode()
    drawn = {cpu: [int((re.search(rf'data-{kind}-ns="(\d+)"', rest) or [0, 0])[1])
                   for kind in ("busy", "idle", "unknown")]
             for cpu, rest in re.findall(r'class="cpu" data-cpu="(\d+)"([^>]*)>', svg)}
    seen = shares(trace, ends)
    for cpu, lane in seen.items():
        lane[2] -= begun
        assert all(abs(here - there) <= slack for here, there in zip(lane, drawn[cpu])), (lane, drawn[cpu])
    assert set(seen) == {str(line["cpu"]) for line in of(lines, "switch")}


@pytest.mark.parametrize("log", LOGS)
def test_samples_are_those_of_json(log):
    perfetto_equal.samples_equal(*both(log))


@pytest.mark.parametrize("log", LOGS)
def test_drains_and_locks_are_those_of_json(log):
    perfetto_equal.drains_and_locks_equal(*both(log))


@pytest.mark.parametrize("log", LOGS)
def test_slices_of_a_track_do_not_cross(log):
    perfetto_equal.slices_do_not_cross(*both(log))


@pytest.mark.parametrize("log", LOGS)
def test_events_and_what_is_missing_are_those_of_json(log):
    perfetto_equal.events_and_holes_equal(*both(log))


def test_an_end_that_is_not_told():
    """Of a log that is cut: who came last is not known to run on."""
    log = (GOLDEN / "small.log").read_bytes()
    data = log[:log.rindex(b"~T")]
    lines = lines_of(export("json", None, data=data))
    trace = Trace(packets_of(export("perfetto", None, data=data).stdout))
    assert of(lines, "switch") and lines[-1]["missing_frames"]
    assert {one(switch, "next_pid") for switch in {cpu: switch for _, cpu, switch in trace.all_switches}.values()} == \
        {UNKNOWN}


def test_names_emulation_and_clocks():
    lines, trace = both("small.log")
    for line in of(lines, "thread"):
        assert line["tid"] == 0 or trace.threads[line["tid"]] == (line["name"], 4)
    assert trace.processes[0] == "idle" and trace.processes[4] == "Cairn"
    assert trace.attributes["cairn.debug_store"].startswith("emulated")
    assert any("emulated" in name for _, _, name, _ in trace.events)
    assert all("emulated" in track for _, track, _ in trace.counters if "DS buffer" in track)
    _, real = both("hw.log")
    assert real.attributes["cairn.debug_store"] == "the processor's"
    assert not any("emulated" in one(track, "name", "") for track in real.tracks.values())
    keys = lines[0]["keys"]
    first = trace.clocks[0]
    assert first[6] == ORIGIN and first[64] * 100 // 100 == first[64] and keys["boot.time"].startswith("2026-11-21")
    assert first[1] // 10**9 >= 1795226000 and trace.clocks[-1][6] > ORIGIN


def test_samples_are_of_the_event_that_was_counted():
    """Not of a timer, which a viewer takes for granted."""
    assert both("small.log")[1].sampled == [{"name": ["INST_RETIRED.ANY_P"], "period": [1000]}]


def test_fill_counts_the_records_of_the_buffer():
    lines, trace = both("small.log")
    for cpu in (0, 1):
        values = [value for _, track, value in trace.counters if track.startswith(f"CPU {cpu} DS buffer fill")]
        drained = [line["records"] for line in of(lines, "drain") if line["cpu"] == cpu and line["reason"] != "start"]
        tops = [a for a, b in zip(values, values[1:]) if b == 0 and a]
        assert tops == [records for records in drained if records]


@pytest.mark.parametrize("log", ["small.log", "locks.log"])
def test_decodes_without_a_schema(log):
    """The numbers on the wire, as Perfetto's own files have them."""
    packets = decoded(export("perfetto", log).stdout, "--decode_raw")["1"]
    lines = lines_of(export("json", log))
    first = one(one(packets[0], "45"), "1")
    assert one(first, "1") == "Cairn" and one(packets[0], "10") == 1 and one(packets[0], "13") == 1
    switch = next(event for event in (one(one(packet, "1"), "2") for packet in packets if "1" in packet)
                  if one(event, "2") != UNKNOWN)
    line = of(lines, "switch")[0]
    assert one(switch, "1") == line["ns"] + ORIGIN and one(switch, "2") == line["old"]["tid"]
    assert one(one(switch, "4"), "2") == line["old"]["tid"] and one(one(switch, "4"), "6") == line["new"]["tid"]
    assert one(one(switch, "4"), "5") == line["new"]["name"]
    assert sum("66" in packet for packet in packets) == len(of(lines, "sample"))
    slices = [one(packet, "11") for packet in packets if "11" in packet]
    if log == "locks.log":
        assert sum(one(e, "9") == 2 for e in slices) >= len(of(lines, "lock"))


def test_records_older_than_the_session():
    """The DS buffer may hold some when it begins. Their times are below 0, and are told."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    later = [(stream, re.sub(rb"(?<=session\.1\.start_tsc=)\d+", lambda start: b"%d" % (int(start[0]) + 2000000),
                             payload)) for stream, payload in parts]
    assert later != parts
    data = frames.write(later)
    lines = lines_of(export("json", None, data=data))
    trace = Trace(packets_of(export("perfetto", None, data=data).stdout))
    samples = [(line["ns"], line["cpu"]) for line in of(lines, "sample")]
    assert sum(ns < 0 for ns, _ in samples) > 3 and [(ns, cpu) for ns, cpu, *_ in trace.samples] == samples
    switches_equal(lines, trace)


def test_damaged_log():
    """What is missing is missing in both, and shown in both."""
    damaged = (SAMPLES / "damaged.log").read_bytes()
    text, trace = export("json", None, data=damaged), export("perfetto", None, data=damaged)
    assert trace.returncode == text.returncode != 0
    lines, seen = lines_of(text), Trace(packets_of(trace.stdout))
    assert len(of(lines, "switch")) == len(seen.switches) and len(of(lines, "sample")) == len(seen.samples)
    assert of(lines, "lost") and seen.attributes["cairn.missing_frames"] == str(lines[-1]["missing_frames"])
    assert sum("missing" in track for _, track, _, _ in seen.events) == len(of(lines, "lost"))


def test_files(tmp_path):
    """The same each time; what is there and of another format is kept."""
    path, other = tmp_path / "out", tmp_path / "notes"
    for _ in range(2):
        assert cairn("export", "--to", "perfetto", GOLDEN / "small.log", "-o", path).returncode == 0
        assert path.read_bytes() == export("perfetto", "small.log").stdout
    other.write_bytes(b"\n\x05notes")
    done = cairn("export", "--to", "perfetto", GOLDEN / "small.log", "-o", other)
    assert done.returncode == 2 and "not a file of the format perfetto" in errors_of(done)
    assert other.read_bytes() == b"\n\x05notes"
    assert cairn("export", "--to", "perfetto", GOLDEN / "small.log", "-o", "/dev/full").returncode == 3
