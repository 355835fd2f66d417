# SPDX-License-Identifier: MIT
"""What the documents show of Linux under the plugin is what it prints."""

import os
import re
import shlex
import subprocess

import guest
import known
import pytest

BLOCK = re.compile(r"^```\n\$ (tools/qemu-ds/guest\.py (?:[^\n]*\\\n|[^\n]*&&\n)*[^\n]*)\n(.*?)^```", re.M | re.S)
DOCUMENTS = [guest.ROOT / name for name in ("README.md", "docs/how-to/qemu-ds.md")]


def same(shown, said):
    """Where it is percents they may differ a little: see Known.follow()."""
    if "%" not in shown:
        return shown == said
    pairs = list(zip(shown.split(), said.split(), strict=False))
    return len(shown.split()) == len(said.split()) and all(
        a == b or (a[0].isdigit() and b[0].isdigit() and abs(float(a.rstrip("%")) / float(b.rstrip("%")) - 1) < 0.3)
        for a, b in pairs)


@pytest.mark.xdist_group("icelake")  # the guest of test_perf_tool.py
def test_shown_output(tmp_path):
    """Lines of a block are lines of the output, in order; `...` stands for any that are left out."""
    blocks = [block for path in DOCUMENTS for block in BLOCK.findall(path.read_text(encoding="utf-8"))]
    assert blocks
    program = known.assemble(tmp_path)
    for command in {command for command, _ in blocks}:
        words = [str(program) if word == "build/known" else word for word in shlex.split(command)]
        done = subprocess.run(words, cwd=guest.ROOT, capture_output=True, text=True, check=False,
                              env=dict(os.environ, CAIRN_BUILD=str(guest.BUILD)))
        assert done.returncode == 0, done.stderr
        for shown in (shown for other, shown in blocks if other == command):
            output = iter(line.rstrip() for line in done.stdout.splitlines())
            for line in shown.splitlines():
                assert line == "..." or any(same(line, said) for said in output), line  # goes on where the last one was
