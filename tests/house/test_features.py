# SPDX-License-Identifier: MIT
"""A feature is a room or a few files, and the lines that register it: without both the kernel builds."""

import shutil
import subprocess

import pytest

import cairn_boot as cb

# What belongs to a feature, and the lines that name it elsewhere: (file, words of the line).
FEATURES = {
    "probe": (["ds/probe", "kernel/selftest/probe.c", "kernel/selftest/probe.h", "kernel/selftest/probe.asm"],
              [("kernel/options/workloads.h", "WORKLOAD(probe)"), ("kernel/main.c", '"kernel/selftest/probe.h"'),
               ("kernel/main.c", "{kprobe_dump,")]),
    "windows": (["kernel/windows", "kernel/selftest/trial.c", "kernel/selftest/trial.h",
                 "kernel/selftest/sysinfo_trial.c", "kernel/selftest/pmc_trial.c"],
                [("kernel/options/workloads.h", "WORKLOAD(control)")]),
    "hostile": (["kernel/selftest/hostile.c"], [("kernel/options/workloads.h", "WORKLOAD(hostile)")]),
}


@pytest.mark.parametrize("feature", [cb.long("probe"), "windows", cb.long("hostile")])
def test_kernel_builds_without(tmp_path, feature):
    for folder in ("arch", "boot", "ds", "kernel", "trace", "tools"):
        shutil.copytree(cb.ROOT / folder, tmp_path / folder)
    shutil.copy(cb.ROOT / "Makefile", tmp_path)
    files, lines = FEATURES[feature]
    for name in files:
        path = tmp_path / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()  # pylint: disable=expression-not-assigned
    for name, words in lines:
        text = (tmp_path / name).read_text(encoding="utf-8").splitlines(keepends=True)
        left = [line for line in text if words not in line]
        assert len(left) == len(text) - 1, f"{name}: {words}"
        (tmp_path / name).write_text("".join(left), encoding="utf-8")
    for name in ("kernel", "ring3", "gen"):  # what is older than what it is made of is made anew, and no more
        shutil.copytree(cb.BUILD / name, tmp_path / "build" / name)
    shutil.copy2(cb.BUILD / "flags", tmp_path / "build")
    done = subprocess.run(["make", "-j2", f"CURDIR={cb.ROOT}", "B=build", "kernel"], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    names = subprocess.run(["nm", tmp_path / "build" / "kernel.elf"], capture_output=True, text=True, check=True).stdout
    assert "ksched_enter" in names and f"kworkload_{'control' if feature == 'windows' else feature}" not in names
