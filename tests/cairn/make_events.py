# SPDX-License-Identifier: MIT
"""ETL files of events that are none of the scheduler's: the kernel logger's disk, memory, file, network, configuration
and stack events, and those of providers. Each stands here with what is to be shown of it; apart from the C code.
`python3 make_events.py` writes what the fuzzer begins with."""

import struct
import uuid
from pathlib import Path

from make_etl import Maker

CORPUS = Path(__file__).resolve().parent.parent / "fuzz" / "corpus" / "cairn_etl"
MANIFEST = uuid.UUID("11223344-5566-7788-99aa-bbccddeeff00")
TRACELOGGING = uuid.UUID("0cd1c309-0878-4515-83db-749843b3f5c9")
CLASSIC = uuid.UUID("9e814aad-3204-11d2-9a82-006008a86939")
SERVER, CLIENT, SIX = bytes([10, 1, 2, 3]), bytes([192, 168, 0, 9]), bytes.fromhex("20010db8" + 20 * "0" + "0001")


def wide(text):
    return (text + "\0").encode("utf-16-le")


def chars(text, count):
    return text.encode("utf-16-le").ljust(2 * count, b"\0")


# ---- TraceLogging ---------------------------------------------------------------------------------------------------

(NULL, UTF16, ANSI, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FLOAT, DOUBLE, BOOL32, BINARY,
 GUID) = range(16)
FILETIME, SYSTEMTIME, SID, HEX32, HEX64, COUNTED, COUNTED_ANSI, STRUCT, COUNTED_BINARY = range(17, 26)
FIXED, VARIABLE, CUSTOM = 0x20, 0x40, 0x60


def field(name, kind, out=None, *, tags=b"", fixed=None, custom=None):
    """A field of a schema."""
    data = name.encode() + b"\0" + bytes([kind | (0x80 if out is not None else 0)])
    if out is not None:
        data += bytes([out | (0x80 if tags else 0)]) + tags
    if fixed is not None:
        data += struct.pack("<H", fixed)
    if custom is not None:
        data += struct.pack("<H", len(custom)) + custom
    return data


def schema(name, *fields, tags=b"\x80\0"):
    body = tags + name.encode() + b"\0" + b"".join(fields)
    return struct.pack("<H", 2 + len(body)) + body


def counted(data):
    return struct.pack("<H", len(data)) + data


ALL_TYPES = [  # (field, bytes of the payload, name and value as they are shown)
    (field("text", UTF16), wide("wide"), "text=wide"),
    (field("ansi", ANSI, 35, tags=b"\x81\x01"), b"narrow\0", "ansi=narrow"),
    (field("i8", INT8), struct.pack("<b", -8), "i8=-8"),
    (field("u8", UINT8), b"\xfe", "u8=254"),
    (field("i16", INT16), struct.pack("<h", -300), "i16=-300"),
    (field("u16", UINT16), struct.pack("<H", 65000), "u16=65000"),
    (field("c16", UINT16, 2), "\u20ac".encode("utf-16-le"), "c16='\u20ac'"),
    (field("c8", UINT8, 2), b"B", "c8='B'"),
    (field("port", UINT16, 7), struct.pack(">H", 443), "port=443"),
    (field("i32", INT32), struct.pack("<i", -70000), "i32=-70000"),
    (field("u32", UINT32), struct.pack("<I", 0xFFFFFFFF), "u32=4294967295"),
    (field("status", UINT32, 14), struct.pack("<I", 0xC0000034), "status=0xc0000034"),
    (field("hresult", INT32, 15), struct.pack("<I", 0x80070005), "hresult=0x80070005"),
    (field("address", UINT32, 8), SERVER, "address=10.1.2.3"),
    (field("ip6", BINARY, 9), counted(bytes.fromhex("fe80" + 26 * "0" + "01")), "ip6=fe80::1"),
    (field("no ip6", BINARY, 9), counted(b"\1\2"), "no ip6=0x0102"),
    (field("i64", INT64), struct.pack("<q", -5_000_000_000), "i64=-5000000000"),
    (field("u64", UINT64), struct.pack("<Q", 1 << 63), "u64=9223372036854775808"),
    (field("hex", UINT64, 4), struct.pack("<Q", 0xABCDEF0123), "hex=0xabcdef0123"),
    (field("when", INT64, 16), struct.pack("<q", 132_000_000_000_000_001), "when=2019-04-17 18:40:00.0000001"),
    (field("float", FLOAT), struct.pack("<f", 1.5), "float=1.5"),
    (field("double", DOUBLE), struct.pack("<d", -0.125), "double=-0.125"),
    (field("bool", BOOL32), struct.pack("<I", 1), "bool=true"),
    (field("small bool", UINT8, 3), b"\0", "small bool=false"),
    (field("binary", BINARY), counted(b"\x01\xab\0"), "binary=0x01ab00"),
    (field("guid", GUID), MANIFEST.bytes_le, f"guid={{{MANIFEST}}}"),
    (field("filetime", FILETIME), struct.pack("<q", 132_000_000_000_000_000), "filetime=2019-04-17 18:40:00.0000000"),
    (field("systemtime", SYSTEMTIME), struct.pack("<8H", 2026, 11, 4, 26, 20, 5, 9, 77),
     "systemtime=2026-11-26 20:05:09.077"),
    (field("sid", SID), bytes([1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0]), "sid=S-1-5-32-544"),
    (field("hex32", HEX32), struct.pack("<I", 0x1234), "hex32=0x1234"),
    (field("hex64", HEX64), struct.pack("<Q", 0xFFFFF80000001234), "hex64=0xfffff80000001234"),
    (field("counted", COUNTED), counted("tw\u00f6".encode("utf-16-le")), "counted=tw\u00f6"),
    (field("counted ansi", COUNTED_ANSI), counted(b"three"), "counted ansi=three"),
    (field("counted binary", COUNTED_BINARY), counted(b"\xff"), "counted binary=0xff"),
    (field("fixed", UINT16 | FIXED, fixed=3), struct.pack("<3H", 7, 8, 9), "fixed=[7, 8, 9]"),
    (field("variable", ANSI | VARIABLE), struct.pack("<H", 2) + b"a\0bc\0", "variable=[a, bc]"),
    (field("none", UINT32 | VARIABLE), struct.pack("<H", 0), "none=[]"),
    (field("own", UINT8 | CUSTOM, custom=b"\1\2\3"), counted(b"\x44\x55"), "own=0x4455"),
    (field("at", STRUCT, 2) + field("x", UINT8) + field("in", STRUCT, 1) + field("y", UINT8), b"\x0a\x0b",
     "at.x=10, at.in.y=11"),
    (field("list", STRUCT | VARIABLE, 1) + field("z", UINT8), struct.pack("<H", 2) + b"\x01\x02",
     "list[0].z=1, list[1].z=2"),
    (field("nobody", STRUCT | VARIABLE, 1) + field("z", UINT8), struct.pack("<H", 0), None),
    (field("last", NULL), b"", "last="),
]


# ---- the kernel logger's ---------------------------------------------------------------------------------------------

# Bytes of a field, or: p u q c of a pointer, in hexadecimal, a number, a thread, where code is; x X y of 4, 8 and 2
# bytes in hexadecimal; n a thread; r a time. From Microsoft's classes, apart from the table in C.
FILE_2, FILE_3 = "IrpPtr:p TTID:q FileObject:p FileKey:p", "IrpPtr:p FileObject:p FileKey:p"
FLUSHED, DONE = "DiskNumber:4 IrpFlags:x HighResResponseTime:r Irp:p", "Irp:p UniqMatchId:4"
MORE = [
    (0x010E, 2, "disk flush", FLUSHED), (0x010E, 3, "disk flush", FLUSHED + " IssuingThreadId:n"),
    (0x010F, 2, "disk flush begins", "Irp:p"), (0x010F, 3, "disk flush begins", "Irp:p IssuingThreadId:n"),
    (0x0122, 2, "driver called", "MajorFunction:4 MinorFunction:4 RoutineAddr:c FileObject:p " + DONE),
    (0x0123, 2, "driver returns", DONE), (0x0125, 2, "driver completion routine", "Routine:c IrpPtr:p UniqMatchId:4"),
    (0x0134, 2, "driver completes request", "RoutineAddr:c " + DONE), (0x0135, 2, "driver request completed", DONE),
    (0x0138, 3, "optical disk write", "DiskNumber:4 IrpFlags:x TransferSize:4 -:4 ByteOffset:8 FileObject:p Irp:p "
                                      "HighResResponseTime:r IssuingThreadId:n"),
    (0x0139, 3, "optical disk flush", FLUSHED + " IssuingThreadId:n"),
    (0x013B, 3, "optical disk write begins", "Irp:p IssuingThreadId:n"),
    (0x0269, 2, "image backed by file", "FileObject:p DeviceChar:x FileChar:y LoadFlags:y"),
    (0x027F, 2, "virtual memory rotated", "BaseAddress:p SizeInBytes:u Flags:x"),
    (0x0281, 2, "virtual memory (at the end)", "BaseAddress:p RegionSize:u ProcessId:4 Flags:x CommitSizeInBytes:u"),
    (0x0286, 2, "memory reset", "BaseAddress:p SizeInBytes:u Flags:x"),
    (0x0426, 2, "file unmapped", "ViewBase:p FileObject:p MiscInfo:X ViewSize:u ProcessId:4"),
    (0x0441, 2, "file cleanup", FILE_2), (0x0442, 3, "file close", FILE_3 + " TTID:n"),
    (0x0444, 2, "file write", "Offset:8 " + FILE_2 + " IoSize:4 IoFlags:x"),
    (0x0445, 2, "file set information", FILE_2 + " ExtraInfo:p InfoClass:4"),
    (0x0447, 3, "file rename", FILE_3 + " ExtraInfo:p TTID:n InfoClass:4"),
    (0x0449, 2, "file flush", FILE_2), (0x0449, 3, "file flush", FILE_3 + " TTID:n"),
    (0x044A, 2, "file query information", FILE_2 + " ExtraInfo:p InfoClass:4"),
    (0x044B, 3, "file system control", FILE_3 + " ExtraInfo:p TTID:n InfoClass:4"),
    (0x0611, 2, "TCP failure", "Proto:2 FailureCode:2"), (0x0B10, 2, "power states", "S1:1 S2:1 S3:1 S4:1 S5:1"),
    (0x0B11, 2, "network settings", "TcbTablePartitions:4 MaxHashTableSize:4 MaxUserPort:4 TcpTimedWaitDelay:4"),
    (0x0B1C, 2, "screen resolution", "MachineDPI:4 UserDPI:4"),
]

# ---- events ----------------------------------------------------------------------------------------------------------

class Events(Maker):
    """`expected`: of each event the text, in the order of the file."""

    def __init__(self, build, bits):
        super().__init__(build, bits)
        self.expected, self.time = [], 5000
        self.units = f"{(self.time - 1000) / self.frequency:.7f}"

    def item(self, kind, data, more):
        pad = -len(data) % 8
        return struct.pack("<HHHH", 8 + len(data) + pad, kind, int(more), len(data)) + data + b"\x5a" * pad

    def event(self, provider, identity, payload, items=(), flags=0, *, version=3, opcode=1, task=0, activity=None,
              ids=(908, 900)):
        """An EVENT_HEADER. `items`: (type, data); `ids`: TID and PID."""
        behind = b"".join(self.item(kind, data, n + 1 < len(items)) for n, (kind, data) in enumerate(items))
        head = struct.pack("<HHIIq", flags | bool(items) | (0x40 if self.wide else 0x20), 0, *ids, self.time)
        head += provider.bytes_le + struct.pack("<HBBBBHQ", identity, version, 11, 4, opcode, task, 1) + bytes(8)
        head += activity.bytes_le if activity else bytes(16)
        body = head + behind + payload
        return struct.pack("<I", self.marker(0x12, 0x13, 4 + len(body))) + body

    def traits(self, name):
        body = name.encode() + b"\0" + struct.pack("<HB", 19, 1) + MANIFEST.bytes_le
        return 12, struct.pack("<H", 2 + len(body)) + body

    def stack(self, *addresses):
        size, kind = ("Q", 6) if self.wide else ("I", 5)
        return kind, struct.pack(f"<Q{len(addresses)}{size}", 0x77, *addresses)

    def providers(self):
        """(event, text)"""
        who, numbers = "PID 900, TID 908", "level 4, opcode 1, keyword 0x1"
        everything = schema("Everything", *(one for one, _, _ in ALL_TYPES))
        values = b"".join(data for _, data, _ in ALL_TYPES)
        shown = ", ".join(text for _, _, text in ALL_TYPES if text)
        name = self.traits("Made.Up.Provider")
        yield (self.event(TRACELOGGING, 0, values, [name, (11, everything)]),
               f"Everything of Made.Up.Provider, {who}: {shown}")
        yield (self.event(TRACELOGGING, 0, b"\x07", [(11, schema("Bare", field("n", UINT8)))]),
               f"Bare of {{{TRACELOGGING}}}, {who}: n=7")
        yield (self.event(TRACELOGGING, 0, b"", [name, (11, schema("Empty", tags=b"\0"))]),
               f"Empty of Made.Up.Provider, {who}")
        two = schema("Short", field("first", UINT8), field("second", UINT32))
        yield (self.event(TRACELOGGING, 0, b"\1\2\3", [name, (11, two)]),
               f"Short of Made.Up.Provider, {who}: first=1; its bytes are not as its schema says")
        yield (self.event(TRACELOGGING, 0, b"\1\2\3\4\5\6", [name, (11, two)]),
               f"Short of Made.Up.Provider, {who}: first=1, second=84148994; its bytes are not as its schema says")
        yield self.event(MANIFEST, 1234, b"its payload"), f"event 1234 of {{{MANIFEST}}}, {who}, {numbers}, 11 bytes"
        yield (self.event(MANIFEST, 9, wide("words alone"), flags=4),
               f"event 9 of {{{MANIFEST}}}, {who}: string=words alone")
        yield (self.event(MANIFEST, 5, b"", [self.stack(0x8000_1230, 0x40_0010)]),
               f"event 5 of {{{MANIFEST}}}, {who}, {numbers}, 0 bytes: stack=ntoskrnl.exe+0x1230 < explorer.exe+0x10")
        damaged = bytearray(self.event(MANIFEST, 6, b"", [name]))
        struct.pack_into("<H", damaged, 0x50, 0x7FF8)
        yield bytes(damaged), f"event 6 of {{{MANIFEST}}}, {who}: its bytes are not as its header says"
        rest = CLASSIC.bytes_le + bytes(8)
        yield (self.classic(0x0A, 0x14, 2 << 16 | 5, self.time, b"full", rest),
               f"type 5 of {{{CLASSIC}}}, PID 4, TID 12")

    def hooks(self):
        """(hook, version, payload, name, fields)"""
        p, n = self.pointer, struct.pack
        thread = "worker:908" if self.build >= 19041 else "explorer.exe:908"
        by, file, irp, key = n("<I", 908), p(0xF11E), p(0x1290), p(0x4E1)
        disk = n("<IIIIQ", 1, 0x60043, 4096, 0, 1 << 33) + file + irp + n("<Q", self.frequency // 1000)
        disk_text = ("DiskNumber=1, IrpFlags=0x60043, TransferSize=4096, ByteOffset=8589934592, FileObject=0xf11e, "
                     r"File=\Device\a.txt, Irp=0x1290, HighResResponseTime=1000.0 us")
        if self.build == 7600:  # its clock has no whole kilohertz
            disk_text = disk_text.replace("1000.0", f"{self.frequency // 1000 * 1e6 / self.frequency:.1f}")
        issuer = f", IssuingThreadId={thread}"
        yield 0x010A, 3, disk + by, "disk read", disk_text + issuer
        yield 0x010B, 2, disk, "disk write", disk_text
        yield 0x010C, 3, irp + by, "disk read begins", "Irp=0x1290" + issuer
        yield 0x010D, 2, irp, "disk write begins", "Irp=0x1290"
        yield 0x010A, 9, disk + by, "disk read", None
        yield (0x0220, 2, n("<QQ", self.time, 8192) + p(0x7000) + file + by + n("<I", 4096), "hard fault",
               f"InitialTime={self.units}, ReadOffset=8192, VirtualAddress=0x7000, FileObject=0xf11e, "
               rf"File=\Device\a.txt, TThreadId={thread}, ByteCount=4096")
        yield (0x020B, 2, p(0x7000) + p(0x8000_0040), "demand-zero fault",
               "VirtualAddress=0x7000, ProgramCounter=ntoskrnl.exe+0x40")
        yield (0x0262, 2, p(0x10000) + p(0x2000) + n("<II", 900, 0x1000), "virtual memory allocated",
               "BaseAddress=0x10000, RegionSize=8192, ProcessId=900, Flags=0x1000")
        for hook, name in (0x0400, "file name"), (0x0420, "file name begins"), (0x0424, "file name (rundown)"):
            yield hook, 2, file + wide(r"\Device\a.txt"), name, r"FileObject=0xf11e, FileName=\Device\a.txt"
        opened = n("<III", 0x21, 0x80, 7) + wide(r"C:\b")
        yield (0x0440, 2, irp + p(908) + file + opened, "file create",
               rf"IrpPtr=0x1290, TTID={thread}, FileObject=0xf11e, CreateOptions=0x21, FileAttributes=0x80, "
               r"ShareAccess=0x7, OpenPath=C:\b")
        yield (0x0443, 3, n("<Q", 512) + irp + file + key + by + n("<II", 100, 0x900), "file read",
               f"Offset=512, IrpPtr=0x1290, FileObject=0xf11e, FileKey=0x4e1, TTID={thread}, IoSize=100, "
               "IoFlags=0x900")
        yield (0x044C, 2, irp + p(3) + n("<I", 0xC0000034), "file operation ends",
               "IrpPtr=0x1290, ExtraInfo=0x3, NtStatus=0xc0000034")
        ports = n(">HH", 443, 50123)
        ip = n("<II", 900, 60) + SERVER + CLIENT + ports
        ip_text = "PID=900, size=60, daddr=10.1.2.3, saddr=192.168.0.9, dport=443, sport=50123"
        more = n("<IIII", 1, 2, 3, 4)
        for hook, name in ((0x060A, "TCP send"), (0x060B, "TCP receive"), (0x060C, "TCP connect"),
                           (0x060F, "TCP accept"), (0x080A, "UDP send"), (0x080B, "UDP receive")):
            yield hook, 2, ip + more, name, ip_text
        yield (0x061B, 2, n("<II", 900, 60) + SIX + SIX + ports + more, "TCP receive, IPv6",
               "PID=900, size=60, daddr=2001:db8::1, saddr=2001:db8::1, dport=443, sport=50123")
        yield 0x0811, 2, n("<HH", 2, 5), "UDP failure", "Proto=2, FailureCode=5"
        yield (0x0B0A, 2, n("<IIIII", 3000, 8, 16384, 4096, 65536) + chars("PC", 256) + chars("HOME", 134) + p(0x55),
               "CPU configuration", "MHz=3000, NumberOfProcessors=8, MemSize=16384, PageSize=4096, "
               "AllocationGranularity=65536, ComputerName=PC, DomainName=HOME, HyperThreadingFlag=0x55")
        yield (0x0B0C, 2, n("<QQIII", 1 << 20, 1 << 30, 0, 1, 3) + chars("C:", 4)
               + n("<IIIIIqq", 0, 2, 8, 512, 0, 10, 20) + chars("NTFS", 16) + n("<II", 0, 0), "logical disk",
               "StartOffset=1048576, PartitionSize=1073741824, DiskNumber=0, Size=1, DriveType=3, "
               "DriveLetterString=C:, PartitionNumber=2, SectorsPerCluster=8, BytesPerSector=512, "
               "NumberOfFreeClusters=10, "
               "TotalNumberOfClusters=20, FileSystem=NTFS, VolumeExt=0")
        yield (0x0B0D, 2, n("<QIII", 0x112233445566, 6, 4, 5) + wide("Card") + wide("10.1.2.3;") + wide(""),
               "network card", "PhysicalAddr=0x112233445566, PhysicalAddrLen=6, Ipv4Index=4, Ipv6Index=5, "
               "NICDescription=Card, IpAddresses=10.1.2.3;, DnsServerAddresses=")
        yield (0x0B16, 3, bytes(12) + wide("ID") + wide("Thing") + wide("My thing") + wide(r"\Device\1"),
               "plug and play device",
               r"DeviceID=ID, DeviceDescription=Thing, FriendlyName=My thing, PdoName=\Device\1")
        groups = p(3) + n("<4H", 0, 0, 0, 0) + p(12) + n("<4H", 1, 0, 0, 0)
        yield 0x0B18, 2, n("<I", 2) + groups, "NUMA nodes", "NodeCount=2, NodeMap=0:0x3 1:0xc"
        yield (0x0B19, 2, wide("Maker") + wide("Model") + wide("1/2/2026") + wide("9"), "platform",
               "SystemManufacturer=Maker, SystemProductName=Model, BiosDate=1/2/2026, BiosVersion=9")
        yield 0x0B0E, 2, bytes(40), "video", None
        of = n("<QII", self.time, 900, 908)
        of_text = f"EventTimeStamp={self.units}, StackProcess=900, StackThread={thread}"
        yield (0x1820, 2, of + p(0x8000_1230) + p(0x8000_4560) + p(0x40_0010), "stack",
               f"{of_text}, Stack=ntoskrnl.exe+0x1230 < ntoskrnl.exe+0x4560 < explorer.exe+0x10")
        yield 0x1825, 2, of + p(0xABC), "stack key, kernel", f"{of_text}, StackKey=0xabc"
        yield (0x1824, 2, p(0xABC) + p(0x8000_1230), "stack key (rundown)",
               "StackKey=0xabc, Stack=ntoskrnl.exe+0x1230")
        yield 0x010A, 3, disk[:20], "disk read", ("DiskNumber=1, IrpFlags=0x60043, TransferSize=4096; its bytes are "
                                                  "not as its version has them")

    def more_hooks(self):
        """The same, of fields that are all alike: each is 1, 2, 3 and so on of its bytes."""
        p, thread = self.bits // 8, "worker" if self.build >= 19041 else "explorer.exe"
        for hook, version, name, fields in MORE:
            payload, told = b"", []
            for n, (field_name, kind) in enumerate((one.split(":") for one in fields.split()), 1):
                size = p if kind in "puqc" else {"x": 4, "X": 8, "y": 2, "n": 4, "r": 8}.get(kind) or int(kind)
                value = 908 if kind in "nq" else n
                payload += value.to_bytes(size, "little")
                shown = {"n": f"{thread}:908", "q": f"{thread}:908", "c": f"0x{n:016x}",
                         "r": f"{n * 1e6 / self.frequency:.1f} us"}.get(kind, f"0x{n:x}" if kind in "pxXy" else str(n))
                if field_name != "-":
                    told.append(f"{field_name}={shown}")
            yield hook, version, payload, name, ", ".join(told)
        texts = wide("ID") + wide("What") + wide("") + wide("Pdo") + wide("svc")
        shown = "DeviceID=ID, DeviceDescription=What, FriendlyName=, PdoName=Pdo, ServiceName=svc"
        guid = f"ClassGuid={{{MANIFEST}}}, "
        yield 0x0B16, 4, MANIFEST.bytes_le + bytes(8) + texts, "plug and play device", guid + shown
        yield (0x0B16, 5, MANIFEST.bytes_le + bytes(8) + struct.pack("<II", 16, 3) + texts, "plug and play device",
               f"{guid}DevStatus=0x10, DevProblem=3, {shown}")
        yield (0x0B15, 3, struct.pack("<QHHII", 255, 1, 0, 9, 5) + wide("Clock"), "IRQ",
               "IRQAffinity=0xff, IRQGroup=1, IRQNum=9, DeviceDescription=Clock")
        yield (0x0B1A, 2, struct.pack("<I", 2) + self.pointer(3) + self.pointer(4), "processor groups",
               "GroupCount=2, Affinity=0x3 0x4")
        yield (0x0B1B, 2, struct.pack("<IHBBHBBHBB", 3, 0, 1, 0, 0, 63, 0, 1, 0, 0), "processor numbers",
               "ProcessorCount=3, ProcessorNumber=0:1 0:63 1:0")
        cpu = struct.pack("<IIIII", 1, 2, 3, 4, 5) + chars("PC", 256) + chars("", 134) + self.pointer(6)
        yield (0x0B0A, 3, cpu + self.pointer(7) + struct.pack("<HHHBBI", 9, 6, 0x5E03, 1, 1, 2400), "CPU configuration",
               "MHz=1, NumberOfProcessors=2, MemSize=3, PageSize=4, AllocationGranularity=5, ComputerName=PC, "
               "DomainName=, HyperThreadingFlag=0x6, HighestUserAddress=0x7, ProcessorArchitecture=9, "
               "ProcessorLevel=6, ProcessorRevision=24067, MemorySpeed=2400")
        yield (0x060B, 0, SERVER + CLIENT + struct.pack(">HH", 80, 1025) + struct.pack("<II", 60, 900), "TCP receive",
               "daddr=10.1.2.3, saddr=192.168.0.9, dport=80, sport=1025, size=60, PID=900")
        listed = struct.pack("<III", 64, 37, 0) + wide("*.c")
        shown = f"TTID={thread}:908, Length=64, InfoClass=37, FileIndex=0, FileName=*.c"
        three = self.pointer(1) + self.pointer(2) + self.pointer(3)
        yield (0x0448, 3, three + struct.pack("<I", 908) + listed, "directory listing",
               f"IrpPtr=0x1, FileObject=0x2, FileKey=0x3, {shown}")
        yield (0x044D, 2, self.pointer(1) + self.pointer(908) + self.pointer(2) + self.pointer(3) + listed,
               "directory notification",
               f"IrpPtr=0x1, TTID={thread}:908, FileObject=0x2, FileKey=0x3, Length=64, InfoClass=37, FileIndex=0, "
               "FileName=*.c")
        yield (0x0450, 3, three + self.pointer(4) + struct.pack("<II", 908, 10) + wide(r"\new"), "file rename, by path",
               f"IrpPtr=0x1, FileObject=0x2, FileKey=0x3, ExtraInfo=0x4, TTID={thread}:908, InfoClass=10, "
               r"FileName=\new")
        opened = struct.pack("<III", 1, 2, 3) + wide("o")
        yield (0x0440, 3, self.pointer(1) + self.pointer(2) + struct.pack("<I", 908) + opened, "file create",
               f"IrpPtr=0x1, FileObject=0x2, TTID={thread}:908, CreateOptions=0x1, FileAttributes=0x2, "
               "ShareAccess=0x3, OpenPath=o")

    def events(self):
        for event, text in self.providers():
            self.expected.append(text)
            yield event
        for n, (hook, version, payload, name, fields) in enumerate([*self.hooks(), *self.more_hooks()]):
            self.expected.append(f"{hook:04X}H {name}" + (f": {fields}" if fields else ""))
            yield (self.system(hook, version, self.time, 908, 900, payload) if n % 2 else
                   self.perfinfo(hook, version, self.time, payload))

    def make(self):
        for _ in range(2):  # the header counts the buffers
            self.random.seed(self.build)
            self.expected = []
            header = self.header()
            self.buffers = []
            self.buffer(0, [header], kind=4)
            self.split(0, list(self.rundown(1500)))
            self.split(0, list(self.events()), last=True)
        return b"".join(self.buffers)


if __name__ == "__main__":
    for name, bits in (("events", 64), ("events-32", 32)):
        (CORPUS / name).write_bytes(Events(19041, bits).make())
