# SPDX-License-Identifier: MIT
"""The tests here run programs that `make` alone does not build. Sanitizers take two thirds of a program's time, looking
for leaks takes more: `make test` does both where every command is run on a few kinds of log, damaged ones among them
(cairn_tool.LEAKS), `make test-all` always, and on all logs."""

import json
import os

import pytest

import browser
import cairn_boot
import cairn_tool
from cairn_tool import GOLDEN, cairn


def pytest_configure(config):
    os.environ["PATH"] += f"{os.pathsep}{cairn_boot.BUILD}"  # of cairn-grab, which is not beside build/san/cairn
    if config.option.markexpr == "not long":
        cairn_tool.CAIRN = cairn_boot.BUILD / "cairn"  # before the tests import its name
        os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    for name in ("san/cairn", "cairn-damage", "cairn-damage-san", "make_golden"):
        if not (cairn_boot.BUILD / name).exists():
            raise pytest.UsageError(f"{cairn_boot.BUILD / name} is not there: run 'make test-products'")


@pytest.fixture(scope="session")
def chromium():
    with browser.Browser() as it:
        yield it


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The page of a log, and what JSON says of it."""
    folder, made = tmp_path_factory.mktemp("html"), {}

    def page(log, data=None):
        name = f"{log.parent.name}-{log.stem}" if hasattr(log, "stem") else log
        if name not in made:
            path = folder / f"{name}.html"
            source = "-" if data else log if log is not name else GOLDEN / f"{log}.log"
            status = cairn("export", "--to", "html", source, "-o", path, data=data).returncode
            told = cairn("export", "--to", "json", source, data=data)
            assert status == told.returncode
            made[name] = path, [json.loads(line) for line in told.stdout.decode().splitlines()]
        return made[name]

    return page
