# SPDX-License-Identifier: MIT
"""The loader: its hand-over, proved by the probe kernel, and every way it can fail: one clear line, a failing exit."""

import re
import struct

import pytest

import cairn_boot as cb

PROBE = cb.BUILD / "probe.elf"
PHDR0 = 64  # the linker puts the program headers right behind the ELF header
PF_W = 2


def patched(offset, fmt, value):
    data = bytearray(PROBE.read_bytes())
    struct.pack_into("<" + fmt, data, offset, value)
    return bytes(data)


def expect_failure(result, what):
    assert result.status == cb.FAIL, result.output
    words = result.output.replace("\n         ", " ")  # lines of 80 columns
    assert len(re.findall("^verdict +the loader failed: .*" + re.escape(what), words, re.M)) == 1, result.output
    assert len([part for part in result.console().splitlines() if "cairn loader: FAILED: " + what in part]) == 1


EXECUTE, WRITE, NX_COMPAT = 0x20000000, 0x80000000, 0x100


def check_sections(data):
    """Microsoft's PE Format, "Optional Header"."""
    pe = struct.unpack_from("<I", data, 60)[0]
    machine, sections, optional_bytes = struct.unpack_from("<HH12xH", data, pe + 4)
    assert data[pe:pe + 4] == b"PE\0\0" and machine == 0x8664
    entry, = struct.unpack_from("<I", data, pe + 24 + 16)
    alignment, = struct.unpack_from("<I", data, pe + 24 + 32)
    checksum, subsystem, characteristics = struct.unpack_from("<IHH", data, pe + 24 + 64)
    assert (checksum, subsystem, characteristics) == (0, 10, NX_COMPAT) and alignment == 4096
    executed = 0
    for n in range(sections):
        size, at, *_, flags = struct.unpack_from("<IIIIIIHHI", data, pe + 24 + optional_bytes + 40 * n + 8)
        assert at % 4096 == 0 and not (flags & EXECUTE and flags & WRITE), n
        executed += bool(flags & EXECUTE and at <= entry < at + size)
    assert executed == 1, "the entry is in a section that is executed"


def test_no_section_is_written_and_executed():
    """Of any EFI program; and its header says so, for firmware that starts nothing else."""
    programs = [cb.BUILD / "BOOTX64.EFI", cb.BUILD / "nucleus/BOOTX64.EFI", *cb.BUILD.glob("*.efi")]
    assert len(programs) > 2
    for program in programs:
        check_sections(program.read_bytes())


@pytest.mark.parametrize("machine", [
    cb.long(("--smp", "1", "--mem", "128M")),
    ("--smp", "4", "--mem", "5G"),  # memory above 4 GiB
    cb.long(("--smp", "1", "--cpu", "qemu64")),  # no 1 GiB pages: the 2 MiB form
    ])
def test_hand_over(tmp_path, machine):
    build = cb.build_with(tmp_path / "build", kernel_elf=PROBE)
    result = cb.boot(tmp_path / "log", "--raw", *machine, "seed=7", build=build)
    assert result.status == cb.PASS, result.output
    console = result.console()
    assert "SUMMARY: pass" in console and console.count("PASS: probe: ") >= 20
    assert "probe.config=seed=7\nend=exit\n" in console
    assert "\\kernel.elf: " in console and "all output goes to serial port: auto" in console


def test_image_boots_from_a_usb_stick(tmp_path):
    image = cb.make_image(tmp_path / "stick.img", "serial=com1,115200", "end=exit", kernel=PROBE)
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", "--image", image)
    assert result.status == cb.PASS, result.output
    assert "serial port: com1,115200 (option serial=)" in result.console()


@pytest.mark.parametrize("kernel, reason", [
    cb.long(lambda: b"#!/bin/sh\n" * 20, "not an ELF file"),
    cb.long(lambda: PROBE.read_bytes()[:5000], "it is truncated"),
    (lambda: patched(PHDR0 + 4, "I", 7), "program header 0: segment both writable and executable"),
    ], ids=["not-elf", "truncated", "w+x"])
def test_wrong_kernel(tmp_path, kernel, reason):
    build = cb.build_with(tmp_path / "build", kernel_elf=kernel())
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", build=build)
    expect_failure(result, "\\kernel.elf: ")
    assert reason in result.output and "(Load Error)" in result.output


def delete(name):
    return lambda image: cb.image_tool("mdel", image, name)


def replace(name, data):
    return lambda image: cb.image_tool("mcopy", image, "-o", "-", name, data=data)


def directory(name):
    def change(image):
        cb.image_tool("mdel", image, name)
        cb.image_tool("mmd", image, name)
    return change


@pytest.mark.parametrize("change, line", [
    cb.long(delete("::/kernel.elf"), "\\kernel.elf: cannot be opened (Not Found)"),
    (delete("::/cairn.cfg"), "\\cairn.cfg: cannot be opened (Not Found)"),
    cb.long(replace("::/cairn.cfg", b"#" * 65537), "\\cairn.cfg: is too large (Bad Buffer Size)"),
    cb.long(replace("::/cairn.cfg", "end=exit\n".encode("utf-16")), "\\cairn.cfg: holds a zero byte"),
    cb.long(directory("::/cairn.cfg"), "\\cairn.cfg: is a directory"),
    ], ids=["no-kernel", "no-config", "huge-config", "utf16-config", "directory"])
def test_wrong_volume(tmp_path, change, line):
    image = cb.make_image(tmp_path / "stick.img", "end=exit", kernel=PROBE)
    change(image)
    expect_failure(cb.boot(tmp_path / "log", "--raw", "--smp", "1", "--image", image), line)


@pytest.mark.long
def test_empty_and_largest_config(tmp_path):
    image = cb.make_image(tmp_path / "stick.img", kernel=PROBE)
    cb.image_tool("mcopy", image, "-o", "-", "::/cairn.cfg", data=b"#" * 65535 + b"\n")
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", "--image", image)
    assert result.status == cb.PASS, result.output
    cb.image_tool("mcopy", image, "-o", "-", "::/cairn.cfg", data=b"")
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", "--image", image)
    assert result.status == cb.PASS, result.output
    assert "\\cairn.cfg: 0 bytes" in result.console()


@pytest.mark.long
def test_no_loader_on_the_volume(tmp_path):
    image = cb.make_image(tmp_path / "stick.img", kernel=PROBE)
    cb.image_tool("mdel", image, "::/EFI/BOOT/BOOTX64.EFI")
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", "--image", image)
    assert result.status == cb.TROUBLE and "the firmware did not start the loader" in result.output, result.output
