# SPDX-License-Identifier: MIT
"""The tests here boot Cairn: the firmware is warmed up first."""

import cairn_boot


def pytest_configure(config):
    cairn_boot.warm_firmware(config)
