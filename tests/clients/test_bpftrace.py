# SPDX-License-Identifier: MIT
"""bpftrace has a program run in the kernel at each overflow of a hardware event."""

import re

import clients
import known
import pytest

PERIOD = 10007


def probe(event, condition, key):
    return (f"bpftrace -e 'hardware:{event}:{PERIOD} /comm == \"known\" && {condition}/ {{ @[{key}] = count(); }}' "
            f"-c '/bin/known {' '.join(str(word) for word in range(1, clients.WORDS))}'")


COMMANDS = [
    probe("instructions", "reg(\"ip\") < 0x500000", "reg(\"ip\")"),
    probe("branch-instructions", "reg(\"ip\") < 0x500000", "comm"),
]


def counts(said):
    assert said.status == 0, said.output
    return {key: int(count) for key, count in re.findall(r"^@\[(.*)\]: (\d+)$", said.output, re.M)}


@pytest.mark.long
def test_hardware_events(tmp_path):
    """The events are those of a processor, so each switch to the kernel and to another program, with the events there,
    can move one sample into the program or out of it."""
    (places, branches), paper = clients.boot(tmp_path, COMMANDS, ("bpftrace",), smp=2)
    samples = counts(places)
    assert {int(address) for address in samples} <= set(paper.name), samples
    assert abs(sum(samples.values()) - paper.instructions / PERIOD) <= 12, samples
    in_loop = sum(name in known.BRANCHES for name in known.EVEN + known.ODD)
    assert abs(counts(branches)["known"] - paper.iterations // 2 * in_loop / PERIOD) <= 6
