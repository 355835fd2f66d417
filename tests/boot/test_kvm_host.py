# SPDX-License-Identifier: MIT
"""--accel kvm: what of the machine is looked at before QEMU starts, and which processor QEMU is asked for. The machine
is a tree of files: /dev/kvm, /proc/cpuinfo, the parameters of the modules."""

import os
import subprocess

import pytest

import cairn_boot as cb

SCRIPT = cb.ROOT / "tools" / "kvm-host.sh"
SERVER = {"dev/kvm": "", "proc/sys/kernel/osrelease": "6.12.9\n",
          "proc/cpuinfo": "vendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Xeon\nflags\t\t: fpu dts pebs bts\n"
                          "vendor_id\t: other\n",
          "sys/module/kvm/parameters/enable_pmu": "Y\n", "sys/module/kvm/parameters/ignore_msrs": "N\n",
          "sys/module/kvm_intel/parameters/enable_mediated_pmu": "N\n"}


def machine(tmp_path, **changes):
    """A server of Intel's with everything on, but for `changes`: None takes a file away."""
    root = tmp_path / "root"
    for name, text in {**SERVER, **{key.replace("__", "/"): text for key, text in changes.items()}}.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="ascii")
    return {"CAIRN_KVM_ROOT": str(root)}


def ask(environment, *words):
    done = subprocess.run([SCRIPT, *words], env={**os.environ, **environment}, capture_output=True, text=True,
                          check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize("words", [(), ("ds=hw",), ("ds=soft", "ds=hw", "truth=1")])
def test_a_server_with_everything_on(tmp_path, words):
    assert ask(machine(tmp_path), *words) == (0, "")


CPUINFO = SERVER["proc/cpuinfo"]


@pytest.mark.parametrize("changes, line", [
    ({"proc__cpuinfo": CPUINFO.replace("GenuineIntel", "AuthenticAMD")}, "the processor is AuthenticAMD, and only"),
    ({"proc__cpuinfo": None}, "the processor is unknown, and only GenuineIntel"),
    ({"proc__cpuinfo": CPUINFO.replace(" pebs", "")}, "Linux itself sees no PEBS here"),
    ({"sys__devices__cpu_atom": ""}, "the processor is a hybrid, and KVM gives its guests no counters"),
    ({"sys__module__kvm__parameters__enable_pmu": "N\n"}, "guests have no counters: load the modules anew, with kvm's"),
    ({"sys__module__kvm__parameters__enable_pmu": None}, "this KVM is older than PEBS for guests (Linux 6.0)"),
    ({"sys__module__kvm_intel__parameters__enable_mediated_pmu": "Y\n"}, "the mediated PMU hides PEBS from guests"),
])
def test_no_debug_store_for_guests(tmp_path, changes, line):
    """One line, with ds=hw; without it KVM will do, and the kernel takes the model."""
    environment = machine(tmp_path, **changes)
    status, text = ask(environment, "ds=hw")
    assert status == 1 and text.startswith(f"--accel kvm: {line}") and text.count("\n") == 1, text
    assert ask(environment, "ds=auto") == (0, "")
    assert ask(environment, "ds=hw", "ds=soft") == (0, "")  # the last one counts


@pytest.mark.parametrize("changes, line", [
    ({"proc__cpuinfo": CPUINFO.replace("143", "126")}, "model 126 is none that is known to"),
    ({"proc__sys__kernel__osrelease": "5.14.0-570.el9\n"}, "Linux 5.14.0-570.el9: PEBS for guests came with 6.0"),
    ({"sys__module__kvm__parameters__ignore_msrs": "Y\n"}, "kvm's parameter ignore_msrs is on"),
])
def test_what_is_likely_is_a_note(tmp_path, changes, line):
    status, text = ask(machine(tmp_path, **changes), "ds=hw")
    assert status == 0 and text.startswith("note        ") and line in text and text.count("\n") == 1, text


def test_no_kvm(tmp_path):
    status, text = ask(machine(tmp_path, dev__kvm=None))
    assert status == 1 and text.startswith("--accel kvm: there is no /dev/kvm: turn virtualization on"), text
    if os.geteuid():
        environment = machine(tmp_path)
        (tmp_path / "root" / "dev" / "kvm").chmod(0)
        assert ask(environment)[1].startswith("--accel kvm: you may not use /dev/kvm: sudo usermod")


@pytest.mark.parametrize("arguments, model", [
    (("--accel", "kvm", "ds=hw"), "host,pmu=on,migratable=off"),
    (("--accel", "kvm", "ds=hw", "--cpu", "Icelake-Server,pmu=on"), "Icelake-Server,pmu=on"),
    ((), "max"),
])
def test_what_qemu_is_asked_for(tmp_path, arguments, model):
    qemu = tmp_path / "qemu"
    qemu.write_text(f"#!/bin/sh\n[ $1 != --version ] || exec echo QEMU emulator version 9.2.0\n"
                    f"printf '%s\\n' \"$@\" >{tmp_path}/asked\n", encoding="ascii")
    qemu.chmod(0o755)
    result = cb.boot(tmp_path / "log", "--qemu", qemu, *arguments, environment=machine(tmp_path))
    assert result.status != cb.USAGE, result.output
    asked = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
    assert asked[asked.index("-cpu") + 1] == model
    assert asked[asked.index("-accel") + 1] == ("kvm" if arguments else "tcg")


def test_run_qemu_says_so(tmp_path):
    environment = machine(tmp_path, proc__cpuinfo=CPUINFO.replace("GenuineIntel", "AuthenticAMD"))
    result = cb.boot(tmp_path / "log", "--accel", "kvm", "ds=hw", environment=environment)
    assert result.status == cb.TROUBLE
    assert "run-qemu.sh: --accel kvm: the processor is AuthenticAMD" in result.output
    environment = machine(tmp_path, proc__cpuinfo=CPUINFO.replace("143", "126"))
    result = cb.boot(tmp_path / "log", "--accel", "kvm", "ds=hw", "--which", environment=environment)
    assert result.status == cb.PASS, result.output
    assert "\naccelerator kvm\nnote        KVM shows PEBS on" in result.output, result.output
