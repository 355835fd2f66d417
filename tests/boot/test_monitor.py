# SPDX-License-Identifier: MIT
"""The monitor: its transcript, wrong arguments, noise, a panic, a script, a keyboard. CAIRN_UPDATE=1 writes
samples/monitor.txt again from what the machine says to its commands."""

import os
import pty
import re
import subprocess

import pytest

import cairn_boot as cb
import cairn_screen as cs
from cairn_log import checked
from cairn_noise import LAST, noise

SAMPLE = cb.ROOT / "samples" / "monitor.txt"
MACHINE = ("--smp", 2, "workload=pingpong", "switches=1000", cb.UNHURRIED)
FIRST = "monitor: before the run"


def talk(log, commands, *options):
    """A boot with the monitor, which gets these lines on standard input."""
    return cb.boot(log, "--monitor", *options, data="".join(f"{line}\n" for line in commands).encode())


def conversation(output):
    """From the first prompt to the last one that is answered."""
    lines = output[output.index(FIRST):].splitlines()
    last = max(i for i, line in enumerate(lines) if line.startswith("cairn> "))
    return lines[:last + 1]


def masked(lines):
    """Without what differs from build to build and from run to run: addresses, times, code. Behind a breakpoint, which
    any thread may come to first, also without who runs where, without values, and of a batch there is a word."""
    out = []
    at_break = False
    for line in lines:
        line = re.sub(r"\b(0x)?(ffff|7fff|00007fff)[0-9a-f]{8,12}\b|\b0x4[0-9a-f]{5}\b", "ADDRESS", line)
        line = re.sub(r"^(ADDRESS +)([0-9a-f]{8} ?)+ .*", r"\1CODE", line)
        line = re.sub(r"^( +\d+  \S+ +0x\S+ +)\d+$", r"\1TSC", line)
        line = re.sub(r"^( +18 TSC +).*", r"\1TSC", line)
        line = re.sub(r": \d+ switches", ": SOME switches", line)
        line = re.sub(r"  cpu \d ", "  cpu N ", line)
        if "at breakpoint" in line:
            at_break = True
        if at_break and not line.startswith("cairn> "):
            line = re.sub(r"thread \d+ \(\S+\)", "thread N (NAME)", line)
            line = re.sub(r"CPU \d", "CPU N", line)
            line = re.sub(r"^\*(.*)", r" \1", re.sub(r"base( \+ .*)?$", "base + SOME", line))
            line = "PICTURE" if re.match(r"^ +([#._^-]|\S+ \^)", line) else line
            line = "BATCH" if re.match(r"^ +[0-9a-f]+ ([0-9a-f]{4,16} |TidTable|FirstTime)|^(open|no) batch", line) \
                else line
        if line not in ("BATCH", "PICTURE") or out[-1] != line:
            out.append(line)
    return out


def test_transcript(tmp_path):
    """samples/monitor.txt, through which docs/learn/monitor.md walks, is what the machine says."""
    sample = SAMPLE.read_text(encoding="utf-8").splitlines()
    commands = [line.removeprefix("cairn> ") for line in sample if line.startswith("cairn> ")]
    result = talk(tmp_path / "log", commands, *MACHINE, "ds=soft")
    assert result.status == cb.PASS, result.output
    checked(result.log)
    said = conversation(result.output)
    if os.environ.get("CAIRN_UPDATE"):
        SAMPLE.write_text("\n".join(said) + "\n", encoding="utf-8")
    assert masked(said) == masked(sample)


WRONG = [
    "help nonsense", "explain", "explain x y", "explain nothing", "cpu x", "cpu 99", "cpu 1 2", "go on", "quit now",
    "msr", "msr NOTHING", "msr 0x", "msr 0x99999999999", "msr 1 2 3", "msr 0x174 1", "msr IA32_PERF_CAPABILITIES 1",
    "msr IA32_PEBS_ENABLE 0xffffffffffffffff", "mem", "mem x", "mem 0", "mem 0xffffffffffffffff 1024",
    "mem 0xffff800000000000 99999", "mem krun+zz", "mem 0x800000000000", "poke", "poke krun 1", "poke 0 1",
    "poke kopt 1 3", "poke kopt 0x100 1", "poke kopt x", "counters 1", "ds 1", "records x", "records 1 2", "records 7",
    "event", "event x", "event INST_RETIRED.ANY", "event INST_RETIRED.ANY:0", "event INST_RETIRED.ANY:5,,",
    "event off off", "step x", "step 99999999999999999999", "step 0", "step 10001", "step overflow", "step switch",
    "step 1 2", "threads 1", "queues 1", "batch 1", "sessions 1", "session", "session 1", "session x start",
    "session 9 start", "session 0 stop", "session 1 new", "session 1 new compact", "session 2 start", "session 1 stop",
    "session 1 change", "session 1 start nothing", "session 1 fly", "dump now", "break nothing", "break 0",
    "break krun", "break switch pmi", "break record", "break kopt", "a " * 30, "\t\t\t", "x" * 500,
]


def test_wrong_arguments_and_a_panic(tmp_path):
    """Each is answered with a line, and then the machine runs as ever; after the panic, too."""
    lines = [*WRONG, "cpu", "go", "threads", "batch", "records", *WRONG, "cpu", "go"]
    result = talk(tmp_path / "log", lines, *MACHINE, "ds=soft", "panic=now", "truth=1")
    assert result.status == cb.FAIL and "PANIC: CPU" in result.output, result.output
    said = result.output.split("cairn> ")
    for line in WRONG:
        if line.strip() and len(line) < 70:
            answers = [answer for answer in said if answer.startswith(line.strip() + "\n")]
            assert len(answers) == 2 and all(len(answer.splitlines()) > 1 for answer in answers), (line, answers)
    assert result.output.count(" of 2; the monitor runs on CPU ") == 2
    assert "FAIL: panic: asked for with panic=now" in result.output
    checked(result.log)


def with_noise(tmp_path, data, *options):
    result = cb.boot(tmp_path / "log", "--monitor", *MACHINE, *options,
                     data=data + LAST + b"go\n")
    assert result.status == cb.PASS, result.output[-3000:]
    assert "PANIC" not in result.output and "0 failed" in result.output
    checked(result.log)


@pytest.mark.parametrize("size, options", [(4000, ["truth=1"]), cb.long(1000000, [])])
def test_noise(tmp_path, size, options):
    """Commands of the long one take as long as the host does: the truth would need more memory than there is."""
    with_noise(tmp_path, noise(size, size), "ds=soft", *options)


@pytest.mark.long
def test_no_line_ends(tmp_path):
    """A megabyte without one."""
    with_noise(tmp_path, bytes(b for b in noise(3, 1000000) if b not in b"\r\n"), "ds=soft")


def test_script(tmp_path):
    """Behind its last line the run goes on; a breakpoint goes on with what is left of it."""
    script = tmp_path / "commands"
    script.write_bytes(b"# of Windows, too\r\ncpu 1\r\nevent INST_RETIRED.ANY:3\nstep pmi\n\xff\x1b[A\n"
                       b"break switch\ngo\n"
                       b"batch\nbreak off\ngo")
    result = cb.boot(tmp_path / "log", "--script", script, *MACHINE, "ds=soft", "truth=1")
    assert result.status == cb.PASS, result.output
    assert re.search(r"commands come from the script; .*cairn> cpu 1\nCPU 1 of 2"
                     r".*PMIs: 1, drains: 1, records drained: 4"
                     r".*'\?\?\[A' is not a command.*at breakpoint switch.*cairn> break off\nno breakpoint is set\n",
                     result.output, re.S), result.output
    checked(result.log)


def test_steps_stop_at_each_record_and_overflow(tmp_path):
    """At the record that reaches the threshold, which is drained in its step, too; and with period 1, where precise
    distribution leaves the counter as it was."""
    lines = ["event INST_RETIRED.ANY:3", *5 * ["step record"], "event INST_RETIRED.ANY:1", *2 * ["step overflow"],
             "event BR_INST_RETIRED.ALL_BRANCHES:1", *2 * ["step overflow"], "step 0", "quit"]
    result = talk(tmp_path / "log", lines, *MACHINE, "ds=soft")
    assert re.findall(r"^(?:step (\d+): |usage: step)", result.output, re.M) == \
        ["3", "6", "9", "12", "15", "1", "2", "5", "9", ""], result.output


def test_keyboard(tmp_path):
    """A machine without a serial port: keys by QEMU's keyboard, answers on the screen."""
    with cs.Machine(tmp_path, *MACHINE, "ds=soft", "serial=none", "monitor=on", "end=halt") as machine:
        machine.wait_for("commands come from the keyboard")
        for key in ("c", "p", "x", "backspace", "u", "spc", "1"):
            machine.qmp.command("send-key", keys=[{"type": "qcode", "data": key}])
        machine.wait_for("cairn> cpu 1_")
        machine.qmp.command("send-key", keys=[{"type": "qcode", "data": "ret"}])
        machine.wait_for("CPU 1 of 2; the monitor runs on CPU 0")
        for key in ("g", "o", "ret"):
            machine.qmp.command("send-key", keys=[{"type": "qcode", "data": key}])
        said = cs.text(machine.wait_for("halted: you can switch"))
    assert re.search(r"^SUMMARY: \d+ passed, 0 failed", said, re.M), said


@pytest.mark.long
def test_terminal(tmp_path):
    """At a terminal each key goes to the machine, whose echo is all that is seen; frames are not. Ctrl-] ends it."""
    master, terminal = pty.openpty()
    command = ["./run-qemu.sh", "--monitor", "--log", tmp_path / "log", *MACHINE, "ds=soft", "dump.line=8bit"]
    with subprocess.Popen(list(map(str, command)), cwd=cb.ROOT, stdin=terminal, stdout=terminal, stderr=terminal,
                          start_new_session=True, env={**os.environ, "CAIRN_BUILD": str(cb.BUILD)}) as process:
        os.close(terminal)
        seen = ""

        def until(word):
            nonlocal seen
            while word not in seen:
                seen += os.read(master, 65536).decode(errors="replace")
            before, seen = seen[:seen.index(word)], seen[seen.index(word) + len(word):]
            return before

        assert "cairn> " not in until("help lists them")
        until("cairn> ")
        os.write(master, b"cpx\x7fu")
        until("cpx")
        os.write(master, b" 1\r")
        until("CPU 1 of 2; the monitor runs on CPU 0")
        os.write(master, b"\x1b[A\r")  # the history
        until("CPU 1 of 2; the monitor runs on CPU 0")
        os.write(master, b"session 1 start\rsession 1 stop\rdump\r")
        assert not re.search(r"^~[A-Z]", until("dump: done"), re.M)
        os.write(master, b"\x1d")
        until("interrupted")
        assert process.wait() == cb.INTERRUPTED
    os.close(master)
