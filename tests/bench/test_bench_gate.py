# SPDX-License-Identifier: MIT
"""What the gate does where the tools that count are not there."""

import os
import shutil
import subprocess

import pytest

import cairn_boot


@pytest.mark.parametrize("ci, word, status", [({}, "SKIP", 0), ({"CI": "1"}, "FAIL", 1)])
def test_missing_tools(ci, word, status, tmp_path):
    """Nothing is compared then: continuous integration does not pass so."""
    tools, bench = tmp_path / "tools", tmp_path / "build" / "bench"
    tools.mkdir()
    bench.mkdir(parents=True)
    for name in ("sh", "awk", "cat", "head", "grep", "true"):
        (tools / name).symlink_to(shutil.which(name))
    (bench / "bench").write_text("#!/bin/sh\necho ccswap.bytes_per_switch 3.84 bytes\n", encoding="utf-8")
    (bench / "bench").chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run(["tests/bench/run.sh", tmp_path / "build", "true", "--gate"], cwd=cairn_boot.ROOT, text=True,
                          env={**environment, "PATH": str(tools), **ci}, capture_output=True, check=False)
    assert done.stdout.splitlines() == ["PASS: bench: ccswap.bytes_per_switch 3.84 (limit 3.84)",
                                        f"{word}: bench: instructions: no valgrind: run 'make deps'"]
    assert (done.returncode, done.stderr) == (status, "")
