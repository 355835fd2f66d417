# SPDX-License-Identifier: MIT
"""The golden dumps are what their generator writes today, byte for byte: the format has not changed unnoticed."""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
MAKER = Path(os.environ.get("CAIRN_BUILD", HERE.parents[1] / "build")) / "make_golden"
LOGS = sorted(HERE.glob("*.log"))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_golden_log_is_reproduced(log):
    made = subprocess.run([MAKER, log.stem], stdout=subprocess.PIPE, check=True)
    assert made.stdout == log.read_bytes()


def test_small_log_stays_small():
    assert (HERE / "small.log").stat().st_size <= 32 * 1024
