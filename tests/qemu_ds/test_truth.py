# SPDX-License-Identifier: MIT
"""Cairn with the Debug Store that the plugin is: each record of its trace is one that the plugin wrote, as it was
written, and there is no other. The plugin tells of them apart from the guest: truth=FILE."""

import re
from collections import Counter, defaultdict

import pytest

import cairn_boot as cb
from cairn_log import cairn, keys, per_cpu
from cairn_presets import GROUPS, PRESETS
from true_run import run

GLOBAL_CTRL = "38f"
KERNEL = 1 << 63


def steps(truth, own=()):
    """Of each vCPU, how many instructions lie between two records with nothing written to IA32_PERF_GLOBAL_CTRL in
    between; and lines by kind. `own`: of each vCPU, so many records of the kernel's self-test come first."""
    last, distances, kinds, own = {}, Counter(), Counter(), list(own)
    for line in truth.read_text(encoding="ascii").splitlines()[1:-1]:
        vcpu, instructions, kind, *rest = line.split()
        vcpu, instructions = int(vcpu), int(instructions)
        kinds[vcpu, kind] += 1
        if kind == "wrmsr" and rest[1] == GLOBAL_CTRL:
            last.pop(vcpu, None)
        if kind in ("record", "dropped"):
            if own and own[vcpu]:
                own[vcpu] -= 1
                continue
            if vcpu in last:
                distances[instructions - last[vcpu]] += 1
            last[vcpu] = instructions
    return distances, kinds


def tried(machine, cpu):
    """Records of the kernel's self-test on that CPU, before the session."""
    rows = [value.split("|") for key, value in machine.items()
            if re.fullmatch(rf"ds\.detect\.hw\.{cpu}\.\d+", key) and value.startswith("self-test: ")]
    return sum(int(row[1], 16) for row in rows)


def run_preset(tmp_path, preset, cpus, switches):
    name, form, area, size, events = preset
    result, end, text = run(tmp_path, name, cpus, switches, "workload=mix", f"pebs={events}", "pebs.records=512",
                            "pebs.threshold=48", *([f"pebs.groups={GROUPS[name]}"] if name in GROUPS else []))
    found = keys(result.log, "M")
    assert [found[f"ds.{key}"] for key in ("backend", "format", "area_form", "record_bytes")] \
        == ["hw", str(form), area, str(size)]
    assert "xapic" in found["machine.features"].split()  # as OVMF leaves it, though these processors have x2APIC mode
    ours = per_cpu(end, "ds")  # what was lost is unknown where a buffer was full
    assert sum(records for records, *_ in ours) > 300 and sum(pmis for _, _, pmis, *_ in ours) > 2
    _, kinds = steps(tmp_path / "truth")
    for cpu, (records, _, pmis, *_) in enumerate(ours):
        stats = re.search(rf"^qemu-ds +vCPU {cpu}: (\d+) records, (\d+) dropped, 0 branch records, "
                          r"0 dropped, (\d+) PMIs, .*, flags exact$", result.output, re.M)
        assert stats, result.output
        assert [int(n) for n in stats.groups()] == [kinds[cpu, kind] for kind in ("record", "dropped", "pmi")]
        assert int(stats[1]) == tried(found, cpu) + records
        # Where another drain comes between an overflow and its PMI, the handler finds nothing to do and does not count.
        assert pmis <= int(stats[3]) <= pmis + 1 + pmis // 50
    return result


@pytest.mark.parametrize("preset", [
    preset if preset[0] in ("icelake", "pantherlake") else cb.long(preset)
    for preset in PRESETS
    ], ids=[preset[0] for preset in PRESETS])
def test_presets(tmp_path, preset):
    run_preset(tmp_path, preset, 2, 200)


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS, ids=[preset[0] for preset in PRESETS])
def test_presets_long(tmp_path, preset):
    run_preset(tmp_path, preset, 4, 5000)


@pytest.mark.long
@pytest.mark.parametrize("policies", [
    {"arch_fragments": "cont", "arch_overflow": "stays"},
    {"arch_fragments": "null", "arch_threshold": "gt", "arch_together": "each"},
    {"arch_padding": "apart", "arch_overflow": "never", "arch_ovf_buf": "yes"},
    {"arch_full": "disable", "arch_base": "size", "arch_size": "12_bits"},
], ids=lambda policies: "-".join(policies))
def test_policies_of_architectural_pebs(tmp_path, policies):
    """Records in fragments, and the rest that no manual says: each record is as the plugin wrote it. Small buffers."""
    run(tmp_path, "clearwaterforest", 2, 300, "workload=mix", "pebs=INST_RETIRED.ANY:499,branches:211",
        "pebs.records=8", "pebs.threshold=6", "pebs.groups=gpr,xmm,lbr:8,counters",
        plugin="".join(f",policy.{name}={value}" for name, value in policies.items()))


@pytest.mark.parametrize("preset, period", [("icelake", 1009), cb.long("skylake", 1010),
                                            cb.long("clearwaterforest", 1009)])
def test_instructions_between_records(tmp_path, preset, period):
    """The plugin counts instructions in blocks, apart from the model: where nothing else counts, so many lie between
    two records; one more where not the overflow itself is recorded, but the event after it."""
    result, *_ = run(tmp_path, preset, 2, 200, "pebs=INST_RETIRED.ANY:1009", "bts=interrupt")
    machine = keys(result.log, "M")
    distances, kinds = steps(tmp_path / "truth", [tried(machine, cpu) for cpu in range(2)])
    assert set(distances) == {period} and distances[period] > 2
    assert all(kinds[cpu, "branch"] for cpu in range(2))


def test_rings_and_x2apic(tmp_path):
    """What counts in one ring has no records of the other, nor has BTS; PMIs come in x2APIC mode, too."""
    result, end, _ = run(tmp_path, "haswell", 2, 100, "x2apic=on", "workload=user",
                         "pebs=INST_RETIRED.ANY:997:u,BR_INST_RETIRED.CONDITIONAL:53:k", "bts=interrupt",
                         "bts.rings=u", "bts.records=256")
    machine = keys(result.log, "M")
    assert "x2apic" in machine["machine.features"].split()
    found, retired, own = defaultdict(list), [[], []], [tried(machine, cpu) for cpu in range(2)]
    for line in (tmp_path / "truth").read_text(encoding="ascii").splitlines()[1:-1]:
        vcpu, instructions, kind, *rest = line.split()
        retired[int(vcpu)].append(int(instructions))
        if kind == "record" and own[int(vcpu)]:
            own[int(vcpu)] -= 1
        elif kind == "record":
            found[rest[3]].append(int(rest[5], 16))
        elif kind == "branch":
            found[kind].append(int(rest[1], 16))
    user, kernel = found.pop("1"), found.pop("2")  # PMC0, PMC1
    assert user and kernel and max(user) < KERNEL <= min(kernel)
    branches = found.pop("branch")
    assert len(branches) > 100 and max(branches) < KERNEL and not found
    assert any(pmis for _, _, pmis, *_ in per_cpu(end, "ds"))  # a CPU may have had little to run
    assert all(numbers == sorted(numbers) for numbers in retired)
    assert retired[0][0] > 10_000_000  # all of them, since the firmware began: it takes that many at least


@pytest.mark.parametrize("preset", ["pantherlake", cb.long("icelake")])
def test_panic(tmp_path, preset):
    """What one CPU drains for all: each one's own records and index, though those of architectural PEBS are known to
    the CPU itself alone."""
    result = cb.boot(tmp_path / "log", "--smp", 3, "ds=hw", "--qemu-ds", f"preset={preset},exact=flags",
                     "switches=2000", cb.UNHURRIED, "panic=now", "pebs.records=512", "pebs.threshold=500")
    assert result.status == cb.FAIL and "asked for with panic=now" in result.output, result.output
    status, text = cairn("check", result.log)
    assert status == 0, text
    dump = cairn("dump", result.log)[1]
    drains = re.findall(r"= drain of epoch \d+ \(panic\): (\d+) records?, 0 lost", dump)
    assert len(drains) in (2, 3) and len(set(drains)) > 1, drains  # on a busy host one CPU may have nothing yet
