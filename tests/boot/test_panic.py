# SPDX-License-Identifier: MIT
"""Panics: what the console says, and a trace that is right up to there."""

import re
import socket
import struct
import subprocess
import threading

import pytest

import cairn_boot as cb
import cairn_screen as cs
from cairn_log import cairn, checked, keys
from cairn_monitor import Monitor, boot_and_say, when_running


@pytest.mark.parametrize("kind, line, function, form", [
    cb.long("now", "asked for with panic=now", "krun", "base64"),
    cb.long("null", "write to 0x0000000000000000 (null pointer)", "krun", "base64"),
    ("stack", "is in the guard page", "overflow_stack", "8bit"),
    ("double", "double fault", "krun", "base64"),
    ])
def test_panic(tmp_path, kind, line, function, form):
    result = cb.boot(tmp_path / "log", "--smp", 2, "truth=1", "switches=2000", cb.UNHURRIED, f"panic={kind}",
                     f"dump.line={form}")
    assert result.status == cb.FAIL, result.output
    console = result.console()
    assert f"PANIC: CPU" in console and line in console
    assert re.search(rf"^  0x[0-9a-f]{{16}} {function}", console, re.M), console
    assert re.search(r"^R15 .* RIP ffffffff8[0-9a-f]{7} RFLAGS ", console, re.M) and "CR2 " in console, console
    status, text = cairn("dump", result.log)
    assert status == 0 and len(text.splitlines()) > 500, text[-2000:]
    checked(result.log)


@pytest.mark.parametrize("preset", ["icelake", cb.long("pantherlake")])
def test_in_a_proof(tmp_path, preset):
    """Workload `known` counts with a Debug Store of its own: what a panic drains is the session's, on every CPU.
    It comes late enough for a CPU that the host lets wait to have begun, and before the proofs are over."""
    result = cb.boot(tmp_path / "log", "--smp", 2, "workload=known", "ds=soft", f"ds.preset={preset}",
                     "pebs=INST_RETIRED.ANY:1", "pebs.records=1024", "pebs.threshold=1024", "bts=interrupt", "truth=1",
                     "switches=3000", cb.UNHURRIED, "panic=now")
    assert result.status == cb.FAIL and "asked for with panic=now" in result.output, result.output
    assert not result.lines("SKIP: known: "), result.output  # the proofs are not over
    text = checked(result.log)
    status, dump = cairn("dump", result.log)
    drains = re.findall(r"^ +\S+ +(\d) = drain of epoch 0 \(panic\): (\d+) records, 0 lost$", dump, re.M)
    assert status == 0 and sorted(cpu for cpu, _ in drains) == ["0", "1"] and all(int(n) for _, n in drains), drains
    records = sum(int(n) for _, n in drains)
    assert re.search(rf"truth: each PEBS record equal +{records} +0 verified\n", text), text


def test_nmi(tmp_path):
    """The NMI button: the lines the MADT names lead to every CPU at once; one panics, the others stop for it."""
    result = boot_and_say(tmp_path, "nmi", "--smp", 4, "truth=1", "switches=1000000", "nmi=panic")
    assert result.status == cb.FAIL, result.output
    checked(result.log)
    console = result.console()
    assert len(re.findall(r"^PANIC: CPU \d, thread .*: unexpected NMI$", console, re.M)) == 1, console
    assert "did not answer" not in console and "RIP " in console


def test_nmi_without_a_cause(tmp_path):
    """QEMU's port 61H shows none: each CPU counts it, and the run goes on to its end."""
    result = boot_and_say(tmp_path, "nmi", "--smp", 2, "ds=off", "truth=1", "switches=20000")
    assert result.status == cb.PASS, result.output
    checked(result.log)
    console = result.console()
    said = re.findall(r"^nmi: (\d+) NMIs without a cause in port 61H: ignored", console, re.M)
    assert len(said) == 1 and "PANIC" not in console, console
    assert keys(result.log, "E")["end.nmis"] == said[0]


def test_machine_check(tmp_path):
    """An error in a bank of CPU 1's: the panic names bank, status and address."""
    result = boot_and_say(tmp_path, "mce 1 2 0xb600000000000135 5 0x12345000 0", "--smp", 2, "ds=off",
                          "switches=1000000")
    assert result.status == cb.FAIL, result.output
    checked(result.log)
    console = result.console()
    assert re.search(r"^PANIC: CPU 1, thread .*: machine check \(#MC\)$", console, re.M), console
    assert re.search(r"^machine check: \d+ banks, MCG_STATUS 5$", console, re.M), console
    assert "machine check: bank 2: status b600000000000135, address 12345000, misc 0\n" in console


class Debugger:
    """Just enough of GDB's remote protocol; the machine stands still as long as nothing lets it go on."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(cb.LIMIT)
        self.connection.connect(str(path))
        self.stream = self.connection.makefile("rb")
        self.send("Hg0")
        while self.answer() != "OK":  # that connecting has stopped the machine
            pass

    def send(self, packet):
        self.connection.sendall(f"${packet}#{sum(packet.encode()) % 256:02x}".encode())

    def byte(self):
        byte = self.stream.read(1)
        assert byte, "QEMU has ended"
        return byte

    def answer(self):
        while self.byte() != b"$":  # acknowledgements
            pass
        text = b"".join(iter(self.byte, b"#"))
        self.stream.read(2)
        self.connection.sendall(b"+")
        return text.decode()

    def ask(self, packet):
        self.send(packet)
        return self.answer()

    def rip(self):
        return int.from_bytes(bytes.fromhex(self.ask("g"))[16 * 8:17 * 8], "little")  # behind RAX to R15


def address_of(symbol):
    symbols = subprocess.run(["nm", cb.BUILD / "kernel.elf"], capture_output=True, text=True, check=True).stdout
    found = re.findall(rf"^([0-9a-f]+) . {re.escape(symbol)}$", symbols, re.M)
    assert len(found) == 1, symbol
    return int(found[0], 16)


@pytest.mark.parametrize("symbol, offset, steps", [
    ("arch_syscall_entry", 0, 0),  # at CPL 0, but GS base and stack are still the program's
    cb.long("arch_syscall_entry", 3, 0),  # behind SWAPGS: the stack still is
    cb.long("leave.pop", -3, 1),  # on the way back, GS base is the program's again
])
def test_nmi_between_the_rings(tmp_path, symbol, offset, steps):
    """An NMI where the kernel has the program's GS base or stack: it must find its own all the same."""
    address = address_of(symbol) + offset
    monitor, gdb = tmp_path / "monitor", tmp_path / "gdb"
    qemu = cb.with_qemu(tmp_path, "-monitor", f"unix:{monitor},server=on,wait=off", "-gdb",
                     f"unix:{gdb},server=on,wait=off")
    stops, over = [], threading.Event()

    def interrupt():
        debugger = Debugger(gdb)
        stops.append(debugger.ask(f"Z1,{address:x},1"))
        stops.append(debugger.ask("c"))
        stops.append(debugger.ask(f"z1,{address:x},1"))
        while debugger.rip() != address + 3 * steps and len(stops) < 20:
            stops.append(debugger.ask("s"))  # no step where QEMU has looked at the APIC instead, for an interrupt
        button = Monitor(monitor)
        button.say("nmi")
        debugger.send("c")
        button.stay()

    thread = when_running(tmp_path / "log", over, interrupt)
    result = cb.boot(tmp_path / "log", "--smp", 1, "--qemu", qemu, "workload=user", "ds=off", "switches=1000000000",
                     "nmi=panic", cb.UNHURRIED)
    over.set()
    thread.join()
    assert [stop[:3] for stop in stops] == ["OK", "T05", "OK"] + (len(stops) - 3) * ["T05"], stops
    assert result.status == cb.FAIL, result.output
    console = result.console()
    program = "(yielder|napper|computer|vector|player)"
    assert re.search(rf"^PANIC: CPU 0, thread \d+ \({program}/\d\): unexpected NMI$", console, re.M), console
    assert f" RIP {address + 3 * steps:016x} " in console, console


@pytest.mark.long
def test_early_panic_above_4_gib(tmp_path):
    """Before the kernel has page tables of its own: the loader maps the framebuffer, also in a GiB without memory, as
    the firmware's map does not have a pc-dimm (high_screen.c)."""
    image = cb.make_image(tmp_path / "image", "serial=none", "end=halt", loader=cb.BUILD / "high-screen.efi")
    cb.image_tool("mcopy", image, cb.BUILD / "BOOTX64.EFI", "::/loader.efi")
    address = address_of("kmem_init")
    more = ("-device", "ramfb", "-S", "-gdb", f"unix:{tmp_path}/gdb,server=on,wait=off", "-m",
            "512M,slots=1,maxmem=8G", "-object", "memory-backend-ram,id=high,size=1G", "-device", "pc-dimm,memdev=high")
    with cs.Machine(tmp_path, "--raw", "--smp", 1, "--image", image, qemu=more) as machine:
        debugger = Debugger(tmp_path / "gdb")
        answers = [debugger.ask(f"Z1,{address:x},1"), debugger.ask("c")[:3], debugger.ask(f"z1,{address:x},1"),
                   debugger.ask(f"M{address:x},2:0f0b")]  # UD2
        debugger.send("c")
        said = cs.text(machine.wait_for("halted: "))
    assert answers == ["OK", "T05", "OK", "OK"]
    assert re.search(r"^PANIC: CPU 0, thread 0 \(none yet\): invalid opcode \(#UD\)", said, re.M), said
    assert f" RIP {address:016x} " in said and "memory: " not in said, said


@pytest.mark.long
def test_nmis_without_an_end(tmp_path):
    """The debugger sets the count to one below the most: the next NMI is ignored, the one behind it is a panic."""
    monitor, gdb = tmp_path / "monitor", tmp_path / "gdb"
    qemu = cb.with_qemu(tmp_path, "-monitor", f"unix:{monitor},server=on,wait=off", "-gdb",
                        f"unix:{gdb},server=on,wait=off")
    answers, over = [], threading.Event()

    def interrupt():
        debugger = Debugger(gdb)
        answers.append(debugger.ask(f"M{address_of('ignored'):x},4:{struct.pack('<I', 9999).hex()}"))
        debugger.send("c")
        button = Monitor(monitor)
        button.say("nmi")
        over.wait(2)  # two that come at once may be one
        button.say("nmi")
        button.stay()

    thread = when_running(tmp_path / "log", over, interrupt)
    result = cb.boot(tmp_path / "log", "--smp", 1, "--qemu", qemu, "ds=off", "switches=1000000000", cb.UNHURRIED)
    over.set()
    thread.join()
    assert answers == ["OK"] and result.status == cb.FAIL, result.output
    checked(result.log)
    console = result.console()
    assert re.search(r"^PANIC: CPU 0, thread .*: more than 10000 NMIs without a cause in port 61H: turn off what sends",
                     console, re.M), console
    assert keys(result.log, "E")["end.nmis"] == "10001"
