# SPDX-License-Identifier: MIT
"""Debian's rr under qemu-ds. A replay runs the program again and gives it each signal and each switch of threads after
as many conditional branches as in the recording; rr compares the registers there. So a count that is off by one fails,
and so does an interrupt that comes too late. Beside that each replay must print what the recording did, which is another
thing at each run (programs.c)."""

import os
import re

import guest
import pytest

PROGRAM = guest.BUILD / "rr-programs"
REPLAYS = int(os.environ.get("RR_REPLAYS", 10))
OWN = {"clock": 3, "threads": 0, "turns": 0, "race": 0, "spin": 0, "alarm": 0, "profile": 0, "fault": 2, "abort": 134,
       "tree": 0, "spawn": 0, "pipe": 0, "sockets": 5, "shared": 0, "files": 0, "numbers": 0, "strings": 0}
PYTHON = ("import os, threading, time; found = []; "
          "threads = [threading.Thread(target=lambda: found.append((time.time_ns(), hash(str(i))))) for i in range(4)]; "
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
rr record -o /tmp/trace "$@" >/tmp/recorded 2>/tmp/messages
echo "recorded: $?"
rr ps /tmp/trace | sed -n 2p
for i in $(seq $replays); do
    rr replay -a /tmp/trace >/tmp/replayed 2>/tmp/messages
    echo "replayed: $?"
    cmp /tmp/recorded /tmp/replayed || tail -n 20 /tmp/messages
done
wc -c </tmp/recorded
rm -rf /tmp/trace
"""


def boot(folder, names, replays, preset, smp=1, more=()):
    # From Comet Lake on rr wants that counters stop while the firmware has the processor.
    freeze = "f=/sys/devices/cpu/freeze_on_smi; [ ! -e $f ] || echo 1 >$f"
    run = guest.run(folder, [freeze, *(f"rr-check {replays} {PROGRAMS[name][0]}" for name in names), *more],
                    preset=preset, append="pti=off nmi_watchdog=0 tsc=reliable", smp=smp, plugin="stats=on",
                    files={**FILES, "bin/rr-check": CHECK},
                    programs=("rr", "bash", "python3", "gdb", "ls", "seq", "sort", "head", "tr"))
    for name, said in zip(names, run.said[1:]):
        status = PROGRAMS[name][1]
        first, process, *replayed, size = said.output.splitlines()
        assert first == f"recorded: {status}", (name, said.output)
        assert process.split()[2] == str(status if status < 128 else 128 - status), (name, said.output)
        assert replayed == ["replayed: 0"] * replays and int(size) > 0, (name, said.output)
    return run


def test_threads(tmp_path):
    boot(tmp_path, ["threads"], 2, "skylake")


def halves():
    """Two boots, for two workers, that take about the same time."""
    names = sorted(PROGRAMS)
    return [pytest.param(names[half::2], marks=pytest.mark.xdist_group(f"rr{half}"), id=str(half)) for half in (0, 1)]


@pytest.mark.long
@pytest.mark.parametrize("names", halves())
def test_twenty_programs(tmp_path, names):
    boot(tmp_path, names, REPLAYS, "skylake")


@pytest.mark.long
@pytest.mark.parametrize("preset", ["nehalem", "sandybridge", "haswell", "icelake", "sapphirerapids", "arrowlake"])
def test_other_processors(tmp_path, preset):
    boot(tmp_path, ["race", "alarm"], 2, preset, smp=2)


REVERSE = b"""set pagination off
set confirm off
set debuginfod enabled off
break finished
continue
watch -l changed
reverse-continue
print i
reverse-continue
print i
continue
print i
kill
"""


@pytest.mark.long
def test_reverse_execution(tmp_path):
    """Who has written 1234? Backwards from the end, once more, and forwards again."""
    run = guest.run(tmp_path, ["rr record -o /tmp/trace rr-programs reverse",
                               "rr replay /tmp/trace </root/reverse.gdb 2>&1"],
                    preset="skylake", append="pti=off nmi_watchdog=0 tsc=reliable",
                    files={**FILES, "root/reverse.gdb": REVERSE}, programs=("rr", "gdb"))
    output = run.said[1].output
    assert re.findall(r"^Old value = (\d+)\nNew value = (\d+)", output, re.M) == \
        [("1234", "417"), ("417", "217"), ("217", "417")], output
    assert re.findall(r"^\$\d+ = (\d+)", output, re.M) == ["617", "417", "417"], output
