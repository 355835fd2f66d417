# SPDX-License-Identifier: MIT
"""A QEMU whose guest waits for what to do (INIT of initramfs.py), and its snapshot: a file `ram`, which is the guest's
memory as it is, and a file `state`, which is the rest. A machine that goes on from a snapshot reads of `ram` only what
its guest uses, and what that writes is its own."""

import io
import json
import re
import selectors
import signal
import socket
import subprocess
import tarfile
import tempfile
import time

import initramfs

IGNORE_MEMORY = [{"capability": "x-ignore-shared", "state": True}]  # in the stream: it is in `ram`
READY = b"ready\n"


class Ended(Exception):
    """Why the machine has not come to where it was to come."""


def streams(talk):
    """Whether QEMU may have this terminal, as arguments of subprocess."""
    return {"stdin": None, "stdout": None} if talk else {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}


class Machine:
    """Ends with the block that it is used in. Methods raise Ended."""

    def __init__(self, command, snapshot, size, timeout, *, make=False, talk=False):
        """`command`: QEMU's, with all but the memory, of `size`. `snapshot`: its folder; to `make` one, an empty one.
        `timeout`: seconds from now to the end of the machine."""
        self.snapshot, self.deadline, self.timeout = snapshot, time.monotonic() + timeout, timeout
        self.messages = tempfile.TemporaryFile()
        self.monitor, monitor = socket.socketpair()
        self.port, port = socket.socketpair()
        self.live, live = socket.socketpair()
        use = "share=on" if make else "share=off,readonly=on,rom=off"
        with monitor, port, live:
            self.process = subprocess.Popen(
                [*command, "-object", f"memory-backend-file,id=ram,mem-path={snapshot / 'ram'},size={size},{use}",
                 "-machine", "memory-backend=ram", "-m", size, "-chardev", f"socket,id=port,fd={port.fileno()}",
                 "-chardev", f"socket,id=live,fd={live.fileno()}",
                 "-chardev", f"socket,id=monitor,fd={monitor.fileno()}",
                 "-object", "monitor-qmp,id=qmp,chardev=monitor", *(() if make else ("-incoming", "defer"))],
                **streams(talk), stderr=self.messages,
                pass_fds=(monitor.fileno(), port.fileno(), live.fileno()))
        self.answers, self.from_guest = self.monitor.makefile("rb"), self.port.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for file in (self.answers, self.from_guest, self.monitor, self.port, self.live, self.messages):
            file.close()

    def said(self):
        """What QEMU and the plugin said."""
        self.messages.seek(0)
        return self.messages.read().decode(errors="replace")

    def left(self):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def expired(self):
        return Ended(f"nothing after {self.timeout} seconds. {self.said()}")

    def read(self, connection, how):
        """What how() reads of the connection; nothing where QEMU has ended."""
        try:
            connection.settimeout(self.left())
            return how()
        except TimeoutError:
            raise self.expired() from None
        except ConnectionError:
            return b""

    def end(self):
        """Of a QEMU that has closed its sockets. Raises Ended where it did so because of an error."""
        try:
            status = self.process.wait(self.left())
        except (TimeoutError, subprocess.TimeoutExpired):
            raise self.expired() from None
        if status == -signal.SIGBUS:  # the disk is full: its memory is a file there
            raise Ended(f"{self.snapshot.parent}: has no room for a snapshot, 200 MB and more (--cache, --no-cache)")
        if status:
            raise Ended(f"QEMU ended with {status}: {self.said()}")

    def command(self, name, **arguments):
        try:
            self.monitor.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        except ConnectionError:
            pass  # then there is no answer
        while line := self.read(self.monitor, self.answers.readline):
            answer = json.loads(line)
            if "error" in answer:
                raise Ended(f"QEMU refuses {name}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        self.end()
        raise Ended(f"QEMU ended before {name}: {self.said()}")

    def negotiate(self):
        self.read(self.monitor, self.answers.readline)  # a greeting
        self.command("qmp_capabilities")
        self.command("migrate-set-capabilities", capabilities=IGNORE_MEMORY)

    def migrated(self):
        while (now := self.command("query-migrate")).get("status") != "completed":
            if now.get("status") == "failed":
                raise Ended(f"QEMU: {now.get('error-desc', 'no snapshot')}")
            time.sleep(0.005)

    def save(self):
        """The snapshot, when the guest is ready; then the machine ends."""
        if self.read(self.port, self.from_guest.readline) != READY:
            self.end()
            raise Ended(f"the guest ended before it was ready. {self.said()}")
        self.negotiate()
        self.command("stop")
        self.command("migrate", uri=f"file:{self.snapshot / 'state'}")
        self.migrated()
        self.command("quit")
        self.end()

    def restore(self):
        self.negotiate()
        self.command("migrate-incoming", uri=f"file:{self.snapshot / 'state'}")
        self.migrated()
        self.command("cont")

    def follow(self, show):
        """What the guest sends until it ends. show(name, bytes) gets, while a command runs, what is new in a file of
        its output."""
        answer, new = bytearray(), bytearray()
        with selectors.DefaultSelector() as both:
            both.register(self.port, selectors.EVENT_READ, answer)
            both.register(self.live, selectors.EVENT_READ, new)
            while both.get_map():
                for key, _ in both.select(self.left()):
                    try:
                        data = key.fileobj.recv(1 << 16)
                    except ConnectionError:
                        data = b""
                    key.data.extend(data)
                    if not data:
                        both.unregister(key.fileobj)
                while frame := re.match(rb"(\S+) (\d+)\n", new):
                    end = frame.end() + int(frame[2])
                    if len(new) < end:
                        break
                    show(frame[1].decode(), bytes(new[frame.end():end]))
                    del new[:end]
        return bytes(answer)

    def run(self, contents, show):
        """What the guest sends after it has run the commands in `contents` (initramfs.additions). `show`: as in
        follow()."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for name, source in contents.items():
                initramfs.add_to(tar, name, source)
        request = archive.getvalue()
        try:
            self.port.settimeout(self.left())
            self.port.sendall(b"%d %d\n" % (len(request), time.time()) + request)
        except TimeoutError:
            raise self.expired() from None
        except ConnectionError:
            pass  # said below
        try:
            answer = self.follow(show)
        except TimeoutError:
            raise self.expired() from None
        self.end()
        return answer
