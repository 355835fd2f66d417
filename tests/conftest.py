# SPDX-License-Identifier: MIT
"""For every test of pytest's: where the helpers are, and the mark of what only `make test-all` runs."""

import os
import sys
from pathlib import Path

import pytest

for folder in ("boot", "cairn", "labs", "playground", "qemu_ds",
               *(f"cairn/{room}" for room in ("check", "command", "etl", "export", "log"))):
    sys.path.insert(0, str(Path(__file__).resolve().parent / folder))
pytest.register_assert_rewrite(  # their asserts, too, say what they saw
    "cairn_boot", "cairn_log", "cairn_tool", "ctf", "etl_rundown", "lying", "perfetto_equal", "said", "true_run")


def pytest_configure(config):
    os.environ["COLUMNS"] = "80"  # what is compared is as on a terminal
    config.addinivalue_line("markers", "long: too slow for `make test`; `make test-all` runs it")
