# SPDX-License-Identifier: MIT
"""Faults of the machine in real boots: a function for each row of the fault matrix, which makes one variant and returns
in words what came of it. A variant is Wrong that hangs, resets the machine without a word, or leaves a log that `cairn
check` finds wrong."""

import random
import re
import shutil
import subprocess
import threading
import time

import damage
import machine as m
from machine import cb

RUN = ("ds=soft", "truth=1", "workload=mix", "switches=400", "trace.buffers=64")
ENDLESS = (*RUN[:3], "switches=200000", "seconds=900", "trace.buffers=64")
PATIENCE = 300  # seconds that a machine may take to its end
WRONG = cb.BUILD / "faults" / "wrong.log"  # of the last variant that was
LOCK = threading.Lock()


class Wrong(Exception):
    """The kernel hangs, or lies."""


def cairn(*arguments):
    return subprocess.run([cb.BUILD / "cairn", *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          check=False)


# Rules that a fault breaks by what it is, so that `cairn check` finds it. A panic within what the kernel does for the
# trace: it may have counted what it has not yet done.
COUNTS = {"counts: tried = written + lost, all found", "session: starts, stops, masks in order",
          "epochs consecutive, none within a batch"}
# Of an NMI, within a word of what the kernel writes, too.
INSTANT = COUNTS | {"truth: each PEBS record equal", "frames: all present, checksums correct"}
TIMES = {"time stamps never decrease on a CPU", "PEBS records: size, order, between stamps",
         "epochs consecutive, none within a batch", "truth: each record's thread correct",
         "truth: each PEBS record equal", "truth: each PEBS record, word by word"}  # of a record: its time, too


def check(log, breaks=frozenset()):
    """The trace must be right as far as it goes, but for rules that the fault breaks; a log without one is no lie."""
    if b"\n~" not in log.read_bytes():
        return "no trace"
    done = cairn("check", log)
    wrong = set(re.findall(r"^(\S.*?) +\d+ +\d+ FAILED$", done.stdout, re.M))
    if wrong and wrong <= breaks:
        return "flagged trace"
    if done.returncode:
        failed = "\n".join(re.findall(r"^.*(?:FAIL|missing|differ).*$", done.stdout + done.stderr, re.M))
        raise Wrong(f"`cairn check` fails:\n{failed[:1000]}")
    return "right trace"


def judge(machine, breaks=frozenset(), memory=False):
    """What came of it, in a word: the machine has passed, has failed in a line, or has panicked. The log of one that is
    wrong stays. `memory`: some is gone, which a panic may need, too; and only a panic may break the rules."""
    try:
        return judged(machine, breaks, memory)
    except Wrong:
        shutil.copy(machine.log, WRONG)
        raise


def judged(machine, breaks, memory):
    status = machine.wait(PATIENCE)
    text = machine.text()
    if status is None:
        raise Wrong(f"it hangs:\n{text[-1500:]}")
    if status not in (m.GOOD, m.BAD):
        raise Wrong(f"it ends with status {status} and without a word:\n{text[-1500:]}")
    if memory and status == m.BAD and re.search(r"^PANIC inside a panic: ", text, re.M):
        return "panic inside a panic, no trace"
    panics = re.search(r"^PANIC: CPU ", text, re.M)
    trace = check(machine.log, breaks if panics or not memory else frozenset())
    summary = re.search(r"^SUMMARY: (\d+) passed, (\d+) failed, (\d+) skipped$", text, re.M)
    if not summary:
        raise Wrong(f"it ends with status {status} without a summary:\n{text[-1500:]}")
    if (status == m.GOOD) != (summary[2] == "0"):
        raise Wrong(f"its status is {status}, its summary {summary[0]}")
    if panics:
        return f"panic, {trace}"
    if status == m.BAD:
        return f"FAIL line, {trace}"
    return f"pass, {trace}" if summary[3] == "0" else f"SKIP line, {trace}"


def until(machine, words):
    """Waits until the machine has said it."""
    give_up = time.monotonic() + PATIENCE
    while words not in machine.log.read_bytes():
        if machine.process.poll() is not None or time.monotonic() > give_up:
            raise Wrong(f"it never says '{words.decode()}':\n{machine.text()[-1500:]}")
        time.sleep(0.005)


# ---- interrupts that nobody wants ------------------------------------------------------------------------------------

def at_random(snapshot, seed, words, seconds, *options):
    """(dice, a machine that runs): up to so many seconds after it has said these words."""
    dice = random.Random(seed)
    machine = snapshot.machine(*ENDLESS, f"seed={seed}", *options)
    machine.go()
    until(machine, words)
    time.sleep(dice.uniform(0, seconds))
    return dice, machine


def nmi(snapshot, seed):
    """The button: at any time from the kernel's first words on."""
    _, machine = at_random(snapshot, seed, b"memory: ", 1.5, "nmi=panic")
    machine.qmp.do("inject-nmi")
    outcome = judge(machine, breaks=INSTANT)
    if not outcome.startswith("panic") or len(re.findall(r"^PANIC: .*: unexpected NMI$", machine.text(), re.M)) != 1:
        raise Wrong(f"{outcome}: no panic, or more than one:\n{machine.text()[-1500:]}")
    return outcome


def machine_check(snapshot, seed):
    dice, machine = at_random(snapshot, seed, b"run: workload", 1)
    cpu, bank = dice.randrange(snapshot.cpus), dice.randrange(10)
    address = dice.randrange(1 << 36)
    machine.qmp.say(f"mce {cpu} {bank} {0xb600000000000135:#x} 5 {address:#x} 0")
    outcome = judge(machine, breaks=INSTANT)
    said = f"machine check: bank {bank}: status b600000000000135, address {address:x}, misc 0"
    if not outcome.startswith("panic") or said not in machine.text():
        raise Wrong(f"{outcome}: nothing says '{said}':\n{machine.text()[-1500:]}")
    return outcome


# ---- processors that stand still, clocks that jump -------------------------------------------------------------------

PHASES = ("switch_to", "kswitch_out", "ds_switch", "trace_hub_switch", "trace_ccswap_switch",
          "arch_context_switch", "switched_in", "kwitness_switch", "ds_resume", "ds_pause")
STALL = 10  # seconds


def stall(snapshot, seed):
    """A CPU stands still in a phase of some switch; the others go on, as does time."""
    dice = random.Random(seed)
    machine = snapshot.machine(*RUN)
    gdb, phase = machine.gdb, snapshot.symbols[PHASES[seed % len(PHASES)]]
    gdb.run_to(snapshot.symbols["kworkload_start"])
    gdb.breakpoint(phase)
    for count in range(dice.randrange(5, 200)):
        if count:
            gdb.step_over(thread)
        thread = gdb.go_on()
    gdb.breakpoint(phase, False)
    gdb.run_without(thread, STALL)
    machine.go()
    return judge(machine)


JUMPS = (1 << 20, -(1 << 20), 1 << 32, -(1 << 32), 1 << 45, -(1 << 45), 1 << 62)  # cycles; 2^32 are two seconds


def reads(machine, victim, addresses, switches, jump=0):
    """Runs on until the victim has read its TSC for so many switches. RDTSC at the addresses stops at the debugger,
    which lets it jump."""
    gdb, stamp = machine.gdb, machine.snapshot.rdtsc["switch_to"]
    for address in addresses:
        gdb.breakpoint(address)
    while switches:
        thread = gdb.go_on()
        switches -= thread == victim and gdb.registers()["rip"] in stamp
        gdb.step_over(thread)
        if thread == victim and jump:
            registers = gdb.registers(thread)
            value = (registers["rdx"] << 32 | registers["rax"]) + jump & (1 << 64) - 1
            gdb.set_register("rax", value & 0xFFFFFFFF)
            gdb.set_register("rdx", value >> 32)
    for address in addresses:
        gdb.breakpoint(address, False)


def tsc(snapshot, seed):
    """The TSC of one CPU jumps at a switch, and some switches later it is back."""
    dice = random.Random(seed)
    machine = snapshot.machine(*RUN)
    jump, stamp = JUMPS[seed % len(JUMPS)], snapshot.rdtsc["switch_to"]
    machine.gdb.run_to(snapshot.symbols["kworkload_start"])
    victim = machine.gdb.threads()[seed % snapshot.cpus]
    reads(machine, victim, stamp, dice.randrange(2, 40))
    reads(machine, victim, sum(snapshot.rdtsc.values(), []), dice.randrange(2, 40), jump)
    reads(machine, victim, stamp, 1)
    machine.go()
    outcome = judge(machine, breaks=TIMES)
    if abs(jump) >= 1 << 32 and "flagged" not in outcome:
        raise Wrong(f"{outcome}: nothing says that the time of a CPU jumps by {jump} cycles")
    return outcome


# ---- memory of the Debug Store ---------------------------------------------------------------------------------------

def ds_pages(snapshot):
    """The addresses of all pages of DS areas and buffers: those of a run without a fault."""
    machine = snapshot.machine(*RUN, "bts=interrupt")
    machine.go()
    judge(machine)
    pages = set()
    for cpu in range(snapshot.cpus):
        text = cairn("ds", "--cpu", cpu, machine.log).stdout
        area = int(re.search(r"at 0x([0-9a-f]+) \(IA32_DS_AREA\)", text)[1], 16)
        field = {name: int(value, 16) for name, value in re.findall(r"^ +\w+ (\w+) +([0-9a-f]{16}) ", text, re.M)}
        pages.add(area)
        for kind in "Bts", "Pebs":
            pages.update(range(field[f"{kind}BufferBase"], field[f"{kind}AbsoluteMaximum"], 4096))
    return sorted(pages)


def unmap(machine, address, spare):
    """Takes the page out of the kernel's page tables; `spare`: a page for a table where a larger one was mapped."""
    gdb = machine.gdb
    table = gdb.registers()["cr3"]
    for shift in (39, 30, 21, 12):
        entry_at = (table & 0xFFFFFFFFFF000) + (address >> shift & 511) * 8 + m.DIRECT_MAP
        entry = gdb.word(entry_at)
        if shift > 12 and entry & 0x80:  # a large page
            if shift != 21:
                raise m.Trouble("a page of 1 GiB")
            small = [(entry & ~0x1080 | (entry >> 12 & 1) << 7) + 4096 * n for n in range(512)]
            small[address >> 12 & 511] = 0
            gdb.write(spare + m.DIRECT_MAP, b"".join(e.to_bytes(8, "little") for e in small))
            gdb.write(entry_at, (spare | 0x63).to_bytes(8, "little"))
            break
        if shift == 12:
            gdb.write(entry_at, bytes(8))
        table = entry
    for thread in gdb.threads():  # which flushes its TLB
        gdb.set_register("cr3", gdb.registers(thread)["cr3"])


def ds_memory(snapshot, number):
    with LOCK:
        if not hasattr(snapshot, "pages"):
            snapshot.pages = ds_pages(snapshot)
    if number // 2 >= len(snapshot.pages):
        return None
    machine = snapshot.machine(*RUN, "bts=interrupt")
    spare = machine.gdb.word(machine.info + m.CONFIG)  # the options: they have been read by then
    machine.gdb.run_to(snapshot.symbols["krecording_start" if number % 2 else "krecording_stop"])
    unmap(machine, snapshot.pages[number // 2], spare)
    machine.go()
    return judge(machine, breaks=COUNTS, memory=True)


# ---- where the log goes ----------------------------------------------------------------------------------------------

def serial(snapshot, seed):
    """The other end of the line is gone in the midst of the dump, or does not read on."""
    dice = random.Random(seed)
    machine = snapshot.machine(*RUN, "dump.pace=0", chardev="socket,id=uart,path={base}.uart,server=on,wait=off")
    line = m.connect(machine.log.with_suffix(".uart"), machine.process)
    machine.go()
    said, left = b"", dice.randrange(1, 30000)
    while b"\n~" not in said or len(said[said.index(b"\n~"):]) < left:
        more = line.recv(min(4096, left))
        if not more:
            break
        said += more
    if seed % 2:
        line.close()
    status = machine.wait(PATIENCE)
    line.close()
    machine.log.write_bytes(said)
    if status not in (m.GOOD, m.BAD):
        raise Wrong(f"it ends with status {status}" if status is not None else "it hangs")
    if seed % 2 == 0 and status == m.GOOD:
        raise Wrong("bytes did not get out, and it ends as if all were well")
    if not cairn("check", machine.log).returncode:
        raise Wrong("`cairn check` finds nothing wrong with half a log")
    return f"{'gone' if seed % 2 else 'stuck'}: {'pass' if status == m.GOOD else 'FAIL line'}, flagged trace"


def full_volume(snapshot, seed):
    """save=esp, and the volume has hardly any room, or none."""
    folder = snapshot.folder / f"esp{seed}"
    folder.mkdir()
    left = (0, 4096, 65536, 200000, 1 << 20)[seed % 5]
    wrapper = folder / "qemu"
    wrapper.write_text(f"""#!/bin/bash
for word; do
    case $word in if=none,id=esp,*) stick=${{word#*,file=}}@@1M ;; esac
done
free=$(minfo -i "$stick" :: | sed -n 's/.*free clusters=//p')
size=$(minfo -i "$stick" :: | sed -n 's/^cluster size: \\([0-9]*\\) sectors/\\1/p')
head -c $((free * size * 512 - {left})) /dev/zero | mcopy -i "$stick" - ::/large
exec {m.QEMU} "$@"
""", encoding="ascii")
    wrapper.chmod(0o755)
    result = cb.boot(folder / "run.log", "--raw", "--smp", 1, "--qemu", wrapper, "save=esp", "save.mib=1", "truth=1",
                     "switches=500", cb.UNHURRIED)
    saved, console = folder / "run-esp.log", result.console()
    if saved.exists():
        if result.status != cb.PASS:
            raise Wrong(f"there is a log, and it fails: {result.output[-1000:]}")
        return f"saved, {check(saved)}"
    name = "cairn-000.log" if left else "cairn.run"  # the loader's note to the next start is first, and small
    if result.status != cb.FAIL or f"FAILED: \\{name}: cannot be written" not in console:
        raise Wrong(f"status {result.status}, no log, and nothing says so:\n{console[-1500:]}")
    return "not saved, FAIL line"


# ---- allocations -----------------------------------------------------------------------------------------------------

def pages(snapshot, number):
    """The number-th call of the function that allocates pages says that there are none. None: there are fewer calls."""
    machine = snapshot.machine(*RUN, "dump=live", "session.restarts=4", "session.2=full:tsc:circular:4:16")
    gdb, take = machine.gdb, snapshot.symbols["kpage_bitmap_take_aligned"]
    gdb.breakpoint(take)
    try:
        for count in range(number):
            if count:
                gdb.step_over(thread)
            thread = gdb.go_on()
    except EOFError:  # it has ended
        judge(machine)
        return None
    gdb.breakpoint(take, False)
    registers = gdb.registers()
    gdb.set_register("rax", (1 << 64) - 1)  # KPAGE_BITMAP_NONE
    gdb.set_register("rip", gdb.word(registers["rsp"]))
    gdb.set_register("rsp", registers["rsp"] + 8)
    machine.go()
    return judge(machine)


# ---- what firmware says ----------------------------------------------------------------------------------------------

def acpi(snapshot, seed):
    machine = snapshot.machine(*RUN)
    what = damage.damage_tables(machine, random.Random(seed))
    machine.go()
    try:
        return judge(machine)
    except Wrong as wrong:
        raise Wrong(f"{what}: {wrong}") from wrong


def memory_map(snapshot, seed):
    """As the loader reads it: for its tables, and for the kernel."""
    machine = snapshot.machine()
    damage.damage_map(machine.gdb, random.Random(seed))
    try:
        machine.gdb.run_to(*snapshot.convert)
        damage.damage_map(machine.gdb, random.Random(seed))
        machine.gdb.run_to(snapshot.symbols["kernel_main"])
        machine.begin(RUN)
        machine.go()
    except (EOFError, OSError):
        pass
    return judge(machine)


def at_memory_map(folder):
    snapshot = m.Snapshot(folder, loader="boot_paging_build")
    machine = snapshot.machine()
    snapshot.convert = snapshot.in_loader(machine, "boot_memory_convert")
    machine.kill()
    return snapshot
