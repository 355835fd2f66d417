# SPDX-License-Identifier: MIT
"""The kernel on machines that differ: in what the loader hands over, in size, in what they lack."""

import os
import re
import shutil
import subprocess

import pytest

import cairn_boot as cb
from cairn_log import checked, keys

DIRECT_MAP = 0xFFFF800000000000  # boot/info.h
QUICK = ("switches=2000", "truth=1", cb.UNHURRIED)


def expect_pass(result):
    assert result.status == cb.PASS, result.output
    assert result.lines("verdict  ") == ["verdict  pass"], result.output


@pytest.mark.parametrize("machine", [
    cb.long(("--smp", "2", "--mem", "5G"), id="above-4G"),
    pytest.param(("--smp", "2", "--cpu", "qemu64"), id="old-cpu"),  # 2 MiB pages, no SMEP, SMAP, UMIP
    cb.long(("--smp", "2", "--cpu", "qemu64,level=2"), id="cpuid-limit"),  # CPUID ends at leaf 2
    ])
def test_machines(tmp_path, machine):
    result = cb.boot(tmp_path / "log", "--raw", *machine, *QUICK)
    expect_pass(result)
    assert "backend  soft: " in result.output


@pytest.mark.long
def test_second_serial_port(tmp_path):
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", *QUICK, "serial=com2")
    expect_pass(result)
    assert "serial port: com2 (option serial=)\n" in result.console() and "\n~t" in result.console()


def test_small_machine(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 1, "--mem", "128M", "switches=1000", "truth=1", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    checked(result.log)


@pytest.mark.long
@pytest.mark.parametrize("model", ["EPYC", "Skylake-Client"])
def test_microcode(tmp_path, model):
    """AMD and Intel keep its revision in different halves of one MSR. Neither is 0 in QEMU."""
    result = cb.boot(tmp_path / "log", "--smp", 1, "--cpu", model, "ds=off", "switches=50")
    assert result.status == cb.PASS, result.output
    assert int(keys(result.log, "M")["cpu.0.microcode"], 16) != 0


@pytest.mark.long
def test_fewer_cpus_than_there_are(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 4, "cpus=2", "switches=500", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert "2 of 4 processors run, 2 left out (option cpus=)" in result.output
    checked(result.log)
    # QEMU has one TSC for all of them
    assert "time: the TSCs of 2 CPUs agree to within " in result.output and "SKIP: tsc" not in result.output
    machine = keys(result.log, "M")
    offset, sure, rounds = map(int, machine["cpu.1.tsc_offset"].split())
    assert abs(offset) <= sure and rounds >= 4 and "cpu.0.tsc_offset" not in machine
    # this one has a keyboard controller, and its FADT says so
    assert machine["machine.reset"].endswith("(I/O port 0xcf9 = 0x0f), CF9H, keyboard controller, triple fault")


def test_nothing_of_a_pc(tmp_path):
    """Neither PIT, 8259s, HPET nor keyboard controller: ports that are not there read as ones. It is reset as its FADT
    says, which says that there is no keyboard controller, too; not by the triple fault that QEMU would log."""
    said = tmp_path / "resets"
    qemu = cb.with_qemu(tmp_path, "-machine", "pit=off,pic=off,hpet=off,i8042=off", "-d", "cpu_reset", "-D", said)
    result = cb.boot(tmp_path / "log", "--smp", 2, "--qemu", qemu, "ds=off", "switches=100", "end=reboot", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert result.lines("verdict  pass, by its SUMMARY; the machine was reset"), result.output
    assert keys(result.log, "M")["machine.reset"] == "FADT's register (I/O port 0xcf9 = 0x0f), CF9H, triple fault"
    assert "CPU Reset (CPU 1)" in said.read_text("ascii") and "Triple fault" not in said.read_text("ascii")
    checked(result.log)


def test_memory_beyond_4_gib(tmp_path):
    """The trace has no room below, and is whole all the same: these pages are really there."""
    qemu = cb.with_qemu(tmp_path, "-machine", "max-ram-below-4g=128M")
    result = cb.boot(tmp_path / "log", "--smp", 2, "--mem", "8G", "--qemu", qemu, "ds=off", "trace.buffers=128",
                     "trace.buffer_kib=1024", "switches=200", "truth=1", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert int(keys(result.log, "L")["session.1.memory"], 16) - DIRECT_MAP >= 4 << 30
    assert int(re.search(r"^memory: (\d+) MiB free$", result.output, re.M)[1]) > 8000
    machine = keys(result.log, "M")
    ranges = [value.split() for key, value in machine.items() if re.fullmatch(r"memory\.\d+", key)]
    assert sum(int(size, 16) for base, size, kind in ranges if kind == "7" and int(base, 16) >= 1 << 32) >= 5 << 30
    assert machine["machine.memory_left_out"] == "0"
    checked(result.log)


@pytest.mark.long
def test_more_cpus_than_a_word_has_bits(tmp_path):
    """128 threads of QEMU's on a few cores: as few ticks as there can be, and a workload that is idle for the most."""
    result = cb.boot(tmp_path / "log", "--smp", 128, "--mem", "1G", "ds=off", "workload=sleepers",
                     "tick=100000", "switches=400", "truth=1", cb.UNHURRIED, timeout=1500)
    assert result.status == cb.PASS, result.output
    assert "128 of 128 processors run" in result.output
    checked(result.log)
    assert sum(key.endswith(".apic_id") for key in keys(result.log, "M")) == 128


@pytest.mark.parametrize("options, word", [
    (["ds=hw", "--qemu-ds", "off"], "ds=hw: CPU 0:"),
    (["trace.buffers=65536", "trace.buffer_kib=1024"], "ask for fewer or smaller ones"),
    ])
def test_cannot_be_had(tmp_path, options, word):
    result = cb.boot(tmp_path / "log", "--smp", 2, *options)
    assert result.status == cb.FAIL, result.output
    assert len([line for line in result.lines("FAIL: ") if word in line]) == 1, result.output


def test_bad_option_in_the_guest(tmp_path):
    """run-qemu.sh would refuse it: so from an image, as on a stick."""
    image = cb.make_image(tmp_path / "image", "end=exit", "no.such=option")
    result = cb.boot(tmp_path / "log", "--image", image)
    assert result.status == cb.FAIL, result.output
    line = r"^FAIL: options: cairn.cfg line \d+: option 'no.such=option': "
    assert re.search(line, result.output, re.M), result.output


def test_no_acpi(tmp_path):
    qemu = cb.with_qemu(tmp_path, "-no-acpi") if "-no-acpi" in subprocess.run(
        ["qemu-system-x86_64", "-help"], capture_output=True, text=True, check=True).stdout \
        else cb.with_qemu(tmp_path, "-machine", "acpi=off")
    result = cb.boot(tmp_path / "log", "--smp", 1, "--qemu", qemu)
    assert result.status == cb.FAIL, result.output
    assert len(result.lines("ACPI")) == 1, result.output


@pytest.mark.skipif(not os.path.exists("/usr/share/OVMF/OVMF_CODE_4M.fd"), reason="needs Debian's OVMF at its place")
def test_no_uart(tmp_path):
    """Without a serial port the run ends all the same: QEMU's debug-exit says it passed."""
    image = cb.make_image(tmp_path / "image", "end=exit", "switches=300", cb.UNHURRIED)
    variables = shutil.copy("/usr/share/OVMF/OVMF_VARS_4M.fd", tmp_path / "vars")
    done = subprocess.run(
        ["qemu-system-x86_64", "-machine", "q35", "-cpu", "max", "-smp", "2", "-m", "256M", "-nodefaults",
         "-display", "none", "-no-reboot",
         "-drive", "if=pflash,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd",
         "-drive", f"if=pflash,format=raw,file={variables}", "-device", "qemu-xhci",
         "-drive", f"if=none,id=stick,format=raw,file={image}", "-device", "usb-storage,drive=stick",
         "-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-serial", "none"],
        capture_output=True, timeout=cb.LIMIT, check=False)
    assert done.returncode == 33, done


@pytest.mark.long
def test_image_on_usb(tmp_path):
    image = cb.make_image(tmp_path / "image", "end=exit", "switches=1000", "truth=1", cb.UNHURRIED)
    result = cb.boot(tmp_path / "log", "--image", image)
    assert result.status == cb.PASS, result.output
    checked(result.log)
