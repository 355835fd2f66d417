# SPDX-License-Identifier: MIT
"""Boots that QEMU's monitor is told something in the midst of."""

import socket
import threading

import cairn_boot as cb


class Monitor:
    """QEMU's monitor. A command is done when the next prompt comes, or QEMU's end."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(cb.LIMIT)
        self.connection.connect(str(path))
        self.until_prompt()

    def until_prompt(self):
        text = b""
        while not text.endswith(b"(qemu) "):
            more = self.connection.recv(4096)
            if not more:
                return
            text += more

    def say(self, command):
        self.connection.sendall(f"{command}\n".encode())
        self.until_prompt()

    def stay(self):
        """To the end of QEMU: it may drop what one has sent who hangs up."""
        while self.connection.recv(4096):
            pass
        self.connection.close()


def when_running(log, boot_is_over, then):
    """A thread that does `then` once the machine's workload runs; nothing if it never does."""
    def wait():
        while b"run: workload" not in log.read_bytes():
            if boot_is_over.wait(0.2):
                return
        then()

    log.touch()
    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def boot_and_say(folder, words, *options):
    """A boot whose QEMU is told these words once the workload runs: options give it switches enough. Its log is
    folder/log."""
    path, log, over = folder / "monitor", folder / "log", threading.Event()
    qemu = cb.with_qemu(folder, "-monitor", f"unix:{path},server=on,wait=off")

    def say():
        monitor = Monitor(path)
        monitor.say(words)
        monitor.stay()

    thread = when_running(log, over, say)
    result = cb.boot(log, "--qemu", qemu, cb.UNHURRIED, *options)
    over.set()
    thread.join()
    return result
