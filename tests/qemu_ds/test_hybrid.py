# SPDX-License-Identifier: MIT
"""Cairn on a processor with two kinds of cores, as the plugin makes it: CPUs 0 and 1 are performance cores, 2 and 3
efficient ones. What one kind cannot do, or shall not, the other does all the same; and every record is the plugin's."""

import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, keys
from true_run import run

HYBRID = ",efficient=2"
LACKING = "INST_RETIRED.PREC_DIST"  # an event that efficient cores do not have
ALL = {0, 1, 2, 3}


def boot(tmp_path, *options, switches=600):
    result, _, _ = run(tmp_path, "lunarlake", 4, switches, *options, plugin=HYBRID)
    return result, keys(result.log, "M")


def sampling(log):
    """CPUs that have records. On a busy host one may hardly run, and have none."""
    return {cpu for cpu in ALL if cairn("profile", "--cpu", cpu, log)[0] == 0}


@pytest.mark.parametrize("options, cpus, who, why", [
    ((f"pebs={LACKING}:2003",), {0, 1}, "2 of 2 efficient cores, from CPU 2 on",
     f"option 'pebs': {LACKING}: not an event of this processor"),
    cb.long((f"pebs.atom={LACKING}:2003",), {0, 1}, "2 of 2 efficient cores, from CPU 2 on",
            f"option 'pebs.atom': {LACKING}: not an event of this processor"),
    cb.long(("pebs.cpus=core",), {0, 1}, "2 of 2 efficient cores, from CPU 2 on", "pebs.cpus=core"),
    (("pebs.cpus=atom", "bts=interrupt", "switches=100"), {2, 3}, "2 of 2 performance cores, from CPU 0 on",
     "pebs.cpus=atom"),
    cb.long(("pebs.atom=none", "pebs.later=9001"), {0, 1}, "2 of 2 efficient cores, from CPU 2 on", "pebs.atom=none"),
    cb.long(("pebs.cpus=core", "workload=control"), {0, 1}, "2 of 2 efficient cores, from CPU 2 on", "pebs.cpus=core"),
], ids=["lacking", "atom-lacking", "core", "atom", "none", "control"])
def test_cpus_without_pebs(tmp_path, options, cpus, who, why):
    """They run threads all the same, and console, log and `cairn info` say why they have no records."""
    switches = 100 if "switches=100" in options else 600
    result, machine = boot(tmp_path, *(o for o in options if o != "switches=100"), switches=switches)
    assert f"ds: no PEBS on {who}: {why}" in result.output
    assert sampling(result.log) and sampling(result.log) <= cpus
    for cpu in ALL:
        assert machine.get(f"ds.cpu.{cpu}.events", "").startswith(f"none|{why}") == (cpu not in cpus)
    status, info = cairn("info", result.log)
    first, last = min(ALL - cpus), max(ALL - cpus)
    assert status == 0 and re.search(rf"^  CPU {first}\.\.{last}       no PEBS: {why[:20]}", info, re.M)
    status, text = cairn("stat", result.log)
    assert status == 0, text


def test_events_of_each_kind(tmp_path):
    """Two lists: counters, periods and names of a CPU are those of its kind's."""
    result, machine = boot(tmp_path, f"pebs={LACKING}:2003,branches:5003:plain",
                           "pebs.atom=INST_RETIRED.ANY:5003,branches:1009,cycles:7001:plain", "pebs.later=30011,6007",
                           "session.1=compact+pmc_profile:qpc:sequential")
    assert "no PEBS on" not in result.output
    who = sampling(result.log)
    assert who & {0, 1} and who & {2, 3}
    for cpu in ALL:
        assert machine.get(f"ds.cpu.{cpu}.events") == ("atom" if cpu > 1 else None)
        names = {LACKING} if cpu < 2 else {"INST_RETIRED.ANY", "BR_INST_RETIRED.ALL_BRANCHES"}
        found = {name for name in (LACKING, "INST_RETIRED.ANY", "BR_INST_RETIRED.ALL_BRANCHES")
                 if cairn("profile", "--cpu", cpu, "--event", name, result.log)[0] == 0}
        assert found <= names and (found or cpu not in who)
    status, info = cairn("info", result.log)
    assert status == 0
    assert re.search(r"  events +INST_RETIRED\.PREC_DIST:2003:uk\n +BR_INST_RETIRED\.ALL_BRANCHES:5003:uk:plain\n"
                     r"    efficient +INST_RETIRED\.ANY:5003:uk\n +BR_INST_RETIRED\.ALL_BRANCHES:1009:uk\n"
                     r" +CPU_CLK_UNHALTED\.THREAD:7001:uk:plain\n", info)
    status, stat = cairn("stat", result.log)
    plain = re.findall(r"^  (\S+) +(\d+) events? +in \d+ overflows?, plain$", stat, re.M)
    assert [name for name, _ in plain] == ["BR_INST_RETIRED.ALL_BRANCHES", "CPU_CLK_UNHALTED.THREAD"], stat
    assert all(int(count) for _, count in plain)


def test_buffers_of_each_kind(tmp_path):
    """With architectural PEBS a record shows the CPU's own events, so those of efficient cores, which have more of them
    here, need the larger buffer: one that is as large as IA32_PEBS_BASE says."""
    result, _, _ = run(tmp_path, "pantherlake", 4, 300, "pebs=INST_RETIRED.ANY:2003",
                       "pebs.atom=INST_RETIRED.ANY:5003,branches:1009,BR_INST_RETIRED.CONDITIONAL:503,"
                       "BR_INST_RETIRED.NEAR_TAKEN:601,BR_INST_RETIRED.NEAR_CALL:211,BR_INST_RETIRED.NEAR_RETURN:223",
                       "pebs.groups=counters", "pebs.records=35", "pebs.threshold=20", plugin=HYBRID)
    machine = keys(result.log, "M")
    assert [machine[f"ds.cpu.{cpu}.buffer_bytes"] for cpu in range(4)] == ["4096", "4096", "8192", "8192"]
    assert (machine["ds.record_bytes"], machine["ds.cpu.2.record_bytes"]) == ("112", "128")
    for cpu in ALL:
        assert int(machine[f"ds.cpu.{cpu}.buffer.physical"], 16) % int(machine[f"ds.cpu.{cpu}.buffer_bytes"]) == 0
    assert sampling(result.log) & {2, 3}


def test_sampled_stores(tmp_path):
    """On both kinds, under one name, each record with its address; only the efficient ones' are called not precise."""
    result, machine = boot(tmp_path, "pebs=MEM_TRANS_RETIRED.STORE_SAMPLE:307", "pebs.groups=mem")
    who = sampling(result.log)
    assert "no PEBS on" not in result.output and who & {0, 1} and who & {2, 3}
    assert {cpu for cpu in ALL if machine.get(f"ds.cpu.{cpu}.not_precise") == "0"} == {2, 3}
    status, text = cairn("ds", "--records", 3, result.log)
    addresses = re.findall(r" data address ([0-9a-f]{16})", text)
    assert status == 0 and len(addresses) >= 3 and all(int(address, 16) for address in addresses)


@pytest.mark.parametrize("options, why", [
    (("--smp", 2, "pebs.cpus=atom"), "option 'pebs.cpus=atom': no CPU is left that has PEBS: here are 2 performance "
                                     "and 0 efficient cores"),
    cb.long(("--smp", 2, f"pebs={LACKING}:2003", "pebs.cpus=atom", "efficient=1"),
            f"option 'pebs': {LACKING}: not an event"),
    cb.long(("--smp", 2, "pebs.cpus=core", "session.pmc=TotalCycles", "session.1=full:qpc:sequential", "efficient=1"),
            "session.pmc=TotalCycles counts beside PEBS only, which CPU 1 does not have: pebs.cpus=core"),
], ids=["no-such-cpu", "nobody-has-it", "counting"])
def test_refusals(tmp_path, options, why):
    """One line, and the run ends."""
    plugin = "preset=lunarlake" + "".join("," + o for o in options if str(o).startswith("efficient"))
    result = cb.boot(tmp_path / "log", "ds=hw", "--qemu-ds", plugin, "switches=50", cb.UNHURRIED,
                     *(o for o in options if not str(o).startswith("efficient")))
    assert result.status == cb.FAIL
    assert re.search(f"FAIL: setup: .*{re.escape(why)}", result.output), result.output


def test_no_efficient_core(tmp_path):
    """An option that has nothing to act on is told of, not passed over."""
    result = cb.boot(tmp_path / "log", "--smp", 1, "ds=soft", "switches=50", "pebs.atom=INST_RETIRED.ANY:77",
                     "pebs.cpus=core", cb.UNHURRIED)
    assert result.status == cb.PASS
    for option in ("pebs.atom=INST_RETIRED.ANY:77", "pebs.cpus=core"):
        assert result.lines(f"ds: {option} has no effect: no CPU here is an efficient core")
