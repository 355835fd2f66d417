# SPDX-License-Identifier: MIT
"""Feeds a machine's monitor hostile input for some minutes. Every megabyte it must answer; at the end it must run as
ever. A panic, or no answer within a quarter of an hour, fails."""

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "boot"))

from cairn_noise import LAST, noise  # pylint: disable=wrong-import-position

PIECE = 1000000
PATIENCE = 900  # seconds


class Machine:
    def __init__(self, log, options):
        command = [ROOT / "run-qemu.sh", "--monitor", "--timeout", 0, "--log", log, "--smp", 2, "switches=1000",
                   "seconds=900", *options]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, bufsize=0)
        self.said = bytearray()
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        while data := self.process.stdout.read(65536):
            self.said += data

    def answers(self, question, word, count):
        """Whether the word has come so many times."""
        self.process.stdin.write(question)
        until = time.monotonic() + PATIENCE
        while self.said.count(word) < count and time.monotonic() < until and self.process.poll() is None:
            time.sleep(0.2)
        return self.said.count(word) >= count

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("options", nargs="*", help="of run-qemu.sh")
    arguments = parser.parse_args()
    build = Path(os.environ.get("CAIRN_BUILD", "build"))
    machine = Machine(build / "soak-monitor.log", arguments.options)
    until = time.monotonic() + 60 * arguments.minutes
    pieces = 0
    good = True
    while good and time.monotonic() < until:
        pieces += 1
        machine.process.stdin.write(noise(arguments.seed + pieces, PIECE))
        good = machine.answers(LAST + b"mem soak%d\n" % pieces, b"'soak%d' is no address" % pieces, 1)
        print(f"{pieces} MB of noise, {len(machine.said)} bytes of answers", flush=True)
    if good:
        machine.process.stdin.write(b"go\n")
    else:
        machine.process.terminate()
    machine.end()
    good = good and machine.process.returncode == 0 and b"PANIC" not in machine.said
    print(f"{'PASS' if good else 'FAIL'}: soak-monitor: {pieces} MB of noise, seed {arguments.seed}")
    if not good:
        print(machine.said[-3000:].decode(errors="replace"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
