# SPDX-License-Identifier: MIT
"""Workload probe asks the plugin's processor, through CPUID and MSRs alone, what it has been set to."""

import json

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked

# What the plugin can be set to, the default first: no page faults, and no records that come late
# (docs/how-to/probe.md).
POLICIES = {
    "fit": ("end_le", "end_lt", "start_lt"), "drop_reload": ("yes", "no"), "bts_full": ("stop", "wrap"),
    "bts_ovf_buf": ("no", "yes"), "masked_pmi": ("latched", "lost"), "bystander": ("by_format", "swapped"),
    "pdist_minimum": ("none", "128"), "reserved": ("fault", "ignore"), "residual": ("0",),
    "unmapped": ("error",),
    "arch_threshold": ("ge", "gt"), "arch_full": ("drop", "disable"), "arch_base": ("page", "size"),
    "arch_size": ("4_bits", "12_bits"), "arch_padding": ("in_size", "apart"),
    "arch_overflow": ("cleared", "never", "stays"), "arch_ovf_buf": ("no", "yes"),
    "arch_fragments": ("none", "cont", "null"), "arch_together": ("one", "each"),
}
ARCHITECTURAL = ("pantherlake", "clearwaterforest")
OTHERS = {"eventing_ip": "yes", "rip": "next", "overflow_bit": "set", "spacing": "n_plus_1"}
HIDDEN = {"penryn": {"bystander", "pdist_minimum", "eventing_ip", "rip"}, "nehalem": {"pdist_minimum", "eventing_ip"},
          "sandybridge": {"eventing_ip"}, "haswell": {"pdist_minimum"},
          **dict.fromkeys(ARCHITECTURAL, {"fit", "unmapped", "overflow_bit"})}


@pytest.mark.parametrize("preset, value", [
    ("icelake", 0), ("skylake", 2), ("pantherlake", 1), cb.long("skylake", 1), cb.long("clearwaterforest", 1),
    *[cb.long(preset, value) for value in (0, 2)
      for preset in ("penryn", "nehalem", "sandybridge", "haswell", "sapphirerapids", "arrowlake", "lunarlake",
                      *ARCHITECTURAL)]])
def test_answers_are_what_was_set(tmp_path, preset, value):
    policy = {name: values[min(value, len(values) - 1)] for name, values in POLICIES.items()}
    words = "policy.unlisted=record," + ",".join(f"policy.{name}={chosen}" for name, chosen in policy.items())
    result = cb.boot(tmp_path / "log", "--smp", 1, "ds=hw", "--qemu-ds", f"preset={preset},{words}", "workload=probe",
                     "switches=60", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    checked(result.log)
    status, text = cairn("probe", "--to", "json", result.log)
    machine = json.loads(text)
    assert status == 0 and machine["asked"] == "TCG" and machine["emulated"] and machine["vendor"] == "GenuineIntel"
    found = {q["name"]: q.get("answer") for q in machine["questions"]}
    hidden = HIDDEN.get(preset, set()) | {name for name in POLICIES
                                          if name.startswith("arch_") and preset not in ARCHITECTURAL}
    expected = {name: None if name in hidden else answer for name, answer in {**policy, **OTHERS}.items()}
    assert {name: found[name] for name in expected} == expected
    costs = {cost["name"]: cost["samples"] for cost in machine["costs"]}
    assert all(costs[name] for name in ("record", "pmi", "switch_off", "switch_on", "switch_stamped"))


@pytest.mark.long
@pytest.mark.parametrize("preset", ["lunarlake", "pantherlake"])
def test_two_kinds_of_cores(tmp_path, preset):
    """The first CPU of each kind is asked, and the log says which it is."""
    result = cb.boot(tmp_path / "log", "--smp", 3, "ds=hw", "--qemu-ds", f"preset={preset},efficient=1",
                     "workload=probe", "switches=60", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    checked(result.log)
    status, text = cairn("probe", "--to", "json", result.log)
    machines = [json.loads(line) for line in text.splitlines()]
    assert status == 0
    assert [(machine["cpu"], machine["core_type"]) for machine in machines] == [(0, "0x40"), (1, "0x20")]
    for machine in machines:
        found = {q["name"]: q.get("answer") for q in machine["questions"]}
        expected = {**{name: values[0] for name, values in POLICIES.items()}, **OTHERS}
        if preset in ARCHITECTURAL:
            expected.update(dict.fromkeys(HIDDEN[preset]))
        else:
            expected.update((name, None) for name in POLICIES if name.startswith("arch_"))
        assert {name: found[name] for name in expected} == expected
        costs = {cost["name"]: cost["samples"] for cost in machine["costs"]}
        assert all(costs[name] for name in ("record", "pmi", "switch_off", "switch_on", "switch_stamped"))
    status, table = cairn("probe", result.log)
    table = " ".join(table.split())
    assert status == 0
    assert 0 < table.find("a performance core (core type 40H)") < table.find("an efficient core (core type 20H)")
