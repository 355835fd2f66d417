# SPDX-License-Identifier: MIT
"""The tests here boot Cairn in a QEMU that takes the plugin: `make test-ds`."""

import cairn_boot


def pytest_configure():
    cairn_boot.need_qemu_11()
