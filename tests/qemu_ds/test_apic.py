# SPDX-License-Identifier: MIT
"""The mode of the local APICs, x2apic=: as the firmware left it, or the other one. The QEMU of the other tests has no
x2APIC mode."""

import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, keys

# A second processor whose APIC ID, 256, no xAPIC can address: OVMF turns x2APIC mode on for its sake.
FAR = ["-smp", "1,maxcpus=512,sockets=2,cores=256,threads=1", "-device",
       "max-x86_64-cpu,socket-id=1,core-id=0,thread-id=0"]


def opt_out(folder):
    """Firmware that asks for xAPIC mode: a table DMAR with the flag X2APIC_OPT_OUT."""
    (folder / "DMAR").write_bytes(bytes([38, 3]) + bytes(10))  # 39 bits of host address, INTR_REMAP as well
    return ["-acpitable", f"sig=DMAR,rev=1,data={folder / 'DMAR'}"]


@pytest.mark.parametrize("far, option, mode, cpus", [
    cb.long(False, "auto", "xapic", "2 of 2 processors run", id="as_left"),
    pytest.param(False, "on", "x2apic", "2 of 2 processors run", id="on"),
    cb.long(True, "auto", "x2apic", "2 of 2 processors run", id="far_as_left"),
    pytest.param(True, "off", "xapic", "1 of 2 processors run, 1 left out (more than are supported, or out of reach)",
                 id="far_off"),
])
def test_modes(tmp_path, far, option, mode, cpus):
    qemu = cb.with_qemu(tmp_path, *(FAR if far else opt_out(tmp_path)), qemu=str(cb.QEMU_11))
    result = cb.boot(tmp_path / "log", "--qemu", qemu, "--smp", 2, f"x2apic={option}", "truth=1", "switches=2000",
                     cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert f"PASS: cpus: {cpus}\n" in result.output
    found = keys(result.log, "M")
    assert mode in found["machine.features"].split()
    assert found.get("cpu.1.apic_id") == (None if "left out" in cpus else "256" if far else "1")
    # the firmware's choice costs no line, and an option only what it goes against
    against = ["apic: x2apic=on, though the firmware asks for xAPIC mode (table DMAR)"]
    assert result.lines("apic: ") == (against if option == "on" else [])
    status, text = cairn("check", result.log)
    assert status == 0 and re.search(r"^truth: each 0525H switch equal, in order +[1-9]", text, re.M), text


def test_on_where_it_is_not(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", 1, "--cpu", "max,-x2apic", "x2apic=on")
    assert result.status == cb.FAIL, result.output
    assert "apic: x2apic=on: this processor has no x2APIC mode: give x2apic=auto\n" in result.output
