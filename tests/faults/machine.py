# SPDX-License-Identifier: MIT
"""Machines that begin at the kernel's first instruction: one boot is kept as a file, and each variant of a fault starts
from there in a fraction of a second, with options of its own. The debugger changes what the fault is to change."""

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "boot"))

import cairn_boot as cb  # noqa: E402  pylint: disable=wrong-import-position

QEMU = "qemu-system-x86_64"
GOOD, BAD = 33, 35  # of end=exit
ROOM = 4096  # bytes of options: those of the boot are padded
DIRECT_MAP = 0xFFFF800000000000
MEMORY, RSDP, CONFIG = 16, 40, 104  # offsets in struct boot_info; boot/info.h asserts them
CR3 = 29  # the debugger's number of it; in what it gives of all registers it is at:
CR3_AT = 204
REGISTERS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)), "rip")


class Trouble(Exception):
    """It is not the kernel's."""


def symbols():
    lines = subprocess.run(["nm", cb.BUILD / "kernel.elf"], capture_output=True, text=True, check=True).stdout
    return {name: int(address, 16) for address, _, name in re.findall(r"^([0-9a-f]+) (.) (\S+)$", lines, re.M)}


def rdtsc():
    """{function of the kernel: where it has RDTSC}"""
    said = subprocess.run(["objdump", "-d", "--no-show-raw-insn", cb.BUILD / "kernel.elf"], capture_output=True,
                          text=True, check=True).stdout
    found = {}
    for function, address in re.findall(r"^[0-9a-f]+ <(.*)>:$|^([0-9a-f]+):\s+rdtsc", said, re.M):
        if function:
            name = function
        else:
            found.setdefault(name, []).append(int(address, 16))
    return found


def loader_code(name, size=64):
    """The first bytes of a function of the loader. It is at no fixed address, and its code has no relocations."""
    said = subprocess.run(["nm", cb.BUILD / "loader.so"], capture_output=True, text=True, check=True).stdout
    address = int(re.search(rf"^([0-9a-f]+) . {name}$", said, re.M)[1], 16)
    image = (cb.BUILD / "BOOTX64.EFI").read_bytes()
    pe = struct.unpack_from("<I", image, 0x3C)[0]
    sections, optional = struct.unpack_from("<H", image, pe + 6)[0], struct.unpack_from("<H", image, pe + 20)[0]
    for n in range(sections):
        length, start, _, data = struct.unpack_from("<4I", image, pe + 24 + optional + 40 * n + 8)
        if start <= address < start + length:
            return image[data + address - start:data + address - start + size]
    raise Trouble(f"the loader has no {name}")


def connect(path, process):
    until = time.monotonic() + 60
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
            return connection
        except OSError as error:
            connection.close()
            if process.poll() is not None or time.monotonic() > until:
                raise Trouble(f"QEMU does not start: {process.returncode}") from error
            time.sleep(0.01)


class Debugger:
    """GDB's remote protocol, as far as it is wanted here. While it is connected the machine stands still unless it lets
    it go on."""

    def __init__(self, path, process):
        self.connection = connect(path, process)
        self.connection.settimeout(cb.LIMIT)
        self.stream = self.connection.makefile("rb")
        self.ask("?")
        self.ask("qSupported:vContSupported+")
        self.ask("qXfer:features:read:target.xml:0,ff0")  # before that QEMU sets no register

    def send(self, packet):
        self.connection.sendall(f"${packet}#{sum(packet.encode()) % 256:02x}".encode())

    def answer(self):
        while (byte := self.stream.read(1)) != b"$":
            if not byte:
                raise EOFError
        text = bytearray()
        while (byte := self.stream.read(1)) != b"#":
            if not byte:
                raise EOFError
            text += byte
        self.stream.read(2)
        with suppress(OSError):  # the machine may be over by then
            self.connection.sendall(b"+")
        return text.decode()

    def ask(self, packet):
        self.send(packet)
        return self.answer()

    def want(self, packet, wanted="OK"):
        said = self.ask(packet)
        if not said.startswith(wanted):
            raise Trouble(f"the debugger was told {packet[:60]}, and says {said[:60]}")
        return said

    def interrupt(self):
        """Stops the machine, which runs."""
        self.connection.sendall(b"\x03")
        return self.answer()

    def run_without(self, thread, seconds):
        """All run but this one, for so long."""
        others = ";".join(f"c:{other}" for other in self.threads() if other != thread)
        self.send(f"vCont;{others}")
        time.sleep(seconds)
        self.interrupt()

    def threads(self):
        found, said = [], self.ask("qfThreadInfo")
        while said.startswith("m"):
            found += said[1:].split(",")
            said = self.ask("qsThreadInfo")
        return found

    def registers(self, thread=None):
        if thread:
            self.want(f"Hg{thread}")
        data = bytes.fromhex(self.ask("g"))
        return {**dict(zip(REGISTERS, struct.unpack_from("<17Q", data))),
                "cr3": struct.unpack_from("<Q", data, CR3_AT)[0]}

    def set_register(self, name, value):
        number = CR3 if name == "cr3" else REGISTERS.index(name)
        self.want(f"P{number:x}=" + struct.pack("<Q", value).hex())

    def read(self, address, size):
        parts = []
        while size:
            part = min(size, 1024)
            said = self.ask(f"m{address:x},{part:x}")
            if said.startswith("E"):
                raise Trouble(f"no memory at {address:x}")
            parts.append(bytes.fromhex(said))
            address, size = address + part, size - part
        return b"".join(parts)

    def write(self, address, data):
        for at in range(0, len(data), 1024):
            part = data[at:at + 1024]
            self.want(f"M{address + at:x},{len(part):x}:{part.hex()}")

    def word(self, address, size=8):
        return int.from_bytes(self.read(address, size), "little")

    def breakpoint(self, address, on=True):
        self.want(f"{'Z' if on else 'z'}1,{address:x},1")

    def go_on(self):
        """To the next breakpoint; the thread there, whose registers are asked for next."""
        thread = re.search("thread:([^;]+)", self.want("vCont;c", "T05"))[1]
        self.want(f"Hg{thread}")
        return thread

    def step_over(self, thread):
        """One instruction of this thread, whatever breakpoint is there; the others stand still."""
        self.want(f"vCont;s:{thread}", "T05")

    def run_to(self, *addresses):
        """To whichever of them comes first."""
        for address in addresses:
            self.breakpoint(address)
        thread = self.go_on()
        for address in addresses:
            self.breakpoint(address, False)
        return thread

    def close(self):
        """The machine goes on."""
        self.want("D")
        self.stream.close()
        self.connection.close()


class Qmp:
    def __init__(self, path, process):
        self.connection = connect(path, process)
        self.connection.settimeout(cb.LIMIT)
        self.stream = self.connection.makefile("rb")
        self.stream.readline()
        self.do("qmp_capabilities")

    def do(self, command, **arguments):
        self.connection.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
        while line := self.stream.readline():
            said = json.loads(line)
            if "error" in said:
                raise Trouble(f"{command}: {said['error']['desc']}")
            if "return" in said:
                return said["return"]
        raise EOFError

    def say(self, words):
        """To QEMU's monitor."""
        return self.do("human-monitor-command", **{"command-line": words})


def firmware():
    """As run-qemu.sh takes it: code, variables, and the format of both."""
    said = subprocess.run([ROOT / "tools" / "ovmf.sh", QEMU, "0"], capture_output=True, text=True, check=True).stdout
    return said.splitlines()[:3]


class Snapshot:
    """A machine of so many CPUs, in a file of `folder`: at kernel_main, or at the first call of a function of the
    loader."""

    def __init__(self, folder, cpus=2, memory="128M", loader=None):
        self.loader, self.folder, self.cpus, self.memory = loader, folder, cpus, memory
        self.symbols, self.rdtsc = symbols(), rdtsc()
        self.count = 0
        folder.mkdir(exist_ok=True)
        code, variables, form = firmware()
        (folder / "vars").write_bytes(Path(variables).read_bytes())
        subprocess.run([ROOT / "tools" / "boot-volume.sh", folder, cb.BUILD, "0"], check=True)
        (folder / "esp" / "cairn.cfg").write_text("#" * (ROOM - 1) + "\n", encoding="ascii")
        self.command = [QEMU, "-machine", "q35", "-accel", "tcg", "-cpu", "max", "-smp", str(cpus), "-m", memory,
                        "-nodefaults", "-no-user-config", "-display", "none", "-net", "none", "-no-reboot",
                        "-drive", f"if=pflash,unit=0,format={form},readonly=on,file={code}",
                        "-drive", f"if=pflash,unit=1,format={form},snapshot=on,file={folder}/vars",
                        "-device", "isa-debug-exit,iobase=0xf4,iosize=4",
                        "-drive", f"if=none,id=esp,format=raw,readonly=on,file=fat:{folder}/esp",
                        "-device", "virtio-blk-pci,drive=esp,bootindex=0", "-serial", "chardev:uart"]
        self.take()

    def in_loader(self, machine, name):
        """Where the function is: in the file that firmware has read, too, which nobody executes."""
        if not machine.restored:
            machine.gdb.send("c")
            while b"Cairn loader" not in machine.log.read_bytes():
                time.sleep(0.002)
            machine.gdb.interrupt()
        picture = self.folder / f"memory-{machine.log.stem}"
        machine.qmp.do("pmemsave", val=0, size=int(self.memory[:-1]) << 20, filename=str(picture))
        found = [match.start() for match in re.finditer(re.escape(loader_code(name)), picture.read_bytes())]
        picture.unlink()
        if not found:
            raise Trouble(f"{name} is not in memory")
        return found

    def machine(self, *options, **more):
        return Machine(self, *options, **more)

    def take(self):
        machine = Machine(self, restored=False)
        try:
            places = self.in_loader(machine, self.loader) if self.loader else []
            machine.gdb.run_to(*places, self.symbols["kernel_main"])
            if places and machine.gdb.registers()["rip"] not in places:
                raise Trouble(f"the loader was past {self.loader} already when it was looked for")
            machine.qmp.do("migrate", uri=f"exec:cat >{self.folder}/state")
            while (status := machine.qmp.do("query-migrate")["status"]) != "completed":
                if status == "failed":
                    raise Trouble("the machine cannot be kept")
                time.sleep(0.05)
        finally:
            machine.kill()
        self.before = machine.log.read_bytes()
        # QEMU does not take a machine that a debugger has stopped: say that it is paused.
        state = (self.folder / "state").read_bytes()
        stopped, paused = (struct.pack(">I", len(name) + 1) + name.ljust(100, b"\0") for name in (b"debug", b"paused"))
        if state.count(stopped) != 1:
            raise Trouble("what QEMU keeps of a machine is not what it was in QEMU 7.2")
        (self.folder / "state").write_bytes(state.replace(stopped, paused))


class Machine:
    """Stopped where the snapshot was taken, with these options. To be left with end() or kill()."""

    def __init__(self, snapshot, *options, restored=True, chardev="file,id=uart,path={log}"):
        self.snapshot = snapshot
        self.restored = restored
        snapshot.count += 1
        base = snapshot.folder / f"m{snapshot.count}"
        self.log, gdb, qmp = (base.with_suffix(suffix) for suffix in (".log", ".gdb", ".qmp"))
        command = [*snapshot.command, "-chardev", chardev.format(log=self.log, base=base), "-S",
                   "-gdb", f"unix:{gdb},server=on,wait=off", "-qmp", f"unix:{qmp},server=on,wait=off"]
        if restored:
            command += ["-incoming", f"exec:cat {snapshot.folder}/state"]
        with open(base.with_suffix(".err"), "wb") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=errors)
        self.qmp = Qmp(qmp, self.process)
        while restored and self.qmp.do("query-status")["status"] == "inmigrate":
            time.sleep(0.01)
        self.gdb = Debugger(gdb, self.process)
        os.unlink(gdb), os.unlink(qmp)
        if restored and not snapshot.loader:
            self.begin(options)

    def begin(self, options):
        """At kernel_main."""
        self.info = self.gdb.registers()["rdi"]
        text = "\n".join([*options, "end=exit", ""]).encode()
        config, size = struct.unpack("<QQ", self.gdb.read(self.info + CONFIG, 16))
        self.gdb.write(config + DIRECT_MAP, text + b"#" * (size - len(text) - 1) + b"\n")

    def go(self):
        self.gdb.close()

    def wait(self, seconds):
        """QEMU's exit status; None: it still runs after so many seconds, and is ended."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def text(self):
        return cb.clean(self.log.read_bytes())

