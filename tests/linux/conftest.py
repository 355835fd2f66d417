# SPDX-License-Identifier: MIT
"""The tests here boot Debian's Linux in a QEMU that takes the plugin (tools/qemu-ds/guest.py): `make test-linux`."""

import sys
from pathlib import Path

import cairn_boot
import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent), str(cairn_boot.ROOT / "tools/qemu-ds")]
pytest.register_assert_rewrite("checks")


def pytest_configure():
    cairn_boot.need_qemu_11()
