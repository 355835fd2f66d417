# SPDX-License-Identifier: MIT
"""Programs of Debian's that use an Intel PMU, in a Linux guest under the plugin: `make test-clients`. What they say of
programs that are known instruction by instruction is compared with paper. All of it is `long`."""

import sys

import cairn_boot

sys.path[:0] = [str(cairn_boot.ROOT / folder) for folder in ("tests/clients", "tests/linux", "tools/qemu-ds")]


def pytest_configure():
    cairn_boot.need_qemu_11()
