# SPDX-License-Identifier: MIT
"""What the machine to be cannot do is refused before QEMU starts, in 80 columns: the processor of ds.preset=, in the
kernel's own words, and sessions with too few buffers for --smp."""

import re
import subprocess

import pytest

import cairn_boot as cb
from cairn_log import keys, run_and_check, unwrapped


def check(*words):
    process = subprocess.run([cb.BUILD / "cairn-options", "check", *words], capture_output=True, text=True, check=False)
    assert all(len(line) <= 80 for line in process.stderr.splitlines()), process.stderr
    return process.returncode, unwrapped(process.stderr)


@pytest.mark.parametrize("preset, word, line", [
    ("penryn", "pebs=BR_INST_RETIRED.NEAR_CALL:9", "BR_INST_RETIRED.NEAR_CALL: not an event of this processor"),
    ("penryn", "pebs=BR_INST_RETIRED.ALL_BRANCHES:9", "PEBS cannot record it on this processor"),
    ("nehalem", "pebs=INST_RETIRED.PREC_DIST:9", "INST_RETIRED.PREC_DIST: not an event of this processor"),
    ("nehalem", "pebs=INST_RETIRED.ANY:31", "option 'pebs': period 31 of INST_RETIRED.ANY: must be from 32"),
    ("nehalem", "pebs.later=31", "option 'pebs.later': period 31 of INST_RETIRED.ANY: must be from 32"),
    ("haswell", "pebs.groups=gpr,mem", "option 'pebs.groups': mem: records of this processor"),
    ("icelake", "pebs.groups=counters", "option 'pebs.groups': counters: records of this processor"),
    ("pantherlake", "pebs.groups=gpr,lbr:12", "option 'pebs.groups': lbr:12: records of this processor"),
    ("clearwaterforest", "pebs=INST_RETIRED.ANY:2147483649", "must be from 1 to 2^31 on this processor"),
    ("clearwaterforest", "pebs=BR_INST_RETIRED.FAR_BRANCH:9", "BR_INST_RETIRED.FAR_BRANCH: not an event of this"),
    ("skylake", "pebs=" + ",".join(["branches:9"] * 5), "option 'pebs': no PEBS counter left"),
    ])
def test_beyond_the_preset(tmp_path, preset, word, line):
    words = [f"ds.preset={preset}", word]
    status, error = check("ds=soft", *words)
    assert status == 2 and line in error and len(error.splitlines()) == 1, error
    assert check("--emulated", *words) == (status, error)
    assert check(*words) == (0, "")  # ds=auto: the machine may have a Debug Store of its own
    assert check("ds=hw", word) == (0, "")
    if preset == "haswell":
        result = cb.boot(tmp_path / "log", *words)
        assert result.status == cb.USAGE and line in unwrapped(result.output), result.output
        assert "QEMU " not in result.output, result.output
    assert check("ds=soft", "ds.preset=lunarlake", "bts=circular", "bts.rings=u", "pebs.groups=counters,lbr") == (0, "")


@pytest.mark.parametrize("cpus, words, line", [
    (4, ["session.2=full:qpc:sequential:64:3"],
     "option 'session.2': 3 trace buffers are too few for 4 CPUs: give at least 4"),
    (2, ["session.8=full:tsc:circular:4:2"],
     "option 'session.8': 2 trace buffers are too few for 2 CPUs: give at least 3"),
    (3, ["trace.buffers=2"], "option 'trace.buffers=2': too few for session.1 on 3 CPUs: give at least 3"),
    (270, ["trace.buffers=63"], "option 'trace.buffers=63': too few for session.1 on 256 CPUs: give at least 256"),
    (4, ["trace.buffers=2", "cpus=2"], ""),
    (4, ["trace.buffers=2", "session.1=auto:qpc:sequential:4:4"], ""),
    ])
def test_too_few_buffers(tmp_path, cpus, words, line):
    assert check("--cpus", str(cpus), *words) == ((2, line + "\n") if line else (0, ""))
    assert check(*words) == (0, "")  # how many CPUs there will be is not said
    if cpus == 3:
        result = cb.boot(tmp_path / "log", "--smp", cpus, *words)
        assert result.status == cb.USAGE and line in result.output and "QEMU " not in result.output, result.output


def test_which_refuses_as_well():
    done = subprocess.run([cb.ROOT / "run-qemu.sh", "--which", "session.2=nonsense"], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stdout) == (cb.USAGE, "") and "option 'session.2=nonsense'" in done.stderr


@pytest.mark.parametrize("preset, events, marked, alone", [
    ("skylake", "INST_RETIRED.ANY:10009,branches:977,cycles:20011:plain", {
        "ds.cpu.0.not_precise": "0", "ds.cpu.0.errata.0": "SKL091,SKL044", "ds.cpu.0.errata.1": "SKL091"}, False),
    ("icelake", "cycles:20011,INST_RETIRED.PREC_DIST:10009", {"ds.cpu.0.not_precise": "0"}, False),
    ("sandybridge", "INST_RETIRED.PREC_DIST:10009", {"ds.cpu.0.alone": "0"}, True),
    ])
def test_events_with_reduced_skid_or_errata_and_those_taken_alone(tmp_path, preset, events, marked, alone):
    """The log names them for each CPU, and no others; the console asks for what set-up cannot do."""
    result, _ = run_and_check(tmp_path, 1, 20, "ds=soft", f"ds.preset={preset}", "workload=hogs", f"pebs={events}")
    of_log = keys(result.log, "M")
    said = re.compile(r"ds\.cpu\.0\.(not_precise|alone|errata\.\d+)")
    assert {key: of_log[key] for key in of_log if said.fullmatch(key)} == marked
    assert set(re.findall(r"ds: \S+ has errata (\S+): counts or records may be wrong", result.output)) == {
        errata for key, errata in marked.items() if "errata" in key}
    assert ("INST_RETIRED.PREC_DIST must be alone on the core: turn" in result.output) == alone
