# SPDX-License-Identifier: MIT
"""What the plugin does not do is said in one line, and nothing runs."""

import re
import shutil
import subprocess

import pytest

import cairn_boot as cb

PLUGIN = cb.BUILD / "qemu-ds.so"


def starts(options, *arguments, qemu=cb.QEMU_11):
    """A machine that would not begin to run, and so goes on until it is ended."""
    command = [qemu, "-display", "none", "-nodefaults", "-m", "64", "-S", "-plugin", f"{PLUGIN}{options}", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("options, arguments, why", [
    (",preset=pentium", (), "preset=pentium: not one of penryn nehalem .* clearwaterforest"),
    (",exact=registers", (), "exact=registers: can only be exact=flags"),
    (",truth=", (), "truth=: names no file"),
    (",truth=/nowhere/truth", (), "truth=/nowhere/truth: cannot be written"),
    (",stats=1", (), "stats=1: must be on or off"),
    (",policy.fit=both", (), "policy.fit=both: not one of end_le end_lt start_lt"),
    (",policy.luck=good", (), "policy.luck: not one of fit .* arch_together"),
    (",policy.unmapped=page_fault", (),
     "policy.unmapped=page_fault: not possible here: a plugin cannot raise a page fault"),
    (",kvm=on,preset=arrowlake", (),
     "kvm=on: preset arrowlake is a hybrid processor, and KVM shows no counters of those"),
    (",refuse=0", (), "refuse=0: must be the number of an access, from 1 on, or RDMSR:MSR or WRMSR:MSR"),
    (",instructions=no", (), "instructions=no: must be on or off"),
    (",records=5", (), "records=5: not an option: there are preset, efficient, kvm, exact, truth, instructions, "
                       "ready, refuse, stats, policy.NAME, memory, memory.NAME, cpi, ref"),
    ("", ("-accel", "tcg,thread=single", "-smp", "2"),
     "several vCPUs on one thread: not with -accel tcg,thread=single, nor with -icount"),
    ("", ("-icount", "shift=4"),
     "not with -icount: there the time is known at few instructions, and records ask at any"),
    ("", ("-machine", "q35", "-smp", "1,maxcpus=256"), "for up to 255 vCPUs, this machine has room for 256"),
])
def test_one_line(options, arguments, why):
    done = starts(options, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(f"qemu-ds: {why}\n", done.stderr)


def test_a_qemu_of_another_interface():
    """Either QEMU or the plugin says so: the one in $PATH, unless it is an 11.1."""
    qemu = shutil.which("qemu-system-x86_64")
    if not qemu or " 11.1" in subprocess.run([qemu, "--version"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("no other QEMU than 11.1 here")
    done = starts("", qemu=qemu)
    assert done.returncode == 1
    line, = done.stderr.splitlines()
    assert re.search(r"requires API version 7, but this QEMU supports only (up to|a minimum) version (of )?\d|"
                     r"for plugin API 6 and 7 \(QEMU 11.0 and 11.1\), this QEMU has \d", line)


@pytest.mark.parametrize("arguments, status, why", [
    (("--qemu-ds", "preset=pentium"), cb.TROUBLE, r"verdict  QEMU ended with status 1: qemu-ds: preset=pentium: not"),
    (("--qemu-ds", "truth=/no,,folder/t"), cb.TROUBLE, r"verdict .* truth=/no,folder/t: cannot be"),
    (("--qemu-ds", "stats=on", "ds=soft"), cb.USAGE, r"run-qemu.sh: --qemu-ds: ds=soft does not look for"),
    (("--qemu-ds", "stats=on", "--accel", "kvm"), cb.USAGE, r"run-qemu.sh: --qemu-ds: the plugin needs --accel tcg"),
    (("--icount",), cb.USAGE, r"run-qemu.sh: --icount: not with the plugin that ds=hw needs"),
])
def test_run_qemu_says_so(tmp_path, arguments, status, why):
    result = cb.boot(tmp_path / "log", "--smp", 1, "ds=hw", *arguments)
    assert result.status == status
    assert re.search(f"^{why}", result.output, re.M), result.output


ACCESSES = 420  # of a machine with one vCPU until its threads have run for a while
FEW = [("pantherlake", 45), ("clearwaterforest", 240), cb.long("clearwaterforest", 310)]
MANY = [cb.long(preset, number) for at, preset in enumerate(("pantherlake", "clearwaterforest"))
        for number in range(1 + 3 * at, ACCESSES, 6)]


@pytest.mark.parametrize("preset, number", FEW + MANY)
def test_one_access_that_is_refused(tmp_path, preset, number):
    """#GP at one access to the registers of performance monitoring and of both stores, whichever it is: Cairn goes on
    to its end without what needs that, and one line says so. What it only asks for it can do without."""
    result = cb.boot(tmp_path / "log", "--smp", 1, "ds=hw", "--qemu-ds", f"preset={preset},refuse={number}",
                     "workload=mix", "switches=60", "bts=interrupt", cb.UNHURRIED)
    refused = re.search(rf"^qemu-ds +access {number} refused: ((?:RD|WR)MSR) of (\w+)H$", result.output, re.M)
    assert refused, result.output
    said = [line for line in result.output.splitlines() if re.match("(FAIL|SKIP): ", line)]
    assert len(said) <= 1 and "PASS: memory: 0 pages and 0 threads more than before" in result.output, result.output
    failed = [line for line in said if line.startswith("FAIL")]
    assert result.status == (cb.FAIL if failed else cb.PASS), result.output
    for line in failed:
        how = f"{refused[1]}(0x{refused[2].lower()})"
        assert f"{how} " in line and "raises #GP" in line or " cannot be read" in line


def test_a_truth_that_does_not_fit(tmp_path):
    """The machine has run then; its end says so, and fails."""
    result = cb.boot(tmp_path / "log", "--smp", 1, "ds=hw", "--qemu-ds", "truth=/dev/full", "switches=50")
    assert result.status == cb.TROUBLE
    assert "QEMU ended with status 1: qemu-ds: truth=/dev/full: not all of it could be written" in " ".join(
        result.output.split())
