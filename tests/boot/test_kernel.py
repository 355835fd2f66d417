# SPDX-License-Identifier: MIT
"""The kernel's start and end on small and broken machines: a verdict always, and one clear line where it is a fail."""

import pytest

import cairn_boot as cb

QUICK = ("switches=2000", "truth=1")


def expect_pass(result):
    assert result.status == cb.PASS, result.output
    assert result.lines("verdict") == ["verdict  pass"], result.output


def expect_fail(result, words):
    assert result.status == cb.FAIL, result.output
    assert [line for line in result.lines("verdict  fail: ") if words in line], result.output
    assert len([line for line in result.console().splitlines() if line.startswith("FAIL: ")]) == 1


def frames(result, streams):
    return [line for line in result.console().splitlines() if line.startswith("~") and line[1] in streams]


@pytest.mark.parametrize("machine", [
    pytest.param(("--smp", "1", "--mem", "128M"), id="small"),
    pytest.param(("--smp", "8"), id="8-cpus"),
    pytest.param(("--smp", "2", "--mem", "5G"), id="above-4G", marks=pytest.mark.long),
    pytest.param(("--smp", "2", "--cpu", "qemu64"), id="old-cpu", marks=pytest.mark.long),
    ])
def test_machines(tmp_path, machine):
    result = cb.boot(tmp_path / "log", "--raw", *machine, *QUICK)
    expect_pass(result)
    assert "backend  soft: " in result.output


def test_no_serial_port(tmp_path):
    """serial=none takes the UART out of the machine: the verdict is the exit code alone."""
    result = cb.boot(tmp_path / "log", "--smp", "2", *QUICK, "serial=none")
    expect_pass(result)
    assert "the machine has no serial port" in result.output and result.log.read_bytes() == b""


def test_second_serial_port(tmp_path):
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", *QUICK, "serial=com2")
    expect_pass(result)
    assert frames(result, "T")


def test_image_has_the_same_verdict(tmp_path):
    image = cb.make_image(tmp_path / "stick.img", *QUICK, "end=exit")
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "2", "--image", image)
    expect_pass(result)
    assert frames(result, "T")


def test_option_refused_by_the_kernel(tmp_path):
    """Words that never went through run-qemu.sh: the kernel has the same table. `end=exit` must come first: a bad line
    ends the reading, and without it the kernel halts."""
    image = cb.make_image(tmp_path / "stick.img", "end=exit", "workload=nothing")
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", "--image", image)
    expect_fail(result, "cairn.cfg line 3: option 'workload=nothing'")


def test_hardware_backend_is_not_there(tmp_path):
    expect_fail(cb.boot(tmp_path / "log", "--raw", "--smp", "1", "ds=hw"), "ds=hw")


def test_too_little_memory_for_the_buffers(tmp_path):
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", "--mem", "128M", "trace.buffers=4096")
    expect_fail(result, "trace.buffers")


def test_no_acpi_tables(tmp_path):
    qemu = cb.qemu_with(tmp_path / "qemu", "-machine", "q35,acpi=off")
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", "--qemu", qemu)
    expect_fail(result, "machine: ")
    assert "acpi: table RSDP: the firmware gave none" in result.console()


@pytest.mark.parametrize("cpus", [pytest.param("1", marks=pytest.mark.long), "4"])
def test_icount_repeats(tmp_path, cpus):
    first, second = (cb.boot(tmp_path / name, "--raw", "--icount", "--smp", cpus, *QUICK) for name in ("one", "two"))
    expect_pass(first)
    expect_pass(second)
    assert frames(first, "T") and frames(first, "T") == frames(second, "T")
