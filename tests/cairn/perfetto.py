# SPDX-License-Identifier: MIT
"""Reads a Perfetto trace with protoc, and makes of its packets what a viewer would."""

import re
import subprocess
from collections import Counter

import cairn_boot

SCHEMA = cairn_boot.ROOT / "tools" / "cairn" / "export" / "perfetto"
UNKNOWN = 0x7FFFFFFF
ORIGIN = 10**18  # when the session begins
EVENTS = 1  # the sequence of all but samples
TOKEN = re.compile(r'\s*(?:([\w.]+)(?:: ("(?:[^"\\]|\\.)*"|\S+)| (\{))|(\}))')
ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def unescaped(text):
    def byte(found):
        code = found[1]
        return bytes([int(code, 8)]) if code[:1].isdigit() else NAMED.get(code, code)
    return ESCAPE.sub(byte, text[1:-1].encode("ascii"))


def value_of(text):
    if text.startswith('"'):
        return unescaped(text).decode("utf-8", "replace")
    if text in ("true", "false"):
        return text == "true"
    return int(text, 0) if re.fullmatch(r"-?(?:0x)?[0-9a-f]+", text) else text


def tree(text):
    """What `protoc --decode` prints: of each message the fields by name, each a list."""
    top, at = {}, 0
    stack = [top]
    while found := TOKEN.match(text, at):
        at = found.end()
        name, value, opens, closes = found.groups()
        if closes:
            stack.pop()
        elif opens:
            stack[-1].setdefault(name, []).append({})
            stack.append(stack[-1][name][-1])
        else:
            stack[-1].setdefault(name, []).append(value_of(value))
    assert not text[at:].strip() and stack == [top]
    return top


def decoded(data, *how):
    done = subprocess.run(["protoc", *how], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return tree(done.stdout.decode("ascii"))


def packets_of(data):
    return decoded(data, "--decode=pf.Trace", f"--proto_path={SCHEMA}", "perfetto.proto")["packet"]


def one(message, name, default=None):
    values = message.get(name, [default])
    assert len(values) == 1, (name, values)
    return values[0]


def since_start(timestamp):
    assert timestamp < 1 << 63  # a viewer drops others
    return timestamp - ORIGIN


class Trace:
    """What a viewer would make of the packets."""

    def __init__(self, packets):
        self.packets = packets
        self.switches, self.made, self.wakings, self.samples, self.lost_records = [], [], [], [], []
        self.all_switches = []
        self.calls, self.reasons, self.sampled, self.valid = [], {}, [], set()
        self.events, self.slices, self.counters = [], [], []
        self.tracks, self.threads, self.processes, self.attributes, self.clocks = {}, {}, {}, {}, []
        self.functions, self.frames, self.stacks, self.mappings, self.open = {}, {}, {}, {}, {}
        self.lost_bundles = Counter()
        order = ("interned_data",)  # before what refers to it
        for packet in packets:
            flags, sequence = one(packet, "sequence_flags", 0), one(packet, "trusted_packet_sequence_id")
            if flags & 1:
                self.valid.add(sequence)
            assert not flags & 2 or sequence in self.valid
            for kind in sorted(packet, key=lambda kind: kind not in order):
                getattr(self, f"take_{kind}", lambda message, packet: None)(one(packet, kind), packet)

    def take_ftrace_events(self, bundle, packet):
        event, *blocked = bundle["event"]
        at = since_start(one(event, "timestamp")), one(bundle, "cpu")
        self.lost_bundles[at[1]] += one(bundle, "lost_events", False)
        if "sched_switch" in event:
            switch = one(event, "sched_switch")
            for other in blocked:  # of the same switch
                reason = one(other, "sched_blocked_reason")
                assert one(other, "timestamp") == one(event, "timestamp") and len(blocked) == 1
                assert one(reason, "pid") == one(switch, "prev_pid") and one(packet, "sequence_flags") & 2
                switch["reason"] = [self.reasons[one(reason, "caller")]]
            self.all_switches.append((*at, switch))
            (self.made if one(event, "pid") == UNKNOWN else self.switches).append((*at, switch))
        else:
            self.wakings.append((*at, one(event, "sched_waking"), one(event, "pid")))

    def take_process_tree(self, part, _):
        for thread in part.get("threads", []):
            self.threads[one(thread, "tid")] = one(thread, "name"), one(thread, "tgid")
        for process in part.get("processes", []):
            self.processes[one(process, "pid")] = one(process, "cmdline")

    def take_trace_attributes(self, part, _):
        for attribute in part["attribute"]:
            self.attributes[one(attribute, "key")] = one(attribute, "string_value")

    def take_clock_snapshot(self, snapshot, _):
        self.clocks.append({one(clock, "clock_id"): one(clock, "timestamp") for clock in snapshot["clocks"]})

    def take_track_descriptor(self, track, _):
        assert one(track, "uuid") not in self.tracks
        self.tracks[one(track, "uuid")] = track

    def take_trace_packet_defaults(self, defaults, _):
        self.sampled.append(one(one(defaults, "perf_sample_defaults"), "timebase"))

    def take_interned_data(self, data, packet):
        if one(packet, "trusted_packet_sequence_id") == EVENTS:
            assert set(data) == {"kernel_symbols"}
            for symbol in data["kernel_symbols"]:
                assert one(symbol, "iid") not in self.reasons
                self.reasons[one(symbol, "iid")] = one(symbol, "str")
            return
        if one(packet, "sequence_flags", 0) & 1:
            self.functions, self.frames, self.stacks, self.mappings = {}, {}, {}, {}
        for name, kept in (("function_names", self.functions), ("frames", self.frames), ("callstacks", self.stacks),
                           ("mappings", self.mappings)):
            for item in data.get(name, []):
                assert one(item, "iid") not in kept
                kept[one(item, "iid")] = item

    def take_perf_sample(self, sample, packet):
        at = since_start(one(packet, "timestamp")), one(sample, "cpu")
        if "kernel_records_lost" in sample:
            self.lost_records.append((*at, one(sample, "kernel_records_lost")))
            return
        *calls, (ip, name) = [self.frame(iid) for iid in self.stacks[one(sample, "callstack_iid")]["frame_ids"]]
        self.samples.append((*at, hex(ip), name, one(sample, "tid"), one(sample, "pid")))
        self.calls.append(([function for _, function in calls], "unwind_error" in sample))

    def frame(self, iid):
        frame = self.frames[iid]
        mapping = self.mappings[one(frame, "mapping_id")]
        ip = one(frame, "rel_pc") + one(mapping, "start", 0)
        assert one(mapping, "end", 0) == 0 or ip < one(mapping, "end")
        return ip, one(self.functions[one(frame, "function_name_id")], "str") if "function_name_id" in frame else None

    def take_track_event(self, event, packet):
        at, uuid = since_start(one(packet, "timestamp")), one(event, "track_uuid")
        track = one(self.tracks[uuid], "name")
        notes = {one(note, "name"): next(value[0] for key, value in note.items() if key != "name")
                 for note in event.get("debug_annotations", [])}
        kind = one(event, "type")
        opened = self.open.setdefault(uuid, [])
        if kind == "TYPE_COUNTER":
            self.counters.append((at, track, one(event, "counter_value")))
        elif kind == "TYPE_SLICE_BEGIN":
            opened.append((at, one(event, "name"), notes))
        elif kind == "TYPE_SLICE_END":
            begun, name, first = opened.pop()
            assert begun <= at
            self.slices.append((begun, at, uuid, name, {**first, **notes}))
        else:
            self.events.append((at, track, one(event, "name"), notes))
