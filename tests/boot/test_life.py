# SPDX-License-Identifier: MIT
"""The model's own log of real boots: it says of records what they hold, and the instructions are the kernel's."""

import itertools
import re
import struct

import pytest

import cairn_boot as cb
from cairn_log import cairn, checked, keys, per_cpu

RULE = r"model's log: complete, matches the records +(\d+) +0 consistent\n"


def boot(tmp_path, *options, cpus=2, switches=120):
    result = cb.boot(tmp_path / "log", "--smp", cpus, f"switches={switches}", "ds=soft", "ds.log=1", "truth=1",
                     cb.UNHURRIED, *options)
    assert result.status == cb.PASS, result.output
    return result.log, checked(result.log)


def kernel_code(image, address, size):
    """Bytes of the kernel's own file: a 64-bit ELF executable."""
    table, entry_size, entries = struct.unpack_from("<Q14xHH", image, 32)
    for at in range(table, table + entries * entry_size, entry_size):
        kind, offset, start, length = struct.unpack_from("<I4xQQ8xQ", image, at)
        if kind == 1 and start <= address < start + length:
            return image[offset + address - start:offset + address - start + size]
    return b""


def epoch_lives(log, cpu, epoch):
    """What is told of each record of an epoch."""
    for n in itertools.count():
        status, text = cairn("ds", "--epoch", epoch, "--life", f"{cpu}:{n}", log)
        if status:
            return
        yield text


def test_lives(tmp_path):
    """Programs and kernel threads, two counters, of which one has precise distribution."""
    log, checks = boot(tmp_path, "workload=user", "pebs=INST_RETIRED.ANY:3001,BR_INST_RETIRED.ALL_BRANCHES:499",
                       "pebs.records=16", "pebs.threshold=12")
    end = keys(log, "E")
    assert sum(int(end[f"end.cpu.{n}.log"]) for n in range(2)) < int(re.search(RULE, checks)[1])
    lives = [text for cpu in range(2) for epoch in range(per_cpu(end, "ds")[cpu][1])
             for text in epoch_lives(log, cpu, epoch)]
    assert len(lives) > 4
    seen, known = set(), 0
    image = (cb.BUILD / "kernel.elf").read_bytes()
    for text in lives:
        assert "unseen" not in text and "missing" not in text and "(no instruction)" not in text
        for address, code in re.findall(r"^ +([0-9a-f]{16})  ((?:[0-9a-f]{2} ?)+)$", text, re.M):
            seen.add(int(address, 16) >> 63)
            if int(address, 16) >> 63:
                assert kernel_code(image, int(address, 16), len(code.split())) == bytes.fromhex(code)
        by = {rule: who for who, rule in re.findall(r"(\S.*), by (time|the model's log)$", text, re.M)}
        told = {rule: who.split()[-1] for rule, who in by.items()}
        known += told["time"] == told["the model's log"]
        assert told["time"] == told["the model's log"] or re.search("ambiguous|unknown", by["time"]), text
    assert seen == {0, 1} and known > 4


@pytest.mark.long
@pytest.mark.parametrize("preset", ["penryn", "haswell", "lunarlake"])
def test_presets(tmp_path, preset):
    log, checks = boot(tmp_path, f"ds.preset={preset}", "pebs=INST_RETIRED.ANY:997")
    assert int(re.search(RULE, checks)[1]) > 20
    status, text = cairn("ds", "--life", "0:1", log)
    assert status == 0 and "unseen" not in text and "missing" not in text


@pytest.mark.long
def test_loss(tmp_path):
    """Entries that found no buffer are counted, and a record whose entries are among them says so."""
    log, _ = boot(tmp_path, "pebs=INST_RETIRED.ANY:211", "trace.buffers=3", "trace.buffer_kib=4",
                  "session.1=compact:qpc:circular", cpus=1, switches=400)
    told = [cairn("ds", "--life", f"0:{n}", log)[1] for n in range(12)]
    assert any("of the model's log are not in this trace" in text for text in told)
