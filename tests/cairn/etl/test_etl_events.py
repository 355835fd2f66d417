# SPDX-License-Identifier: MIT
"""Events of Windows that are none of the scheduler's, and those of providers: each is named, with its fields."""

import json
import re
import struct

import pytest

import etl
from cairn_tool import cairn, text_of
from make_events import (ANSI, CLASSIC, CORPUS, FIXED, MANIFEST, NULL, SID, STRUCT, TRACELOGGING, UINT8, Events, field,
                         schema)
from perfetto import UNKNOWN, Trace, packets_of

BUILDS = [(7600, 32), (7600, 64), (10240, 64), (19041, 32), (19041, 64)]


@pytest.fixture(scope="module", name="file", params=BUILDS, ids=lambda p: f"{p[0]}-{p[1]}")
def _file(request):
    maker = Events(*request.param)
    return maker, maker.make()


def lines(data, *options):
    done = cairn("export", "--to", "json", *options, "-", data=data)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def events(data):
    return [line for line in lines(data) if line["type"] == "event"]


def rows(text):
    """What dump says of events, each in one line."""
    return [line[18:] for line in re.sub(r"\n {18}(?=\S)", " ", text).splitlines() if line[16:18] == "+ "]


def test_every_event_in_words(file):
    maker, data = file
    assert sum(len(b.events) for b in etl.read(data)) > 50
    shown = rows(text_of(cairn("dump", "-", data=data)))
    assert shown[-len(maker.expected):] == maker.expected
    assert not any("unknown" in line for line in shown)
    text = [line["text"] for line in events(data)]
    assert text[-len(maker.expected):] == maker.expected
    assert cairn("check", "-", data=data).returncode == 0


def test_fields_in_json(file):
    """The same as in the text, each with its name; and whether the bytes were as they had to be."""
    maker, data = file
    found = events(data)[-len(maker.expected):]
    for line, text in zip(found, maker.expected):
        told = ", ".join(f"{f['name']}={f['value']}" for f in line.get("fields", ()))
        assert text.split("; its bytes")[0].endswith(told)
        fits = "bytes are not" not in text
        known = not fits or "Empty" in text or (told and not told.startswith("stack="))
        assert line.get("fields_fit") == (fits if known else None)
    own = [line for line in found if "provider" in line]
    assert [line["provider"].get("guid") for line in own] == [f"{{{g}}}" for g in (
        *5 * [TRACELOGGING], *4 * [MANIFEST], CLASSIC)]
    assert {line["provider"].get("name") for line in own} == {"Made.Up.Provider", None}
    assert [line.get("name") for line in own[:5]] == ["Everything", "Bare", "Empty", "Short", "Short"]
    assert [line["id"] for line in own[5:9]] == [1234, 9, 5, 6] and own[9]["event_type"] == 5
    assert {(line["pid"], line["tid"]) for line in own[:9]} == {(900, 908)} and own[9]["pid"] == 4


def test_providers_are_counted(file):
    maker, data = file
    table = text_of(cairn("info", "-", data=data)).split("provider\n")[1]
    found = {guid: (int(count), int(size), name) for count, size, guid, name in re.findall(
        r"^ +(\d+) +(\d+) +\{(\S+)\}(?:\n? +([A-Z]\S+))?$", table, re.M)}
    sizes = {}
    for event, _ in Events(maker.build, maker.bits).providers():
        guid = next(g for g in (TRACELOGGING, MANIFEST, CLASSIC) if g.bytes_le in event[0x18:0x28])
        sizes.setdefault(str(guid), []).append(len(event) + 7 & ~7)
    assert found == {guid: (len(some), sum(some), "Made.Up.Provider" if guid == str(TRACELOGGING) else "")
                     for guid, some in sizes.items()}
    assert list(found) == sorted(found, key=lambda guid: -found[guid][0])


def alone(event):
    """A file with one event of its own."""
    maker = Events(19041, 64)
    maker.events = lambda: [event(maker)]
    return events(maker.make())[-1]


def logged(event_schema, payload):
    return alone(lambda maker: maker.event(TRACELOGGING, 0, payload, [(11, event_schema)]))


def test_schemas_that_lie():
    """Elements without bytes, structures in each other, counts beyond the payload: it ends, and says so."""
    nothing = field("s", STRUCT | FIXED, 1, fixed=65535) + field("n", NULL | FIXED, fixed=65535)
    deep = b"".join(field("d", STRUCT, 1) for _ in range(40)) + field("n", UINT8)
    wide = b"".join(field("w", STRUCT | FIXED, 1, fixed=65535) for _ in range(8)) + field("n", NULL)
    for what, payload in ((nothing, b""), (deep, b"\1"), (wide, b""), (field("n", 16), b"\1"), (field("n", 30), b"\1"),
                          (field("s", STRUCT, 5), b""), (field("a", UINT8 | FIXED, fixed=9), b"\1\2"),
                          (b"no end", b""), (field("sid", SID), bytes([1, 16]) + bytes(6 + 4 * 16))):
        line = logged(schema("Lies", what), payload)
        assert not line["fields_fit"] and line["name"] == "Lies" and len(line.get("fields", ())) < 4096
    for size in range(len(schema("Lies", field("n", UINT8)))):
        assert not logged(schema("Lies", field("n", UINT8))[:size], b"\1")["fields_fit"]


def test_what_is_long_is_cut_and_says_so():
    """A value, a list of them, a text of many."""
    line = logged(schema("Long", field("a", ANSI), field("b", UINT8)), b"x" * 1500 + b"\0\7")
    assert line["fields"][0]["value"] == "x" * 1020 + "..." and line["fields"][1]["value"] == "7"
    line = logged(schema("List", field("a", UINT8 | FIXED, fixed=300)), b"\xff" * 300)
    assert re.fullmatch(r"\[(255, ){190,205}255, \.\.\.\]", line["fields"][0]["value"]) and line["fields_fit"]
    line = logged(schema("Many", field("s", STRUCT | FIXED, 1, fixed=100) + field("n" * 100, NULL)), b"")
    assert len(line["fields"]) == 100 and line["fields_fit"]
    assert len(line["text"]) == 8191 and line["text"].endswith("...")
    stack = struct.pack("<QII200Q", 5000, 900, 908, *range(0x8000_0000, 0x8000_00C8))
    line = alone(lambda maker: maker.perfinfo(0x1820, 2, maker.time, stack))
    assert line["fields"][-1]["value"].count(" < ") == 199


def test_user_addresses_are_of_the_process_and_the_time():
    """The same address in two processes, and in one process of one image behind another; of some images only the end
    is told."""
    load, unload, begin, end = 0x030A, 0x1402, 0x1403, 0x1404
    first, second = 0x50_0000, 0x60_0000
    told = [(begin, 10, 900, first, "here.dll"), (unload, 2000, 900, first, "here.dll"),
            (load, 3000, 900, first, "later.dll"), (load, 2500, 1400, first, "other.dll"),
            (unload, 2600, 1400, first, "other.dll"), (unload, 2000, 1400, second, "gone.dll"),
            (end, 9000, 1400, second, "stays.dll"), (load, 4000, 900, first - 0x8000, "over.dll")]
    asked = [(1500, 900, first + 1, "here.dll+0x1"), (2001, 900, first + 1, None), (3000, 900, first, "later.dll+0x0"),
             (8000, 900, first + 0xFFFF, "later.dll+0xffff"), (8000, 900, first + 0x10000, None),
             (2499, 1400, first, None), (2550, 1400, first, "other.dll+0x0"), (2700, 1400, first, None),
             (100, 1400, second, "gone.dll+0x0"), (2001, 1400, second, "stays.dll+0x0"), (3500, 900, first - 1, None),
             (8000, 900, first - 1, "over.dll+0x7fff"), (8000, 8, first, None), (1500, 900, 0x40_0010,
                                                                                "explorer.exe+0x10")]

    def of(maker):
        yield from (maker.system(hook, 3, time, 0, pid, maker.image(pid, base, name))
                    for hook, time, pid, base, name in told)
        yield from (maker.perfinfo(0x1820, 2, 9500, struct.pack("<QII", time, pid, 908) + maker.pointer(address))
                    for time, pid, address, _ in asked)

    for bits in (32, 64):
        maker = Events(19041, bits)
        maker.events = lambda of=of, maker=maker: of(maker)
        found = [line["fields"][-1]["value"] for line in events(maker.make()) if line["hook"] == "1820H"]
        assert found == [text or f"0x{address:016x}" for _, _, address, text in asked]


def test_threads_are_in_their_processes():
    data = Events(19041, 64).make()
    done = cairn("export", "--to", "perfetto", "-", data=data)
    trace = Trace(packets_of(done.stdout))
    assert trace.processes == {0: "idle", 4: "System", 900: "explorer.exe", 1400: "a name of some length.exe",
                               UNKNOWN: "[not known]"}
    assert {tid: trace.threads[tid] for tid in (8, 908, 912, 1404)} == {
        8: ("System", 4), 908: ("worker", 900), 912: ("renamed", 900), 1404: ("a name of some length.exe", 1400)}


    named = {text: name for _, _, name, notes in trace.events if (text := notes.get("text", "")).endswith("n=7")}
    assert list(named.values()) == ["Bare"]


def test_a_thread_has_the_events_that_it_wrote():
    """As no switch tells who ran, the event's header does."""
    maker = Events(19041, 64)
    maker.events = lambda: [maker.event(MANIFEST, 1, b""), maker.classic(0x0A, 0x14, 5, maker.time, b"", bytes(24))]
    data = maker.make()
    for thread, wrote in ("908", ["event 1"]), ("12", ["type 5"]), ("8", []):
        shown = rows(cairn("dump", "--thread", thread, "-", data=data).stdout.decode())
        assert [line[:len("event 1")].strip() for line in shown if " of {" in line] == [
            text.strip() for text in wrote], shown


@pytest.mark.parametrize("form, said", [("json", None), ("ctf", None), ("html", None), ("perfetto", None),
                                        ("svg", None), ("folded", b"no PEBS records"), ("etl", b"already")])
def test_which_exports_take_a_file_of_windows(tmp_path, form, said):
    """As docs/how-to/export.md says."""
    path = tmp_path / "w.etl"
    path.write_bytes(Events(19041, 64).make())
    done = cairn("export", "--to", form, path, "-o", tmp_path / "out")
    assert done.returncode == (1 if said else 0) and (said or b"") in done.stderr
    assert (tmp_path / "out").exists() == (said is None)


def test_the_fuzzer_begins_with_these_events():
    for name, bits in (("events", 64), ("events-32", 32)):
        data = (CORPUS / name).read_bytes()
        assert all(event in data for event in Events(19041, bits).events())
