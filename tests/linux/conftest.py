# SPDX-License-Identifier: MIT
"""The tests here boot Debian's Linux in a QEMU that takes the plugin: `make test-linux`."""

import sys
from pathlib import Path

import cairn_boot

sys.path.insert(0, str(Path(__file__).resolve().parent))


def pytest_configure():
    cairn_boot.need_qemu_11()
