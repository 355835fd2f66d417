# SPDX-License-Identifier: MIT
"""The kernel on machines that differ in what the loader hands over; the whole system's tests are in test_system.py."""

import pytest

import cairn_boot as cb

QUICK = ("switches=2000", "truth=1")


def expect_pass(result):
    assert result.status == cb.PASS, result.output
    assert result.lines("verdict  ") == ["verdict  pass"], result.output


@pytest.mark.parametrize("machine", [
    pytest.param(("--smp", "2", "--mem", "5G"), id="above-4G"),
    pytest.param(("--smp", "2", "--cpu", "qemu64"), id="old-cpu"),  # 2 MiB pages, no SMEP, SMAP, UMIP
    ])
def test_machines(tmp_path, machine):
    result = cb.boot(tmp_path / "log", "--raw", *machine, *QUICK)
    expect_pass(result)
    assert "backend  soft: " in result.output


def test_second_serial_port(tmp_path):
    result = cb.boot(tmp_path / "log", "--raw", "--smp", "1", *QUICK, "serial=com2")
    expect_pass(result)
    assert "serial port: com2 (option serial=)\n" in result.console() and "\n~T" in result.console()
