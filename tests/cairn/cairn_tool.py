# SPDX-License-Identifier: MIT
"""The host tool for its tests: runs it on the golden logs, and changes what is in them."""

import os
import pty
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import cairn_boot
import frames

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
EXPECTED = HERE / "expected"
SANITIZED = cairn_boot.BUILD / "san" / "cairn"
CAIRN = SANITIZED  # see conftest.py
KERNEL = cairn_boot.BUILD / "kernel.elf.full"
LEAKS = {"ASAN_OPTIONS": "detect_leaks=1"}  # as env= of cairn(): it is sanitized, and looks for leaks
WIDTH = 80  # of a terminal
# commands for people
TEXTS = {"dump", "stat", "info", "check", "ds", "bts", "profile", "locks", "diff", "probe", "decode"}
LOGS = ["small", "full", "nods", "circular", "lost", "panic", "hw", "arch", "fragments"]
SAMPLES = cairn_boot.ROOT / "samples"
ALL_LOGS = [*(GOLDEN / f"{log}.log" for log in [*LOGS, "bts", "grab", "life", "live", "locks", "ring", "sessions",
                                                "told"]),
            *sorted(GOLDEN.glob("*.etl")),
            *(SAMPLES / name for name in ("branches.log", "cairn.etl", "damaged.log", "life.log", "panic.log",
                                          "plain.log"))]


def too_wide(text):
    """Its lines that do not fit a terminal, but for those of one word."""
    return [line for line in re.sub(rb"\x1b\[[0-9;]*m", b"", text).splitlines()  # colours take no room
            if len(line.decode(errors="replace")) > WIDTH and b" " in line.strip()]


def cairn(*arguments, data=None, timeout=60, env=None):
    """Whatever a test looks for, a command that prints text for people prints no line that is too wide."""
    program = SANITIZED if env is LEAKS else CAIRN
    done = subprocess.run([program, *map(str, arguments)], input=data, capture_output=True, timeout=timeout,
                          check=False, env={**os.environ, **(env or {})})
    if TEXTS.intersection(map(str, arguments[:1])) and not {"json", "--json"}.intersection(map(str, arguments)) and \
            "COLUMNS" not in (env or {}):
        assert not too_wide(done.stdout), (arguments, too_wide(done.stdout))
    return done


def on_a_terminal(*arguments, data=b"", both=False, env=None):
    """As cairn(); what it writes goes to a terminal, with `both` standard error as well. That is read as it comes, to
    its end: a terminal gives it in pieces, and holds little. There is no pager unless `env` names one, and no
    UTF-8 unless it asks for that; a variable that is None there is not set."""
    variables = {**os.environ, "CAIRN_PAGER": "", "LC_ALL": "C", **(env or {})}
    ours, theirs = pty.openpty()
    shown = b""
    with tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        with subprocess.Popen([CAIRN, *map(str, arguments)], stdin=given, stdout=theirs,
                              stderr=theirs if both else subprocess.PIPE,
                              env={name: value for name, value in variables.items() if value is not None}) as process:
            os.close(theirs)
            try:
                while part := os.read(ours, 65536):
                    shown += part
            except OSError:
                pass  # the other end is closed
            errors = process.communicate()[1]
    os.close(ours)
    return subprocess.CompletedProcess(process.args, process.returncode, shown.replace(b"\r\n", b"\n"), errors or b"")


def build_id(path=KERNEL):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: (\w+)", notes)[1]


# A process begins with the peak of the one it was forked from: this one is small.
LAUNCH = """
import os, resource, sys
limit, *command = sys.argv[1:]
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if int(limit):
        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    os.execv(command[0], command)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def measured(arguments, stdin=subprocess.DEVNULL, address_space=0):
    """Of the tool without sanitizers, which want more address space than there is memory: exit status, standard error,
    peak memory in bytes, of which libraries are a part."""
    command = [cairn_boot.BUILD / "cairn", *map(str, arguments)]
    done = subprocess.run([sys.executable, "-S", "-c", LAUNCH, str(address_space), *command], stdin=stdin,
                          capture_output=True, check=False)
    return done.returncode, done.stderr.decode(), int(done.stdout) << 10


def text_of(done, refused=False):
    """What it printed. That its usage was refused (2) is the test's mistake, but for `refused`: it prints nothing then,
    and nothing lacks whatever is looked for."""
    assert b"Sanitizer" not in done.stderr, done.stderr.decode()
    assert refused or done.returncode != 2, done.stderr.decode()
    text = done.stdout.decode()
    # what check says of a rule that failed is one line here, however wide
    return re.sub(r"\n {4}(?=\S)", " ", text) if "check" in done.args[1:2] else text


def errors_of(done):
    """What standard error says, its lines made one; none of them is too wide that could be narrower."""
    text = done.stderr.decode("ascii")
    assert not too_wide(done.stderr), text
    return " ".join(text.split())


def expect_text(name, text):
    """It is what tests/cairn/expected has under that name, LOG/COMMAND. CAIRN_UPDATE=1 writes it anew."""
    path = EXPECTED / name
    if os.environ.get("CAIRN_UPDATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="ascii")
    assert text == path.read_text(encoding="ascii")


def expect_first_record(name, text):
    """As expect_text, of what `ds --bytes` says up to the second of two records. They differ in one word, which is
    marked; all other lines are the same."""
    head, first, second = re.split(r"^(?=record [01] )", text, flags=re.M)
    assert text.count("*") == 1 and "*" in second
    title, *lines = second.splitlines()
    assert title.startswith("record 1 at ")
    others = first.splitlines()[1:]
    assert len(others) - len(lines) in (0, 1)  # an empty one
    different = [line for line, other in zip(lines, others) if line != other]
    assert any("*" in line for line in different) and len(different) in (2, 3)
    for line in different:  # its own, what that says further, its bytes
        assert "*" in line or re.match(r" {30}|.*\b[0-9a-f]{2} [0-9a-f]{2} ", line), line
    expect_text(name, head + first)


def machine_that_says(folder, log):
    """A QEMU whose guest says what is in `log`, and passes."""
    qemu = folder / "qemu"
    qemu.write_text(f"""#!/bin/bash
[ "$1" = --version ] && echo 'QEMU emulator version 9.9' && exit
for word; do case $word in *logfile=*) console=${{word##*logfile=}} ;; esac; done
tee "$console" <{log}
exit 33
""", encoding="ascii")
    qemu.chmod(0o755)
    return qemu


# ---- what is in a log: its frames, as frames.read gives them ---------------------------------------------------------

TRUTH_SWITCH, TRUTH_PEBS, TRUTH_WORDS, TRUTH_SWALLOWED = 1, 2, 4, 5


def truths(parts, kind):
    """(frame, offset) of every truth record of `kind`."""
    return [(i, at) for i, (stream, payload) in enumerate(parts) if stream == "U"
            for at in range(8, len(payload), 48) if payload[at] == kind]


def patch(parts, place, offset, data):
    frame, at = place
    payload = bytearray(parts[frame][1])
    payload[at + offset:at + offset + len(data)] = data
    parts[frame] = (parts[frame][0], bytes(payload))


def events(parts):
    """(frame, offset, hook, size) of every event."""
    for i, (stream, payload) in enumerate(parts):
        if stream == "T":
            at = 20 + (0x48 if struct.unpack_from("<I", payload, 12)[0] == 0 else 0)
            while at < len(payload):
                size, hook = struct.unpack_from("<HH", payload, at + 4)
                yield i, at, hook, size
                at += (size + 7) & ~7


def with_keys(parts, keys):
    """Adds keys to the machine stream; the last of a name counts."""
    last = max(i for i, (stream, _) in enumerate(parts) if stream == "M")
    parts.insert(last + 1, ("M", b"".join(b"%s=%s\n" % (key.encode(), str(value).encode())
                                          for key, value in keys.items())))
    without(parts, lambda i, stream: False)


def damaged(seed, names):
    """One of these golden logs; bytes of its trace and its texts are others, with the right checksums."""
    chance = random.Random(seed)
    parts = frames.read((GOLDEN / f"{chance.choice(names)}.log").read_bytes())
    for _ in range(chance.randrange(1, 60)):
        at = chance.randrange(1, len(parts))
        stream, payload = parts[at]
        first = 20 if stream == "T" else 0
        if stream in "MNSTZ" and len(payload) > first + 8:
            place, size = chance.randrange(first, len(payload) - 8), chance.choice([1, 1, 2, 8])
            others = chance.choice([b"\0" * 8, b"\xff" * 8, chance.randbytes(8)])[:size]
            parts[at] = (stream, payload[:place] + others + payload[place + size:])
    return frames.write(parts)


def without(parts, unwanted):
    """Leaves frames out, as if they had never been."""
    kept = [part for i, part in enumerate(parts) if not unwanted(i, part[0])]
    for i, (stream, payload) in enumerate(kept):
        if stream in "HZ":
            kept[i] = (stream, re.sub(rb"dump.frames=\d+", b"dump.frames=%d" % len(kept), payload))
    parts[:] = kept


def switch_lines(text):
    """Of `cairn dump`."""
    return [line for line in text.splitlines() if line[15:18] == "   " and " > " in line]
