# SPDX-License-Identifier: MIT
"""Reads the log of a boot for a test: with `cairn`, as a user would, and frame by frame."""

import re
import subprocess

import cairn_boot as cb
from frames import FRAME, payload_of


def cairn(*arguments):
    done = subprocess.run([cb.BUILD / "cairn", *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def unwrapped(text):
    """What `cairn check` says of a failed rule, each sentence on a line of its own, however wide the terminal."""
    return re.sub(r"\n {4}", " ", text)


def checked(log):
    """`cairn check` must find nothing; its text."""
    status, text = cairn("check", log)
    assert status == 0, text
    return text


def frames(log, streams):
    """Payloads of the frames of some streams, in the order of the file; packed ones (t, u) as they are."""
    for match in FRAME.finditer(log.read_bytes()):
        if match[1].decode() in streams:
            yield payload_of(match[3])


def keys(log, streams):
    text = b"".join(frames(log, streams)).decode()
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def numbers(value):
    """None: the kernel says 'unknown'."""
    return [None if word == "unknown" else int(word) for word in value.split()]


def per_cpu(found, name):
    """The values of end.cpu.N.NAME, by CPU."""
    out = []
    while f"end.cpu.{len(out)}.{name}" in found:
        out.append(numbers(found[f"end.cpu.{len(out)}.{name}"]))
    return out


def run_and_check(tmp_path, cpus, switches, *options):
    """A boot that passes, with every switch in the trace and in the truth: what it was, and the keys of its end. There
    is room in the trace for what threads do that spin while the host runs another CPU."""
    result = cb.boot(tmp_path / "log", "--smp", cpus, "truth=1", f"switches={switches}", cb.UNHURRIED,
                     "trace.buffers=1024", *options)
    assert result.status == cb.PASS, result.output
    assert f"PASS: cpus: {cpus} of {cpus}" in result.output
    checked(result.log)
    end = keys(result.log, "E")
    assert sum(tried for tried, _, _ in per_cpu(end, "switches")) >= switches
    assert end["end.events_lost"] == "0"
    return result, end


def attributed(text):
    """(attributed, ambiguous, wrong) as `cairn check` counts them."""
    match = re.search(r"(\d+) attributed[^,]*, (\d+) ambiguous, (\d+) wrong", text)
    assert match, text
    return [int(n) for n in match.groups()]
