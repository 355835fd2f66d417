# SPDX-License-Identifier: MIT
"""`cairn export --to perf.data`: each perf that is here reads of it what `--to json` tells, sample by sample.
CAIRN_PERF is another one, as a command: of a later release, with its own libraries."""

import json
import os
import re
import struct
import subprocess
from collections import Counter

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, KERNEL, SAMPLES, build_id, cairn, damaged, errors_of, events, patch, with_keys
from make_profile import Profile
from record_log import log as log_of

ROOT = cairn_boot.BUILD / "linux" / "root"  # of `make deps-ds`: Debian 13's
LIBRARIES = ROOT / "usr" / "lib" / "x86_64-linux-gnu"
JUDGES = {"host": ["perf"], "guest": [LIBRARIES / "ld-linux-x86-64.so.2", "--library-path", LIBRARIES,
                                      ROOT / "usr" / "bin" / "perf"]}
if "CAIRN_PERF" in os.environ:
    JUDGES["named"] = os.environ["CAIRN_PERF"].split()
UNKNOWN = 2**31 - 1  # TIDs of unknown threads are below
WHY = ["", "same clock unit", "several threads", "switches lost", "last switch", "no time", "no stamp", "none sampled"]
REGISTERS = {"FLAGS": "RFLAGS", **{f"R{n}": f"R{n}" for n in range(8, 16)},
             **{name: f"R{name}" for name in ("AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP")}}


@pytest.fixture(name="perf", params=JUDGES)
def a_perf(request):
    def run(*arguments):
        done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              check=False, stdin=subprocess.DEVNULL, env={**os.environ, "PAGER": "cat", "HOME": "/"})
        assert done.returncode == 0, done.stderr
        return done.stdout

    command = JUDGES[request.param]
    try:
        run("version")
    except FileNotFoundError:
        if os.environ.get("CI"):
            pytest.fail("no perf: run 'make deps deps-ds'")
        pytest.skip("no perf: run 'make deps deps-ds'")
    return run


def export(folder, source, *options, data=None):
    """The file, and what JSON tells."""
    path = folder / "t.data"
    done = cairn("export", "--to", "perf.data", *options, source, "-o", path, data=data)
    assert not done.stdout and b"Sanitizer" not in done.stderr, done.stderr.decode()
    other = cairn("export", "--to", "json", source, data=data)
    assert (done.returncode, done.stderr) == (other.returncode, other.stderr)
    return path, [json.loads(line) for line in other.stdout.decode().splitlines()]


def script(perf, path, fields, *options):
    """The lines of what the file itself holds."""
    return perf("script", "-i", path, "--ns", "--no-itrace", "-F", fields, *options).splitlines()


def counted(lines):
    """(CPU, counter's bit): the event, as the log's keys tell."""
    keys, at = lines[0]["keys"], {}
    for cpu in range(lines[0]["cpus"]):
        for i, number in enumerate(keys.get(f"ds.cpu.{cpu}.counters", "").split()):
            name, period, *rest = keys[f"ds.event.{i}"].split(":")
            if "plain" not in rest:
                at[cpu, int(number)] = name, int(period)
    return at


def tid_of(line):
    return line["thread"]["tid"] if "thread" in line else UNKNOWN - WHY.index(line["no_thread"])


def shift_of(lines):
    """So many seconds later are the file's times: none is below 0."""
    return max(0, *(-line["ns"] for line in lines if line["type"] == "sample"), 0) // 10**9 * 10**9


def is_emulated(lines):
    return lines[0].get("emulated_ds") or lines[0]["keys"].get("machine.emulated") == "1"


def samples_of(lines):
    """As perf prints them."""
    events_of, emulated = counted(lines), "/emulated/" if is_emulated(lines) else ""
    for line in lines:
        if line["type"] != "sample":
            continue
        bits = int(line["record"].get("counters", line["record"].get("status", "0")), 16)
        names = [event for (cpu, bit), event in sorted(events_of.items()) if cpu == line["cpu"] and bits >> bit & 1]
        for name, period in names:
            yield (tid_of(line), line["cpu"], line["ns"] + shift_of(lines), period, name + emulated,
                   int(line["ip"], 16), line.get("function", "[unknown]"))


SAMPLE = re.compile(r" *(-?\d+) \[(\d+)\] +(\d+)\.(\d{9}): +(\d+) +(\S+): +([0-9a-f]+) (\S+)")
SWITCH = re.compile(r" *(-?\d+) \[(\d+)\] +(\d+)\.(\d{9}): PERF_RECORD_SWITCH_CPU_WIDE (OUT preempt|OUT|IN) +"
                    r"\w+ pid/tid: +(-?\d+)/")


@pytest.mark.parametrize("log", [GOLDEN / "small.log", GOLDEN / "full.log", GOLDEN / "lost.log", GOLDEN / "arch.log",
                                 GOLDEN / "hw.log", SAMPLES / "plain.log", SAMPLES / "life.log",
                                 SAMPLES / "damaged.log"], ids=lambda path: path.name)
def test_samples_and_switches(tmp_path, perf, log):
    path, lines = export(tmp_path, log)
    text = script(perf, path, "tid,cpu,time,event,ip,sym,period", "--show-switch-events", "--show-lost-events")
    got = [(int(m[1]), int(m[2]), int(m[3] + m[4]), int(m[5]), m[6], int(m[7], 16), m[8])
           for m in map(SAMPLE.match, text) if m]
    assert got and got == list(samples_of(lines))
    switches = [(int(m[1]), int(m[2]), int(m[3] + m[4]), m[5], int(m[6])) for m in map(SWITCH.match, text) if m]
    expected = []
    for line in lines:
        if line["type"] != "switch":
            continue
        old, new, at = line["old"]["tid"], line.get("new", {}).get("tid"), (line["cpu"], line["ns"] + shift_of(lines))
        running = old and line.get("state") not in ("Waiting", "GateWait", "Terminated", "Transition", None)
        expected.append((old, *at, "OUT preempt" if running else "OUT", -1 if new is None else new))
        if new is not None:
            expected.append((new, *at, "IN", old))
    assert switches == expected
    lost = sum(line["type"] == "lost" and line["kind"] not in ("maybe", "stopped") for line in lines)
    assert sum("PERF_RECORD_LOST lost" in line for line in text) == lost
    report = perf("report", "-i", path, "--stdio")
    gone = sum(line.get("lost", 0) for line in lines if line["type"] == "drain")
    assert f"# Total Lost Samples: {gone}" in report
    top = perf("report", "-i", path, "--stdio", "--no-itrace", "--sort", "sym", "-F", "sample,sym", "-q")
    shown = Counter()
    for found in re.finditer(r"^ +(\d+) +\[k\] (\S+) *$", top, re.M):
        shown[found[2]] += int(found[1])
    assert shown == Counter(name for *_, name in samples_of(lines))


@pytest.mark.parametrize("keys, name", [
    ({"ds.event.0": f"{'E' * 200}:1000:uk"}, "E" * 120),
    ({"ds.event.0": "PLAIN:1000:uk:plain", "ds.event.1": "OTHER:7:uk", "ds.cpu.0.counters": "0 0",
      "ds.cpu.1.counters": "0 0"}, "OTHER")], ids=["long", "doubled"])
def test_each_sample_has_an_event(tmp_path, perf, keys, name):
    """Also where the log's name of it is too long, or two events are on one counter."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    with_keys(parts, keys)
    path, lines = export(tmp_path, "-", data=frames.write(parts))
    got = Counter(line.split(":")[0].strip() for line in script(perf, path, "event,ip"))
    assert got == {f"{name}/emulated/": sum(line["type"] == "sample" for line in lines)}


@pytest.mark.parametrize("log", ["small", "fragments"])
def test_registers_and_branches(tmp_path, perf, log):
    path, lines = export(tmp_path, GOLDEN / f"{log}.log")
    records = [line["record"] for line in lines if line["type"] == "sample"]
    got = [dict(re.findall(r"(\w+):0x([0-9a-f]+)", line)) for line in script(perf, path, "ip,iregs") if "ABI:2" in line]
    assert len(got) == len(records)
    for registers, record in zip(got, records):
        assert {name: int(registers[name], 16) for name in REGISTERS} == \
            {name: int(record[word], 16) for name, word in REGISTERS.items()}
    if log == "fragments":
        got = [re.findall(r"0x([0-9a-f]+)/0x([0-9a-f]+)/", line) for line in script(perf, path, "ip,brstack")]
        assert [[(int(a, 16), int(b, 16)) for a, b in line] for line in got if line] == [
            [(int(r[f"{i}.from"], 16), int(r[f"{i}.to"], 16)) for i in range(64) if f"{i}.from" in r]
            for r in records]


@pytest.mark.parametrize("log", [SAMPLES / "branches.log", GOLDEN / "bts.log", GOLDEN / "ring.log"],
                         ids=lambda path: path.name)
def test_branches_of_bts(tmp_path, perf, log):
    """perf's own decoder reads all of them, each thread's in order, and names those that were lost."""
    path, lines = export(tmp_path, log)
    threads = {}
    for line in perf("script", "-i", path, "--itrace=b").splitlines():
        if found := re.search(r" (\d+) +1 +branches\S* +([0-9a-f]+) .* => +([0-9a-f]+) ", line):
            threads.setdefault(int(found[1]), []).append((int(found[2], 16), int(found[3], 16)))
    told = {}
    for line in lines:
        if line["type"] == "branch":
            told.setdefault(line["thread"]["tid"], []).append((int(line["from"], 16), int(line["to"], 16)))
    assert threads and threads == told
    lost = sum(line["type"] == "branch_drain" and line["reason"] != "start" and bool(line.get("lost", 1))
               for line in lines)
    assert perf("script", "-i", path, "--itrace=be").count("Lost trace data") == lost


# Of Linux' union perf_mem_data_src
LOAD, NO_BLOCK = 2, 1 << 40
HITM, SNOOP_NONE = 0x10 << 19, 2 << 19
L3 = (2 | 0x40) << 5 | 3 << 33
UNTOLD, TLB_MISS, TLB_HIT, LOCKED = 1 << 26 | 1 << 24, 0x14 << 26, 0x1A << 26, 2 << 24


@pytest.mark.parametrize("form, signature, source, expected, level", [
    (1, 0x106A5, 0x16, LOAD | L3 | HITM | UNTOLD | NO_BLOCK, "L3"),
    (1, 0x306A9, 0x37, LOAD | L3 | HITM | TLB_MISS | LOCKED | NO_BLOCK, "L3"),
    (3, 0x506E3, 0x1B, LOAD | (2 | 0x100) << 5 | 0xD << 33 | 1 << 37 | SNOOP_NONE | TLB_MISS | NO_BLOCK, "Remote RAM"),
    (4, 0x706E5, 0x01, LOAD | (2 | 8) << 5 | 1 << 33 | SNOOP_NONE | TLB_HIT | NO_BLOCK, "L1"),
    (4, 0x806F8, 0xC2, LOAD | (2 | 0x10) << 5 | 0xC << 33 | SNOOP_NONE | TLB_HIT | 6 << 40, "LFB"),
])
def test_memory(tmp_path, perf, form, signature, source, expected, level):
    """What Linux would say of such a load's source; its address and latency."""
    keys = f"ds.emulated=0\nds.detect.hw.0.0=CPUID.01H:EAX family and model|0x{signature:x}|ok|\n"
    name = "MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD" if signature == 0x106A5 else "MEM_TRANS_RETIRED.LOAD_LATENCY"
    parts = frames.read(log_of(form, keys=keys, name=name))
    held = next(e[:2] for e in events(parts) if parts[e[0]][1][e[1] + 16] == 2)
    words = {0x90: 1, 0x98: 0x1234000, 0xA0: source, 0xA8: 87} if form < 4 else \
        {0x10: 1, 0x20: 0x1234000, 0x28: source, 0x30: 87}
    for offset, value in words.items():
        patch(parts, held, 16 + 0x18 + offset, struct.pack("<Q", value))
    path, _ = export(tmp_path, "-", data=frames.write(parts))
    first = script(perf, path, "event,addr,data_src,weight")[0]
    found = re.match(rf" *{name}: +([0-9a-f]+) +([0-9a-f]+) +\|OP LOAD\|.* (\d+)$", first.rstrip())
    assert (int(found[1], 16), int(found[2], 16), int(found[3])) == (0x1234000, expected, 87)
    assert level in perf("mem", "report", "-i", path, "--stdio", "--sort", "mem", "-q")


def of_this_build(log):
    """The same log, as if the kernel that was built here had written it: all of its code is in the file."""
    parts = frames.read(log.read_bytes())
    with_keys(parts, {"kernel.build_id": build_id(), "kernel.base": "0xffffffff80000000", "kernel.size": 0x200000})
    return frames.write(parts)


def test_functions_of_the_kernels_file(tmp_path, perf):
    """With --elf they come from there, where perf finds lines and instructions, too."""
    data = of_this_build(GOLDEN / "small.log")
    path, lines = export(tmp_path, "-", "--elf", KERNEL, data=data)
    own = {line.get("function") for line in lines}  # in the log alone: of another kernel
    told = [json.loads(line) for line in
            cairn("export", "--to", "json", "--elf", KERNEL, "-", data=data).stdout.splitlines()]
    names = [m[8] for m in map(SAMPLE.match, script(perf, path, "tid,cpu,time,event,ip,sym,period", "-k", KERNEL)) if m]
    expected = [line["function"] for line in told if line["type"] == "sample"]
    assert names == ["[unknown]" if name in own else name for name in expected] and not own.issuperset(expected)
    assert f"{build_id()} [kernel.kallsyms]" in perf("buildid-list", "-i", path)


def test_programs_of_ring_3(tmp_path, perf):
    """What they execute is a section of that file, which each of them sees at the same address."""
    path, lines = export(tmp_path, "-", "--elf", KERNEL, data=of_this_build(SAMPLES / "branches.log"))
    sections = subprocess.run(["readelf", "-SW", KERNEL], capture_output=True, text=True, check=True).stdout
    offset, size = (int(word, 16) for word in re.search(r" \.user +PROGBITS +\w+ (\w+) (\w+)", sections).groups())
    maps = re.findall(r"PERF_RECORD_MMAP2 (\d+)/\1: \[0x400000\((\w+)\) @ (\w+) <(\w+)>\]: r-xp (\S+)",
                      perf("script", "-i", path, "--no-itrace", "--show-mmap-events"))
    programs = {line["thread"]["tid"] for line in lines if line["type"] == "branch" and int(line["from"], 16) < 2**63}
    assert programs and programs <= {int(m[0]) for m in maps}
    assert {m[1:] for m in maps} == {(hex(size), hex(offset), build_id(), str(KERNEL.resolve()))}


def test_programs_of_a_linux(tmp_path, perf):
    """A log of cairn grab says where they had code, and perf finds functions in their files; here it is cairn's."""
    program, base = cairn_boot.BUILD / "cairn", 0x10000000
    text = subprocess.run(["readelf", "-lsW", program], capture_output=True, text=True, check=True).stdout
    offset, address, size = (int(word, 16) for word in
                             re.search(r" LOAD +(\w+) (\w+) \w+ (\w+) \w+ R E", text).groups())
    main = int(re.search(r": (\w+) +\d+ FUNC +GLOBAL \w+ +\w+ main$", text, re.M)[1], 16)
    parts = frames.read((GOLDEN / "hw.log").read_bytes())
    frame, at = next(e[:2] for e in events(parts) if e[2] == 0xCA01 and parts[e[0]][1][e[1] + 16] == 2)
    patch(parts, (frame, at), 16 + 0x18 + 8, struct.pack("<Q", base + main - address))
    threads = {line["tid"] for line in export(tmp_path, GOLDEN / "hw.log")[1] if line["type"] == "thread"} - {0}
    with_keys(parts, {f"grab.process.{tid}": 7 for tid in threads} |
              {"grab.map.0": f"7 {base:#x} {base + size:#x} {offset:#x} {program}",
               "grab.map.1": "7 0x20000000 0x20001000 0x0 /of/elsewhere", "grab.build_id.1": "0badc0de" * 4})
    path, _ = export(tmp_path, "-", data=frames.write(parts))
    assert " main " in perf("script", "-i", path, "--no-itrace", "-F", "ip,sym,dso")
    shown = perf("script", "-i", path, "--no-itrace", "--show-mmap-events")
    assert shown.count(f"r-xp {program}") == len(threads)
    assert shown.count(f"<{'0badc0de' * 4}>]: r-xp /of/elsewhere") == len(threads)


@pytest.mark.parametrize("bits", [32, 64])
def test_samples_of_windows_have_their_stacks(tmp_path, perf, bits):
    """Each thread, and whose each address is, of the kernel or of the program, the innermost first."""
    maker = Profile(bits=bits)
    path = export(tmp_path, "-", data=maker.make())[0]
    found, expected = Counter(), Counter()
    for sample in perf("script", "-i", path, "-F", "comm,tid,ip,dso", "--max-stack", "200").strip().split("\n\n"):
        head, *frames_ = sample.splitlines()
        found[head.split()[-1], *(re.search(r"\((.*)\)$", frame)[1] for frame in frames_)] += 1
    for line, count in maker.folded.items():
        thread, *places = (part for part in line.split(";") if part != "[...]")
        names = [place.partition("+")[0] for place in reversed(places)]
        tid = thread.rpartition(":")[2].replace("idle", "0")
        expected[tid, *(f"[{name}]" if name == "driver.sys" else name for name in names)] += count
    assert found == expected


@pytest.mark.parametrize("seed", range(6))
def test_hostile(tmp_path, seed):
    path, _ = export(tmp_path, "-", data=damaged(seed, ["bts", "full", "fragments", "lost", "arch"]))
    assert path.read_bytes().startswith(b"PERFILE2")


def test_what_it_was_made_from(tmp_path, perf):
    path, lines = export(tmp_path, GOLDEN / "small.log")
    header = perf("report", "-i", path, "--header-only")
    assert lines[0]["emulated_ds"] and "PEBS and BTS are emulated" in header
    assert "cmdline : cairn export --to perf.data" in header and "arch : x86_64" in header
    parts = frames.read((GOLDEN / "hw.log").read_bytes())
    with_keys(parts, {"machine.emulated": 0})
    path, lines = export(tmp_path, "-", data=frames.write(parts))
    assert not is_emulated(lines) and "emulated" not in perf("report", "-i", path, "--header-only")


def test_the_same_log_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        assert cairn("export", "--to", "perf.data", GOLDEN / "bts.log", "-o", tmp_path / name).returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    done = cairn("export", "--to", "perf.data", GOLDEN / "small.log", "-o", "/dev/null")
    assert done.returncode == 2 and "is not a regular file" in errors_of(done)
