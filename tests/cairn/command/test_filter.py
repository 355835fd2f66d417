# SPDX-License-Identifier: MIT
"""--cpu, --thread, --from, --until, --reason: what passes is what the whole log has of it."""

import fnmatch
import json
import re

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, LOGS, cairn, errors_of, text_of

SAMPLES = cairn_boot.ROOT / "samples"
BRANCHES, PLAIN = SAMPLES / "branches.log", SAMPLES / "plain.log"
FEW = ["full", "lost", "panic", "arch", "locks", "told", "sessions"]  # each with events that the others do not have
ALL = [PLAIN, *(GOLDEN / f"{log}.log" for log in FEW),
       *(cairn_boot.long(GOLDEN / f"{log}.log") for log in (*LOGS, "live") if log not in FEW)]
BODY = {"switch", "sample", "drain", "lock", "event", "lost"}
LOSSES = {"drain", "lost"}


def exported(*arguments):
    done = cairn("export", "--to", "json", *arguments)
    assert done.returncode in (0, 1)
    return [json.loads(line) for line in text_of(done).splitlines()]


def body(*arguments):
    return [line for line in exported(*arguments) if line["type"] in BODY]


def lost_something(line):
    return line["type"] == "lost" or line["type"] == "drain" and (line.get("lost") or "lost_unknown" in line)


def named(thread, pattern):
    name = thread.get("name", "idle" if thread["tid"] == 0 else "thread")
    return pattern in (str(thread["tid"]), f"{name}:{thread['tid']}") or fnmatch.fnmatch(name, pattern)


def middle(lines):
    """A time in the middle, and one at three quarters."""
    times = sorted(line["ns"] for line in lines if "ns" in line)
    return times[len(times) // 2], times[3 * len(times) // 4]


@pytest.mark.parametrize("log", ALL, ids=lambda path: path.stem)
def test_cpu(log):
    whole = body(log)
    for cpus, listed in (("0", {0}), ("1", {1}), ("0-1", {0, 1}), ("1,0", {0, 1})):
        assert body("--cpu", cpus, log) == [line for line in whole if line["cpu"] in listed]


@pytest.mark.parametrize("log", ALL, ids=lambda path: path.stem)
def test_time(log):
    """Half-open: what lies at --from is in, what lies at --until is not; gaps are where they reach into it."""
    whole = body(log)
    first, last = middle(whole)
    timed = [line for line in whole if "ns" in line]
    for times, chosen in ((["--from", f"{first}ns"], [line for line in timed if first <= line["ns"]]),
                          (["--until", f"{last}ns"], [line for line in timed if line["ns"] < last]),
                          (["--from", f"{first / 1e9:.9f}", "--until", f"{last / 1000:.3f}us"],
                           [line for line in timed if first <= line["ns"] < last])):
        assert [line for line in body(*times, log) if "ns" in line] == chosen
    parts = [body("--until", f"{first}ns", log), body("--from", f"{first}ns", log)]
    assert sum(len([line for line in part if "ns" in line]) for part in parts) == len(timed)
    gaps = [[line for line in part if line["type"] == "lost"] for part in parts]
    assert all(gap in gaps[0] + gaps[1] for gap in whole if gap["type"] == "lost")


def test_units_of_time():
    lines = {tuple(map(json.dumps, body("--until", time, PLAIN)))
             for time in ("0.0635s", "63.5ms", "63500us", "63500000ns", "0.0635", "0.06350000001")}
    assert len(lines) == 1 and len(next(iter(lines))) > 3


def test_time_as_dump_shows_it():
    """A time copied from the dump is one of this line: it is there from then on, and not up to then."""
    lines = [line for line in text_of(cairn("dump", PLAIN)).splitlines() if " > " in line]
    at = lines[100].split()[0]
    assert lines[100] in text_of(cairn("dump", "--from", at, PLAIN)).splitlines()
    assert lines[100] not in text_of(cairn("dump", "--until", at, PLAIN)).splitlines()


@pytest.mark.parametrize("log", ALL, ids=lambda path: path.stem)
def test_thread(log):
    whole = body(log)
    threads = {}
    for line in whole:
        if line["type"] == "switch":
            threads[line["old"]["tid"]] = line["old"]
    for thread in [threads[tid] for tid in sorted(threads)[:2]]:
        name = thread.get("name", "idle" if thread["tid"] == 0 else "thread")
        for pattern in {str(thread["tid"]), name, f"{name}:{thread['tid']}", name[:3] + "*"} - {"thread", "idle:0"}:
            found = body("--thread", pattern, log)
            for kind in ("switch", "sample", "lock"):
                sides = ("old", "new") if kind == "switch" else ("thread",)
                assert [line for line in found if line["type"] == kind] == [
                    line for line in whole if line["type"] == kind and
                    any(side in line and named(line[side], pattern) for side in sides)], (pattern, kind)
            assert [line for line in found if line["type"] in LOSSES] == list(filter(lost_something, whole))
            events = [line for line in whole if line["type"] == "event"]
            shown = [line for line in found if line["type"] == "event"]
            assert all(line in events for line in shown)
            assert all(line in shown for line in events if re.search(rf"\b{re.escape(name)}:{thread['tid']} is ready",
                                                                     line["text"]))


def test_several_threads():
    pair = body("--thread", "consumer/0,72", PLAIN)
    assert {line["old"]["tid"] for line in pair if line["type"] == "switch"} >= {56, 72}
    each = body("--thread", "56", PLAIN) + body("--thread", "consumer/2:72", PLAIN)
    assert pair == [line for line in body(PLAIN) if line in each]


@pytest.mark.parametrize("log", ALL, ids=lambda path: path.stem)
def test_reason(log):
    whole = body(log)
    reasons = {line.get("reason", line.get("state")) for line in whole if line["type"] == "switch"} - {None}
    for word in sorted(reasons)[:4] + ["Waiting", "wr*"]:
        done = cairn("export", "--to", "json", "--reason", word, log)
        lines = [line for line in map(json.loads, text_of(done).splitlines()) if line["type"] in BODY]
        assert lines == [line for line in whole if lost_something(line) or line["type"] == "switch" and any(
            fnmatch.fnmatch(line.get(key, "").lower(), word.lower()) for key in ("state", "reason"))]
        assert done.returncode == (0 if lines else 1)


def test_the_last_of_each_option_holds():
    for option, first, last in (("--cpu", "0", "1"), ("--thread", "56", "72"), ("--from", "1s", "100ms"),
                                ("--until", "100ms", "1s"), ("--reason", "Ready", "WrMutex")):
        assert body(option, first, option, last, PLAIN) == body(option, last, PLAIN) != body(option, first, PLAIN)


def test_loss_is_not_hidden():
    """Neither by a thread that lost nothing nor by a reason; by its CPU and its time it is."""
    parts = frames.read((GOLDEN / "full.log").read_bytes())
    lines = frames.write(parts).splitlines(keepends=True)
    data = b"".join(line for i, line in enumerate(lines) if line[:2] != b"~T" or i % 3)
    gaps = [line for line in text_of(cairn("dump", "-", data=data)).splitlines() if " ! " in line]
    assert gaps
    for options in (["--thread", "4"], ["--reason", "WrMutex"], ["--thread", "4", "--reason", "Ready"]):
        done = cairn("dump", *options, "-", data=data)
        assert [line for line in text_of(done).splitlines() if " ! " in line] == gaps
        assert done.returncode == 1 and b"missing: " in done.stderr
    for cpu in (0, 1):
        shown = text_of(cairn("dump", "--cpu", cpu, "--thread", "4", "-", data=data)).splitlines()
        assert [line for line in shown if " ! " in line] == [line for line in gaps if line[12:15] == f"  {cpu}"]
    late = text_of(cairn("dump", "--from", "100s", "-", data=data)).splitlines()
    assert [line for line in late if " ! " in line] == gaps[-1:]  # only this one has no end


def test_stat_counts_what_passes():
    lines = body("--thread", "consumer*", "--from", "30ms", PLAIN)
    text = text_of(cairn("stat", "--thread", "consumer*", "--from", "30ms", PLAIN))
    kinds = [line["type"] for line in lines]
    assert int(re.search(r"^switches +(\d+)", text, re.M)[1]) == kinds.count("switch") > 0
    assert int(re.search(r"^  PEBS records +(\d+)$", text, re.M)[1]) == kinds.count("sample") > 0
    rows = re.findall(r"^ +(\d)  +(\d+) +([\d.]+) % +([\d.]+) % +([\d.]+) % +([\d.]+) %$", text, re.M)
    assert [int(row[1]) for row in rows] == [sum(line["type"] == "switch" and line["cpu"] == cpu for line in lines)
                                             for cpu in (0, 1)]
    assert all(abs(sum(map(float, row[2:])) - 100) < 0.03 for row in rows)
    threads = re.findall(r"^  (\S+):(\d+) +([\d.]+) % ", text, re.M)
    assert all(name.startswith("consumer") for name, _, _ in threads)
    assert abs(sum(float(share) for _, _, share in threads) - 100) < 0.03


def busy(text):
    """Microseconds that each thread ran."""
    scale = {"us": 1, "ms": 1000, "s": 1e6}
    return {tid: float(n) * scale[unit] for tid, n, unit in
            re.findall(r"^  \S+:(\d+) +[\d.]+ % +([\d.]+) (us|ms|s) ", text, re.M)}


def test_times_on_a_cpu_are_cut_at_the_ends():
    """What threads ran before and after a time, together, is what they ran."""
    options = ["--top", "1000", PLAIN]
    whole, before, after = (busy(text_of(cairn("stat", *times, *options)))
                            for times in ([], ["--until", "0.5"], ["--from", "0.5"]))
    assert len(whole) > 10
    for tid, time in whole.items():
        assert abs(before.get(tid, 0) + after.get(tid, 0) - time) <= 0.003 * time + 20


# ---- the other commands ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options, chosen", [
    (["--cpu", "0"], lambda line: line["cpu"] == 0),
    (["--cpu", "0-1", "--until", "1.5s"], lambda line: line["ns"] < 1500000000),
    (["--thread", "consumer*"], lambda line: line.get("thread", {}).get("name", "").startswith("consumer")),
])
def test_profile(options, chosen):
    samples = [line for line in body(PLAIN) if line["type"] == "sample"]
    text = text_of(cairn("profile", "--per", "thread", *options, PLAIN))
    assert sum(int(line.split()[0]) for line in text.splitlines() if line[0] != "#") == sum(map(chosen, samples)) > 0
    assert f"# only: {' '.join(options)}\n" in text


def test_locks():
    log = GOLDEN / "locks.log"
    releases = [line for line in body(log) if line["type"] == "lock"]
    half = sorted(line["ns"] for line in releases)[len(releases) // 2]
    tid = releases[0]["thread"]["tid"]
    for options, chosen in ((["--cpu", "1"], lambda line: line["cpu"] == 1),
                            (["--from", f"{half}ns"], lambda line: line["ns"] >= half),
                            (["--thread", tid], lambda line: line["thread"]["tid"] == tid)):
        text = text_of(cairn("locks", *options, log))
        counted = sum(int(n) for n in re.findall(r"acquired; (\d+) events?,", text))
        assert counted == sum(map(chosen, releases)) > 0


def test_branches():
    drains = re.findall(r"^(\S+:\d+): .*\n((?:  .*\n)*)", text_of(cairn("bts", BRANCHES)), re.M)
    name = drains[0][0]
    assert [name] == [found for found, _ in
                      re.findall(r"^(\S+:\d+): (.*)$", text_of(cairn("bts", "--thread", name, BRANCHES)), re.M)]
    ends = sorted(float(t) for t in re.findall(r"^  to ([\d.]+) s", text_of(cairn("bts", BRANCHES)), re.M))
    cut = f"{ends[len(ends) // 2]:.7f}"
    shown = re.findall(r"^  to ([\d.]+) s", text_of(cairn("bts", "--from", cut, BRANCHES)), re.M)
    assert sorted(map(float, shown)) == [t for t in ends if t >= float(cut)]


RECORDS = re.compile(r"^record (\d+) at (0x\w+), \d+ bytes: (\S+),", re.M)


def records_of(cpu, *options):
    """(epoch, [(number, place, thread)]) of the drain that is shown."""
    text = text_of(cairn("ds", "--cpu", cpu, "--records", "99", *options, PLAIN))
    return re.search(rf"^CPU {cpu}, epoch (\d+): drained", text, re.M)[1], RECORDS.findall(text)


def test_ds_shows_the_records_of_a_thread():
    """Of the first drain that has some; they keep their numbers."""
    later = 0
    for cpu in ("0", "1"):
        first, others = records_of(cpu, "--epoch", "0")[1], records_of(cpu, "--epoch", "1")[1]
        for thread in {name for *_, name in first + others}:
            drain = [(epoch, [r for r in records if r[2] == thread])
                     for epoch, records in (("0", first), ("1", others))]
            assert records_of(cpu, "--thread", thread) == next(part for part in drain if part[1])
            later += not drain[0][1]
        thread = first[0][2]
        one = text_of(cairn("ds", "--cpu", cpu, "--thread", thread, "--record", "0", PLAIN))
        assert RECORDS.findall(one) == first[:1]
        wrong = next(number for number, _, name in first if name != thread)
        done = cairn("ds", "--cpu", cpu, "--thread", thread, "--record", wrong, PLAIN)
        assert done.returncode == 1 and b"no drain shown has" in done.stderr
    assert later
    done = cairn("ds", "--thread", "controller", PLAIN)  # none of its instructions was sampled
    assert done.returncode == 1 and "matches the given CPU, thread or time" in errors_of(done)


def test_ds_by_time():
    text = text_of(cairn("ds", "--records", "0", PLAIN))
    ends = [float(t) for t in re.findall(r"drained at ([\d.]+) s", text)]
    later = text_of(cairn("ds", "--records", "0", "--from", f"{min(ends) + 0.0000001:.7f}", PLAIN))
    shown = [float(t) for t in re.findall(r"drained at ([\d.]+) s", later)]
    assert len(shown) == len(ends) == 2 and min(shown) > min(ends)  # each CPU has another one behind it


def test_every_session_has_its_own_time_and_threads():
    for session in ("1", "2"):
        whole = body("--session", session, GOLDEN / "sessions.log")
        first, _ = middle(whole)
        assert [line for line in body("--session", session, "--from", f"{first}ns", GOLDEN / "sessions.log")
                if "ns" in line] == [line for line in whole if line.get("ns", -1) >= first]


# ---- refusals --------------------------------------------------------------------------------------------------------

LOG = GOLDEN / "small.log"


def test_a_log_that_has_lost_its_cpus():
    """Their number is not known, so no CPU is a mistake of who asks."""
    lines = LOG.read_bytes().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith(b"~"))
    done = cairn("dump", "--cpu", "0", "-", data=b"".join(lines[:first + 1]))
    assert done.returncode == 1 and b"nothing in this log matches --cpu 0" in done.stderr


@pytest.mark.parametrize("arguments, status, word", [
    (["dump", "--cpu", "0,,1", LOG], 2, "must be numbers from 0 to 2047, as in 0,2-3"),
    (["dump", "--cpu", "2-1", LOG], 2, "must be numbers"),
    (["dump", "--cpu", "", LOG], 2, "must be numbers"),
    (["dump", "--cpu", "0-7", LOG], 2, "this trace has 2 CPUs, numbered from 0"),
    (["dump", "--thread", "nobody", LOG], 2, "no thread of this trace has that name"),
    (["dump", "--thread", "4,,8", LOG], 2, "must be TIDs or names"),
    (["dump", "--from", "1h", LOG], 2, "must be a time, as in 1.5s"),
    (["dump", "--from", "-1", LOG], 2, "must be a time"),
    (["dump", "--from", "1.", LOG], 2, "must be a time"),
    (["dump", "--from", "99999999999999999999", LOG], 2, "must be a time"),
    (["dump", "--from", "2s", "--until", "2000ms", LOG], 2, "--from 2s is not before --until 2000ms"),
    (["dump", "--reason", "Tired", LOG], 2, "must be some of these, with * and ? as wildcards: Initialized"),
    (["dump", "--thread", "999999", LOG], 1, "nothing in this log matches --thread 999999"),
    (["dump", "--from", "1000", LOG], 1, "nothing in this log matches --from 1000"),
    (["export", "--to", "json", "--from", "1000", LOG], 1, "nothing in this log matches"),
    (["export", "--to", "1.5s", LOG], 2, "--to 1.5s: must be ctf, etl,"),
    (["export", "--to", "svg", "--thread", "4", LOG], 2, "it accepts only --cpu, --from and --until"),
    (["export", "--to", "svg", "--reason", "Ready", LOG], 2, "it accepts only --cpu, --from and --until"),
    (["export", "--to", "etl", "--cpu", "0", "-o", "/dev/null", LOG], 2,
     "--cpu 0: the format etl always has the whole trace"),
    (["locks", "--thread", "999999", GOLDEN / "locks.log"], 1,
     "no spin lock events match the given CPU, thread or time"),
    (["bts", "--from", "1000", BRANCHES], 1, "no branch records match the given CPU, thread or time"),
    (["ds", "--from", "1000", LOG], 1, "no drain of a Debug Store in this log matches the given CPU, thread or time"),
    (["profile", "--from", "1000", LOG], 1, "no PEBS records match the given CPU, thread, time"),
    (["dump", "--reason", "Ready", GOLDEN / "windows-unknown.etl"], 2, "--max-wait-reason N"),
    (["check", "--cpu", "0", LOG], 2, "unrecognized option"),
    (["info", "--cpu", "0", LOG], 2, "unrecognized option"),
])
def test_refusals(arguments, status, word):
    done = cairn(*arguments)
    assert b"Sanitizer" not in done.stderr
    assert done.returncode == status
    assert word in done.stderr.decode().replace("\n  ", " ")
    assert all(len(line) <= 80 for line in done.stderr.decode().splitlines())
