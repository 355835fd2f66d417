# SPDX-License-Identifier: MIT
"""What a guest of Linux' KVM sees of an Intel processor, as the plugin shows it (kvm=on): Cairn finds that by itself,
writes no register that is refused, and each record is one that the plugin wrote. docs/how-to/kvm.md."""

import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked, keys, per_cpu


def boot(tmp_path, preset, *options, truth=None):
    plugin = f"preset={preset},kvm=on,exact=flags,stats=on" + (f",truth={truth}" if truth else "")
    return cb.boot(tmp_path / "log", "--qemu-ds", plugin, cb.UNHURRIED, *options)


@pytest.mark.parametrize("preset", ["sapphirerapids", cb.long("icelake")])
def test_records_are_those_of_the_plugin(tmp_path, preset):
    """Basic records of general-purpose counters, drained at each threshold; no access raises #GP but the detection's
    own, which asks for what KVM hides."""
    truth = tmp_path / "truth"
    result = boot(tmp_path, preset, "--smp", 2, "ds=hw", "truth=1", "workload=mix", "switches=200",
                  "trace.buffers=1024", "pebs=INST_RETIRED.ANY:1009,BR_INST_RETIRED.NEAR_TAKEN:211",
                  "pebs.records=64", "pebs.threshold=48", truth=truth)
    assert result.status == cb.PASS, result.output
    assert "raises #GP" not in result.output
    assert result.lines("backend  hw: asked for with ds=hw; the processor has a Debug Store with PEBS")
    status, text = cairn("check", "--plugin", truth, result.log)
    assert status == 0, text
    for rule in ("each PEBS record equal", "each PEBS record, word by word", "each 0525H switch equal, in order"):
        assert re.search(rf"^truth: {rule} +[1-9]\d* +0 verified$", text, re.M), text
    machine = keys(result.log, "M")
    assert [machine[f"ds.{key}"] for key in ("backend", "format", "record_bytes")] == ["hw", "4", "32"]
    assert machine["machine.hypervisor"] == "KVMKVMKVM" and machine["machine.emulated"] == "1"
    ours = per_cpu(keys(result.log, "E"), "ds")
    assert sum(records for records, *_ in ours) > 100 and sum(pmis for _, _, pmis, *_ in ours) > 2
    _, info = cairn("info", result.log)
    info = " ".join(info.split())
    for row in ("IA32_MISC_ENABLE.PERFMON[7] 0x0 ok 0, but under a hypervisor: CPUID.0AH has counters, and is believed",
                "PEBS_BASELINE[14] 0x0 ok the hypervisor hides the groups: basic records of 32 bytes only",
                "CPUID.40000000H:EBX signature 0x4b4d564b ok Linux' KVM: docs/how-to/kvm.md says what it hides",
                "IA32_DEBUGCTL.BTINT write, read back fault no raises #GP: no BTS",
                "MSR_PEBS_LD_LAT read fault no raises #GP: no loads by their latency"):
        assert row in info, info


@pytest.mark.long
def test_known(tmp_path):
    result = boot(tmp_path, "icelake", "--smp", 1, "ds=hw", "workload=known", "switches=20000")
    assert result.status == cb.PASS, result.output
    assert len(re.findall("^PASS: known: .*counts of 7 events verified, [1-9]", result.output, re.M)) == 17
    checked(result.log)


@pytest.mark.parametrize("options, preset, line", [
    (("ds=hw", "bts=interrupt"), "icelake",
     "SKIP: branch trace: CPU 0: the hypervisor refuses what IA32_DEBUGCTL takes for BTS"),
    (("ds=hw", "pebs=MEM_TRANS_RETIRED.LOAD_LATENCY:1009:ldlat=30"), "sapphirerapids",
     "FAIL: setup: option 'pebs': MEM_TRANS_RETIRED.LOAD_LATENCY: the hypervisor hides MSR_PEBS_LD_LAT"),
    cb.long(("ds=hw", "pebs=INST_RETIRED.PREC_DIST:1009"), "icelake",
            "FAIL: setup: option 'pebs': INST_RETIRED.PREC_DIST: no counter that can count it has PEBS here"),
    cb.long(("ds=hw",), "skylake", "FAIL: setup: ds=hw: CPU 0: CPUID.01H:EDX.DS is 0"),
])
def test_what_is_hidden_is_said(tmp_path, options, preset, line):
    result = boot(tmp_path, preset, "--smp", 1, "switches=60", *options)
    assert result.status == (cb.FAIL if line.startswith("FAIL") else cb.PASS), result.output
    assert line in result.output


def test_probe(tmp_path):
    """The registers that are refused are named; what microcode does with records is found out all the same."""
    result = boot(tmp_path, "sapphirerapids", "--smp", 1, "ds=hw", "workload=probe", "switches=60")
    assert result.status == cb.PASS, result.output
    _, text = cairn("probe", result.log)
    text = " ".join(text.split())
    assert "hypervisor KVMKVMKVM; backend hw; emulated" in text
    assert "found: KVMKVMKVM; #GP: MSR_PEBS_LD_LAT MSR_PEBS_FRONTEND MSR_PEBS_DATA_CFG IA32_DEBUGCTL.BTINT" in text
    assert "found: counter 1, period 64: 7 times 65 to 65 apart, mostly 65" in text
