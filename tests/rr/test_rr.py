# SPDX-License-Identifier: MIT
"""Debian's rr under qemu-ds. A replay runs the program again and gives it each signal and each switch of threads after
as many conditional branches as in the recording; rr compares the registers there. So a count that is off by one fails,
and so does an interrupt that comes too late. Beside that each replay must print what the recording did, which is
another thing at each run (programs.c)."""

import os
import re

import guest
import pytest

PROGRAM = guest.BUILD / "rr-programs"
REPLAYS = int(os.environ.get("RR_REPLAYS", 10))
OWN = {"clock": 3, "threads": 0, "turns": 0, "race": 0, "spin": 0, "alarm": 0, "profile": 0, "fault": 2, "abort": 134,
       "tree": 0, "spawn": 0, "pipe": 0, "sockets": 5, "shared": 0, "files": 0, "numbers": 0, "strings": 0}
PYTHON = ("import os, threading, time; found = []; "
          "run = lambda: found.append((time.time_ns(), hash(str(time)))); "
          "threads = [threading.Thread(target=run) for i in range(4)]; "
          "[t.start() for t in threads]; [t.join() for t in threads]; print(found, os.getpid(), {*map(str, range(9))})")
OTHERS = {
    "list": ("ls -l --full-time /proc/self /dev/pts", 0),
    "pipeline": ("bash -c 'seq 300 | sort -R | head -n 20 | tr \"\\n\" \" \"; echo $RANDOM $$; exit 7'", 7),
    "python": (f"python3 -c '{PYTHON}'", 0),
}
PROGRAMS = {**{name: (f"rr-programs {name}", status) for name, status in OWN.items()}, **OTHERS}
FILES = {"bin/rr-programs": PROGRAM}

# What is recorded is told line by line, and each replay by a line of its own. rr ends with the status of the program
# where it records, and with 0 where a replay came to the end; what the program ended with `rr ps` says.
CHECK = b"""#!/bin/sh
replays=$1; shift
rr record -o /tmp/check "$@" >/tmp/recorded 2>/tmp/messages
echo "recorded: $?"
rr ps /tmp/check | sed -n 2p
for i in $(seq $replays); do
    rr replay -a /tmp/check >/tmp/replayed 2>/tmp/messages
    echo "replayed: $?"
    cmp /tmp/recorded /tmp/replayed || tail -n 20 /tmp/messages
done
wc -c </tmp/recorded
rm -rf /tmp/check
"""

APPEND = "pti=off nmi_watchdog=0 tsc=reliable"
# From Comet Lake on rr wants that counters stop while the firmware has the processor.
FREEZE = "f=/sys/devices/cpu/freeze_on_smi; [ ! -e $f ] || echo 1 >$f"


def boot(folder, names, replays, preset, smp=1):
    others = ("bash", "python3", "ls", "seq", "sort", "head", "tr") if set(names) & set(OTHERS) else ()
    run = guest.run(folder, [FREEZE, *(f"rr-check {replays} {PROGRAMS[name][0]}" for name in names)],
                    preset=preset, append=APPEND, smp=smp, files={**FILES, "bin/rr-check": CHECK},
                    programs=("rr", *others), timeout=guest.LIMIT * replays)
    for name, said in zip(names, run.said[1:]):
        status = PROGRAMS[name][1]
        first, process, *replayed, size = said.output.splitlines()
        assert first == f"recorded: {status}", (name, said.output)
        assert process.split()[2] == str(status if status < 128 else 128 - status), (name, said.output)
        assert replayed == ["replayed: 0"] * replays and int(size) > 0, (name, said.output)
    return run


def test_threads(tmp_path):
    boot(tmp_path, ["threads"], 1, "skylake")


def halves():
    """Two boots, for two workers, that take about the same time."""
    names = sorted(PROGRAMS)
    return [pytest.param(names[half::2], marks=pytest.mark.xdist_group(f"rr{half}"), id=str(half)) for half in (0, 1)]


@pytest.mark.long
@pytest.mark.parametrize("names", halves())
def test_twenty_programs(tmp_path, names):
    boot(tmp_path, names, REPLAYS, "skylake")


@pytest.mark.long
@pytest.mark.parametrize("preset", ["nehalem", "sandybridge", "haswell", "icelake", "sapphirerapids"])
def test_other_processors(tmp_path, preset):
    boot(tmp_path, ["race", "alarm"], 2, preset, smp=2)


REVERSE = b"""set pagination off
set confirm off
break finished
continue
break change
reverse-continue
print i
reverse-continue
print i
continue
print i
delete
break finished
continue
watch changed
reverse-continue
reverse-continue
continue
kill
"""


@pytest.mark.long
def test_reverse_execution(tmp_path):
    """From the end back to the last call, to the one before, and forwards again; then from one store to the other."""
    run = guest.run(tmp_path, [FREEZE, "rr record -o /tmp/trace rr-programs reverse",
                               "rr replay /tmp/trace </root/reverse.gdb 2>&1"],
                    preset="skylake", append=APPEND, files={**FILES, "root/reverse.gdb": REVERSE},
                    programs=("rr", "gdb"))
    output = run.said[2].output
    assert re.findall(r"Breakpoint \d+, change \(i=i@entry=(\d+)\)", output) == ["617", "417", "617"], output
    assert re.findall(r"\$\d+ = (\d+)", output) == ["617", "417", "617"], output
    assert re.findall(r"Old value = (\d+)\nNew value = (\d+)", output) == [
        ("1234", "417"), ("417", "217"), ("217", "417")], output
