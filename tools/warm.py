#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: tools/warm.py CACHE FOLDER QEMU [OPTION ...]

Runs QEMU from a snapshot behind the firmware. The boot volume is the drive `esp`, and FOLDER is that of the files of
this one boot, the firmware's variables among them. The snapshot is made once for a machine, and kept in CACHE: the
firmware boots with a volume whose first read fails, which stops the machine (rerror=stop) with the request in hand. A
later boot goes on there, and the request reads the volume that it has. The name of a snapshot is a hash of all that
decides: QEMU, its version and options, plugin, firmware and variables.

A snapshot that is damaged is made again. If there can be none, or QEMU does not load it, a line beginning with `warm:`
says so on stderr and in CACHE/cold.txt, and the machine boots as without this program. Exit status: that of QEMU."""

import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

NO_TPM = str(Path(__file__).parent / "no-tpm.sh")
KEPT = 32  # snapshots, of 36 MB each
# QEMU's status then, and that of a plugin which refuses or cannot write its file: the machine boots once more, and says
# so again. A guest of Cairn's cannot give it: tools/cairn/command/capture/report.c
LOAD_FAILED = 1
# The size of the volume that QEMU makes of a folder (`fat:`): 1024 cylinders, 16 heads, 63 sectors.
VOLUME = ("if=none,id=esp,readonly=on,rerror=stop,driver=blkdebug,inject-error.0.event=none,inject-error.0.iotype=read,"
          "inject-error.0.errno=5,image.driver=null-co,image.read-zeroes=on,image.size=528482304")
# How QEMU writes the state of a machine that a failed read has stopped, and of one that runs: then a load starts it.
STOPPED, RUNS = b"\tio-error\0", b"\trunning\0\0"


class Trouble(Exception):
    """Why there is no snapshot."""


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def name_of_qemu(path):
    """The file's contents; those of a script, such as build/qemu11's, do not say which QEMU it starts."""
    version = b""
    if Path(path).read_bytes()[:2] == b"#!":
        version = subprocess.run([path, "--version"], capture_output=True, check=False).stdout
    return f"{digest(path)} {version.decode(errors='replace')}"


def machine_of(words):
    """The command that makes the snapshot, and what names it: the same with each file's contents in place of its name.
    In QEMU's options a comma is written twice."""
    def with_contents(match):
        return match[1] + digest(match[2].replace(",,", ","))

    path = r"((?:[^,]|,,)+)"
    making, name = words[:1], [name_of_qemu(shutil.which(words[0]) or words[0])]
    for before, word in zip(words, words[1:]):
        if before == "-drive" and word.startswith("if=none,id=esp,"):
            word = VOLUME
        if before == "-plugin":
            word = re.sub(",truth=" + path, ",truth=/dev/null", word)  # each boot has a file of its own
        making.append(word)
        if before == "-drive" and word.startswith("if=pflash,"):
            word = re.sub("(,file=)" + path, with_contents, word)
        elif before == "-plugin":
            word = re.sub("^()" + path, with_contents, word)
        name.append(word)
    return making, hashlib.sha256(json.dumps(name).encode()).hexdigest()


class Qmp:
    def __init__(self, stream):
        self.file = stream.makefile("rw", encoding="utf-8")
        self.events = set()
        self.command("qmp_capabilities")

    def read(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError
        message = json.loads(line)
        self.events.add(message.get("event"))
        return message

    def command(self, name, **arguments):
        self.file.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            message = self.read()
            if "error" in message:
                raise Trouble(f"QEMU: {name}: {message['error']['desc']}")
            if "return" in message:
                return message["return"]

    def wait_for(self, event):
        while event not in self.events:
            self.read()


def save(qmp, path):
    """The machine's state to a file."""
    qmp.wait_for("BLOCK_IO_ERROR")
    qmp.wait_for("STOP")
    qmp.command("migrate", uri=f"exec:cat >{shlex.quote(str(path))}")
    while (state := qmp.command("query-migrate").get("status")) != "completed":
        if state == "failed":
            raise Trouble("QEMU cannot save the machine's state")
        time.sleep(0.02)
    qmp.command("quit")


def boot_firmware(making, folder):
    """The state of a machine whose firmware has just asked for the first sector of the volume."""
    ours, theirs = socket.socketpair()
    with ours, theirs, tempfile.TemporaryDirectory(dir=folder) as own, open(f"{own}/said", "w+b") as said:
        shutil.copy(f"{folder}/vars", f"{own}/vars")
        words = [word.replace(f"{folder}/vars".replace(",", ",,"), f"{own}/vars".replace(",", ",,")) for word in making]
        with subprocess.Popen([NO_TPM, own, *words, "-chardev", f"socket,id=warm,fd={theirs.fileno()}", "-mon",
                               "chardev=warm,mode=control"], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=said) as qemu:
            theirs.close()
            try:
                save(Qmp(ours), f"{own}/state")
            except (ConnectionError, ValueError):
                said.seek(0)
                lines = said.read().decode(errors="replace").splitlines() or ["it ends before the firmware has"]
                raise Trouble(f"QEMU: {lines[0]}") from None
            finally:
                qemu.kill()
        state = Path(f"{own}/state").read_bytes()
    if state.count(STOPPED) != 1:
        raise Trouble("the machine's state is not as QEMU 7 to 11 write it")
    return state.replace(STOPPED, RUNS)


def header(key, state):
    return f"cairn-warm {key} {hashlib.sha256(state).hexdigest()}\n".encode()


def load(path, key):
    """The state in a file of the cache; None if there is none that is whole and of this machine."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    first, _, state = data.partition(b"\n")
    if first + b"\n" == header(key, state):
        os.utime(path)
        return state
    print(f"warm: {path} is damaged, or of another machine: it is made again", file=sys.stderr)
    path.unlink(missing_ok=True)
    return None


def forget_oldest(cache):
    used = []
    for path in cache.glob("*.state"):
        try:
            used.append((path.stat().st_mtime, path))
        except FileNotFoundError:
            pass  # another boot has just done the same
    for _, path in sorted(used, reverse=True)[KEPT:]:
        path.unlink(missing_ok=True)
        path.with_suffix(".lock").unlink(missing_ok=True)


def snapshot(cache, path, key, making, folder):
    """The state to begin with. Of several boots one makes it, and the others wait for it."""
    state = load(path, key)
    if state:
        return state
    cache.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = load(path, key)
        if not state:
            state = boot_firmware(making, folder)
            new = path.with_suffix(".new")
            new.write_bytes(header(key, state) + state)
            new.rename(path)
            forget_oldest(cache)
    return state


def run(words, state, folder):
    """QEMU's exit status."""
    source, sink = os.pipe()  # QEMU 11 refuses a file here, and QEMU 7 has no other way to load one
    signal.signal(signal.SIGTERM, lambda *_: None)  # it goes to QEMU as well, and this process ends after it

    def feed():
        try:
            with open(sink, "wb") as pipe:
                pipe.write(state)
        except BrokenPipeError:
            pass  # QEMU says what is wrong

    with subprocess.Popen([NO_TPM, folder, *words, "-incoming", f"fd:{source}"], pass_fds=[source]) as qemu:
        os.close(source)
        threading.Thread(target=feed, daemon=True).start()
        status = qemu.wait()
    return status if status >= 0 else 128 - status


def boot_cold(cache, folder, words, why):
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with open(cache / "cold.txt", "a+", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {why}\n")
            file.seek(0)
            often = f"; {len(file.readlines())} such boots in {file.name}"
    except OSError as error:
        often = f"; {cache}: {error.strerror}"
    print(f"warm: no snapshot: {why}: the firmware boots{often}", file=sys.stderr, flush=True)
    os.execv(NO_TPM, [NO_TPM, folder, *words])


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.splitlines()[0])
    cache, folder, words = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        making, key = machine_of(words)
        path = cache / f"{key[:32]}.state"
        status = run(words, snapshot(cache, path, key, making, folder), folder)
        if status == LOAD_FAILED:
            path.unlink(missing_ok=True)
            raise Trouble(f"QEMU does not load {path.name}")
    except (Trouble, OSError) as error:
        boot_cold(cache, folder, words, error)
    sys.exit(status)


if __name__ == "__main__":
    main()
