# SPDX-License-Identifier: MIT
"""QEMU's gdbstub: what retires between single steps and watchpoints counts once, however blocks are cut."""

import socket
import subprocess
import time

import pytest
from bare_guest import ENDED, PLUGIN, QEMU, assemble

ITERATIONS = 20
INSTRUCTIONS = 1 + ITERATIONS * 8 + 4  # gdbstep.asm's, from WRMSR to WRMSR
WORD = 0x7000  # it stores to


class Stub:
    """As much of GDB's remote protocol as this takes."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(300)
        for _ in range(600):
            try:
                self.socket.connect(str(path))
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise TimeoutError(f"{path}: QEMU's gdbstub takes no connection")
        self.file = self.socket.makefile("rb")

    def ask(self, command):
        """The stub's answer, or "" if QEMU has ended."""
        packet = command.encode()
        said = b""
        try:
            self.socket.sendall(b"$" + packet + b"#%02x" % (sum(packet) & 0xFF))
            while (byte := self.file.read(1)) not in (b"#", b""):
                said = b"" if byte in b"+$" else said + byte
            self.file.read(2)
            self.socket.sendall(b"+")
        except TimeoutError:
            raise
        except OSError:
            pass
        return said.decode()


def run(folder, command, *setup, accelerator="tcg"):
    """What the guest says, where the stub is asked `setup` and then the command again and again."""
    path = folder / "gdb"
    with subprocess.Popen(
            [QEMU, "-accel", accelerator, "-cpu", "max", "-m", "64", "-display", "none", "-nodefaults", "-bios",
             assemble(folder, "gdbstep", f"N={ITERATIONS}"), "-debugcon", "stdio", "-device",
             "isa-debug-exit,iobase=0xf4,iosize=1", "-plugin", PLUGIN, "-S", "-gdb", f"unix:{path},server=on,wait=off"],
            stdout=subprocess.PIPE, text=True) as process:
        try:
            stub = Stub(path)
            for line in setup:
                assert stub.ask(line) == "OK"
            stops = 0
            while stub.ask(command).startswith("T"):
                stops += 1
            assert process.wait(timeout=300) == ENDED
            return int(process.stdout.read(), 16), stops
        finally:
            process.kill()  # where it has not ended


@pytest.mark.long
@pytest.mark.parametrize("accelerator", ["tcg", "tcg,one-insn-per-tb=on", "tcg,tb-size=1"])
@pytest.mark.parametrize("command, setup, stops", [("c", (), 0), ("s", (), INSTRUCTIONS),
                                                   ("c", (f"Z2,{WORD:x},4",), ITERATIONS)])
def test_stepped_instructions_count_once(tmp_path, accelerator, command, setup, stops):
    counted, stopped = run(tmp_path, command, *setup, accelerator=accelerator)
    assert counted == INSTRUCTIONS
    assert stopped >= stops
