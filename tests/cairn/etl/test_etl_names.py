# SPDX-License-Identifier: MIT
"""Fields of the commonest events of Windows: processes, images, PDB files, services, disks; and the names of files,
which other events have by a key. Each file is made here."""

import json
import struct
import uuid

import pytest

from cairn_tool import cairn, text_of
from make_etl import Maker

IMAGE_ID = uuid.UUID("b3e675d7-2554-4f18-830b-2762732560de")
SYSTEM_CONFIG = uuid.UUID("9b79ee91-b5fd-41c0-a243-4248e266e9d0")
PDB = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")
NAME, CREATED, DELETED, RUNDOWN = 0x0400, 0x0420, 0x0423, 0x0424
both_widths = pytest.mark.parametrize("bits", (32, 64))


def wide(text):
    return (text + "\0").encode("utf-16-le")


class Names(Maker):
    """A golden file's rundown, then `more`: events of CPU 0."""

    def __init__(self, bits, build=19041):
        super().__init__(build, bits)
        self.more = []

    def at(self, hook, version, payload, time=2000):
        self.more.append(self.system(hook, version, time, 908, 900, payload))

    def of_class(self, guid, kind, payload, time=2000):
        self.more.append(self.classic(0x0A, 0x14, kind | 2 << 16, time, payload, guid.bytes_le + bytes(8)))

    def named(self, hook, time, key, name):
        self.more.append(self.perfinfo(hook, 2, time, self.pointer(key) + wide(name)))

    def disk_read(self, time, key):
        payload = struct.pack("<IIIIq", 0, 0x60043, 4096, 0, 1 << 30) + self.pointer(key) + self.pointer(0x77)
        self.more.append(self.perfinfo(0x010A, 3, time, payload + struct.pack("<QI", 20, 908)))

    def make(self):
        for _ in range(2):
            self.random.seed(self.build)
            header, self.buffers = self.header(), []
            self.buffer(0, [header], kind=4)
            self.split(0, [*self.rundown(1500), *self.more], last=True)
        return b"".join(self.buffers)

    def events(self):
        done = cairn("export", "--to", "json", "-", data=self.make())
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [line for line in lines if line["type"] == "event"]


def told(line):
    assert line["fields_fit"]
    return {field["name"]: field["value"] for field in line["fields"]}


@both_widths
@pytest.mark.parametrize("version", (1, 2, 3, 4))
def test_processes(bits, version):
    """With a user, and without one."""
    names = Names(bits)
    for user in (True, False):
        key, ids = names.pointer(0x1AB000), struct.pack("<IIIi", 900, 4, 1, -1073741819)
        payload = key + ids + (names.pointer(0x187000) if version > 2 else b"") + struct.pack("<I", 2) * (version > 3)
        sid = bytes([1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0])
        payload += names.pointer(1) + names.pointer(0) + sid if user else bytes(4)
        payload += b"explorer.exe\0" + (wide(r"C:\explorer.exe /x") if version > 1 else b"")
        names.at(0x0302, version, payload + (wide("a package") + wide("an ID")) * (version > 3))
    expected = {"PageDirectoryBase" if version == 1 else "UniqueProcessKey": "0x1ab000", "ProcessId": "900",
                "ParentId": "4", "SessionId": "1", "ExitStatus": "0xc0000005", "UserSID": "S-1-5-32-544",
                "ImageFileName": "explorer.exe"}
    if version > 1:
        expected["CommandLine"] = r"C:\explorer.exe /x"
    if version > 2:
        expected["DirectoryTableBase"] = "0x187000"
    if version > 3:
        expected |= {"Flags": "0x2", "PackageFullName": "a package", "ApplicationId": "an ID"}
    ends = [line for line in names.events() if line["hook"] == "0302H"]
    assert [told(line) for line in ends] == [expected, expected | {"UserSID": ""}]
    assert r"0302H process end 900 of 4, explorer.exe: " in ends[0]["text"]


@both_widths
def test_images(bits):
    """The whole path, size and checksum; version 2 has no signature."""
    names = Names(bits)
    path = "\\Device\\HarddiskVolume2\\Windows\\ntdll.dll"
    for version, middle in ((2, struct.pack("<I", 0)), (3, struct.pack("<BBH", 12, 1, 0))):
        payload = names.pointer(0x7000_0000) + names.pointer(0x1F0000) + struct.pack("<III", 900, 0x1BD5B6, 0x5010A84A)
        names.at(0x030A, version, payload + middle + names.pointer(0x6000_0000) + bytes(16) + wide(path))
    expected = {"ImageBase": "0x70000000", "ImageSize": "0x1f0000", "ProcessId": "900", "ImageChecksum": "0x1bd5b6",
                "TimeDateStamp": "0x5010a84a", "DefaultBase": "0x60000000", "FileName": path}
    loads = [told(line) for line in names.events() if line.get("hook") == "030AH"]
    assert loads == [expected, expected | {"SignatureLevel": "12", "SignatureType": "1"}]


@both_widths
def test_events_of_a_merged_trace(bits):
    """Which PDB file belongs to an image; where volumes and folders are."""
    names = Names(bits)
    names.of_class(IMAGE_ID, 0x24, names.pointer(0x7000_0000) + struct.pack("<I", 900) + PDB.bytes_le +
                   struct.pack("<I", 2) + b"ntdll.pdb\0")
    names.of_class(IMAGE_ID, 0, names.pointer(0x7000_0000) + names.pointer(0x1F0000) +
                   struct.pack("<II", 0, 0x5010A84A) + wide("ntdll.dll"))
    names.of_class(SYSTEM_CONFIG, 0x23, wide("\\Device\\HarddiskVolume2\\") + wide("C:\\"))
    names.of_class(IMAGE_ID, 0x77, b"of a type that nobody knows")
    found = [line for line in names.events() if "provider" in line]
    assert [line.get("name") for line in found] == ["DbgID_RSDS", "Info", "VolumeMapping", None]
    assert [told(line) for line in found[:3]] == [
        {"ImageBase": "0x70000000", "ProcessId": "900", "GuidSig": f"{{{PDB}}}", "Age": "2",
         "PdbFileName": "ntdll.pdb"},
        {"ImageBase": "0x70000000", "ImageSize": "0x1f0000", "ProcessId": "0", "TimeDateStamp": "0x5010a84a",
         "OriginalFileName": "ntdll.dll"},
        {"NtPath": "\\Device\\HarddiskVolume2\\", "DosPath": "C:\\"}]
    assert found[0]["text"].startswith(f"DbgID_RSDS of {{{IMAGE_ID}}}, PID 4, TID 12: ImageBase=")
    assert "fields" not in found[3] and found[3]["text"].startswith("type 119 of")


@both_widths
def test_services_and_disks(bits):
    names = Names(bits)
    service = struct.pack("<III", 900, 4, 33) + wide("Dnscache") + wide("DNS Client") + wide("svchost.exe")
    names.at(0x0B0F, 2, service)
    names.at(0x0B0F, 3, service + wide("TDI") + wide("NetworkService"))
    maker = "Virtual HD".encode("utf-16-le").ljust(512, b"\0")
    disk = struct.pack("<IIIIQIIII", 0, 512, 63, 255, 15566, 1, 2, 3, 4) + maker
    names.at(0x0B0B, 2, disk + struct.pack("<IBB", 2, 1, 0) + "C:\0".encode("utf-16-le") + bytes(4))
    found = [told(line) for line in names.events() if line.get("hook") in ("0B0FH", "0B0BH")]
    expected = {"ProcessId": "900", "ServiceState": "4", "SubProcessTag": "33", "ServiceName": "Dnscache",
                "DisplayName": "DNS Client", "ProcessName": "svchost.exe"}
    assert found[:2] == [expected, expected | {"LoadOrderGroup": "TDI", "SvchostGroup": "NetworkService"}]
    assert found[2] == {"DiskNumber": "0", "BytesPerSector": "512", "SectorsPerTrack": "63", "TracksPerCylinder": "255",
                        "Cylinders": "15566", "SCSIPort": "1", "SCSIPath": "2", "SCSITarget": "3", "SCSILun": "4",
                        "Manufacturer": "Virtual HD", "PartitionCount": "2", "WriteCacheEnabled": "1",
                        "BootDriveLetter": "C:"}


@both_widths
def test_a_switch_says_what_only_0524H_has(bits):
    names = Names(bits)
    for version, mode, said in ((2, 1, "user"), (4, 0x0E, "kernel"), (4, 0x0F, "user")):
        names.more.append(names.perfinfo(0x0524, version, 2000, struct.pack(
            "<IIbbBbBBBBIi", 908, 904, 12, 9, 0, 0, 6, mode, 5, 3, 2, 100)))
        names.modes = getattr(names, "modes", []) + [said]
    text = text_of(cairn("export", "--to", "json", "-", data=names.make()))
    lines = [json.loads(line) for line in text.splitlines()]
    switches = [line for line in lines if line["type"] == "switch"]
    assert [line["wait_mode"] for line in switches] == names.modes
    assert {(line["new_priority"], line["priority"], line["ideal_cpu"]) for line in switches} == {(12, 9, 3)}


# ---- names of files --------------------------------------------------------------------------------------------------

@both_widths
def test_a_file_is_named_by_its_key(bits):
    """A key is used again; some files are told of only when they go, or at the end; some by nobody."""
    names = Names(bits)
    names.named(CREATED, 2000, 0x10, "first")
    names.named(DELETED, 3000, 0x10, "first")
    names.named(CREATED, 4000, 0x10, "second")
    names.named(CREATED, 5000, 0x10, "third")
    names.named(DELETED, 2500, 0x20, "gone")
    names.named(RUNDOWN, 9000, 0x20, "there at the end")
    names.named(NAME, 6000, 0x30, "told of late")
    asked = [(1999, 0x10, None), (2000, 0x10, "first"), (2999, 0x10, "first"), (3500, 0x10, None),
             (4000, 0x10, "second"), (4999, 0x10, "second"), (8000, 0x10, "third"), (2400, 0x20, "gone"),
             (2600, 0x20, "there at the end"),
             (9500, 0x20, "there at the end"), (2000, 0x30, "told of late"), (2000, 0x40, None), (2000, 0, None)]
    for time, key, _ in asked:
        names.disk_read(time, key)
    names.more.sort(key=lambda event: struct.unpack_from("<q", event, 8)[0])
    found = {(int(fields["FileObject"], 16), at): fields.get("File") for fields, at in (
        (told(line), line["ns"]) for line in names.events() if line.get("hook") == "010AH")}
    assert found == {(key, (time - 1000) * 100): name for time, key, name in asked}


@both_widths
def test_which_events_have_a_key(bits):
    """Disks, hard faults, mappings, operations on files; not the object of an operation, which is no key."""
    names, path = Names(bits), "\\Device\\HarddiskVolume2\\pagefile.sys"
    names.named(RUNDOWN, 1900, 0x10, path)
    names.disk_read(2000, 0x10)
    names.at(0x0220, 2, struct.pack("<QQ", 1990, 0) + names.pointer(5) + names.pointer(0x10) +
             struct.pack("<II", 908, 8))
    names.at(0x0425, 2, names.pointer(1) + names.pointer(0x10) + struct.pack("<Q", 3) + names.pointer(4) +
             struct.pack("<I", 900))
    three = names.pointer(1) + names.pointer(0x10) + names.pointer(0x10)
    names.at(0x0443, 3, struct.pack("<Q", 0) + three + struct.pack("<III", 908, 4096, 0))
    names.at(0x0442, 3, names.pointer(1) + names.pointer(0x10) + names.pointer(0x11) + struct.pack("<I", 908))
    found = {line["hook"]: [field["value"] for field in line["fields"] if field["name"] == "File"]
             for line in names.events() if line.get("hook") in ("010AH", "0220H", "0425H", "0443H", "0442H")}
    assert found == {"010AH": [path], "0220H": [path], "0425H": [path], "0443H": [path], "0442H": []}
    dump = text_of(cairn("dump", "-", data=names.make(), env={"COLUMNS": ""}))
    assert f"FileObject=0x10, File={path}, Irp=0x77" in dump


@both_widths
def test_names_that_are_short(bits):
    """Less than a key, a key alone, half of a character, a name that does not end."""
    for size in range(len(Names(bits).pointer(0)) + 6):
        names = Names(bits)
        names.more.append(names.perfinfo(RUNDOWN, 2, 1900, (names.pointer(0x10) + wide("ab"))[:size]))
        names.disk_read(2000, 0x10)
        line, = [line for line in names.events() if line.get("hook") == "010AH"]
        left = size - len(names.pointer(0))
        assert told(line).get("File") == (None if left < 0 else "ab"[:left // 2])
