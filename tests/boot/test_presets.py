# SPDX-License-Identifier: MIT
"""Every processor the model can be: its records, whole and attributed; its policies; what it cannot count."""

import re
import subprocess

import pytest

import cairn_boot as cb
import frames as dump
from cairn_log import attributed, cairn, checked, keys, per_cpu, run_and_check, unwrapped
from cairn_presets import ARCH, GROUPS, PRESETS
from cairn_tool import events, patch


def run_preset(tmp_path, preset, cpus, switches, *options):
    """Every record of every event equal to the truth; none blamed on the wrong thread. There is room beyond the
    threshold for what a thread does with interrupts off: spin, while the host runs another CPU."""
    name, form, area, size, events = preset
    result, end = run_and_check(tmp_path, cpus, switches, "ds=soft", f"ds.preset={name}", f"pebs={events}",
                                "pebs.records=512", "pebs.threshold=48",
                                *([f"pebs.groups={GROUPS[name]}"] if name in GROUPS else []), *options)
    text = checked(result.log)
    found = keys(result.log, "M")
    assert [found[f"ds.{key}"] for key in ("preset", "format", "area_form", "record_bytes")] \
        == [name, str(form), area, str(size)]
    assert keys(result.log, "L")["session.1.events"] == ("full" if form < 3 else "compact")
    records, _, pmis, lost, _ = [sum(column) for column in zip(*per_cpu(end, "ds"))]
    assert records > 300 and pmis > 2
    assert lost == 0 or form == 0  # its 27 records may run over on a busy host: each is counted, `check` has compared
    compared, failed = re.search(r"truth: each PEBS record equal +(\d+) +(\d+)", text).groups()
    assert int(compared) == records and failed == "0"
    good, ambiguous, wrong = attributed(text)
    assert wrong == 0 and good >= 0.98 * records, text
    assert ("  by index (no TSC)" in text) == (form < 3)
    return result


# Of format 4 is what all other tests have.
ONE_OF_A_KIND = [preset for preset in PRESETS if preset[0] in ("penryn", "lunarlake", "pantherlake")]


@pytest.mark.parametrize("preset", ONE_OF_A_KIND, ids=[preset[0] for preset in ONE_OF_A_KIND])
def test_presets(tmp_path, preset):
    """All of them: test_presets_long."""
    result = run_preset(tmp_path, preset, 2, 400, "dump.pack=0")
    if preset[0] in WORDS:
        no_lie_in_a_group(result.log, WORDS[preset[0]])
    if preset[1] == ARCH:
        two_mechanisms(result)


def two_mechanisms(result):
    """What PEBS is there, and what is left of the Debug Store: on the screen, in the machine's keys, the session's."""
    assert result.lines("ds: PEBS is architectural (IA32_PEBS_BASE), the Debug Store is for BTS alone"), result.output
    machine, session = keys(result.log, "M"), keys(result.log, "L")
    assert (machine["ds.pebs"], machine["ds.store"]) == ("architectural", "bts")
    assert int(machine["ds.cpu.0.buffer.physical"], 16) % int(machine["ds.cpu.0.buffer_bytes"]) == 0
    assert (session["session.1.pebs.index"], session["session.1.debug_store"]) == ("offset", "none")


# Words of the first record, one or two of each group: the others are in tests/cairn/check.
WORDS = {
    "lunarlake": [(0x20, "MEMINFO data address"), (0xC8, "GPR R15"), (0x128, "LBR 3.info"), (0x1A8, "CNTR FIXED_CTR3")],
    "pantherlake": [(0x08, "HEADER reserved"), (0x30, "BASIC reserved"), (0x40, "AUX data address"), (0x110, "GPR SSP"),
                    (0x200, "LBR 7.to"), (0x268, "CNTR PERF_METRICS")],
}


def no_lie_in_a_group(log, words):
    """A word that is changed in any group of the first record, and check names it."""
    whole = dump.read(log.read_bytes())
    for offset, name in words:
        parts = list(whole)
        place = next(e[:2] for e in events(parts) if e[2] == 0xCA01 and parts[e[0]][1][e[1] + 16] == 2)
        at = 16 + 0x18 + offset
        was = parts[place[0]][1][place[1] + at]
        patch(parts, place, at, bytes([was ^ 1]))
        done = subprocess.run([cb.BUILD / "cairn", "check", "-"], input=dump.write(parts), capture_output=True,
                              check=False)
        text = unwrapped(done.stdout.decode())
        assert done.returncode == 1 and re.search(rf"word by word\n.*: {name} is 0x\w+, in truth 0x", text), text


def test_instructions_without_records(tmp_path):
    """With the policy PEBS has no record of INST_RETIRED.ANY on Skylake, as Intel's lists have it. The self-test finds
    out and says so; the run goes on without records."""
    pebs = "pebs=INST_RETIRED.ANY:499"
    result, end = run_and_check(tmp_path, 2, 100, "ds=soft", "ds.preset=skylake", pebs, "ds.policy.unlisted=none")
    said = result.lines("self-test: CPU 0 makes no record of INST_RETIRED.ANY:")
    assert said and "sample another event" in said[0], result.output
    assert sum(counts[0] for counts in per_cpu(end, "ds")) == 0


@pytest.mark.long
def test_records_without_time_in_batches(tmp_path):
    """Batches alone do not tell apart what their threads did between two stamps: said, and never guessed."""
    result, _ = run_and_check(tmp_path, 2, 300, "ds=soft", "ds.preset=nehalem", "pebs=INST_RETIRED.ANY:499",
                              "session.1=compact:qpc:sequential")
    text = checked(result.log)
    good, ambiguous, wrong = attributed(text)
    assert wrong == 0 and ambiguous > good and "several in batch" in text, text


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS, ids=[preset[0] for preset in PRESETS])
def test_presets_long(tmp_path, preset):
    run_preset(tmp_path, preset, 4, 5000)


@pytest.mark.long
def test_policies(tmp_path):
    """Where no manual says, the log says what the model did, and it did so: buffers of one record overflow. The periods
    change on the way, with a drain."""
    policies = {"fit": "start_lt", "bystander": "swapped", "drop_reload": "no", "masked_pmi": "lost",
                "unlisted": "record"}
    result, end = run_and_check(tmp_path, 2, 200, "ds=soft", "ds.preset=skylake", "pebs.records=1", "pebs.threshold=1",
                                "pebs=INST_RETIRED.ANY:23,BR_INST_RETIRED.NEAR_TAKEN:13", "pebs.later=31,17",
                                *[f"ds.policy.{name}={value}" for name, value in policies.items()])
    found = keys(result.log, "M")
    status, text = cairn("info", result.log)
    assert status == 0
    for name, value in policies.items():
        assert found[f"ds.policy.{name}"].split("|")[0] == value
        assert re.search(rf"^  {name} +{value} ", text, re.M)
    assert sum(counts[3] for counts in per_cpu(end, "ds")) > 0  # lost, and each of them in the truth
    for cpu in range(2):
        text = cairn("dump", "--cpu", str(cpu), result.log)[1]
        epoch = int(re.search(r"drain of epoch (\d+) \(new configuration\)", text)[1])
        for number, period in (epoch, 23), (epoch + 1, 31):
            text = cairn("ds", "--cpu", str(cpu), "--epoch", str(number), "--records", "0", result.log)[1]
            assert f"-{period} in 48 bits" in text


@pytest.mark.parametrize("policies", [
    {"fragments": "cont", "padding": "apart", "together": "each"},
    cb.long({"fragments": "null", "padding": "apart", "overflow": "stays", "ovf_buf": "yes"}),
    cb.long({"threshold": "gt", "overflow": "never", "base": "size", "size": "12_bits"}),
])
def test_policies_of_architectural_pebs(tmp_path, policies):
    """Whatever processors do where no source says: each record is handed over once, and is right to the word."""
    result, end = run_and_check(tmp_path, 2, 300, "ds=soft", "ds.preset=pantherlake", "pebs.groups=gpr,counters",
                                "pebs=INST_RETIRED.ANY:97,BR_INST_RETIRED.NEAR_TAKEN:31", "pebs.later=101,37",
                                *[f"ds.policy.arch_{name}={value}" for name, value in policies.items()])
    text = checked(result.log)
    records, drains, _, lost, _ = [sum(column) for column in zip(*per_cpu(end, "ds"))]
    compared, failed = re.search(r"truth: each PEBS record equal +(\d+) +(\d+)", text).groups()
    assert records > 300 and drains > 8 and lost == 0 and int(compared) == records and failed == "0"
    good, ambiguous, wrong = attributed(text)
    assert wrong == 0 and good >= 0.98 * records, text


@pytest.mark.parametrize("full", ["drop", cb.long("disable")])
def test_full_buffer_of_architectural_pebs(tmp_path, full):
    """A page has room for two records, and another one comes while the PMI waits: FULL. A processor that goes on with
    PEBS tells how many are lost; of one that turns it off nobody knows, and records come again after the drain."""
    result, end = run_and_check(tmp_path, 1, 60, "ds=soft", "ds.preset=clearwaterforest", "pebs=INST_RETIRED.ANY:9",
                                "pebs.groups=gpr,mem,xmm,lbr", "pebs.records=1", "pebs.threshold=1",
                                f"ds.policy.arch_full={full}")
    records, drains, _, lost, _ = per_cpu(end, "ds")[0]
    assert records > 200 and drains > 100
    assert (lost is None) == (full == "disable") and lost != 0
    text = cairn("dump", result.log)[1]
    drained = re.findall(r"drain of epoch \d+ \(threshold\): (\d+) records?, (.*)$", text, re.M)
    first = min(i for i, (_, said) in enumerate(drained) if said != "0 lost")
    assert sum(int(n) for n, _ in drained[first + 1:]) > 100, drained[first:]


@pytest.mark.parametrize("preset, residual", [("icelake", 3), ("clearwaterforest", 2), cb.long("skylake", 1),
                                              cb.long("lunarlake", 2)])
def test_residual_records(tmp_path, preset, residual):
    """Records that come when counters are off already, where periods change and at the end: waited for, handed over,
    counted, and right to the word; IA32_DS_AREA is given back behind them, or they would fault."""
    result, end = run_and_check(tmp_path, 2, 300, "ds=soft", f"ds.preset={preset}", f"ds.policy.residual={residual}",
                                "pebs=INST_RETIRED.ANY:503", "pebs.later=701")
    late = [int(end.get(f"end.cpu.{n}.late", 0)) for n in range(2)]
    assert all(n and n % residual == 0 for n in late), late
    assert f"ds: {sum(late)} records came after counters had been turned off" in result.output
    text = checked(result.log)
    good, ambiguous, wrong = attributed(text)
    assert wrong == 0 and good > 50, text


@pytest.mark.parametrize("options", [
    ("ds.preset=haswell", "pebs=INST_RETIRED.ANY_P:101,BR_INST_RETIRED.ALL_BRANCHES:37"),
    cb.long(("ds.preset=icelake", "pebs=INST_RETIRED.ANY_P:101,BR_INST_RETIRED.ALL_BRANCHES:37",
             "ds.policy.bystander=swapped")),
])
def test_swallowed_samples(tmp_path, options):
    """A counter that another's record reloads loses its own: counted, and as many as in the truth."""
    result, end = run_and_check(tmp_path, 2, 200, "ds=soft", *options)
    swallowed = sum(int(end[f"end.cpu.{n}.swallowed"]) for n in range(2))
    assert swallowed > 0
    assert f"ds: {swallowed} samples without a record" in result.output
    assert re.search(rf"^  swallowed +{swallowed}   reloaded with another counter's record$",
                     cairn("stat", result.log)[1], re.M)
    assert f"lost: PEBS samples lost ({swallowed}) because the record" in cairn("check", result.log)[1]
    assert f"# lost by the processor: 0\n# swallowed: {swallowed}\n" in cairn("profile", result.log)[1]


@pytest.mark.long
def test_plain_event(tmp_path):
    """An event without PEBS leaves no record, but its counts: of each CPU, to the last event, across new periods."""
    result, end = run_and_check(tmp_path, 2, 200, "pebs=INST_RETIRED.ANY:1009,INST_RETIRED.ANY_P:307:plain",
                                "pebs.later=2003,401")
    overflows, events = map(sum, zip(*[map(int, end[f"end.cpu.{n}.plain.1"].split()) for n in range(2)]))
    assert 307 * overflows <= events < 401 * (overflows + 6) and overflows > 10
    records = sum(counts[0] for counts in per_cpu(end, "ds"))
    assert 1009 * records <= events <= 2003 * (records + 4)  # both count instructions
    line = rf"^  INST_RETIRED\.ANY_P +{events} events  in {overflows} overflows, plain$"
    assert re.search(line, cairn("stat", result.log)[1], re.M)


@pytest.mark.long
def test_periods_that_do_not_change(tmp_path):
    result = cb.boot(tmp_path / "log", "--smp", "1", "seconds=1", "switches=100000000", "pebs.later=77")
    assert result.status == cb.PASS
    assert result.lines("SKIP: periods: pebs.later=77: they did not change"), result.output
    assert "new configuration" not in cairn("dump", result.log)[1]


@pytest.mark.long
def test_storm(tmp_path):
    """Period, buffers and threshold of 1, in both stores: counting stops again and again, and each loss is exact."""
    result, end = run_and_check(tmp_path, 2, 200, "ds=soft", "pebs=INST_RETIRED.ANY:1", "pebs.records=1",
                                "pebs.threshold=1", "bts=interrupt", "bts.records=1", "ds.throttle=5")
    assert sum(int(end[f"end.cpu.{n}.throttled"].split()[0]) for n in range(2)) > 10
    assert all(None not in counts for counts in per_cpu(end, "ds"))
    _, text = cairn("stat", result.log)
    assert re.search(r"throttled +\d+   times", text)


def test_impossible_event(tmp_path):
    """What a processor cannot count is refused by name, by the kernel, too, where nobody has asked before the boot."""
    image = cb.make_image(tmp_path / "image", "end=exit", "ds=soft", "ds.preset=nehalem",
                          "pebs=BR_INST_RETIRED.FAR_BRANCH:9")
    result = cb.boot(tmp_path / "log", "--smp", 1, "--image", image)
    assert result.status == cb.FAIL
    assert "BR_INST_RETIRED.FAR_BRANCH: not an event of this processor" in result.output
