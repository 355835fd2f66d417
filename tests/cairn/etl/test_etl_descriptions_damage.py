# SPDX-License-Identifier: MIT
"""Descriptions of events, values, stacks of samples and names of files that are damaged, or made to be slow: the reader
ends, in time that grows with the file, and in 64 MiB more than the file has."""

import random
import re
import struct
import subprocess

import pytest

import cairn_boot
from cairn_tool import SANITIZED, cairn, measured
from make_descriptions import (EVENT_INFO, MAP_INFO, METADATA, SOURCE, STRUCT, UINT32, UTF16, XML, Described,
                               Property, chunks, event_info, map_info)
from make_etl import Maker
from make_events import MANIFEST, Events
from make_profile import Profile

ROOM = 64 << 20
BUFFER = 65536


def bent(data, seed, begins):
    """The file with some bytes from there on changed."""
    made, rng = bytearray(data), random.Random(seed)
    for _ in range(rng.choice([1, 3, 30])):
        at = rng.randrange(begins, len(made))
        made[at] = rng.choice([0, 1, 0x7F, 0xFF, rng.randrange(256)])
    return bytes(made)


def dies(data, to="json"):
    done = subprocess.run([SANITIZED, "export", "--to", to, "-"], input=data, capture_output=True, check=False,
                          timeout=120)
    return done.returncode not in (0, 1) or b"Sanitizer" in done.stderr or b"runtime error" in done.stderr


@pytest.mark.parametrize("count", [20, pytest.param(1500, marks=pytest.mark.long)])
def test_damaged_descriptions(count):
    wholes = [Described(19041, bits).make() for bits in (32, 64)]
    for seed in range(count):
        whole = wholes[seed % 2]
        assert not dies(bent(whole, seed, whole.index(METADATA.bytes_le) + 24)), seed


@pytest.mark.parametrize("count", [20, pytest.param(1500, marks=pytest.mark.long)])
def test_damaged_events(count):
    """Every type of TraceLogging and every field of the kernel's events, names of files; samples and their stacks."""
    events_, profiles = ([maker.make() for maker in makers] for makers in
                         ([Events(19041, bits) for bits in (32, 64)], [Profile(bits=bits) for bits in (32, 64)]))
    for seed in range(count):
        assert not dies(bent(events_[seed % 2], seed, Events.buffer_bytes)), seed
        assert not dies(bent(profiles[seed % 2], seed, Profile.buffer_bytes), "folded"), seed


# ---- what is made to be slow -----------------------------------------------------------------------------------------

class Many(Maker):
    """A file of these events, in buffers of 64 KiB: each is (its bytes, how many)."""

    buffer_bytes = BUFFER

    def of(self, *some):
        head = [self.header()]
        self.buffer(0, head, kind=4)
        for event, times in some:
            padded = event + bytes(-len(event) % 8)
            each = (BUFFER - 0x48) // len(padded)
            begins = len(self.buffers)
            self.buffer(0, [event] * each)
            self.buffers[begins:] = self.buffers[begins:] * (times // each)
            if times % each:
                self.buffer(0, [event] * (times % each))
        made = bytearray(b"".join(self.buffers))
        for n in range(len(self.buffers)):  # they are in their order
            struct.pack_into("<q", made, n * BUFFER + 0x18, n)
        struct.pack_into("<I", made, 0x48 + 0x20 + 0x24, len(self.buffers))
        return bytes(made)


def events():
    maker = Described(19041, 64)
    cycle = event_info(MANIFEST, 10, [Property("s" * 30, 0, 65535, STRUCT | 0x20, 65535)], version=3, task="T")
    wide = event_info(MANIFEST, 10, [Property("n" * 20, UTF16)] * 700, version=3, task="T")
    mapped = event_info(MANIFEST, 10, [Property("n", UINT32, map="M")] * 200, version=3, task="T")
    values = map_info(MANIFEST, "M", [(n, "x" * 4) for n in range(3000)][::-1])
    bits = map_info(MANIFEST, "M", [(1 << n % 32, "x" * 200) for n in range(64)], bits=True)
    empty, full = maker.event(MANIFEST, 10, b""), maker.event(MANIFEST, 10, b"\xff" * 800)

    def described(info):
        return maker.metadata(EVENT_INFO, info)

    xml = XML.replace("Plain", "x" * 200)
    yield "a million descriptions", [(described(event_info(MANIFEST, 10)), 1 << 20)]
    yield "structures in themselves", [(empty, 60000), (described(cycle), 1)]
    yield "texts of nothing", [(empty, 60000), (described(wide), 1)]
    yield "large maps", [(full, 3000), (described(mapped), 1), (maker.metadata(MAP_INFO, values), 1)]
    yield "long names of bits", [(full, 3000), (described(mapped), 1), (maker.metadata(MAP_INFO, bits), 1)]
    yield "many maps", [(maker.metadata(MAP_INFO, map_info(MANIFEST, "M", [(1, "x")])), 600000)]
    yield "first chunks", [(maker.chunk(chunks(xml, 100)[0]), 300000)]
    yield "whole manifests", [(maker.chunk(chunks(xml, 60000)[0]), 6000)]
    yield "short manifests", [(maker.chunk(chunks(f"<a x='{'y' * 60}'/>", 60000)[0]), 200000)]


@pytest.mark.long
@pytest.mark.parametrize("name, some", events(), ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_made_to_be_slow(tmp_path, name, some):
    """Memory: beside a file of its size without descriptions. Time: instructions of a 40th of it, and of two."""
    path = tmp_path / "x.etl"
    plain = Described(19041, 64).event(SOURCE, 1, b"x" * 100)
    taken = []
    for part in (40, 20):
        path.write_bytes(Many(19041, 64).of(*((event, max(times // part, 1)) for event, times in some)))
        taken.append(instructions("dump", path))
    assert taken[1] < 2.5 * taken[0], taken
    path.write_bytes(Many(19041, 64).of(*some))
    status, errors, peak = measured(["dump", path])
    assert status == 0, (name, errors)
    path.write_bytes(Many(19041, 64).of((plain, path.stat().st_size // 192)))
    assert peak <= measured(["dump", path])[2] + ROOM


def instructions(command, path):
    out = path.with_suffix(".out")
    subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={out}",
                    cairn_boot.BUILD / "cairn", command, path], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return int(out.read_text().rsplit("summary:", 1)[1].split()[0])


def told(*some):
    """What `info` tells of a file with these events."""
    maker = Described(19041, 64)
    maker.events = lambda: [one(maker) for one in some]
    text = cairn("info", "-", data=maker.make()).stdout.decode()
    return [re.search(rf"^  {key} +(.*)$", text, re.M) for key in ("descriptions", "manifests")]


def test_a_budget_is_said():
    """More manifests of one provider than are read, or more than all may come to."""
    parts = [chunks(f"<a x='{n}'/>", 60000)[0] for n in range(66)]
    for count, said in (64, "64, and 0"), (66, "64, and 2"):
        _, manifests = told(*(lambda m, part=part: m.chunk(part) for part in parts[:count] + parts[:9]))
        assert manifests[1] == f"{said} that cannot be read"
    fields = "".join(f'<data name="{"n" * 300}" inType="win:UInt8"/>' for _ in range(100))
    events_ = "".join(f'<event value="{n}" template="T" symbol="S"/>' for n in range(200))
    xml = f'<a><provider name="P"/>{events_}<template tid="T">{fields}</template></a>'
    parts = chunks(xml, 16000)
    maker = Described(19041, 64)
    maker.buffer_bytes = 32768
    maker.events = lambda: [maker.event(SOURCE, 3, b"\1" * 100, version=0), *(maker.chunk(part) for part in parts)]
    text = cairn("info", "-", data=maker.make()).stdout.decode()
    assert "1, and 1 that cannot be read" in text


def test_what_cannot_be_read_is_said():
    """A description that is too short, of an unknown source; a map of a pattern, without its end. Not one of an event
    that describes itself."""
    sound = event_info(MANIFEST, 10)
    for info, unread in ((sound, 0), (sound[:0x6F], 1), (sound[:0x30] + b"\4" + sound[0x31:], 1),
                         (sound[:0x30] + b"\3" + sound[0x31:], 0)):
        descriptions, _ = told(lambda m, info=info: m.metadata(EVENT_INFO, info),
                               lambda m: m.metadata(EVENT_INFO, sound))
        assert descriptions[1].endswith(f" 0 maps, and {unread} that cannot be read")
    whole = map_info(MANIFEST, "M", [(1, "x")])
    for made, said in ((whole, "1 maps, and 0"), (whole[:20] + b"\4" + whole[21:], "0 maps, and 1"),
                       (whole[:31], "0 maps, and 1"), (whole[:9], "0 maps, and 1")):
        descriptions, _ = told(lambda m, made=made: m.metadata(MAP_INFO, made))
        assert descriptions[1] == f"0 events, {said} that cannot be read"


@pytest.mark.parametrize("missing, count", [((0,), 1), ((1,), 1), ((0, 1), 1), ((0, 3), 1), ((2, 4), 1), ((), 0)])
def test_a_manifest_without_all_its_chunks_is_counted_once(missing, count):
    parts = chunks(XML, len(XML.encode()) // 5 + 1)
    assert len(parts) == 5
    left = [part for n, part in enumerate(parts) if n not in missing]
    _, manifests = told(*(lambda m, part=part: m.chunk(part) for part in left))
    assert manifests[1] == f"{1 - count}, and {count} that cannot be read"
    _, manifests = told(*(lambda m, part=part: m.chunk(part) for part in left + left))
    assert manifests[1] == f"{1 - count}, and {2 * count} that cannot be read"
