# SPDX-License-Identifier: MIT
"""--elf: names and lines of the kernel's own file, and of no other build's: those would be wrong, and look right."""

import re

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, KERNEL, build_id, cairn, errors_of, text_of, with_keys

SMALL = GOLDEN / "small.log"
COMMANDS = [["dump"], ["profile"], ["export", "--to", "folded"], ["export", "--to", "perfetto"], ["diff", SMALL]]


def of_build(value):
    """A golden log as if the kernel of that build ID had written it; None: it says nothing of one."""
    parts = frames.read(SMALL.read_bytes())
    if value:
        with_keys(parts, {"kernel.build_id": value})
        return frames.write(parts)
    for i, (stream, payload) in enumerate(parts):
        parts[i] = (stream, re.sub(rb"kernel\.build_id=\w+\n", b"", payload))
    return frames.write(parts)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[-1] if words[-1] != SMALL else "diff")
def test_another_build_is_refused(command, tmp_path):
    out = ["-o", tmp_path / "out"] if command[0] == "export" else []
    done = cairn(*command, "--elf", KERNEL, *out, SMALL)
    assert done.returncode == 2 and not done.stdout and not list(tmp_path.iterdir())
    assert "another build than the kernel of" in errors_of(done) and "small.log: build ID" in errors_of(done)
    assert f"build ID {build_id()}, not 0011223344" in errors_of(done) and "or leave out --elf" in errors_of(done)


def test_names_and_lines_of_its_own_build():
    done = cairn("dump", "--elf", KERNEL, "-", data=of_build(build_id()))
    assert done.returncode == 0 and not done.stderr
    assert "+0x" in text_of(done)


def test_nothing_to_compare_is_told():
    done = cairn("dump", "--elf", KERNEL, "-", data=of_build(None))
    assert done.returncode == 0 and "standard input has no build ID of its kernel" in errors_of(done)
    assert "+0x" in text_of(done)


def test_lines_of_a_file_without_them():
    done = cairn("profile", "--per", "line", "--elf", cairn_boot.BUILD / "kernel.elf", "-", data=of_build(build_id()))
    assert done.returncode == 2 and not done.stdout
    assert "has no line table; give kernel.elf.full" in errors_of(done)
    full = cairn("profile", "--per", "line", "--elf", KERNEL, "-", data=of_build(build_id()))
    assert full.returncode == 0 and not full.stderr


def test_it_is_no_elf_file(tmp_path):
    (tmp_path / "text").write_text("text", encoding="ascii")
    for path in (tmp_path / "text", tmp_path / "none", "/dev/null"):
        done = cairn("dump", "--elf", path, SMALL)
        assert done.returncode == 3 and str(path) in errors_of(done)
