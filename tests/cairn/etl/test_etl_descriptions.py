# SPDX-License-Identifier: MIT
"""Events that the file itself describes: by TRACE_EVENT_INFO of merged files, by manifests of .NET's EventSources. And
those that nobody describes: what is kept of them, so that somebody else can."""

import base64
import itertools
import json
import re
import uuid

import pytest

import cairn_boot
from cairn_tool import cairn, text_of
from make_descriptions import (BINARY, COUNT_INDEX, CORPUS, EVENT_INFO, LENGTH_INDEX, MAP_INFO, NULL, SOURCE, STRUCT,
                               UINT8, UINT16, UINT32, UTF16, XML, Described, Property, chunks, event_info, map_info)
from make_events import MANIFEST, wide

ACTIVITY, RELATED = uuid.UUID(int=0x1234), uuid.UUID(int=0x5678)


@pytest.fixture(scope="module", name="file", params=[32, 64])
def _file(request):
    maker = Described(19041, request.param)
    return maker, maker.make()


def events(data, status=0):
    done = cairn("export", "--to", "json", "-", data=data)
    assert done.returncode == status and b"Sanitizer" not in done.stderr, done.stderr
    return [line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "event"]


def found(data):
    """The provider's events that are no descriptions themselves."""
    return [line for line in events(data) if "provider" in line and line.get("id") != 0xFFFE
            and line["provider"]["guid"] != "{bbccf6c1-6cd1-48c4-80ff-839482e37671}" and line["pid"] == 900
            or line.get("event_type") == 7]


def file_of(*some):
    """A file of these events: each a function of the maker."""
    maker = Described(19041, 64)
    maker.events = lambda: [one(maker) for one in some]
    return maker.make()


def described(info, *payloads, number=10):
    """Events of one description."""
    return file_of(*(lambda m, p=p: m.event(MANIFEST, number, p) for p in payloads),
                   lambda m: m.metadata(EVENT_INFO, info))


def test_every_described_event_in_words(file):
    maker, data = file
    assert [line["text"] for line in found(data)][-len(maker.expected):] == maker.expected
    shown = re.sub(r"\n {18}(?=\S)", " ", text_of(cairn("dump", "-", data=data)))
    assert all(f"+ {text}\n" in shown for text in maker.expected)
    assert cairn("check", "-", data=data).returncode == 0


def test_fields_and_names_in_json(file):
    maker, data = file
    lines = found(data)[-len(maker.expected):]
    for line, text in zip(lines, maker.expected):
        told = ", ".join(f"{f['name']}={f['value']}" for f in line.get("fields", ()))
        assert text.split("; its bytes")[0].endswith(told)
        assert line.get("fields_fit") == (None if text.startswith("event ") else "bytes are not" not in text)
    sized = next(line for line in lines if line.get("name") == "Sized/Start")
    assert {key: sized[key] for key in ("level_name", "opcode_name", "task_name", "keyword_names", "message")} == {
        "level_name": "win:Error", "opcode_name": "win:Start", "task_name": "Sized", "keyword_names": ["One", "Two"],
        "message": "%1 of %2"}
    request = next(line for line in lines if line.get("name") == "Request/Start")
    assert (request["level_name"], request["keyword_names"], request["message"]) == (
        "win:Informational", ["Net", "Disk"], "Request %1 of %2")
    assert request["provider"] == {"guid": f"{{{SOURCE}}}", "name": "Made-Up-Source"}
    assert not [line for line in lines if line.get("fields_fit") and "payload" in line]


def test_info_counts_and_names(file):
    _, data = file
    text = text_of(cairn("info", "-", data=data))
    assert "9 events, 4 maps" in text
    assert "1, and 0 that cannot be read" in text and "Merged" in text and "Made-Up-Source" in text


def test_what_nobody_describes_is_kept():
    payload = bytes(range(100))
    data = file_of(lambda m: m.event(MANIFEST, 77, payload, [(1, RELATED.bytes_le)], opcode=9, task=300,
                                     activity=ACTIVITY),
                   lambda m: m.event(MANIFEST, 78, b"\7"),
                   lambda m: m.system(0x7F98, 3, m.time, 12, 4, b"of the kernel"))
    first, second, third = events(data)[-3:]
    assert base64.b64decode(first["payload"]) == payload and base64.b64decode(second["payload"]) == b"\7"
    assert base64.b64decode(third["payload"]) == b"of the kernel"
    kept = {key: first[key] for key in ("level", "opcode", "task", "channel", "keyword", "activity",
                                        "related_activity", "version")}
    assert kept == {"level": 4, "opcode": 9, "task": 300, "channel": 11, "keyword": "0x1", "version": 3,
                    "activity": f"{{{ACTIVITY}}}", "related_activity": f"{{{RELATED}}}"}
    assert "activity" not in second and "keyword_names" not in second
    assert "event 77 of {%s}, PID 900, TID 908, level 4, opcode 9, keyword 0x1, 100 bytes" % MANIFEST in first["text"]


def test_a_name_alone():
    """As a file of PerfView has it: no field, no opcode."""
    info = event_info(MANIFEST, 6, task="WaitForIdle", level="win:Informational", of="PerfView",
                      keywords=[f"Session{n}" for n in (3, 2, 1, 0)])
    line = found(described(info, b"", number=6))[0]
    assert line["text"] == "event 6 of {%s}, PID 900, TID 908, level 4, opcode 1, keyword 0x1, 0 bytes" % MANIFEST
    line = found(file_of(lambda m: m.event(MANIFEST, 6, b"", version=0), lambda m: m.metadata(EVENT_INFO, info)))[0]
    assert line["text"] == "WaitForIdle of PerfView, PID 900, TID 908"
    assert line["keyword_names"] == ["Session3", "Session2", "Session1", "Session0"]
    assert line["fields_fit"] and "payload" not in line


def test_the_first_description_counts():
    two = [event_info(MANIFEST, 10, version=3, task=task) for task in ("First", "Second")]
    data = file_of(lambda m: m.event(MANIFEST, 10, b""), *(lambda m, i=i: m.metadata(EVENT_INFO, i) for i in two))
    assert found(data)[0]["name"] == "First"
    maps = [map_info(MANIFEST, "M", [(1, name)]) for name in ("First", "Second")]
    info = event_info(MANIFEST, 10, [Property("x", UINT8, map="M")], version=3)
    data = file_of(lambda m: m.event(MANIFEST, 10, b"\1"), lambda m: m.metadata(EVENT_INFO, info),
                   *(lambda m, i=i: m.metadata(MAP_INFO, i) for i in maps))
    assert found(data)[0]["fields"] == [{"name": "x", "value": "First"}]


# ---- manifests -------------------------------------------------------------------------------------------------------

def plain(parts, **header):
    """A file of an event that a manifest describes, and the manifest's chunks: (payload, header)."""
    return file_of(lambda m: m.event(SOURCE, 2, b"", version=1),
                   *(lambda m, p=p: m.chunk(p[0], **{**header, **p[1]}) for p in parts))


def is_read(data):
    return found(data)[0]["text"].startswith("Plain of Made-Up-Source")


def test_chunks_of_several_threads():
    """Each thread's chunks are its manifest, whoever writes in between; the same manifest comes more than once."""
    one = [(part, {"ids": (908, 900)}) for part in chunks(XML, 700)]
    other = [(part, {"ids": (1404, 900)}) for part in chunks(XML, 1200)]
    mixed = [part for pair in zip(one, other) for part in pair] + one[len(other):]
    assert is_read(plain(mixed)) and is_read(plain(one + one)) and is_read(plain(one[:2] + one))
    for missing in range(len(one)):
        assert not is_read(plain(one[:missing] + one[missing + 1:]))
    assert not is_read(plain(one[1:] + one[:1]))


def test_the_first_string_of_several_languages_counts():
    strings = XML.index("<localization>"), XML.index("</localization>")
    second = XML[strings[0] + 14:strings[1]].replace("Red", "Rot").replace("en-US", "de-DE")
    xml = XML[:strings[1]] + second + XML[strings[1]:]
    xml = xml.replace("</templates>",
                      '<template tid="BlobArgs"><data name="x" inType="win:UInt8"/></template></templates>')
    data = file_of(lambda m: m.event(SOURCE, 3, b"\2\0\0\0\xaa\xbb" + bytes(10), version=0),
                   *(lambda m, p=p: m.chunk(p) for p in chunks(xml, 1000)))
    assert found(data)[0]["fields"][:2] == [{"name": "dataSize", "value": "2"}, {"name": "data", "value": "0xaabb"}]
    xml = xml.replace('value="2" version="1"', 'value="2" version="1" message="$(string.map_Colour.Red)"')
    data = plain([(part, {}) for part in chunks(xml, 1000)])
    assert found(data)[0]["message"] == "Red"


@pytest.mark.parametrize("value, version", [(65538, 1), (2, 257)])
def test_a_manifest_s_event_that_cannot_be(value, version):
    xml = XML.replace('value="2" version="1"', f'value="{value}" version="{version}"')
    assert not is_read(plain([(part, {}) for part in chunks(xml, 1000)]))


@pytest.mark.parametrize("xml", [
    XML.replace("<provider", '<!DOCTYPE a [<!ENTITY x "y">]><provider', 1),
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "yyyyyyyy">]>' + XML,
    XML[:-10], XML + "<", XML.replace("Plain", "Pl\0ain"), XML.replace("Plain", "Pl&nbsp;ain"), "", "no XML",
    "<a>" * 33 + XML + "</a>" * 33,
])
def test_what_is_no_manifest(xml):
    data = plain([(part, {}) for part in chunks(xml, 1000)])
    assert not is_read(data)
    assert "0, and 1 that cannot be read" in text_of(cairn("info", "-", data=data))


# ---- descriptions that lie -------------------------------------------------------------------------------------------

STEPS = [11, cairn_boot.long(1)]  # every STEPth lie


@pytest.mark.parametrize("step", STEPS)
def test_properties_that_lie(step):
    """Structures in themselves, counts beyond the payload, indices and offsets outside: it ends, and says so."""
    every = [Property("s", 0, 65535, STRUCT)], [Property("s", 0, 1, STRUCT)], [Property("s", 1, 1, STRUCT)]
    every += ([Property("n", NULL, 0, 0x20, 65535)], [Property("s", 1, 1, STRUCT | 0x20, 65535), Property("n", NULL)])
    every += ([Property("s", 1, 1, STRUCT | 0x20, 65535), Property("s", 0, 1, STRUCT | 0x20, 65535)],)
    every += ([Property("n", UINT8, 0, COUNT_INDEX, 9)], [Property("n", BINARY, 0, LENGTH_INDEX, 1, 65535)],
              [Property("n", UINT32), Property("m", UINT8, 0, COUNT_INDEX, 0)], [Property("n", 24)],
              [Property("n", 311)], [Property("n", BINARY, length=9)], [Property("n", UTF16, length=65535)],
              [Property("n", UTF16)] * 300, [Property("n", UINT16, 0, 0x20, 0)] * 300)
    for properties in every:
        info = event_info(MANIFEST, 10, properties, version=3, task="Lies")
        line = found(described(info, b"\xff" * 4))[0]
        assert not line["fields_fit"] and line["name"] == "Lies" and len(line.get("fields", ())) <= 301
    info = bytearray(event_info(MANIFEST, 10, [Property("n", UINT8)], version=3, task="Lies"))
    lies = itertools.product((*range(0x34, 0x70, 4), 0x70 + 4, 0x70 + 12),
                             (1, 0x6F, len(info) - 1, len(info), 0x7FFFFFFF, 0xFFFFFFFF))
    for at, value in itertools.islice(lies, 0, None, step):
        bent = bytearray(info)
        bent[at:at + 4] = value.to_bytes(4, "little")
        found(described(bytes(bent), b"\5"))
    for size in range(0, len(info), step):
        found(described(bytes(info[:size]), b"\5"))


@pytest.mark.parametrize("step", STEPS)
def test_maps_that_lie(step):
    info = event_info(MANIFEST, 10, [Property("x", UINT8, map="M")], version=3)
    sound = map_info(MANIFEST, "M", [(1, "One"), (2, "Two")])
    lies = itertools.product(range(16, 16 + 32, 4), (0, 1, len(sound) - 17, len(sound), 0xFFFFFFFF),
                             (len(sound), 0, 15, 16, 31, 40, len(sound) - 1))
    for at, value, size in itertools.islice(lies, 0, None, step):
        bent = bytearray(sound)
        bent[at:at + 4] = value.to_bytes(4, "little")
        found(file_of(lambda m: m.event(MANIFEST, 10, b"\1"), lambda m: m.metadata(EVENT_INFO, info),
                      lambda m, data=bytes(bent[:size]): m.metadata(MAP_INFO, data)))


def test_the_fuzzer_begins_with_these_events():
    for name, bits in (("described", 64), ("described-32", 32)):
        data = (CORPUS / name).read_bytes()
        assert all(event in data for event in Described(19041, bits).events())


def test_wide_text_is_cut():
    info = event_info(MANIFEST, 10, [Property("n" * 600, UTF16)], version=3, task="T" * 600)
    line = found(described(info, wide("v" * 700)))[0]
    assert line["name"] == "T" * 252 + "..." and line["fields"][0]["name"] == "n" * 252 + "..."
    assert line["fields"][0]["value"] == "v" * 700
