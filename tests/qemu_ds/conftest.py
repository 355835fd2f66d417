# SPDX-License-Identifier: MIT
"""The tests here boot Cairn in a QEMU that takes the plugin: `make test-ds`."""

import sys

import cairn_boot

sys.path.insert(0, str(cairn_boot.ROOT / "tools/qemu-ds"))


def pytest_configure(config):
    cairn_boot.need_qemu_11()
    cairn_boot.warm_firmware(config)
