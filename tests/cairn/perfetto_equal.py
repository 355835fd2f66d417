# SPDX-License-Identifier: MIT
"""Does a Perfetto trace say what the lines of `cairn export --to json` say?"""

from collections import Counter

from perfetto import UNKNOWN, one


def of(lines, kind):
    return [line for line in lines if line["type"] == kind]


def sched(tid, name):
    return {"tid": tid, **({"name": name} if name and tid else {})}


def switches_equal(lines, trace):
    states = {"Waiting": 1, "GateWait": 1, "Terminated": 0x10, "Transition": 2, "WaitingForProcessInSwap": 2}
    expected = []
    for line in of(lines, "switch"):
        new = line.get("new", {"tid": UNKNOWN, "name": "[unknown]"})
        told = "state" in line
        expected.append((line["ns"], line["cpu"], line["old"], new,
                         states.get(line["state"], 0) if told else None, line.get("reason"), line.get("priority")))
    assert [(ns, cpu, sched(one(s, "prev_pid"), one(s, "prev_comm")), sched(one(s, "next_pid"), one(s, "next_comm")),
             one(s, "prev_state"), one(s, "reason"), one(s, "prev_prio"))
            for ns, cpu, s in trace.switches] == expected


def profile_equal(lines, trace):
    """Samples of the timer or of counters, of a log without PEBS records. An image's name comes with the place in
    it."""
    samples = [line for line in of(lines, "event") if "place" in line]
    assert [(ns, cpu, ip, tid) for ns, cpu, ip, _, tid, _ in trace.samples] == [
        (line["ns"], line["cpu"], line["ip"], line["thread"]["tid"]) for line in samples]
    for line, (_, _, _, name, _, _) in zip(samples, trace.samples):
        assert name in (line["place"], line["place"].split("+")[0]) if name else line["place"].startswith("0x")


def samples_equal(lines, trace):
    if not of(lines, "sample"):
        profile_equal(lines, trace)
        return
    expected = [(line["ns"], line["cpu"], line["ip"], line.get("function"), line.get("thread", {}).get("tid"))
                for line in of(lines, "sample")]
    assert [(ns, cpu, ip, name, tid if pid != UNKNOWN else None)
            for ns, cpu, ip, name, tid, pid in trace.samples] == expected
    reasons = {tid: name for tid, (name, pid) in trace.threads.items() if pid == UNKNOWN}
    for line, sample in zip(of(lines, "sample"), trace.samples):
        if "no_thread" in line:
            assert reasons[sample[4]] == f"[{line['no_thread']}]"


def drains_and_locks_equal(lines, trace):
    names = ("epoch", "reason", "records", "complete", "lost", "lost_unknown")
    drains = [(end, notes) for _, end, _, _, notes in trace.slices if "records" in notes]
    drains += [(at, notes) for at, _, _, notes in trace.events if "records" in notes]
    assert sorted(drains, key=str) == sorted(((line["ns"], {name: line[name] for name in names if name in line})
                                              for line in of(lines, "drain")), key=str)
    same = ("mode", "wait_cycles", "spins", "interrupts", "irql", "depth", "in_dpc", "in_isr")
    locks = [(begin, end, notes["lock"], notes["caller"], notes.get("function"), notes["tid"],
              *(notes[name] for name in same)) for begin, end, _, _, notes in trace.slices if "lock" in notes]
    locks += [(at, at, notes["lock"], notes["caller"], notes.get("function"), notes["tid"],
               *(notes[name] for name in same)) for at, _, _, notes in trace.events if "lock" in notes]
    expected = [(line.get("acquired_ns", line["ns"]), line.get("released_ns", line["ns"]), int(line["lock"], 16),
                 int(line["caller"], 16), line.get("function"), line["thread"]["tid"],
                 *(line[name] for name in same)) for line in of(lines, "lock")]
    assert sorted(locks, key=str) == sorted(expected, key=str)


def slices_do_not_cross(_lines, trace):
    last = {}
    for begin, end, uuid, _, _ in trace.slices:
        assert last.get(uuid, begin) <= begin <= end
        last[uuid] = end
    assert not any(trace.open.values())


def events_and_holes_equal(lines, trace):
    events = of(lines, "event")
    ready = [line for line in events if line.get("hook") == "0532H" and "is ready" in line["text"]]
    assert [(ns, cpu) for ns, cpu, *_ in trace.wakings] == [(line["ns"], line["cpu"]) for line in ready]
    instants = [(at, notes.get("hook"), notes["text"]) for at, _, _, notes in trace.events if "text" in notes]
    assert instants == [(line["ns"], line.get("hook"), line["text"]) for line in events if line not in ready]
    holes = [(track, name) for _, track, name, _ in trace.events if track.endswith(" missing")]
    assert holes == [(f"CPU {line['cpu']} missing", line["text"]) for line in of(lines, "lost")]
    missing = Counter(f"CPU {line['cpu']} places where something is missing" for line in of(lines, "lost"))
    last = {track: value for _, track, value in trace.counters}
    assert {track: last[track] for track in missing} == missing
    lost = Counter()
    for line in of(lines, "drain"):
        lost[line["cpu"]] += line.get("lost", 0)
    for cpu, records in lost.items():
        names = [track for track in last if track.startswith(f"CPU {cpu} PEBS records lost")]
        assert [last[name] for name in names] == [records]
        assert sum(n for _, on, n in trace.lost_records if on == cpu) == records


def equal(lines, trace):
    for compare in switches_equal, samples_equal, drains_and_locks_equal, slices_do_not_cross, events_and_holes_equal:
        compare(lines, trace)
