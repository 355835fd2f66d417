# SPDX-License-Identifier: MIT
"""The stick on other firmware and machines: one of the rows of `make test-firmware`; the others take long."""

import subprocess
from pathlib import Path

import pytest

import cairn_boot as cb
import firmware

IN_CI = "u-boot"


@pytest.mark.parametrize("name", [name if name == IN_CI else cb.long(name) for name in firmware.ROWS])
def test_stick(tmp_path, name):
    """The report is whole, and Cairn's log is saved by the next start."""
    row = firmware.ROWS[name]
    words = [word.split("file=")[-1] for word in map(str, row.firmware(tmp_path)) if "file=" in word or "/" in word]
    if not all(Path(word).exists() for word in words):
        pytest.skip(f"{row.what}: is not here: make test-firmware fetches it")
    result = firmware.run(row, tmp_path)
    for well, words in (result.answered(), result.ran()):
        assert well, f"{words}\n{result.text}"
    assert result.answered()[1] == "23 answers, 23 as the model"


@pytest.mark.parametrize("name", ["probe", "mix"])
def test_configurations_of_the_stick(name):
    """Options that there are; counters that firmware has left on are taken, and no serial port is waited for."""
    words = [line for line in (cb.BUILD / "stick" / "cairn" / f"{name}.cfg").read_text(encoding="ascii").splitlines()
             if line and line[0] != "#"]
    assert {"ds.force=1", "serial=none", "save=esp", "end=reboot"} < set(words)
    subprocess.run([cb.BUILD / "cairn-options", "check", *words], check=True)


PAGE = {  # how the page's list calls each row
    "ovmf": "OVMF of Debian 12: the 2 MiB build", "ovmf-4m": "the 4 MiB build", "ovmf-secure": "in secure flash",
    "ovmf-bios": "by `-bios`", "ovmf-13": "OVMF of Debian 13;", "strict-nx": "cannot be executed",
    "u-boot": "U-Boot of Debian 12", "u-boot-13": "of Debian 13, a disk on AHCI", "sockets": "two sockets",
    "usb-keyboard": "no i8042", "no-hpet": "no HPET", "no-pit": "no PIT", "screen": "; a screen"}


def test_page():
    """It lists each row, and says what `make test-firmware` finds on all of them."""
    page = (cb.ROOT / "docs" / "explain" / "boot.md").read_text(encoding="utf-8")
    section = page.split("\n## Firmware and machines that were tried\n")[1].split("\n## ")[0]
    assert set(PAGE) == set(firmware.ROWS) and not [word for word in PAGE.values() if word not in section]
    assert "report gives 23 answers, all as the model does, the log is saved" in section
