# SPDX-License-Identifier: MIT
"""The tests here boot Debian's Linux in a QEMU that takes the plugin: `make test-linux`."""

import sys
from pathlib import Path

import cairn_boot
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
pytest.register_assert_rewrite("checks")


def pytest_configure():
    cairn_boot.need_qemu_11()
