# SPDX-License-Identifier: MIT
"""What a file says of its providers' events, made as Windows's tools and .NET make it: TRACE_EVENT_INFO and
EVENT_MAP_INFO of merged files, manifests of EventSources in chunks. Each event stands here with what is to be shown of
it; apart from the C code. `python3 make_descriptions.py` writes what the fuzzer begins with."""

import struct
import uuid
from collections import namedtuple

from make_events import CLASSIC, CORPUS, MANIFEST, SERVER, Events, chars, wide

METADATA = uuid.UUID("bbccf6c1-6cd1-48c4-80ff-839482e37671")
SOURCE = uuid.UUID("51a1b2c3-0102-0304-0506-0708090a0b0c")
EVENT_INFO, MAP_INFO = 0x20, 0x21
STRUCT, LENGTH_INDEX, COUNT_INDEX, FIXED_COUNT = 1, 2, 4, 0x20
(NULL, UTF16, ANSI, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT, DOUBLE, BOOLEAN, BINARY, GUID,
 POINTER, FILETIME, SYSTEMTIME, SID, HEX32, HEX64, COUNTED, COUNTED_ANSI) = range(24)
(WBEM_COUNTED, WBEM_COUNTED_ANSI, REVERSED, REVERSED_ANSI, REST, REST_ANSI, CHAR, CHAR_ANSI, SIZE, HEX_DUMP,
 TOKEN_SID) = range(300, 311)

# `kind`: in type, or of a structure the index of its first member; `out`: out type, or how many members it has
Property = namedtuple("Property", "name kind out flags count length map", defaults=(0, 0, 1, 0, None))


class Texts:
    """UTF-16 behind `at` bytes of a structure; the offset of each."""

    def __init__(self, at):
        self.at, self.data = at, b""

    def add(self, text):
        if text is None:
            return 0
        offset = self.at + len(self.data)
        self.data += wide(text)
        return offset


def event_info(provider, number, properties=(), *, version=0, top=None, source=0, event=None, opcode=0, name=None,
               level=None, keywords=(), task=None, op=None, message=None, of="Merged"):
    """TRACE_EVENT_INFO. `source`: 1: of a class, whose GUID is `event`."""
    texts = Texts(112 + 24 * len(properties))
    names = [texts.add(text) for text in (of, level, None)]
    names += [texts.add("\0".join([*keywords, ""])) if keywords else 0]
    names += [texts.add(text) for text in (task, op, message)]
    head = provider.bytes_le + (event or uuid.UUID(int=0)).bytes_le
    head += struct.pack("<HBBBBHQI", number, version, 0, 4, opcode, 0, 0, source)
    head += struct.pack("<7I3I2I", *names, 0, 0, 0, texts.add(name), 0)
    head += struct.pack("<III", len(properties), len(properties) if top is None else top, 0)
    for p in properties:
        head += struct.pack("<IIHHIHHI", p.flags, texts.add(p.name), p.kind, p.out, texts.add(p.map), p.count, p.length,
                            0)
    return head + texts.data


def map_info(provider, name, entries, bits=False):
    """The provider's GUID and EVENT_MAP_INFO. `entries`: [(value, name)]."""
    texts = Texts(16 + 8 * len(entries))
    head = struct.pack("<IIII", texts.add(name), 2 if bits else 1, len(entries), 0)
    for value, text in entries:
        head += struct.pack("<II", texts.add(text), value)
    return provider.bytes_le + head + texts.data


def chunks(xml, size, *, version=(1, 0)):
    """A manifest as an EventSource writes it: [payload]."""
    data = xml.encode()
    parts = [data[at:at + size] for at in range(0, len(data), size)] or [b""]
    return [struct.pack("<BBBBHH", 1, *version, 0x5B, len(parts), n) + part for n, part in enumerate(parts)]


XML = """<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation xmlns:xs="http://www.w3.org/2001/XMLSchema"
  xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events">
  <events xmlns="http://schemas.microsoft.com/win/2004/08/events">
<provider name="Made-Up-Source" guid="{51a1b2c3-0102-0304-0506-0708090a0b0c}" symbol="MadeUpSource">
 <tasks><task name="Request" message="$(string.task_Request)" value="1"/></tasks>
 <maps>
  <valueMap name="Colour">
   <map value="0x0" message="$(string.map_Colour.Red)"/><map value="0x7" message="$(string.map_Colour.Blue)"/>
   <map value="0xffffffffffffffff" message="$(string.map_Colour.None)"/>
  </valueMap>
  <bitMap name="Modes"><map value="0x1" message="$(string.map_Modes.Read)"/>
   <map value="0x2" message="$(string.map_Modes.Write)"/></bitMap>
 </maps>
 <opcodes></opcodes>
 <keywords><keyword name="Net" message="$(string.keyword_Net)" mask="0x2"/></keywords>
 <events>
  <event value="1" version="0" level="win:Informational" symbol="RequestStart" message="$(string.event_RequestStart)"
   keywords="Net Disk" opcode="win:Start" task="Request" template="RequestStartArgs"/>
  <event value="2" version="1" level="win:Warning" symbol="Plain"/>
  <event value="3" version="0" level="win:Verbose" symbol="Blob" template="BlobArgs"/>
  <event value="4" version="0" level="win:Verbose" symbol="Odd" template="OddArgs"/>
  <event value="5" version="0" level="win:Verbose" symbol="Gone" template="NoSuchArgs"/>
 </events>
 <templates>
  <template tid="RequestStartArgs">
   <data name="url" inType="win:UnicodeString"/><data name="colour" inType="win:UInt32" map="Colour"/>
   <data name="modes" inType="win:UInt32" map="Modes"/><data name="ok" inType="win:Boolean"/>
   <data name="id" inType="win:GUID"/><data name="p" inType="win:Pointer"/>
   <data name="b" inType="win:UInt8" map="Colour"/>
   <data name="text &lt;&#38;&gt; \u00fc\U0001f642" inType="win:Double"/>
  </template>
  <template tid="BlobArgs"><data name="dataSize" inType="win:UInt32"/>
   <data name="data" inType="win:Binary" length="dataSize"/><data name="at" inType="win:UInt32" outType="win:IPv4"/>
   <data name="three" inType="win:UInt16" count="3"/></template>
  <template tid="OddArgs"><data name="x" inType="win:NoSuchType"/></template>
 </templates>
</provider></events></instrumentation>
<localization><resources culture="en-US"><stringTable>
 <string id="event_RequestStart" value="Request %1 of %2"/><string id="map_Colour.Red" value="Red"/>
 <string id="map_Colour.Blue" value="Blue "/><string id="map_Colour.None" value="None"/>
 <string id="map_Modes.Read" value="Read"/><string id="map_Modes.Write" value="Write"/>
</stringTable></resources></localization>
</instrumentationManifest>
"""


class Described(Events):
    """Events, and behind them what describes them. `expected`: the texts of the former."""

    buffer_bytes = 16384

    def metadata(self, kind, payload):
        return self.classic(0x0A, 0x14, kind, self.time, payload, METADATA.bytes_le + bytes(8))

    def chunk(self, payload, provider=SOURCE, **header):
        return self.event(provider, 0xFFFE, payload, version=0, opcode=0xFE, task=0xFFFE, **header)

    def merged(self):
        """(description, payload, header of the event, text)"""
        who, n = "PID 900, TID 908", struct.pack
        of = f"of Merged, {who}"
        all_types = [
            (Property("text", UTF16), wide("w\u00efde"), "text=w\u00efde"),
            (Property("ansi", ANSI), b"narrow\0", "ansi=narrow"),
            (Property("i8", INT8), n("<b", -8), "i8=-8"), (Property("u8", UINT8), b"\xfe", "u8=254"),
            (Property("yes", UINT8, 13), b"\1", "yes=true"), (Property("i16", INT16), n("<h", -300), "i16=-300"),
            (Property("u16", UINT16), n("<H", 65000), "u16=65000"),
            (Property("port", UINT16, 22), n(">H", 443), "port=443"),
            (Property("c", UINT16, 1), n("<H", 0x20AC), "c='\u20ac'"),
            (Property("i32", INT32), n("<i", -70000), "i32=-70000"),
            (Property("u32", UINT32), n("<I", 70000), "u32=70000"),
            (Property("hex", UINT32, 18), n("<I", 0xABC), "hex=0xabc"),
            (Property("status", UINT32, 31), n("<I", 0xC0000034), "status=0xc0000034"),
            (Property("ip4", UINT32, 23), SERVER, "ip4=10.1.2.3"),
            (Property("i64", INT64), n("<q", -5), "i64=-5"),
            (Property("u64", UINT64), n("<Q", 1 << 63), f"u64={1 << 63}"),
            (Property("f", FLOAT), n("<f", 1.5), "f=1.5"), (Property("d", DOUBLE), n("<d", -0.125), "d=-0.125"),
            (Property("bool", BOOLEAN), n("<I", 1), "bool=true"),
            (Property("fixed bytes", BINARY, length=3), b"\1\2\3", "fixed bytes=0x010203"),
            (Property("ip6", BINARY, 24), bytes.fromhex("fe80" + 26 * "0" + "01"), "ip6=fe80::1"),
            (Property("guid", GUID), MANIFEST.bytes_le, f"guid={{{MANIFEST}}}"),
            (Property("pointer", POINTER), self.pointer(0xF00), "pointer=0xf00"),
            (Property("when", FILETIME), n("<q", 132_000_000_000_000_000), "when=2019-04-17 18:40:00.0000000"),
            (Property("sid", SID), bytes([1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]), "sid=S-1-5-18"),
            (Property("h64", HEX64), n("<Q", 1 << 40), "h64=0x10000000000"),
            (Property("counted", COUNTED), n("<H", 4) + "ab".encode("utf-16-le"), "counted=ab"),
            (Property("fixed text", UTF16, length=4), chars("ab", 4), "fixed text=ab"),
            (Property("three", UINT16, 0, FIXED_COUNT, 3), n("<3H", 7, 8, 9), "three=[7, 8, 9]"),
            (Property("one", UINT8, 0, FIXED_COUNT, 1), b"\5", "one=[5]"),
            (Property("colour", UINT32, map="Colours"), n("<I", 2), "colour=Blue"),
            (Property("no colour", UINT32, map="Colours"), n("<I", 3), "no colour=3"),
            (Property("modes", UINT8, map="Modes"), b"\x43", "modes=Read|Write|0x40"),
            (Property("no modes", UINT8, map="Modes"), b"\x40", "no modes=64"),
            (Property("no map", UINT8, map="Missing"), b"\1", "no map=1"),
            (Property("zero", UINT16, 0, FIXED_COUNT, 0), b"", "zero=[]"),
        ]
        shown = ", ".join(text for _, _, text in all_types)
        yield (event_info(MANIFEST, 10, [p for p, _, _ in all_types], version=3, task="Everything", op="win:Info "),
               b"".join(data for _, data, _ in all_types), (MANIFEST, 10), f"Everything {of}: {shown}")
        sized = [Property("n", UINT16), Property("list", UINT8, 0, COUNT_INDEX, 0), Property("size", UINT32),
                 Property("bytes", BINARY, 0, LENGTH_INDEX, 1, 2), Property("text", UTF16, 0, LENGTH_INDEX, 1, 0)]
        yield (event_info(MANIFEST, 11, sized, version=3, task="Sized", op="win:Start", level="win:Error",
                          keywords=["One", "Two"], message="%1 of %2"),
               n("<H", 2) + b"\5\6" + n("<I", 3) + b"\x0a\x0b\x0c" + chars("hi", 2), (MANIFEST, 11),
               f"Sized/Start {of}: n=2, list=[5, 6], size=3, bytes=0x0a0b0c, text=hi")
        nested = [Property("n", UINT8), Property("s", 3, 2, STRUCT | COUNT_INDEX, 0), Property("end", UINT8),
                  Property("x", UINT8), Property("in", 5, 1, STRUCT), Property("y", UINT16)]
        yield (event_info(MANIFEST, 12, nested, version=3, top=3, name="Nested"), b"\2" + b"\1\2\0\3\4\0" + b"\7",
               (MANIFEST, 12), f"Nested {of}: n=2, s[0].x=1, s[0].in.y=2, s[1].x=3, s[1].in.y=4, end=7")
        yield (event_info(MANIFEST, 13, [Property("n", UINT32)], version=3, task="Short"), b"\1\2", (MANIFEST, 13),
               f"Short {of}: its bytes are not as its description says")
        yield (event_info(MANIFEST, 14, version=3, op="Only"), b"\1", (MANIFEST, 14),
               f"Only {of}: its bytes are not as its description says")
        wbem = [
            (Property("a", WBEM_COUNTED), n("<H", 2) + b"a\0", "a=a"),
            (Property("b", WBEM_COUNTED_ANSI), n("<H", 1) + b"b", "b=b"),
            (Property("c", REVERSED), n(">H", 2) + b"c\0", "c=c"),
            (Property("d", REVERSED_ANSI), n(">H", 1) + b"d", "d=d"),
            (Property("e", CHAR), b"e\0", "e='e'"), (Property("f", CHAR_ANSI), b"f", "f='f'"),
            (Property("g", SIZE), self.pointer(77), "g=77"),
            (Property("h", HEX_DUMP), n("<I", 2) + b"\1\2", "h=0x0102"),
            (Property("i", TOKEN_SID), self.pointer(1) + self.pointer(0) + bytes([1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0]),
             "i=S-1-5-18"), (Property("j", TOKEN_SID), bytes(4), "j="),
            (Property("k", REST), "rest".encode("utf-16-le"), "k=rest"),
        ]
        yield (event_info(CLASSIC, 0xFFFF, [p for p, _, _ in wbem], version=2, source=1, event=CLASSIC, opcode=7,
                          task="Class", op="Old"),
               b"".join(data for _, data, _ in wbem), (CLASSIC, 7, 2),
               "Class/Old of Merged, PID 4, TID 12: " + ", ".join(text for _, _, text in wbem))

    def sources(self):
        """(payload, number, version, text)"""
        n, of = struct.pack, "of Made-Up-Source, PID 900, TID 908"
        yield (wide("http://x/") + n("<III", 7, 3, 1) + MANIFEST.bytes_le + self.pointer(0xBEEF) + b"\xff"
               + n("<d", 2.5), 1, 0,
               f"Request/Start {of}: url=http://x/, colour=Blue, modes=Read|Write, ok=true, id={{{MANIFEST}}}, "
               "p=0xbeef, b=None, text <&> \u00fc\U0001f642=2.5")
        yield b"", 2, 1, f"Plain {of}"
        yield (n("<I", 2) + b"\xaa\xbb" + SERVER + n("<3H", 1, 2, 3), 3, 0,
               f"Blob {of}: dataSize=2, data=0xaabb, at=10.1.2.3, three=[1, 2, 3]")
        for number, version in (4, 0), (5, 0), (2, 0):
            yield (b"\1", number, version, f"event {number} of {{{SOURCE}}}, PID 900, TID 908, level 4, opcode 1, "
                   "keyword 0x1, 1 byte")

    def events(self):
        descriptions = [(MAP_INFO, map_info(MANIFEST, "Colours", [(9, "Black"), (2, "Blue "), (1, "Red")])),
                        (MAP_INFO, map_info(MANIFEST, "Modes", [(1, "Read"), (2, "Write")], bits=True))]
        for description, payload, (provider, *number), text in self.merged():
            descriptions.append((EVENT_INFO, description))
            self.expected.append(text)
            yield (self.event(provider, *number, payload) if len(number) == 1 else
                   self.classic(0x0A, 0x14, number[1] << 16 | number[0], self.time, payload,
                                provider.bytes_le + bytes(8)))
        for payload, number, version, text in self.sources():
            self.expected.append(text)
            yield self.event(SOURCE, number, payload, version=version)
        yield from (self.metadata(*one) for one in reversed(descriptions))
        yield from (self.chunk(part) for part in chunks(XML, 1000))


if __name__ == "__main__":
    for name, bits in (("described", 64), ("described-32", 32)):
        (CORPUS / name).write_bytes(Described(19041, bits).make())
