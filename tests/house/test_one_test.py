# SPDX-License-Identifier: MIT
"""`make test T=NAME`: one test by one command, whatever kind it is of."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITES = ("lint", "golden-check")


def run(name):
    return subprocess.run([sys.executable, "tests/run.py", "--test", name, *SUITES], cwd=ROOT, capture_output=True,
                          text=True, check=False)


@pytest.mark.parametrize("name, said", [
    ("test_model_slots", "model/test_model_slots: "),
    ("tests/unit/model/test_model_slots.c", "model/test_model_slots: "),
    ("tests/house/test_events.py::test_the_data_as_it_is", "1 passed"),
    ("golden-check", "PASS: golden: small.log"),
])
def test_by_its_name(name, said):
    done = run(name)
    assert done.returncode == 0 and said in done.stdout, done.stdout + done.stderr


def test_unknown():
    done = run("nothing_like_this" + "_at_all")
    assert done.returncode == 1
    assert done.stderr.endswith("no test, file or suite is named nothing_like_this_at_all\n")
