# SPDX-License-Identifier: MIT
"""The site, made once for all of these tests."""

import subprocess

import pytest

import cairn_boot as cb


@pytest.fixture(scope="session")
def made():
    """What `make site` says."""
    done = subprocess.run(["make", "-s", f"B={cb.BUILD.relative_to(cb.ROOT)}", "site"], cwd=cb.ROOT,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
