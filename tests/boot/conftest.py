# SPDX-License-Identifier: MIT
"""Where many boots are to come, the firmware is warmed up first, once for all processes that run them."""

import tempfile

import cairn_boot


def pytest_configure(config):
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None) or config.option.collectonly:
        return
    folder = tempfile.TemporaryDirectory(prefix="cairn-firmware-")  # pylint: disable=consider-using-with
    config.add_cleanup(folder.cleanup)
    cairn_boot.warm_firmware(folder.name)
