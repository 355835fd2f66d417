# SPDX-License-Identifier: MIT
"""What real files of Windows do that make_etl.py's golden ones do not: no rundown at the start, messages of WPP,
samples of processes, missing buffers, long names. Each file is made here."""

import json
import re
import struct

import pytest

import etl
import make_etl
from cairn_tool import cairn, on_a_terminal, text_of
from etl_rundown import rule
from etl_windows import ENDS, OTHER, USER, Windows

both_widths = pytest.mark.parametrize("bits", (32, 64))


def plain(data, *command):
    """What a command says, its wrapped lines made one."""
    return re.sub(r"\n {10,}(?=[^ :])", " ", text_of(cairn(*command, "-", data=data)))


# ---- who is told of --------------------------------------------------------------------------------------------------

@both_widths
def test_without_a_rundown_at_the_start_nobody_can_say(bits):
    """Threads run that only the end tells of: that is how sound files are."""
    data = Windows(bits=bits, starts=(), ends=ENDS).make()
    compared, failed, word, text = rule(data)
    assert (compared, failed, word) == (0, 0, "cannot be known here")
    assert "no DCStart event lists what was running at the start" in text and "PASS" in text
    info, dump = plain(data, "info"), plain(data, "dump")
    for what, count in (("processes", len(make_etl.PROCESSES)), ("threads", len(make_etl.THREADS)), ("images", 2)):
        assert re.search(rf"^  {what} +{count}$", info, re.M), what
    assert "explorer.exe:904" in dump and "ntoskrnl.exe" in dump


def test_what_is_told_at_the_start_is_still_checked():
    """Processes and threads are; images are not told of at all at the start."""
    data = Windows(starts=(0x0303, 0x0503), ends=ENDS).make()
    compared, failed, word, text = rule(data)
    assert compared > 90 and failed == 0 and word == "consistent"
    assert "2 items are not checked: no DCStart event lists what was running" in text
    at = next(b.at + e.at + 0x20 for b in etl.read(data) for e in b.events if e.hook == 0x0504)
    _, failed, word, text = rule(data[:at + 4] + struct.pack("<I", 7777) + data[at + 8:])
    assert failed == 2 and "thread 7777 is in the end rundown, but has no start event" in text


def test_images_of_processes_may_be_told_of_at_the_end_alone():
    """The kernel's, and those of process 900, are told of at the start; that of process 4 is at the end alone."""
    image = (4, OTHER, "ntdll.dll")

    class Late(Windows):
        def rundown(self, time):
            self.images, images = (), self.images
            yield from super().rundown(time)
            self.images = images

    compared, failed, word, text = rule(Late(ends=ENDS, images=(image,)).make())
    assert compared > 90 and failed == 0 and word == "consistent"
    assert "1 item is not checked: no DCStart event" in text
    _, failed, _, text = rule(Late(ends=ENDS, images=((900, *image[1:]),)).make())
    assert failed == 1
    assert "the image at 0x70000000 of process 900 is in the end rundown, but has no start event" in text
    _, failed, _, text = rule(Late(ends=ENDS, images=((0, *image[1:]),)).make())
    assert failed == 1 and "of process 0 is in the end rundown, but has no start event" in text


def test_a_session_in_memory_may_have_lost_its_beginning():
    data = bytearray(Windows(ends=ENDS).make())
    struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, 0x400)
    compared, failed, word, text = rule(data)
    assert (compared, failed, word) == (0, 0, "cannot be known here")
    assert "a session kept in memory may have lost its beginning" in text


# ---- messages --------------------------------------------------------------------------------------------------------

MESSAGES = [  # what the message has, and how it is shown
    ({}, "message 1"),
    ({"time": 2_001_000}, "message 1"),
    ({"time": 2_001_000, "ids": (912, 900)}, "message 1, PID 900, TID 912"),
    ({"sequence": 8, "time": 2_001_000}, "message 1, sequence 8"),
    ({"component": 3, "time": 2_001_000}, "message 1 of component 3"),
    ({"sequence": 9, "source": make_etl.PROVIDER, "time": 2_001_000, "ids": (912, 900)},
     f"message 1 of {{{make_etl.PROVIDER}}}, sequence 9, PID 900, TID 912"),
]


@both_widths
@pytest.mark.parametrize("has, text", MESSAGES, ids=range(len(MESSAGES)))
def test_messages(has, text, bits):
    data = Windows(bits=bits, more=[lambda maker: maker.message(1, **has)], switches=False).make()
    dump = plain(data, "dump")
    shown = "0.2000000" if "time" in has else "0.0000500"  # as what came before
    assert re.search(rf"^ +{shown}  0 \+ {re.escape(text)}$", dump, re.M), dump
    line, = [one for one in map(json.loads, text_of(cairn("export", "--to", "json", "-", data=data)).splitlines())
             if "message" in one]
    assert line["text"] == text and line["message"]["number"] == 1
    assert line["message"].get("sequence") == has.get("sequence")
    assert line["message"].get("component") == has.get("component")
    assert line["message"].get("guid") == ("source" in has and f"{{{make_etl.PROVIDER}}}" or None)
    assert (line.get("tid"), line.get("pid")) == has.get("ids", (None, None))


def test_messages_are_filtered():
    more = [lambda maker, n=n: maker.message(n, 1_001_000 * n, ids=(900 + 4 * n, 900)) for n in (1, 2, 3)]
    data = Windows(more=more, switches=False).make()

    def numbers(*options):
        return re.findall(r"\+ message (\d)", plain(data, "dump", *options))

    assert numbers() == ["1", "2", "3"]
    assert numbers("--from", "150ms", "--until", "250ms") == ["2"]
    assert numbers("--thread", "912") == ["3"]


def test_a_message_that_is_shorter_than_its_flags_say():
    message = Windows().message(1, 2_001_000, sequence=1, ids=(912, 900), text=b"")
    data = Windows(more=[lambda _: struct.pack("<H", 16) + message[2:16]], switches=False).make()
    done = cairn("check", "-", data=data)
    text = text_of(done)
    assert done.returncode == 1 and "bytes of buffer 1 are not events" in text


# ---- samples ---------------------------------------------------------------------------------------------------------

def sample(maker, time, tid, address, flags=8 << 3):
    return maker.perfinfo(0x0F2E, 2, time, maker.pointer(address) + struct.pack("<IHBB", tid, 1, flags, 0))


@both_widths
def test_samples_are_of_the_images_of_their_own_process(bits):
    """Two processes have other images at the same address; one unloads its, another takes its place; a thread's ID is
    used again by a process that has none."""
    def more(maker):
        yield 100, sample(maker, 2100, 908, USER + 0x123)
        yield 100, sample(maker, 2200, 8, USER + 0x123)
        yield 100, sample(maker, 2300, 908, USER + 0x1_0000)  # behind its end
        yield 100, sample(maker, 2400, 908, 0x8000_0123)
        yield 100, maker.at(0x1402, 3, 3000, maker.image(900, USER, "explorer.exe"))
        yield 100, sample(maker, 3100, 908, USER + 0x123)
        yield 100, maker.at(0x030A, 3, 3200, maker.image(900, USER - 0x1000, "late.dll"))
        yield 100, sample(maker, 3300, 908, USER + 0x123)
        yield 100, sample(maker, 3400, 5000, USER + 0x123)  # told of when it ends
        yield 100, maker.at(0x0502, 3, 3500, maker.thread(5000, 900), 900)
        yield 100, maker.at(0x0501, 3, 3600, maker.thread(5000, 77), 77)
        yield 100, sample(maker, 3700, 5000, USER + 0x123)

    count = len(list(more(Windows(bits=bits))))
    events = [lambda maker, n=n: list(more(maker))[n][1] for n in range(count)]
    data = Windows(bits=bits, images=((4, USER - 0x8000, "ntdll.dll"),), more=events, switches=False).make()
    found = re.findall(r"^ +(\S+)  0 \+ timer at (\S+): ", plain(data, "dump"), re.M)
    bare = f"0x{USER + 0x123:016x}"
    assert [address for _, address in found] == [
        "explorer.exe+0x123", "ntdll.dll+0x8123", f"0x{USER + 0x1_0000:016x}", "ntoskrnl.exe+0x123", bare,
        "late.dll+0x1123", "late.dll+0x1123", bare]


@pytest.mark.parametrize("build, priority", [(7600, ""), (7601, ""), (9200, ", priority 8"), (10240, ", priority 8")])
def test_samples_of_windows_7_have_flags_but_no_priority(build, priority):
    """Byte 0EH of Windows 7 is 0, 1 or 2; from Windows 8 on the priority is above these bits."""
    words = ["", ", in a DPC", ", in an interrupt"]
    more = [lambda m, n=n: sample(m, 2100 + n, 908, 0x8000_0123, n | (8 << 3 if priority else 0)) for n in range(3)]
    data = bytearray(Windows(10240 if build != 7600 else 7600, more=more, switches=False).make())
    struct.pack_into("<I", data, 0x48 + 0x20 + 8, build)
    found = re.findall(r"\+ timer at ntoskrnl\.exe\+0x123: explorer\.exe:908(.*)$", plain(bytes(data), "dump"), re.M)
    assert found == [priority + word for word in words]


@pytest.mark.parametrize("hook, name", [
    (0x0052, "last dropped times"), (0x0320, "process counters"), (0x0321, "process counters (rundown)"),
    (0x0B13, "physical disk, extended"), (0x0B24, "virtualization"), (0x0B25, "boot")])
def test_events_without_fields_here_have_their_names(hook, name):
    data = Windows(more=[lambda maker: maker.at(hook, 2, 2100, b"more")], switches=False).make()
    assert f"0 + {hook:04X}H {name}" in plain(data, "dump")


# ---- what is missing, and where --------------------------------------------------------------------------------------

def without_buffer(data, cpu):
    """The file without a buffer in the middle of a CPU's; its header counts no loss."""
    gone = [b for b in etl.read(data) if b.cpu == cpu][1]
    return data[:gone.at] + data[gone.at + gone.size:], gone


def test_a_sequence_number_that_is_missing_is_not_called_lost():
    data, _ = without_buffer(make_etl.maker("windows-7600-64").make(), 1)
    dump = plain(data, "dump")
    assert "! events may be missing here: sequence numbers skip a buffer" in dump and "lost" not in dump
    counted = bytearray(data)
    struct.pack_into("<I", counted, 0x48 + 0x20 + 0x30, 7)
    assert "! events may be missing here: some were lost" in plain(bytes(counted), "dump")


def test_a_buffer_that_cannot_be_read_is_not_called_lost():
    data = bytearray(make_etl.maker("windows-7600-64").make())
    struct.pack_into("<I", data, etl.read(bytes(data))[3].at, 0xFFFFFFFF)
    dump = plain(bytes(data), "dump")
    assert "! events may be missing here: a buffer cannot be read" in dump and "some were lost" not in dump


def test_buffers_have_one_number_in_a_report():
    """Two things are wrong with one buffer of CPU 1, which is not that CPU's first nor the file's."""
    data = bytearray(make_etl.maker("windows-19041-64").make())
    buffers = etl.read(bytes(data))
    number = [n for n, b in enumerate(buffers) if b.cpu == 1][1]
    buffer = buffers[number]
    assert [n for n, b in enumerate(b for b in buffers if b.cpu == 1) if b is buffer] != [number]
    struct.pack_into("<I", data, buffer.at + 0x30, buffer.size + 8)  # uses more than there is
    event = buffer.at + buffer.events[-1].at
    data[event + 4:event + 6] = b"\0\0"
    text = plain(bytes(data), "check")
    assert f"buffer {number} uses" in text and f"bytes of buffer {number} are not events" in text
    assert set(re.findall(r"buffer (\d+)", text)) == {str(number)}


# ---- what is shown ---------------------------------------------------------------------------------------------------

def test_long_names_are_whole():
    """Those that a file's name can have; what is longer ends in "..."."""
    name, longest = "n" * 200 + ".exe", "m" * 400

    def more(maker):
        return maker.at(0x1403, 3, 1600, maker.image(900, OTHER, name))

    def too_long(maker):
        return maker.at(0x1403, 3, 1600, maker.image(900, OTHER + 0x10_0000, longest))

    def thread(maker):
        return maker.at(0x0501, 3, 1700, maker.thread(5000, 900)[:-2] + ("t" * 100 + "\0").encode("utf-16-le"), 900)

    class Named(Windows):
        def header(self):
            names = "NT Kernel Logger\0C:\\kernel.etl\0".encode("utf-16-le")
            whole = super().header()
            assert whole.endswith(names)
            whole = whole[:-len(names)] + f"{'l' * 150}\0C:\\{'f' * 250}.etl\0".encode("utf-16-le")
            return whole[:4] + struct.pack("<H", len(whole)) + whole[6:]

    data = Named(more=[more, too_long, thread], switches=False).make()
    dump, info = (text_of(cairn(command, "-", data=data, env={"COLUMNS": ""})) for command in ("dump", "info"))
    assert f"image (rundown) of 900, {name}: " in dump
    assert f"image (rundown) of 900, {longest[:260]}...: " in dump
    assert f"thread start 5000 of 900, {'t' * 100}\n" in dump
    assert f"  logger                   {'l' * 150}\n" in info
    assert f"  file                     C:\\{'f' * 250}.etl\n" in info


@pytest.mark.parametrize("command", ["dump", "check"])
def test_lines_are_whole_in_a_pipe(command):
    data = make_etl.maker("windows-19041-64").make()
    whole, wrapped = (text_of(cairn(command, "-", data=data, env={"COLUMNS": columns})) for columns in ("", "80"))
    assert len(whole.splitlines()) < len(wrapped.splitlines()) and max(map(len, wrapped.splitlines())) <= 80
    assert re.sub(r"\s+", "", whole) == re.sub(r"\s+", "", wrapped)
    assert "\n  at the start" not in whole


def test_a_terminal_has_80_columns():
    data = make_etl.maker("windows-19041-64").make()
    shown = on_a_terminal("dump", "-", data=data, env={"COLUMNS": "", "NO_COLOR": "1"}).stdout
    assert shown == cairn("dump", "-", data=data).stdout


def test_a_windows_file_says_nothing_of_emulation_nor_of_times_it_has_not():
    data = Windows(switches=False).make()
    assert "emulated" not in plain(data, "info")
    stat = plain(data, "stat")
    assert "unknown" not in stat and "100.00 %" not in stat and "threads by time" not in stat
    assert "threads by time" in plain(Windows().make(), "stat")


@pytest.mark.parametrize("mode, text", [
    (0, "0x0"), (1, "0x1: sequential"), (0x2000080, "0x2000080: secure, system logger"),
    (0x4000402, "0x4000402: circular, in memory, compressed"), (0x40000010, "0x40000010: 0x40000010 without a name"),
    (0x40000101, "0x40000101: sequential, real time, 0x40000000 without a name")])
def test_the_mode_in_words(mode, text):
    data = bytearray(Windows(switches=False).make())
    struct.pack_into("<I", data, 0x48 + 0x20 + 0x20, mode)
    assert re.search(rf"^  mode +{text}$", plain(bytes(data), "info"), re.M)
