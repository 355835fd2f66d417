# SPDX-License-Identifier: MIT
"""A QEMU whose binary does not export what plugins are not meant to call: what can be had without is had, the rest is
said to be missing."""

import bare_guest
import pytest

ARITHMETIC = 0x8D5
UNDEFINED, NONE = 6, 0x100
SF = 0x80


@pytest.fixture(scope="module", name="qemu")
def without_exports(tmp_path_factory):
    return bare_guest.qemu_without(tmp_path_factory.mktemp("qemu"), b"helper_read_eflags", b"qemu_register_reset",
                                   b"tb_flush__exclusive_or_serial")


def run(monkeypatch, qemu, folder, name, plugin="stats=on", defines=()):
    monkeypatch.setattr(bare_guest, "QEMU", qemu)
    said, messages = bare_guest.run(folder, name, plugin, defines=defines)
    assert "flags unknown, TSC unknown" in messages
    assert ("qemu-ds: this QEMU does not export qemu_register_reset: counts are wrong after a reset of the machine, "
            "and after loadvm\n") in messages
    assert ("qemu-ds: this QEMU does not export tb_flush__exclusive_or_serial: reference cycles also pass while a vCPU "
            "halts\n") in messages
    return said


def test_flags(monkeypatch, qemu, tmp_path):
    """Records are there, without arithmetic flags; the guest's own are what they should be."""
    said = run(monkeypatch, qemu, tmp_path, "flags")
    assert len({said[f"ip_{step}"] for step in range(1, 25)}) == 24
    assert {said[f"rflags_{step}"] & ARITHMETIC for step in range(1, 25)} == {0}
    assert {said[f"popped_{step}"] & ARITHMETIC for step in range(1, 25)} == {SF}


def test_records_go_through_the_interface(monkeypatch, tmp_path):
    """Without the way that QEMU's own page walks take to memory the records are the same."""
    expected = bare_guest.run(tmp_path, "flags", "exact=flags,stats=on")
    without = bare_guest.qemu_without(tmp_path, b"probe_access_full_mmu")
    monkeypatch.setattr(bare_guest, "QEMU", without)
    assert "30 records" in expected[1] and bare_guest.run(tmp_path, "flags", "exact=flags,stats=on") == expected


@pytest.mark.parametrize("start", [0, -1, -2, -150])
def test_accesses(monkeypatch, qemu, tmp_path, start):
    said = run(monkeypatch, qemu, tmp_path, "accesses", defines=(f"START={start}",))
    assert (said["both_loads"], said["both_stores"], said["loop_loads"], said["loop_stores"]) == (3, 3, 200, 100)


def test_interrupts(monkeypatch, qemu, tmp_path):
    said = run(monkeypatch, qemu, tmp_path, "x2apic")
    assert (said["xapic_vector"], said["vector"], said["nmi_vector"]) == (0x40, 0x42, 2)


def test_rdpmc(monkeypatch, qemu, tmp_path):
    """Where a block begins; elsewhere it is as without the plugin, which is said."""
    monkeypatch.setattr(bare_guest, "QEMU", qemu)
    said, messages = bare_guest.run(tmp_path, "no_exports", "stats=on")
    assert said == {"begins_vector": NONE, "value": 0x12345678, "middle_vector": UNDEFINED}
    assert "vCPU 0: 1 RDPMC left to QEMU, which has none" in messages


def test_exact_flags_are_refused(monkeypatch, qemu, tmp_path):
    monkeypatch.setattr(bare_guest, "QEMU", qemu)
    done = bare_guest.qemu(bare_guest.assemble(tmp_path, "flags"), "exact=flags")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("qemu-ds: exact=flags: this QEMU does not export what is needed: RFLAGS would be unknown "
                           "in records\n")
