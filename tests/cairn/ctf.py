# SPDX-License-Identifier: MIT
"""A folder of `cairn export --to ctf` as babeltrace2 reads it, and as `--to json` would have told it."""

import json
import re
import subprocess
from collections import defaultdict
from typing import NamedTuple

ORIGIN = 10**18  # what the clock says when the session begins (docs/how-to/export.md)
NOT_TOLD, NO_PRIORITY = -2**63, -2**15
LINUX_STATES = {"Waiting": 1, "GateWait": 1, "Transition": 2, "WaitingForProcessInSwap": 2, "Terminated": 16}
MOST_TICKS = 2**17 - 1  # of the form FULL: so many, or more
DISCARDED = re.compile(r"WARNING: Tracer discarded (\d+) events? between")

# Another process reads it: bt2 is of the system's python3, and a fault in its C code would take pytest with it.
READ = r"""
import bt2, json, sys
def plain(field):
    if isinstance(field, bt2._EnumerationFieldConst):
        return [int(field), *field.labels]
    if isinstance(field, bt2._StructureFieldConst):
        return {name: plain(value) for name, value in field.items()}
    if isinstance(field, bt2._ArrayFieldConst):
        return [plain(value) for value in field]
    return str(field) if isinstance(field, bt2._StringFieldConst) else int(field)
for m in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(m) is bt2._EventMessageConst:
        print(json.dumps({"type": m.event.name, "cpu": int(m.event.packet.context_field["cpu_id"]),
                          "clock": m.default_clock_snapshot.value, "date": m.default_clock_snapshot.ns_from_origin,
                          **plain(m.event.payload_field)}))
    elif type(m) in (bt2._PacketBeginningMessageConst, bt2._PacketEndMessageConst):
        print(json.dumps({"type": "packet", "cpu": int(m.packet.context_field["cpu_id"]),
                          "clock": m.default_clock_snapshot.value}))
    elif type(m) is bt2._DiscardedEventsMessageConst:
        print(json.dumps({"type": "discarded", "count": m.count, "from": m.beginning_default_clock_snapshot.value,
                          "to": m.end_default_clock_snapshot.value}))
    elif type(m) is bt2._DiscardedPacketsMessageConst:
        sys.exit("discarded packets")
"""


class Read(NamedTuple):
    events: list     # of dicts, in the order of babeltrace2
    discarded: list  # what it says of events that were discarded, likewise
    packets: dict    # of each CPU, when they begin and end


def read(folder):
    done = subprocess.run(["/usr/bin/python3", "-c", READ, folder], capture_output=True, timeout=300, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    out, own = Read([], [], defaultdict(list)), {}
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["type"] == "discarded":
            out.discarded.append(message)
        elif message["type"] == "packet":
            out.packets[message["cpu"]].append(message["clock"])
        elif message["type"] == "out_of_order":  # of the next event on that CPU
            assert message["ns"] < message["clock"] - ORIGIN or message["ns"] > 4 * ORIGIN
            own[message["cpu"]] = message["ns"]
        else:
            out.events.append(message | {"ns": own.pop(message["cpu"], message["clock"] - ORIGIN)})
    assert not own
    return out


def warnings(folder):
    """What babeltrace2 says on standard error when it shows the trace as text, without what it says of events that were
    discarded; and how many those were."""
    done = subprocess.run(["babeltrace2", "--log-level=WARNING", folder], capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    said = done.stderr.decode().splitlines()
    of_events = [match for match in map(DISCARDED.match, said) if match]
    return [line for line in said if not DISCARDED.match(line)], sum(int(match[1]) for match in of_events)


def told(value, without=-1):
    return None if value == without else value


def thread(tid, name):
    assert (tid == 0) == (name == "[idle]") and (tid >= 0 or name == "[unknown]")
    return None if tid < 0 else {"tid": tid, "name": text(name) if tid else None}


def text(value):
    return told(value, "[unknown]")


def label(enumeration):
    return enumeration[1] if len(enumeration) > 1 else "?"


def as_json(e):
    """The event as json has it; None: a member that is not there."""
    kind = e["type"]
    if kind == "thread":
        return {name: e[name] for name in ("type", "tid", "name", "base_priority")}
    out = {"type": kind, "cpu": e["cpu"], **({} if kind == "lost" else {"ns": e["ns"]})}
    if kind == "sched_switch":
        state, detailed, waited = e["state"], e["state"][0] != 0x100, told(e["next_waited_ticks"])
        raw = state[0] == 0x101
        assert e["prev_state"] == (1 if raw else LINUX_STATES.get(label(state), 0) if detailed else 0)
        return out | {
            "type": "switch",
            "old": thread(e["prev_tid"], e["prev_comm"]), "new": thread(e["next_tid"], e["next_comm"]),
            "form": label(e["form"]), "state": label(state) if detailed and not raw else None,
            "state_or_reason": e["reason"][0] if raw else None,
            "reason": label(e["reason"]) if not raw and e["reason"][0] != 0x100 else None,
            "priority": told(e["prev_prio"], NO_PRIORITY), "new_waited_ticks": waited,
            "or_more": (label(e["form"]) == "FULL" and waited == MOST_TICKS) or None}
    if kind == "sample":
        return out | {
            "timed": e["timed"][0] == 1, "ip": hex(e["ip"]), "function": text(e["function"]),
            "ip_is_after": e["ip_is_after"][0] == 1 or None, "thread": thread(e["tid"], e["comm"]),
            "no_thread": label(e["why"]) if e["why"][0] else None, "epoch": e["epoch"], "format": e["format"],
            "address": hex(e["address"]), "record": {word["name"]: hex(word["value"]) for word in e["record"]}}
    if kind == "drain":
        return out | {"epoch": e["epoch"], "reason": label(e["reason"]), "records": e["records"],
                      "complete": e["complete"][0] == 1, "lost": None if e["lost_unknown"][0] else e["lost"],
                      "lost_unknown": e["lost_unknown"][0] == 1 or None}
    if kind == "branch_drain":
        return out | {"epoch": e["epoch"], "reason": label(e["reason"]), "thread": thread(e["tid"], e["comm"]),
                      "records": e["records"], "circular": e["circular"][0] == 1,
                      "lost": None if e["lost_unknown"][0] else e["lost"],
                      "lost_unknown": e["lost_unknown"][0] == 1 or None}
    if kind == "branch":
        return out | {"epoch": e["epoch"], "number": e["number"], "thread": thread(e["tid"], e["comm"]),
                      "from": hex(e["from"]), "from_function": text(e["from_function"]),
                      "to": hex(e["to"]), "to_function": text(e["to_function"]), "flags": hex(e["flags"])}
    if kind == "lock":
        return out | {
            "lock": hex(e["lock"]), "name": text(e["name"]), "caller": hex(e["caller"]),
            "function": text(e["function"]), "thread": thread(e["tid"], e["comm"]), "mode": e["mode"],
            "acquired_ns": told(e["acquired_ns"], NOT_TOLD), "released_ns": told(e["released_ns"], NOT_TOLD),
            "in_dpc": e["in_dpc"][0] == 1, "in_isr": e["in_isr"][0] == 1,
            **{name: e[name] for name in ("wait_cycles", "spins", "interrupts", "irql", "depth")}}
    if kind == "event":
        return out | {"hook": f"{e['hook']:04X}H" if e["hook"] >= 0 else None, "text": e["text"]}
    assert kind == "lost"
    return out | {"kind": label(e["kind"]), "text": e["text"],
                  **{name: told(e[name]) for name in ("first_buffer", "buffers", "bytes")},
                  **{name: told(e[name], NOT_TOLD) for name in ("since_ns", "until_ns")}}


def there(value):
    return {k: there(v) for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def without_fields(line):
    """Of an event CTF has the text only, in which its fields are; of a switch nothing that is Windows's alone."""
    kept, windows = ("type", "ns", "cpu", "hook", "text"), ("new_priority", "wait_mode", "ideal_cpu")
    return {k: v for k, v in line.items() if (k in kept if line["type"] == "event" else k not in windows)}


def by_cpu(events):
    cpus = defaultdict(list)
    for event in events:
        cpus[event.get("cpu")].append(event)
    return dict(cpus)


def lost_by_kernel(trace):
    """Events, by the end summary; it does not tell of parts of a CPU's trace."""
    only = trace.get("only", "").split()
    cpus = only.pop(1).split(",") if "--cpu" in only else [str(cpu) for cpu in range(trace["cpus"])]
    number = trace["session"]
    of_cpu = f"end.{f'session.{number}.' if number > 1 else ''}cpu.{{}}.events"
    words = [trace["keys"].get(of_cpu.format(cpu), "0 0 0").split() for cpu in cpus]
    return sum(int(lost) for _, _, lost in words) if only in ([], ["--cpu"]) else 0


def equal(folder, lines, in_order):
    """Asserts that the folder holds what the lines of json tell. `in_order`: of all CPUs merged, too; else of each, as
    where times in a damaged log go back. What was read."""
    got = read(folder)
    assert [e["clock"] for e in got.events] == sorted(e["clock"] for e in got.events)
    events = [there(as_json(e)) for e in got.events]
    told_lines = [without_fields(line) for line in lines[1:-1]]
    assert by_cpu(events) == by_cpu(told_lines)
    if in_order:
        assert [e["ns"] for e in events if "ns" in e] == [line["ns"] for line in told_lines if "ns" in line]
    lost = lost_by_kernel(lines[0]) + sum(line.get("lost", 0) for line in told_lines
                                          if line["type"] in ("drain", "branch_drain"))
    assert sum(message["count"] for message in got.discarded) == lost
    if "ends_ns" in lines[0] and "only" not in lines[0]:  # each CPU's stream is as long as the session
        clocks = {cpu: [e["clock"] for e in got.events if e["cpu"] == cpu] for cpu in got.packets}
        for cpu, packets in got.packets.items():
            assert packets[0] == min([ORIGIN, *clocks[cpu]])
            assert packets[-1] == max([ORIGIN + lines[0]["ends_ns"], *clocks[cpu]])
    said, discarded = warnings(folder)
    assert not said and discarded == lost
    return got
