# SPDX-License-Identifier: MIT
"""The stick on other firmware and machines: two of the rows of `make test-firmware`; the others take long."""

from pathlib import Path

import pytest

import cairn_boot as cb
import firmware

IN_CI = ("u-boot", "usb-keyboard")


@pytest.mark.parametrize("name", [name if name in IN_CI else cb.long(name) for name in firmware.ROWS])
def test_stick(tmp_path, name):
    """The report is whole, and Cairn's log is saved by the next start."""
    row = firmware.ROWS[name]
    words = [word.split("file=")[-1] for word in map(str, row.firmware(tmp_path)) if "file=" in word or "/" in word]
    if not all(Path(word).exists() for word in words):
        pytest.skip(f"{row.what}: is not here: make test-firmware fetches it")
    result = firmware.run(row, tmp_path)
    for well, words in (result.answered(), result.ran()):
        assert well, f"{words}\n{result.text}"


def test_page():
    """It shows what `make test-firmware` prints of each row, if all is well."""
    page = (cb.ROOT / "docs" / "explain" / "boot.md").read_text(encoding="utf-8")
    for row in firmware.ROWS.values():
        assert f"| {row.what} | 23 answers, 23 as the model | saved, check passes |\n" in page
