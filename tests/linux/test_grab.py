# SPDX-License-Identifier: MIT
"""cairn grab in Debian's Linux under qemu-ds: its logs have the records that the plugin wrote, word by word, none is
missing, and perf's samples of the same run are these records."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import checks
import frames
import guest
import known
import pytest
from grab_machines import ARCHITECTURAL, FEW, IN_CI, KNOWN, LOGS, LOSSY, REFUSALS, REPORT, SHOWN, Machine

CAIRN, GRAB = guest.BUILD / "cairn", guest.BUILD / "cairn-grab"
# The plugin is asked for its truth of all of them.
MACHINES = [Machine(preset, form).param(*(preset not in IN_CI) * [pytest.mark.long])
            for preset, form in (("icelake", 4), ("nehalem", 1), ("haswell", 2), ("skylake", 3), ("sapphirerapids", 4),
                                 ("lunarlake", 6), ("penryn", 0), ("arrowlake", 5), ("pantherlake", ARCHITECTURAL),
                                 ("clearwaterforest", ARCHITECTURAL))]
# The first of them: pytest has a machine's tests together by its place in the list.
whole = pytest.mark.parametrize("grabbed", [one for one in MACHINES if one.values[0].whole], indirect=True)
# Rows of the report, by record format. Core (0) has no PEBS for branches, which most settings count.
LEAST_ASKED = {0: 2, 1: 4, 2: 7, 3: 12, 4: 13, 5: 12, 6: 14, ARCHITECTURAL: 14}


@dataclass
class Grabbed:
    machine: Machine
    folder: Path
    said: dict
    more: list
    run: guest.Run

    @property
    def logs(self):
        return [log for log in LOGS if log in self.said]

    def tool(self, *arguments):
        return subprocess.run([CAIRN, *arguments], capture_output=True, text=True, check=False, cwd=self.folder)

    def samples(self, log):
        lines = map(json.loads, self.tool("export", "--to", "json", log).stdout.splitlines())
        return [line for line in lines if line["type"] == "sample"]

    def head(self, log):
        return json.loads(self.tool("export", "--to", "json", log).stdout.splitlines()[0])

    def truth(self, log):
        """Bytes of each record that the plugin wrote while this was recorded."""
        keys = self.head(log)["keys"]
        start, stop = (int(keys[f"session.1.{name}_tsc"]) for name in ("start", "stop"))
        with open(self.folder / "truth", encoding="utf-8") as truth:
            words = [line.split() for line in truth if " record at " in line]
        return [8 * (len(line) - line.index("words") - 1) for line in words
                if start <= int(line[line.index("tsc") + 1], 16) <= stop]


@pytest.fixture(scope="module", params=MACHINES)
def grabbed(request, tmp_path_factory):
    machine, folder = request.param, tmp_path_factory.mktemp("grab")
    files = {"bin/known": known.assemble(folder), "bin/cairn-grab": GRAB}
    truth = f"truth={folder / 'truth'}" + (",efficient=1" if machine.preset in guest.HYBRIDS else "")
    move = f"mkdir /out/files; mv {' '.join(machine.commands)} /out/files"
    commands = [checks.QUIET, *machine.commands.values(), move, *machine.more]
    run = guest.run(folder, commands, preset=machine.preset, kernel=checks.kernel(machine.preset),
                    append="nmi_watchdog=0", smp=machine.cpus, plugin=truth, files=files)
    said = dict(zip(machine.commands, run.said[1:]))
    assert all(one.status == 0 for one in said.values()), said
    for log in said:
        (folder / log).write_bytes(run.files[log])
    return Grabbed(machine, folder, said, run.said[2 + len(said):], run)


@pytest.mark.parametrize("log", FEW)
def test_records_are_the_plugin_s(grabbed, log):
    """All, with every word; and whatever else a rule says of a log holds."""
    verify(grabbed, log)


@whole
@pytest.mark.parametrize("log", ["plain", *LOSSY])
def test_records_are_the_plugin_s_in_more_logs(grabbed, log):
    verify(grabbed, log)


def verify(grabbed, log):
    done = grabbed.tool("check", "--plugin", "truth", log)
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout + done.stderr
    assert re.search(r"^truth: each PEBS record equal +[1-9]\d* +0 verified$", done.stdout, re.M), done.stdout
    assert re.search(r"^truth: each PEBS record, word by word +[1-9]\d* +0 verified$", done.stdout, re.M), done.stdout


def test_records_of_the_kernel_are_the_plugin_s(grabbed):
    """CPUs count it while they begin and end."""
    if "kernel" in grabbed.said:
        verify(grabbed, "kernel")


@pytest.mark.long
def test_a_record_larger_than_an_event_of_the_log(tmp_path):
    """It comes in parts. None of DS PEBS is so large, and Linux 7.3 has none of a hybrid with XMM."""
    large = tmp_path / "large.program"
    subprocess.run(["gcc", "-O2", "-static", "-Wall", "-Werror", "-o", large, guest.ROOT / "tests/linux/large.c"],
                   check=True)
    files = {"bin/known": known.assemble(tmp_path), "bin/cairn-grab": GRAB, "bin/large": large}
    machine = Machine("clearwaterforest", ARCHITECTURAL)
    command = f"{SHOWN}; mkdir /out/files; cairn-grab -o /out/files/large -- large {KNOWN}"
    run = guest.run(tmp_path, [command], preset=machine.preset, kernel=checks.kernel(machine.preset), smp=machine.cpus,
                    append="nmi_watchdog=0", plugin=f"truth={tmp_path / 'truth'}", files=files)
    assert run.said[0].status == 0, run.said
    (tmp_path / "large").write_bytes(run.files["large"])
    grabbed = Grabbed(machine, tmp_path, {}, [], run)
    verify(grabbed, "large")
    assert len(grabbed.truth("large")) > 10 and set(grabbed.truth("large")) == {1408}


def test_samples_are_the_records(grabbed):
    """Of perf's logs: its own are what cairn-grab took."""
    for log in (log for log in grabbed.logs if log != "own"):
        lines = grabbed.said[log].output.splitlines()
        samples = [int(line, 16) for line in lines if re.fullmatch(r" *[0-9a-f]+ *", line)]
        records = [int(sample["ip"], 16) for sample in grabbed.samples(log)]
        assert len(records) > 100 and samples == records
        assert {sample["format"] for sample in grabbed.samples(log)} == {grabbed.machine.format}


def test_whose_they_are(grabbed):
    """By PebsIndex where the records have no time; else by time."""
    for log in grabbed.logs:
        assert {sample["thread"]["name"] for sample in grabbed.samples(log)} == {"known"}
        assert "no stamp" not in grabbed.tool("stat", log).stdout


def test_the_index_at_switches(grabbed):
    """Two programs take turns on a CPU: PebsIndex names the same one for each record as the record's TSC, which is the
    plugin's. Of architectural PEBS Linux has read it within the switches away from them; it is unknown where the kernel
    may have made records before."""
    by_index, by_time = (grabbed.tool("dump", "--full", "--by", by, "turns").stdout for by in ("index", "time"))
    threads = {line.split()[-1] for line in by_index.splitlines() if re.match(r" *[\d.]+ +\d+ [*>] .*\bknown:", line)}
    assert len(threads) == 2, by_index
    if grabbed.machine.format >= 3:
        assert by_index == by_time
    if grabbed.machine.format == ARCHITECTURAL:
        within, empty, unknown = map(int, grabbed.head("turns")["keys"]["grab.index"].split())
        assert within > 2 and empty > 2 and not unknown
        said = f"at switches: {within} read during the switch, {empty} still 0 at the next read, 0 unknown"
        assert said in grabbed.tool("info", "turns").stdout
    if grabbed.machine.format == ARCHITECTURAL and "kernel" in grabbed.said:
        within, empty, unknown = map(int, grabbed.head("kernel")["keys"]["grab.index"].split())
        assert unknown > within and grabbed.head("kernel")["keys"]["session.1.pebs"] == "0"


def test_nothing_is_lost(grabbed):
    for log in grabbed.logs:
        assert "note:" not in grabbed.said[log].output, grabbed.said[log].output
        assert grabbed.head(log)["losses"] == []


@whole
def test_a_full_ring_s_loss_is_exact(grabbed):
    """To the byte; and a log that tells of another loss is caught."""
    truth, records, head = grabbed.truth("ring"), grabbed.samples("ring"), grabbed.head("ring")
    lost = [list(map(int, head["keys"][f"end.cpu.{cpu}.grab"].split())) for cpu in range(grabbed.machine.cpus)]
    size = int(head["keys"]["ds.record_bytes"])
    drains, gone, switches, branches = map(sum, zip(*lost))
    assert gone > 0 and set(truth) == {size} and len(truth) * size == len(records) * size + gone
    assert head["losses"][0].startswith(f"{gone} bytes of PEBS records, {branches} bytes of branch records, {drains} ")
    assert f"note: {gone} bytes of records and {switches} switches are lost" in grabbed.said["ring"].output
    parts = [(stream, re.sub(rb"(cpu\.\d+\.grab=\d+) ", rb"\1 1", payload))
             for stream, payload in frames.read((grabbed.folder / "ring").read_bytes())]
    (grabbed.folder / "lying").write_bytes(frames.write(parts))
    done = grabbed.tool("check", "--plugin", "truth", "lying")
    assert done.returncode == 1 and "counted as lost" in " ".join(done.stdout.split()), done.stdout


@whole
def test_skipped_hooks_are_counted(grabbed):
    """What is not there the kernel has counted: of each such drain there is a record at least."""
    said, head = grabbed.said["skipped"].output, grabbed.head("skipped")
    skipped = int(re.search(r"note: the kernel skipped (\d+) hooks of drains and 0 of switches", said)[1])
    assert 0 < len(grabbed.truth("skipped")) - len(grabbed.samples("skipped")) <= 2 * skipped
    assert head["keys"]["grab.skipped"] == f"{skipped} 0"
    assert any(f"Linux skipped the hook of drains {skipped} times" in loss for loss in head["losses"])
    assert any(" unknown " in head["keys"][f"end.cpu.{cpu}.ds"] for cpu in range(grabbed.machine.cpus))


@whole
def test_throttling_is_told(grabbed):
    """Linux stops an event that has too many samples in a tick. The records of that time are never written."""
    times = int(grabbed.head("throttled")["keys"]["grab.throttled"])
    said = " ".join(grabbed.said["throttled"].output.split())
    all_of_them = known.Known(grabbed.folder / "known", 5).instructions // 1010
    assert times and len(grabbed.samples("throttled")) < all_of_them
    assert f"note: Linux throttled events with PEBS {times} times, " in said, said
    assert f"Linux throttled events with PEBS {times} times: an event" in said and "lost none" not in said, said
    assert any(f"Linux throttled events {times} times" in loss for loss in grabbed.head("throttled")["losses"])
    assert grabbed.head("own")["keys"]["grab.throttled"] == "0"


@whole
def test_branches(grabbed):
    """Each of the program, in their order, and beside them only ways into the kernel. They are the plugin's."""
    if not grabbed.machine.bts:
        what = "branches:u: Linux refuses the event: Invalid argument; newer kernels refuse this period on Nehalem"
        assert what in grabbed.said["path"].output
        return
    paper = known.Known(grabbed.folder / "known", 1)
    lines = list(map(json.loads, grabbed.tool("export", "--to", "json", "path").stdout.splitlines()))
    said = [tuple(int(line[end], 16) for end in ("from", "to")) for line in lines if line["type"] == "branch"]
    assert [branch for branch in said if not branch[1] >> 63] == list(paper.taken())
    assert all(start in paper.name for start, _ in said) and lines[0]["losses"] == []
    assert re.match(rf"path: {len(said)} branches in [1-9]\d* drains?, \d+ switch", grabbed.said["path"].output)
    assert {line["thread"]["name"] for line in lines if line["type"] == "branch"} == {"known"}
    done = grabbed.tool("check", "--plugin", "truth", "path")
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout + done.stderr
    compared = re.search(r"^truth: each branch, and those lost +(\d+) +0 verified$", done.stdout, re.M)
    assert compared and int(compared[1]) > len(said), done.stdout
    shown = grabbed.tool("bts", "path").stdout
    assert f": {len(said)} branches in " in shown and "lost: 0" in shown
    assert re.search(r"^[ ~]+ [slef]\d\+0x0 > (asm|entry)_\w+$", shown, re.M) and " < 0xffff" not in shown


def test_the_source_is_told(grabbed):
    source = f"on QEMU qemu-ds {grabbed.machine.preset}"
    for command in ("dump", "stat", "ds", "profile", "check", "info"):
        said = " ".join(grabbed.tool(command, "own").stdout.replace("\n# ", "\n").split())
        assert source in said and "under a hypervisor (QEMU's TCG): emulated" in said, said[:2000]


def test_programs_have_functions_and_code(grabbed):
    """From their own files: each record of the loop is in a function of the program; the log tells where that was."""
    names = known.labels(grabbed.folder / "known", "[slef][0-9]")
    for log in grabbed.logs:
        ips = {sample["ip"]: sample.get("function") for sample in grabbed.samples(log)}
        of_loop = {ip: name for ip, name in ips.items() if int(ip, 16) in names.values()}
        assert len(of_loop) > 1 and all(names[name] == int(ip, 16) for ip, name in of_loop.items()), ips
        said = grabbed.tool("check", log).stdout
        assert re.search(r"^programs: instructions lie in mapped code +[1-9]\d* +0 consistent$", said, re.M), said


def events(text):
    """{event: {what: said}} of --why; lines that go on are joined."""
    parts = re.sub(r"\n {13}", " ", text).split("\n\n")[1:]
    return {lines[0]: dict(re.findall(r"^  (\S+(?: change)?) +(.*)$", "\n".join(lines[1:]), re.M))
            for lines in map(str.splitlines, parts)}


def test_why_of_one_event(grabbed):
    """It wrote all records of this log; with the time in its records Linux collects them."""
    (name, said), = events(grabbed.said["own"].output).items()
    assert re.fullmatch(f"{grabbed.machine.branches}:up{{1,2}}", name) and "records" in said, grabbed.said["own"].output
    assert said["period"] == "1010" and said["counter"].startswith("PMC")
    assert int(said["records"].split()[0]) == len(grabbed.samples("own")) and said["lost"] == "none"
    told = grabbed.tool("profile", "--event", grabbed.machine.branches, "own")  # the log names it, too
    assert told.returncode == 0 and f"# event {grabbed.machine.branches}:1010:u\n" in told.stdout, told
    drains = said["drains"].split(",")[0]
    assert re.search(f"^own: {len(grabbed.samples('own'))} records of PEBS format {grabbed.machine.format} in {drains} "
                     "drains?, ", grabbed.said["own"].output, re.M), grabbed.said["own"].output
    if grabbed.machine.format >= 3:
        assert said["PEBS"].startswith("yes, large") and said["to change"] == "nothing"
    else:
        assert said["PEBS"].startswith("yes, single") and "the time out" in said["to change"]


@whole
def test_why_of_events_that_cannot_be_collected(grabbed):
    """One has no :p. One has a frequency, and so the third has an interrupt at each record, too."""
    said = events(grabbed.more[0].output)
    by_frequency = next(one for one in said.values() if one.get("frequency") == "1000 a second")
    assert by_frequency["PEBS"].startswith("yes, single") and int(by_frequency["records"].split()[0]) > 1
    assert by_frequency["to change"].startswith("give a fixed period")
    plain = next(one for one in said.values() if one.get("period") == "100003")
    assert plain["PEBS"] == "no: without :p its samples come by interrupts" and "records" not in plain
    assert plain["to change"].startswith("add a p after ") and "event=0x3c," in plain["counts"]
    if grabbed.machine.format >= 3:
        other = next(one for one in said.values() if one.get("period") == "10007")
        assert other["PEBS"].startswith("yes, single") and "event=0xc0," in other["counts"]
        assert other["to change"].startswith("nothing in this event: another PEBS event")


@whole
def test_refusals(grabbed):
    """One message each."""
    for (command, status, what), said in zip(REFUSALS, grabbed.more[3:], strict=True):
        output = " ".join(said.output.split())
        assert said.status == status and f"cairn-grab: {what}" in output, (command, said)
        assert output.count("cairn-grab:") == 1, (command, said)


@whole
def test_lockdown_of_integrity_is_no_obstacle(grabbed):
    assert grabbed.more[2].status == 0 and " records of PEBS format " in grabbed.more[2].output


def cores(report):
    """The report of each kind of core."""
    return re.split(r"^(?=cairn silicon report )", report, flags=re.M)[1:]


def rows(report):
    """{row: (answer, "equal" or "differs") or None, which is not asked}"""
    return {name: said and tuple(re.split(r" +model \S+ +", said)) for name, said in
            re.findall(r"^(\w+) +(?:not asked|(\S+ +model \S+ +(?:equal|differs)))$", report, re.M)}


def asked(report):
    return {name: row for name, row in rows(report).items() if row}


def every_row_is_equal(report, machine):
    """Of each kind of core; it is what docs/silicon has of the preset."""
    assert len(cores(report)) == (2 if machine.preset in guest.HYBRIDS else 1), report
    for core in cores(report):
        assert all(equal == "equal" for _, equal in asked(core).values()), core
        assert len(asked(core)) >= LEAST_ASKED[machine.format], core
    assert all(len(line) <= 80 for line in report.splitlines() if not line.startswith("source: "))
    if machine.preset not in ("penryn", "arrowlake"):  # formats whose other presets have one
        page = guest.ROOT / f"docs/silicon/reports/qemu-ds-{machine.preset}.txt"
        assert ([rows(core) for core in cores(page.read_text(encoding="utf-8"))] ==
                [rows(core) for core in cores(report)])


@whole
def test_every_row_of_the_report_is_equal(grabbed):
    assert grabbed.more[1].status == 0
    every_row_is_equal(grabbed.more[1].output, grabbed.machine)


@pytest.mark.long
def test_a_report_that_takes_long(tmp_path):
    machine = Machine("clearwaterforest", ARCHITECTURAL)
    every_row_is_equal(report_with(tmp_path, machine.preset, ""), machine)


@pytest.mark.long
def test_a_cpu_comes_later(tmp_path):
    """A log has the CPUs that are online when it begins, without those for which Linux only leaves room."""
    online = "/sys/devices/system/cpu/cpu1/online"
    commands = [checks.QUIET, f"{SHOWN}; mkdir /out/files; echo 0 >{online}; cairn-grab -o /out/files/late "
                f"-e instructions:u -c 10007 -- sh -c 'echo 1 >{online}; known 4'"]
    files = {"bin/known": known.assemble(tmp_path), "bin/cairn-grab": GRAB}
    run = guest.run(tmp_path, commands, append="nmi_watchdog=0", smp=2, files=files)
    assert "note: CPU 1 came online during the recording and was not recorded" in run.said[1].output, run.said
    (tmp_path / "late").write_bytes(run.files["late"])
    told = [CAIRN, "export", "--to", "json", tmp_path / "late"]
    done = subprocess.run(told, capture_output=True, text=True, check=True)
    keys = json.loads(done.stdout.splitlines()[0])["keys"]
    assert keys["machine.cpus"] == "1" and "end.cpu.0.ds" in keys and "end.cpu.1.ds" not in keys


def report_with(folder, preset, plugin):
    run = guest.run(folder, [checks.QUIET, REPORT], preset=preset, kernel=checks.kernel(preset),
                    append="nmi_watchdog=0", smp=2, plugin=plugin, files={"bin/cairn-grab": GRAB})
    return run.said[-1].output


@pytest.mark.long
@pytest.mark.parametrize("plugin, row, answer", [
    ("policy.bystander=swapped", "bystander", "swapped"), ("policy.pdist_minimum=128", "pdist_minimum", "128"),
    ("memory=model,memory.l1=48K/12/30", "latency", "other"),
])
def test_a_processor_that_does_otherwise_is_caught(tmp_path, plugin, row, answer):
    """In its own row, and no other."""
    report = report_with(tmp_path, "icelake", plugin)
    different = {name: said for name, said in asked(report).items() if said[1] != "equal"}
    assert different == {row: (answer, "differs")}, report


@pytest.mark.long
@pytest.mark.parametrize("preset", ["skylake", "sapphirerapids", "lunarlake", "pantherlake"])
def test_latencies(tmp_path, preset):
    """With a memory system loads have one, and are sampled."""
    report = report_with(tmp_path, preset, "memory=model" + (",efficient=1" if preset in guest.HYBRIDS else ""))
    performance = asked(cores(report)[0])
    assert performance["latency"] == ("l1", "equal"), report
    assert preset not in guest.HYBRIDS or performance["retire_latency"] == ("sums_up", "equal"), report
    assert all(equal == "equal" for core in cores(report) for _, equal in asked(core).values()), report


def test_linux_warns_of_nothing(grabbed):
    """Where branches are recorded, Linux once had nothing to do at an interrupt, on a busy host: why is not known."""
    said = checks.warnings(grabbed.run.dmesg)
    assert all("NMI received for unknown reason" in line for line in said) and len(said) <= grabbed.machine.bts


@pytest.mark.long
def test_a_kernel_without_architectural_pebs(tmp_path):
    """Refused in a line."""
    commands = [SHOWN, "cairn-grab -o none.log -e branches:u -- true"]
    _, said = guest.run(tmp_path, commands, preset="pantherlake", files={"bin/cairn-grab": GRAB}).said
    assert said.status == 3 and said.output.startswith("cairn-grab: Linux uses no PEBS here")
    assert said.output.count("\n") == 1
