# SPDX-License-Identifier: MIT
"""The playground's page in a browser, and the same machine as a program of this host."""

import pytest

import browser
import cairn_boot
from play import PAGE


def pytest_configure():
    for name in ("playground.html", "playground-native"):
        if not (cairn_boot.BUILD / name).exists():
            raise pytest.UsageError(f"{cairn_boot.BUILD / name} is not there: run 'make test-products'")


@pytest.fixture(scope="module")
def page():
    with browser.Browser(1280, 720) as it:
        it.open(PAGE)
        yield it
