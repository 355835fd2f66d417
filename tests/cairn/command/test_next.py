# SPDX-License-Identifier: MIT
"""What is worth looking at in a log, as said after a boot; what run-qemu.sh writes over; how wide it is."""

import re
import subprocess

import pytest

import cairn_boot
from cairn_tool import GOLDEN, cairn, machine_that_says, text_of

ALWAYS = ["dump", "stat", "check"]
NEXT = {
    "nods": ALWAYS,
    "small": [*ALWAYS, "ds", "profile"],
    "bts": [*ALWAYS, "ds", "profile", "bts"],
    "life": [*ALWAYS, "ds", "ds --life 0:0", "profile"],
    "locks": [*ALWAYS, "locks"],
}


@pytest.mark.parametrize("log", NEXT)
def test_next_has_something_to_show(log):
    commands = text_of(cairn("info", "--next", GOLDEN / f"{log}.log")).splitlines()
    assert commands == NEXT[log]
    for command in commands:
        done = cairn(*command.split(), GOLDEN / f"{log}.log")
        assert done.returncode == 0 and done.stdout, command
    for command in {"profile", "bts", "ds", "locks", "probe"} - set(commands):
        assert cairn(command, GOLDEN / f"{log}.log").returncode == 1


@pytest.mark.parametrize("log", NEXT)
def test_hints_after_a_boot(tmp_path, log):
    result = cairn_boot.boot(tmp_path / "log", "--qemu", machine_that_says(tmp_path, GOLDEN / f"{log}.log"))
    hints = re.findall(r"^(?:try)? +\S*cairn (.*)$", result.output[result.output.index("\ntry  "):], re.M)
    page = hints.pop(0)
    assert page == f"export --to html {tmp_path}/log -o {tmp_path}/log.html &&"
    assert f"         xdg-open {tmp_path}/log.html\n" in result.output
    assert [re.sub(r" \S*log$", "", hint) for hint in hints] == NEXT[log]
    assert all(str(tmp_path / "log") in hint for hint in hints)


@pytest.mark.parametrize("content, kept", [
    (b"int main(void) { return 0; }\n", True),
    (b"\x7fELF\x02\x01\x01", True),
    (b"notes\n  ~H is how a frame begins\n", True),
    (b"", False),
    (b"\x1b[2J\x1b[01;01HBdsDxe: no bootable device\r\n", False),
    (b"cairn loader: FAILED: no kernel\r\n", False),
    (b"Cairn 0.1.0: nx\r\n", False),
    (b"~H00000000:AAAA:00000000\r\n", False),
])
def test_only_a_log_is_written_over(tmp_path, content, kept):
    log = tmp_path / "log"
    log.write_bytes(content)
    result = cairn_boot.boot(log, "--qemu", machine_that_says(tmp_path, GOLDEN / "nods.log"))
    if kept:
        assert result.status == cairn_boot.USAGE and log.read_bytes() == content
        assert len(result.lines("is not a serial log of Cairn; choose another")) == 1
    else:
        assert result.status != cairn_boot.USAGE
        assert log.read_bytes() == (GOLDEN / "nods.log").read_bytes()


def test_help_of_the_kernels_options():
    """80 columns; a list of values is broken only where no line could hold it."""
    for command, least in (([cairn_boot.ROOT / "run-qemu.sh", "--help"], 40),
                           ([cairn_boot.ROOT / "run-qemu.sh", "--help-options"], 80)):
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        lines = text.splitlines()
        assert len(lines) > least and all(len(line) <= 80 for line in lines)
        for line, following in zip(lines, lines[1:]):
            if line.endswith("|"):  # then the word is longer than a line
                assert len(line.split()[-1]) + len(following.split()[0]) > 74
