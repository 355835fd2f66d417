# SPDX-License-Identifier: MIT
"""The tests here run programs that `make` alone does not build."""

import pytest

import cairn_boot


def pytest_configure():
    for name in ("san/cairn", "cairn-damage", "cairn-damage-san", "make_golden"):
        if not (cairn_boot.BUILD / name).exists():
            raise pytest.UsageError(f"{cairn_boot.BUILD / name} is not there: run 'make test-products'")
