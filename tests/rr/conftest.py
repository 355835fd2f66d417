# SPDX-License-Identifier: MIT
"""The tests here record and replay programs with Debian's rr in a Linux guest under the plugin: `make test-rr`."""

import sys

import cairn_boot

sys.path[:0] = [str(cairn_boot.ROOT / "tools/qemu-ds")]


def pytest_configure():
    cairn_boot.need_qemu_11()
