# SPDX-License-Identifier: MIT
"""labs/00-hello: what it prints is what paper says, and what docs/learn/hello.md shows."""

import os
import re
import subprocess

import pytest

import cairn_boot as cb

PLACES = ["the first CALL of the loop", "the second CALL of the loop", "the third CALL of the loop"]
RECORDS = re.compile(r"^record (\d+): call (\d+) of 24\n"
                     r"(?:  EventingIP 0x(\w+): (.*)\n)?"
                     r"  RIP        0x(\w+): the function that is called\n"
                     r"(?:  TSC        (\d+)\n)?", re.M)


def hello(*arguments):
    done = subprocess.run([cb.ROOT / "run-qemu.sh", "--efi", cb.BUILD / "hello.efi", "--timeout", "120", *arguments],
                          capture_output=True, text=True, check=False, env={**os.environ, "CAIRN_BUILD": str(cb.BUILD)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", name="quick")
def firmware_that_does_not_wait(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quick")
    return ("--qemu", cb.with_qemu(folder, *cb.failing_tpm(folder), qemu=cb.QEMU_11))


@pytest.mark.parametrize("preset, head, eventing_ip, tsc", [
    ("icelake", "PEBS format 4, in groups: a record has 176 bytes\n", True, True),
    cb.long("skylake", "PEBS format 3: a record has 200 bytes\n", True, True),
    ("nehalem", "PEBS format 1: a record has 176 bytes\n", False, False)])
def test_records(quick, preset, head, eventing_ip, tsc):
    """The counter overflows at every third call and the next is recorded: the fourth, eighth and so on, by turns the
    first, second and third of the loop."""
    text = hello(*quick, "--qemu-ds", f"preset={preset}")
    assert "this processor is emulated, or a hypervisor's" in text and head in text
    records = RECORDS.findall(text)
    assert [(int(number), int(call)) for number, call, *_ in records] == [(n, 4 * n) for n in range(1, 7)]
    assert text.count("\nrecord ") == len(records)
    assert [place for *_, place, _, _ in records] == ([PLACES[(4 * n - 1) % 3] for n in range(1, 7)] if eventing_ip
                                                      else [""] * 6)
    names = subprocess.run(["nm", cb.BUILD / "hello.so"], capture_output=True, text=True, check=True).stdout
    at = {name: int(address, 16) for address, name in re.findall(r"^(\w+) \w (call_[abc]|callee)$", names, re.M)}
    for n, (_, _, ip, _, rip, _) in enumerate(records, 1):
        if eventing_ip:
            assert int(rip, 16) - int(ip, 16) == at["callee"] - at["call_" + "abc"[(4 * n - 1) % 3]]
    times = [int(time) for *_, time in records if time]
    assert len(times) == (6 if tsc else 0) and times == sorted(times)


@pytest.mark.parametrize("arguments, why", [
    (["preset=penryn"], "calls are no PEBS event before Nehalem"),
    cb.long(["off"], "this is not a processor of Intel's: CPUID.0 names another maker")])
def test_no_pebs(quick, arguments, why):
    assert f"no PEBS here: {why}\n" in hello(*quick, "--qemu-ds", *arguments)


def test_shown_output():
    text = (cb.ROOT / "docs" / "learn" / "hello.md").read_text(encoding="utf-8")
    shown = re.search(r"```\n(this processor is emulated.*?)\.\.\.\n```", text, re.S)[1]

    def masked(lines):
        return re.sub(r"0x\w+|(?<=TSC        )\d+", "N", lines)
    assert masked(shown) in masked(hello())
