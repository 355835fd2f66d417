# SPDX-License-Identifier: MIT
"""Serial ports of machines that have others than COM1, found by the kernel itself (serial=auto)."""

import os
import re
import shutil
import struct
import subprocess

import pytest

import cairn_boot as cb
from cairn_log import checked, keys

FIRMWARE = "/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"
pytestmark = pytest.mark.skipif(not all(map(os.path.exists, FIRMWARE)), reason="needs Debian's OVMF at its place")


def gas(address, space=1):
    """A Generic Address Structure: a byte in I/O space."""
    return struct.pack("<BBBBQ", space, 8, 0, 1, address)


def spcr(port, baud=0):
    return (bytes(4) + gas(port) + struct.pack("<BBIBBBBBB", 0, 0, 0, baud, 0, 1, 0, 0, 0) +
            struct.pack("<HHBBBIBI", 0xFFFF, 0xFFFF, 0, 0, 0, 0, 0, 0))


def dbg2(port):
    device = struct.pack("<BHBHHHHHHHHH", 0, 40, 1, 2, 38, 0, 0, 0x8000, 0, 0, 22, 34) + gas(port)
    return struct.pack("<II", 44, 1) + device + struct.pack("<I", 8) + b".\0"


def table(folder, signature, body, revision):
    (folder / signature).write_bytes(body)
    return "-acpitable", f"sig={signature},rev={revision},data={folder / signature}"


def machine(folder, *options):
    """QEMU's command line, without any port."""
    image = cb.make_image(folder / "image", "switches=300", "truth=1", cb.UNHURRIED, *options)
    variables = shutil.copy(FIRMWARE[1], folder / "vars")
    return ["qemu-system-x86_64", "-machine", "q35", "-cpu", "max", "-smp", "1", "-m", "256M", "-nodefaults",
            "-display", "none", "-no-reboot", "-drive", f"if=pflash,format=raw,readonly=on,file={FIRMWARE[0]}",
            "-drive", f"if=pflash,format=raw,file={variables}", "-device", "qemu-xhci",
            "-drive", f"if=none,id=stick,format=raw,file={image}", "-device", "usb-storage,drive=stick"]


def boot(folder, *arguments, options=()):
    """A machine of which the test says what ports it has; the kernel finds one by itself. Returns its exit status."""
    return subprocess.run(
        [*machine(folder, "end=exit", *options), "-device", "isa-debug-exit,iobase=0xf4,iosize=4", *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=cb.LIMIT, check=False).returncode


def said(log):
    """The kernel's lines about the port: everything it says comes over this one, from its first word on."""
    text = cb.clean(log.read_bytes())
    text = text[text.index("\nCairn "):]
    return [line for line in text.splitlines() if line.startswith("serial: ")]


def test_pci_only(tmp_path):
    log = tmp_path / "pci"
    status = boot(tmp_path, "-serial", "none", "-chardev", f"file,id=pci,path={log}", "-device",
                  "pci-serial,chardev=pci,addr=3")
    assert status == 33, status
    words = "115200 baud: PCI 00:03.0 (1b36:0002)"
    text = cb.clean(log.read_bytes())
    assert text.index("\nscreen: ") < text.index("\nserial: ")  # a fault on the way to a port is seen there
    assert len(said(log)) == 1 and said(log)[0].startswith("serial: I/O port 0x") and said(log)[0].endswith(words)
    checked(log)
    assert keys(log, "M")["machine.serial"].endswith(words)


def test_spcr_names_the_second_port(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    status = boot(tmp_path, "-serial", f"file:{first}", "-serial", f"file:{second}",
                  *table(tmp_path, "SPCR", spcr(0x2F8, baud=6), revision=2))
    assert status == 33, status
    assert said(second) == ["serial: I/O port 0x2f8, 57600 baud: SPCR"]
    checked(second)
    assert keys(second, "M")["machine.serial"] == "I/O port 0x2f8, 57600 baud: SPCR"
    assert "Cairn loader" in cb.clean(first.read_bytes())  # the firmware speaks there
    assert "\nCairn 0" not in cb.clean(first.read_bytes())  # and not one word of the kernel


@pytest.mark.long
def test_spcr_names_none_that_is_there(tmp_path):
    """DBG2's turn; the rate of the option goes before all."""
    second = tmp_path / "second"
    status = boot(tmp_path, "-serial", "null", "-serial", f"file:{second}",
                  *table(tmp_path, "SPCR", spcr(0x3E8), revision=2), *table(tmp_path, "DBG2", dbg2(0x2F8), revision=0),
                  options=["serial=auto,38400"])
    assert status == 33, status
    assert said(second) == ["serial: I/O port 0x3e8: SPCR, but no 16550 answers there",
                            "serial: I/O port 0x2f8, 38400 baud: DBG2"]
    checked(second)


@pytest.mark.long
def test_tables_that_are_wrong(tmp_path):
    first = tmp_path / "first"
    status = boot(tmp_path, "-serial", f"file:{first}", *table(tmp_path, "SPCR", spcr(0x2F8)[:20], revision=2),
                  *table(tmp_path, "DBG2", dbg2(0x2F8)[:34], revision=0))
    assert status == 33, status
    assert said(first) == ["serial: table SPCR: it is too short: not used",
                           "serial: table DBG2: the length of an entry is wrong: not used",
                           "serial: I/O port 0x3f8, 115200 baud: COM1"]


@pytest.mark.parametrize("options", [
    cb.long(["serial=pci"], id="pci"),
    cb.long(["serial=pci:00:1e.0,9600"], id="pci-function"),
    cb.long(["serial=com3"], id="com3"),
    cb.long(["serial=com4"], id="com4"),
    ])
def test_given(tmp_path, options):
    result = cb.boot(tmp_path / "log", "--smp", 1, "switches=300", "truth=1", cb.UNHURRIED, *options)
    assert result.status == cb.PASS, result.output
    checked(result.log)


# ---- a faster line --------------------------------------------------------------------------------------------------

def boot_on_a_terminal(folder, *options):
    """A machine whose COM1 is a pseudo-terminal that `cairn capture` records. Returns its log, what capture says."""
    command = [*machine(folder, "end=halt", *options), "-chardev", "pty,id=line", "-serial", "chardev:line"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as qemu:
        try:
            line = re.search(r"/dev/pts/\d+", qemu.stdout.readline())[0]
            done = subprocess.run([cb.BUILD / "cairn", "capture", line, "-o", folder / "log"], capture_output=True,
                                  text=True, timeout=cb.LIMIT, check=False)
        finally:
            qemu.kill()
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "log", done.stderr


def test_faster(tmp_path):
    """The kernel and capture agree, by themselves; the dump then comes in 8-bit lines. QEMU's port knows no rates: the
    pattern and all else comes at any."""
    words, failed = "I/O port 0x3f8, 921600 baud: option serial=", True
    for _ in range(3):  # a host that is too busy for the other end makes it fail; nothing is lost then
        log, errors = boot_on_a_terminal(tmp_path, "serial=com1,115200,14745600", "serial.fast=921600",
                                         "dump.line=8bit")
        checked(log)
        lines = [line for line in said(log) if not line.startswith("serial: test")]
        failed = any(line.startswith("serial: nobody answers") or line.endswith("back at 115200 baud")
                     for line in lines)
        if not failed:
            break
        assert keys(log, "M")["machine.serial"] == words.replace("921600", "115200")
    assert not failed
    assert lines == ["serial: I/O port 0x3f8, 115200 baud: option serial=",
                     "serial: faster: 921600 460800 230400 baud?", "serial: tries 921600 baud",
                     f"serial: {words}, as tested"]
    assert "now at 921600 baud" in errors
    assert keys(log, "M")["machine.serial"] == words


@pytest.mark.long
@pytest.mark.parametrize("port, words", [
    ("com1", "the port's clock, 1843200 Hz, gives no rate above 115200 and up to 921600 baud"),
    ("com1,115200,14745600",
     "serial: nobody answers: the rate stays at 115200 baud (cairn capture answers on a serial device)"),
    ])
def test_no_faster(tmp_path, port, words):
    """run-qemu.sh's line is a pipe: nobody can answer there."""
    result = cb.boot(tmp_path / "log", "--smp", 1, "switches=300", cb.UNHURRIED, f"serial={port}", "serial.fast=921600")
    assert result.status == cb.PASS and words in result.output, result.output
