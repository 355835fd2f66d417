# SPDX-License-Identifier: MIT
"""ETL files in Python, apart from the C code: takes one to pieces, buffer by buffer, event by event. Nothing is passed
over: a buffer that does not end on its used size, or an event of an unknown header, is an error."""

import struct
import uuid
from collections import namedtuple

Buffer = namedtuple("Buffer", "at size used cpu sequence time flag type state events")
Event = namedtuple("Event", "at header hook version items time tid pid payload")
Header = namedtuple("Header", "buffer_size version build cpus end_time timer_resolution mode buffers_written "
                    "start_buffers pointer events_lost mhz boot_time frequency start_time clock buffers_lost names")

BUFFER_HEADER = 0x48
SYSTEM, COMPACT, PERFINFO = (1, 2), (3, 4), (0x10, 0x11)
FULL, INSTANCE, EVENT, MESSAGE = (0x0A, 0x14), (0x0B, 0x15), (0x12, 0x13), 0x0F
BARE = (0x0C, 0x0D, 0x0E, MESSAGE)  # timed, error, WNODE: nothing but their size is looked at


def lz77(data):
    """Plain LZ77 of MS-XCA 2.4."""
    out, at, nibble, flags, left = bytearray(), 0, None, 0, 0
    while True:
        if not left:
            if at == len(data):
                return bytes(out)
            flags, left = struct.unpack_from("<I", data, at)[0], 32
            at += 4
        left -= 1
        if at == len(data):
            return bytes(out)
        if not flags >> left & 1:
            out.append(data[at])
            at += 1
            continue
        match = struct.unpack_from("<H", data, at)[0]
        at += 2
        length, distance = match & 7, (match >> 3) + 1
        if length == 7:
            if nibble is None:
                nibble, length = at, data[at] & 15
                at += 1
            else:
                length, nibble = data[nibble] >> 4, None
            if length == 15:
                length = data[at]
                at += 1
                if length == 255:
                    length = struct.unpack_from("<H", data, at)[0]
                    at += 2
                    if not length:
                        length = struct.unpack_from("<I", data, at)[0]
                        at += 4
                    assert length >= 22
                    length -= 22
                length += 15
            length += 7
        assert distance <= len(out)
        for _ in range(length + 3):
            out.append(out[-distance])


def _event(data, at):
    marker, second = struct.unpack_from("<II", data, at)
    kind = marker >> 16 & 0xFF
    assert marker >> 24 == (0x90 if kind == MESSAGE else 0xC0), hex(marker)
    if kind in SYSTEM + COMPACT + PERFINFO:
        size, hook, version = second & 0xFFFF, second >> 16, marker & 0xFF
        if kind in PERFINFO:
            count = (marker >> 15 & 1) + (marker >> 8 & 7)
            assert not marker & 0x7800
            time, tid, pid, head = struct.unpack_from("<q", data, at + 8)[0], None, None, 16 + 8 * count
            items = struct.unpack_from(f"<{count}Q", data, at + 16)
        else:
            tid, pid, time = struct.unpack_from("<IIq", data, at + 8)
            head, items = (0x20 if kind in SYSTEM else 0x18), ()
    else:
        assert kind in FULL + INSTANCE + EVENT + BARE, hex(kind)
        size, hook, items, version, tid, pid, time = marker & 0xFFFF, None, (), second >> 16, None, None, None
        head = 8
        if kind == MESSAGE:  # items by flags; one with a component has no GUID
            flags, version = version, None
            hook = second & 0xFFFF
            head += 4 * (flags & 1)
            if flags & 6:
                head += 4 if flags & 4 else 16
            if flags & 0x18:
                time, = struct.unpack_from("<q", data, at + head)
                head += 8
            if flags & 0x20:
                tid, pid = struct.unpack_from("<II", data, at + head)
                head += 8
        if kind not in BARE:
            tid, pid, time = struct.unpack_from("<IIq", data, at + 8)
            head = 0x50 if kind in EVENT else 0x30 if kind in FULL else 0x38
        if kind in EVENT + FULL:
            hook = uuid.UUID(bytes_le=data[at + 0x18:at + 0x28])
            version = data[at + 0x2A] if kind in EVENT else version
    assert size >= head and at + size <= len(data), (hex(at), size)
    return Event(at, kind, hook, version, items, time, tid, pid, data[at + head:at + size]), size


def _walk(data, used):
    """Every event from behind the buffer header on; the last one ends on the used size, or its padding does."""
    at, events = BUFFER_HEADER, []
    while at < used:
        event, size = _event(data[:used], at)
        events.append(event)
        end, at = at + size, at + (size + 7 & ~7)
    assert used in (at, end), f"events end at {end:x}, the buffer at {used:x}"
    return events


def read(data):
    """[Buffer]: the whole file."""
    buffers, at = [], 0
    while at < len(data):
        size, saved, current, references, time, sequence = struct.unpack_from("<IIIiqq", data, at)
        cpu, _, state, offset, flag, kind = struct.unpack_from("<HHIIHH", data, at + 0x28)
        assert size >= BUFFER_HEADER and at + size <= len(data) and references == 0
        body, used = data[at:at + size], offset or saved
        cpu = cpu if flag & 0x20 else cpu & 0xFF
        if flag & 0x40:
            body = body[:BUFFER_HEADER] + lz77(body[BUFFER_HEADER:])
        elif buffers:
            assert saved == used and set(body[used:]) <= {0xFF}
        assert BUFFER_HEADER <= used <= len(body)
        buffers.append(Buffer(at, size, used, cpu, sequence, time, flag, kind, state, _walk(body, used)))
        at += size
    return buffers


def header(buffers):
    first = buffers[0].events[0]
    wide = first.header == 2
    assert buffers[0].type == 4 and first.hook == 0 and first.version == 2 and first.header in SYSTEM
    p = first.payload
    (size, *version, build, cpus, end, resolution, _, mode, written, start_buffers, pointer, lost,
     mhz) = struct.unpack_from("<I4BIIqIIIIIIII", p)
    at = 0xF8 if wide else 0xF0
    boot, frequency, start, clock, buffers_lost = struct.unpack_from("<qqqII", p, at)
    names = p[at + 0x20:].decode("utf-16-le").split("\0")
    assert names[-1] == "" and len(names) == 3 and pointer == (8 if wide else 4)
    return Header(size, tuple(version), build, cpus, end, resolution, mode, written, start_buffers, pointer, lost, mhz,
                  boot, frequency, start, clock, buffers_lost, names[:2])
