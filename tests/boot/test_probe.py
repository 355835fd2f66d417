# SPDX-License-Identifier: MIT
"""What workload probe finds out is what the model has been set to, and `cairn probe` says so."""

import json
import re

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked

# Each policy's values, the default first; not read from the source, which could be wrong in both.
POLICIES = {
    "fit": ("end_le", "end_lt", "start_lt"), "drop_reload": ("yes", "no"), "bts_full": ("stop", "wrap"),
    "bts_ovf_buf": ("no", "yes"), "masked_pmi": ("latched", "lost"), "bystander": ("by_format", "swapped"),
    "pdist_minimum": ("none", "128"), "reserved": ("fault", "ignore"), "unmapped": ("error", "page_fault"),
    "residual": ("0", "1", "2", "3"),
    "arch_threshold": ("ge", "gt"), "arch_full": ("drop", "disable"), "arch_base": ("page", "size"),
    "arch_size": ("4_bits", "12_bits"), "arch_padding": ("in_size", "apart"),
    "arch_overflow": ("cleared", "never", "stays"), "arch_ovf_buf": ("no", "yes"),
    "arch_fragments": ("none", "cont", "null"), "arch_together": ("one", "each"),
}
# What is no policy of the model.
OTHERS = {
    "spacing": "n_plus_1", "pdist_spacing": "n", "shadow": "even", "eventing_ip": "yes", "rip": "next",
    "overflow_bit": "set", "full_signal": "no", "self_mask": "yes",
    "threshold_again": "yes", "bts_circular": "wrap", "bts_circular_pmi": "yes", "ds_area": "fault",
    "pmc_write": "sign_extended",
    "hypervisor": "none", "arch_fit": "yes",
}
COSTS = {"record", "record_mem", "record_gpr", "record_xmm", "record_lbr", "record_counters", "drain", "pmi", "bts",
         "switch_off", "switch_on", "switch_stamped"}

SWITCHED = {"switch_on": None, "switch_stamped": None}  # measured


def not_asked(preset):
    """What has no meaning with architectural PEBS, or only there."""
    if preset in ("pantherlake", "clearwaterforest"):
        return {"fit", "unmapped", "overflow_bit"}
    return {name for name in POLICIES.keys() | OTHERS.keys() if name.startswith("arch_")}


BOOTS = [("icelake", 0), ("skylake", 1), ("haswell", 2), ("sapphirerapids", 1), ("lunarlake", 2), ("skylake", 0),
         ("icelake", 3), ("pantherlake", 2), ("pantherlake", 1), ("clearwaterforest", 0), ("clearwaterforest", 3)]
USUAL = [("skylake", 1), ("pantherlake", 2)]


def answers(log, asked, switched=SWITCHED):
    status, text = cairn("probe", "--to", "json", log)
    assert status == 0
    machines = [json.loads(line) for line in text.splitlines()]
    assert [machine["cpu"] for machine in machines] == [0]
    assert machines[0]["asked"] == asked and machines[0]["emulated"]
    costs = {cost["name"]: cost for cost in machines[0]["costs"]}
    assert costs.keys() == COSTS
    assert all("reason" in cost if not cost["samples"] else cost["least"] <= cost["median"] <= cost["p99"]
               for cost in costs.values())
    assert all(costs[name]["samples"] for name in ("record", "drain", "pmi", "bts"))
    assert costs["switch_off"]["samples"] and switched == {
        name: costs[name].get("reason") for name in ("switch_on", "switch_stamped")}
    return {q["name"]: q.get("answer") for q in machines[0]["questions"]}


def test_every_value_is_asked_for():
    """All that there are, and each of them by one of the boots, which take them by their places."""
    text = (cb.ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `ds\.policy\.(\w+)` \| ([^|]+) \|", text, re.M))
    assert listed.pop("unlisted") == "by_generation, none, record"  # what the driver's self-test is for
    assert {name: tuple(values.split(", ")) for name, values in listed.items()} == POLICIES
    assert {value for _, value in BOOTS} == set(range(max(map(len, POLICIES.values()))))


@pytest.mark.parametrize("preset, value", [boot if boot in USUAL else cb.long(*boot) for boot in BOOTS])
def test_answers_are_what_was_set(tmp_path, preset, value):
    policy = {name: values[min(value, len(values) - 1)] for name, values in POLICIES.items()}
    result = cb.boot(tmp_path / "log", "--smp", 2, "ds=soft", f"ds.preset={preset}", "workload=probe", "switches=60",
                     *(f"ds.policy.{name}={chosen}" for name, chosen in policy.items()),
                     "ds.policy.unlisted=record", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert result.lines("answered, as the model is set")
    checked(result.log)
    found = answers(result.log, "model")
    hidden = not_asked(preset) | ({"pdist_minimum"} if preset == "haswell" else set())  # an erratum of short periods
    assert found == {**OTHERS, **policy, **dict.fromkeys(hidden)}

    status, dump = cairn("dump", "--cpu", "0", result.log)  # nothing of switch_off, then the other two
    untraced, _, traced = dump.partition("! the session did not run, or did not trace switches, until here")
    assert status == 0 and "turns:" not in untraced and traced.count("> turns:") >= 100

    status, table = cairn("probe", result.log)
    assert status == 0 and all(len(line) <= 80 for line in table.splitlines())
    different = {name for name in policy.keys() - hidden if policy[name] != POLICIES[name][0]}
    assert set(re.findall(r"ds\.policy\.(\w+)=", table)) == different
    assert "the answers are from the model of " + preset in re.sub(r"\s+", " ", table)


@pytest.mark.long
def test_not_determined_has_a_reason(tmp_path):
    """One counter with PEBS, and no precise distribution: what cannot be asked of such a machine."""
    result = cb.boot(tmp_path / "log", "ds=soft", "ds.preset=penryn", "workload=probe", "switches=60", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    found = answers(result.log, "model")
    assert {name for name, answer in found.items() if answer is None} >= {"bystander", "pdist_minimum"}
    assert found["fit"] == "end_le"
    status, table = cairn("probe", result.log)
    assert status == 0
    assert "not determined: needs two counters with PEBS, one of them for branches" in table


@pytest.mark.long
@pytest.mark.parametrize("options, switched", [
    (("pebs=none", "bts=circular"), {**SWITCHED, "switch_stamped": "the session has no PEBS, so no PebsIndex"}),
    (("session.1=none:qpc:sequential",), dict.fromkeys(SWITCHED, "no session has switch events"))])
def test_what_switches_cannot_tell(tmp_path, options, switched):
    result = cb.boot(tmp_path / "log", "ds=soft", "workload=probe", "switches=60", *options, cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert answers(result.log, "model", switched)["fit"] == "end_le"


@pytest.mark.long
def test_nothing_to_ask(tmp_path):
    result = cb.boot(tmp_path / "log", "ds=off", "workload=probe", "switches=60", cb.UNHURRIED)
    assert result.status == cb.PASS, result.output
    assert result.lines("SKIP: probe: nothing to ask: asked for with ds=off")
    status, text = cairn("probe", result.log)
    assert status == 1 and "boot with workload=probe" in text
