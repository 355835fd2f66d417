#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots a Linux in QEMU under qemu-ds, runs shell commands there and returns the output of each. Its initramfs contains
Debian's busybox, and perf or the programs that are asked for. In Cairn's tree all of it comes from `make deps-ds`,
nothing from the host. There are two kernels: Debian 13's, and a newer one, for what that does not know. Where it is
installed, as qemu-ds-guest, kernel and programs are those of this machine, or of another root.
It is a program (--help), and a module for tests: run()."""

import argparse
import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True  # keeps the folder clean where it is installed
import emulated  # noqa: E402
import initramfs  # noqa: E402
import programs as of_root  # noqa: E402
import snapshots  # noqa: E402
import tsc  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTALLED = not (HERE / "plugin.c").exists()
NAME = "qemu-ds-guest" if INSTALLED else "guest.py"
BUILD = (ROOT / os.environ.get("CAIRN_BUILD", "build")).resolve()
QEMU, PLUGIN, DEBIAN = BUILD / "qemu11/qemu-system-x86_64", BUILD / "qemu-ds.so", BUILD / "linux/root"
START = [HERE / "../../bin/qemu-ds-run"] if INSTALLED else [HERE / "qemu-ds-run", "--qemu", QEMU]
MEMORY = "1G"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "qemu-ds" if INSTALLED else BUILD / "guests"
KERNEL, NEWER = "6.12", "7.3"  # as in linux.txt
PROGRAMS = ("perf",)
# Without ERMS and FSRM Linux copies eight bytes at a time. REP MOVSB is slow in TCG: it takes a tenth of a boot.
CPU = "max,-erms,-fsrm"
READY = "ready=on"  # of the plugin, where perf is there
GENERATION = "00000000-0000-0000-0000-000000000001"
# The kernel's check of its timer is for real time: on a busy host it finds that no interrupt comes, and panics.
COMMAND_LINE = "console=ttyS0 panic=-1 no_timer_check"
APPEND = "pti=off nmi_watchdog=0"  # unless told otherwise
PRESETS = ("penryn", "nehalem", "sandybridge", "haswell", "skylake", "icelake", "sapphirerapids", "arrowlake",
           "lunarlake", "pantherlake", "clearwaterforest")
# These have no leaf of CPUID that says how fast the TSC runs. Linux measures it there: on a busy host many times wrong.
UNTOLD = ("penryn", "nehalem", "sandybridge", "haswell")
HYBRIDS = ("arrowlake", "lunarlake", "pantherlake")
# Where the commands take kernel and programs from, unless told otherwise.
SYSTEM = {"kernel": None, "root": Path("/")} if INSTALLED else {"kernel": KERNEL, "root": DEBIAN}
NEVER = 10 ** 6  # seconds
LIMIT = 900  # seconds for a boot that does not hang: slowness is no verdict


class Trouble(Exception):
    """Why there is nothing that the guest has said."""


@dataclass
class Said:
    status: int
    output: str  # on both streams, unless these are apart
    errors: str


@dataclass
class Run:
    said: list    # of Said, one for each command
    dmesg: str
    console: str
    plugin: str   # what QEMU and the plugin said
    files: dict   # {name: bytes} of what the commands left in /out/files


def copies(paths):
    """{path in the guest: Path here} of files, which go to /bin, and of all files in folders, which go to /root."""
    files = {}
    for path in paths:
        if not path.exists():
            raise Trouble(f"--copy {path}: is not there")
        if path.is_dir():
            folder = path.resolve()
            files |= {f"root/{file.relative_to(folder.parent)}": file for file in sorted(folder.rglob("*"))
                      if file.is_symlink() or file.is_file()}
        else:
            files[f"bin/{path.name}"] = path
    return files


def need(root=DEBIAN):
    for needed in () if INSTALLED else (QEMU, PLUGIN, root):
        if not needed.exists():
            raise Trouble(f"{os.path.relpath(needed)} is not there: run 'make deps-ds all'")


def kernel_of(release, root=DEBIAN):
    """Its file. `release`: how its version begins, or a path with a '/' in it; None: the newest there."""
    if release and "/" in release:
        if not os.path.isfile(release):
            raise Trouble(f"--kernel {release}: is no file")
        return Path(release)
    found = {path.name.removeprefix("vmlinuz-"): path for path in (root / "boot").glob("vmlinuz-*")}
    by_age = sorted(found, key=lambda version: [int(number) for number in re.findall(r"\d+", version)], reverse=True)
    for version in by_age:
        if not release or re.match(re.escape(release) + r"(?!\d)", version):
            return found[version]
    where = f"make deps-ds gets {KERNEL} and {NEWER}" if root == DEBIAN else "install linux-image-amd64 there"
    if release and os.path.isfile(release):
        raise Trouble(f"--kernel {release}: a file needs a '/', as in ./{release}")
    there = f"no kernel {release}, but {', '.join(by_age)}" if found else f"no kernel (vmlinuz-*): {where}"
    raise Trouble(f"{root / 'boot'}: has {there}")


def processors(preset, smp, plugin):
    """(how many, the plugin's options) where they are not given. Linux makes a PMU for each kind of core that a hybrid
    has, whether or not there is one; with no CPU for it `perf stat` fails."""
    smp = smp or (2 if preset in HYBRIDS else 1)
    if preset in HYBRIDS and smp > 1 and not re.search(r"(^|,)efficient=", plugin):
        plugin = ",".join(filter(None, (plugin, f"efficient={smp - smp // 2}")))
    return smp, plugin


def command_line(preset, append):
    khz = tsc.khz() if preset in UNTOLD and "tsc_early_khz=" not in append else None
    return " ".join([COMMAND_LINE, *([f"tsc_early_khz={khz}"] if khz else []), append])


@dataclass(frozen=True)
class Guest:
    """What is booted: the arguments of run()."""
    preset: str
    kernel: Path
    root: Path
    programs: tuple
    smp: object
    plugin: str
    append: str
    machine: tuple

    def needs(self):
        """{path in the guest: Path here} of its programs, and busybox."""
        return of_root.Root(self.root).needs(("busybox", *self.programs))

    def command(self, folder, *arguments, talk=False, generation=GENERATION):
        """QEMU's, but for the memory and the other side of the guest's port. `folder`: of initramfs and console.
        `talk`: the guest's hvc0 is this terminal. Linux takes new random numbers where the generation is another one
        than in the snapshot."""
        plugin = ",".join(filter(None, (READY if "perf" in self.programs else "", self.plugin)))
        return [*START, "--preset", self.preset, *(["--plugin", plugin] if plugin else []), "--",
                "-accel", "tcg", "-cpu", CPU, "-smp", str(self.smp), "-display", "none", "-nodefaults", "-no-reboot",
                "-run-with", "exit-with-parent=on", "-seed", "1", "-serial", f"file:{folder / 'console'}",
                "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=port",
                "-device", "virtserialport,chardev=live", *arguments,
                "-device", "virtconsole,chardev=talk",
                "-chardev", "stdio,id=talk,signal=off" if talk else "null,id=talk",
                "-device", f"vmgenid,guid={generation}",
                "-kernel", self.kernel, "-initrd", folder / "initramfs",
                "-append", command_line(self.preset, self.append), *self.machine]

    def boot(self, folder, added, timeout, talk):
        """What the guest sent, and what QEMU and the plugin said."""
        out, archive = folder / "out.tar", folder / "initramfs"
        initramfs.write(archive, self.needs() | added)
        command = self.command(folder, "-m", MEMORY, "-chardev", f"file,id=port,path={out}", "-chardev",
                               f"file,id=live,path={os.devnull}", talk=talk)  # a null chardev takes nothing
        try:
            done = subprocess.run(command, **emulated.streams(talk), stderr=subprocess.PIPE, text=True, timeout=timeout,
                                  check=False)
        except subprocess.TimeoutExpired as expired:
            raise emulated.Ended(f"nothing after {timeout} seconds. {(expired.stderr or b'').decode()}") from None
        if done.returncode:
            raise emulated.Ended(f"QEMU ended with {done.returncode}: {done.stderr}")
        return out.read_bytes(), done.stderr

    def make_snapshot(self, folder, snapshot, timeout):
        """In folder `snapshot`. Returns the files that it depends on."""
        needed = self.needs()
        initramfs.write(folder / "initramfs", needed)
        with emulated.Machine(self.command(folder), snapshot, MEMORY, timeout, make=True) as machine:
            machine.save()
        named = [Path(self.kernel), *emulator()]
        return [*named, *(path.resolve() for path in named), *needed.values()]

    def go_on(self, folder, added, timeout, talk, cache, fresh, show):
        """As boot(), from a snapshot in the folder `cache`. Makes it where it is not there, or cannot be loaded."""
        asked = [initramfs.INIT, CPU, MEMORY, COMMAND_LINE, READY, GENERATION,
                 *(str(value) for value in vars(self).values())]
        kept = snapshots.Snapshots(cache)
        with contextlib.ExitStack() as stack:
            for again in (True, False):
                with kept.of(asked, lambda to: self.make_snapshot(folder, to, timeout), tell) as snapshot:
                    (folder / "initramfs").write_bytes(b"")  # nobody reads it
                    command = self.command(folder, talk=talk, generation="auto" if fresh else GENERATION)
                    machine = stack.enter_context(emulated.Machine(command, snapshot, MEMORY, timeout, talk=talk))
                    try:
                        machine.restore()
                        break
                    except emulated.Ended as why:
                        if not again:
                            raise
                        tell(f"{snapshot}: cannot be loaded: {str(why).rstrip()}")
                        kept.discard(snapshot)
            return machine.run(added, show), machine.said()


def tell(line):
    print(f"{NAME}: {line}", file=sys.stderr, flush=True)


def emulator():
    """The files of QEMU and the plugin."""
    if not INSTALLED:
        return [QEMU.parent / "root/usr/bin/qemu-system-x86_64", PLUGIN]
    return [Path(os.environ.get("QEMU_DS_QEMU") or shutil.which("qemu-system-x86_64") or os.devnull),
            HERE / "qemu-ds.so"]


def run(folder, commands, *, preset="icelake", kernel=KERNEL, files=None, plugin="", append="", smp=1, machine=(),
        timeout=LIMIT, root=DEBIAN, programs=PROGRAMS, talk=False, cache=None, fresh=False, apart=False,
        show=lambda number, errors, data: None):
    """Boots, runs each of the commands in a shell of its own, and ends. `folder`: for files on the way; `files`: {path
    in the guest: Path here, or bytes of a script}; `programs`: of the root, by name or path, beside busybox; `kernel`:
    as kernel_of() has it; `plugin`: more options of it, as "stats=on"; `append`: of the kernel's; `machine`: more
    arguments of QEMU's, which ends when the caller does; `talk`: the guest's hvc0 is this terminal; `cache`: a folder
    of snapshots, to go on from one instead; `fresh`: with random addresses; `apart`: the commands' errors are not in
    their output. show(number of the command, whether it is of its errors, bytes) gets all output: while a command runs
    where the guest goes on from a snapshot, otherwise at the end. Raises Trouble where the guest did not get to its
    end."""
    shown = {}

    def show_new(name, data):
        shown[name] = shown.get(name, b"") + data
        show(int(name.removesuffix(".err")), name.endswith(".err"), data)

    need(root)
    guest = Guest(preset, kernel_of(kernel, root), root, tuple(programs), smp, plugin, append, tuple(machine))
    added = initramfs.additions(commands, files or {}, root, fresh, apart)
    if cache and re.search(r"(^|,)truth=", plugin):
        tell("truth= is about a whole run: no snapshot is used")
        cache = None
    try:
        sent, messages = (guest.go_on(folder, added, timeout, talk, cache, fresh, show_new) if cache else
                          guest.boot(folder, added, timeout, talk))
        how = f"QEMU ended with 0: {messages}"
    except emulated.Ended as why:
        sent, messages, how = b"", "", str(why)
    console = folder / "console"
    said = console.read_text(errors="replace") if console.exists() else ""
    if not sent:
        raise Trouble("\n".join([how.rstrip(), *said.splitlines()[-40:]]))
    with tarfile.open(fileobj=io.BytesIO(sent)) as tar:
        out = {member.name.removeprefix("./"): tar.extractfile(member).read() for member in tar if member.isfile()}
    for name in (f"{i}{end}" for i in range(len(commands)) for end in ("", ".err")):
        was = shown.get(name, b"")
        if not out[name].startswith(was):
            tell("some of the output was lost while a command ran; here is all that it wrote:")
            was = b""
        if rest := out[name].removeprefix(was):  # all of it after a boot; or of what ran on when its command ended
            show_new(name, rest)
    text = {name: data.decode(errors="replace") for name, data in out.items() if "/" not in name}
    files = {name.removeprefix("files/"): data for name, data in out.items() if "/" in name}
    return Run([Said(int(text[f"{i}.status"]), text[str(i)], text[f"{i}.err"]) for i in range(len(commands))],
               text["dmesg"], said, messages, files)


def shell():
    """The command that is a shell on hvc0, as this terminal is."""
    columns, rows = shutil.get_terminal_size()
    return (f"exec 0<>/dev/hvc0 1>&0 2>&0; stty rows {rows} cols {columns} -onlcr; "
            f"export TERM={shlex.quote(os.environ.get('TERM', 'dumb'))} PS1='guest# '; exec setsid -c sh -i")


def above_zero(text):
    """A type of argparse's."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


def add_preset_option(parser):
    parser.add_argument("--preset", metavar="NAME", default="icelake",
                        help=f"the processor to emulate (%(default)s): {', '.join(PRESETS)}")


def add_snapshot_options(parser):
    parser.add_argument("--cache", metavar="DIR", type=Path, default=CACHE,
                        help="keep snapshots of guests that have booted there, and begin with one (%(default)s)")
    parser.add_argument("--no-cache", action="store_const", dest="cache", const=None, help="boot, and keep nothing")
    parser.add_argument("--fresh-seed", action="store_true",
                        help="random addresses: without it a program counts the same each time")


def in_folder(call):
    """What call(folder) returns, for a temporary folder. Of trouble there is one line, and the program ends."""
    for end in (signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(end) != signal.SIG_IGN:  # as nohup has it
            signal.signal(end, lambda number, _: sys.exit(128 + number))  # leaves nothing behind
    try:
        with tempfile.TemporaryDirectory() as folder:
            return call(Path(folder))
    except BrokenPipeError:  # as behind `| head`: nobody reads on. What Python still writes at its end goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        sys.exit(f"{NAME}: {f'{error.filename}: {error.strerror}' if error.filename else error}")
    except (Trouble, snapshots.Refused, of_root.Missing) as trouble:
        sys.exit(f"{NAME}: {trouble}")
    except KeyboardInterrupt:
        return 130


def arguments():
    parser = argparse.ArgumentParser(
        description="Boots a Linux under qemu-ds once, runs each COMMAND in a shell there and prints its output. The "
                    "exit status is the highest of the commands'. " + ("" if INSTALLED else "First: make deps-ds all."))
    add_preset_option(parser)
    parser.add_argument("--root", metavar="DIR", type=Path, default=Path("/") if INSTALLED else DEBIAN,
                        help="a Debian system, with busybox-static: kernels and programs are taken from there "
                             f"({'/' if INSTALLED else 'what make deps-ds unpacks'})")
    parser.add_argument("--kernel", metavar="RELEASE",
                        help="how the version of a kernel in the root's /boot begins, or a path with a '/' in it "
                             f"({'the newest' if INSTALLED else f'{KERNEL}; {NEWER} knows architectural PEBS'})")
    parser.add_argument("--program", metavar="NAME", action="append",
                        help="a program of the root to have in the guest, with what it needs: rr, gdb, python3, bash, "
                             "... or a path of a file or folder there; may be given again. Otherwise it is perf")
    parser.add_argument("--plugin", metavar="OPTIONS", default="", help="more options of the plugin: stats=on,...")
    parser.add_argument("--append", metavar="OPTIONS", default=APPEND,
                        help="the kernel's options (%(default)s)")
    parser.add_argument("--smp", metavar="N", type=above_zero,
                        help="how many processors (1; with a hybrid 2). Half of a hybrid's are efficient cores, unless "
                             "--plugin efficient= says otherwise")
    parser.add_argument("--copy", metavar="PATH", type=Path, action="append", default=[],
                        help="a program to copy into the guest's /bin, or a folder to copy into its /root, with the "
                             "root's libraries; may be given again")
    add_snapshot_options(parser)
    parser.add_argument("--timeout", metavar="S", type=above_zero,
                        help=f"give up after S seconds ({LIMIT}; with --shell never)")
    parser.add_argument("--shell", action="store_true", help="after the commands, if any, a shell on this terminal")
    parser.add_argument("command", metavar="COMMAND", nargs="*")
    a = parser.parse_args()
    if not a.command and not a.shell:
        parser.error("give a COMMAND, or --shell")
    if a.shell and not sys.stdin.isatty():
        parser.error("--shell needs a terminal")
    return a


class Printer:
    """Prints what commands say, each behind a line of its own."""

    def __init__(self, commands):
        self.commands, self.begun, self.line_ended = commands, 0, True

    def begin(self, number):
        while self.begun <= number:
            head = b"" if self.line_ended else b"\n"
            sys.stdout.buffer.write(head + f"# {self.commands[self.begun]}\n".encode())
            self.begun, self.line_ended = self.begun + 1, True

    def show(self, number, _, data):
        if number < len(self.commands):  # else it is the shell's
            self.begin(number)
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
            self.line_ended = data.endswith(b"\n")

    def end(self):
        self.begin(len(self.commands) - 1)
        if not self.line_ended:
            print()


def call(a, folder):
    kernel = a.kernel or (KERNEL if a.root == DEBIAN else None)
    smp, plugin = processors(a.preset, a.smp, a.plugin)
    commands = [*a.command, *([shell()] if a.shell else [])]
    printer = Printer(a.command)
    done = run(folder, commands, preset=a.preset, kernel=kernel, plugin=plugin, append=a.append, smp=smp,
               files=copies(a.copy), timeout=a.timeout or (NEVER if a.shell else LIMIT), root=a.root,
               programs=a.program or PROGRAMS, talk=a.shell, cache=a.cache, fresh=a.fresh_seed, show=printer.show)
    printer.end()
    print(done.plugin, end="", file=sys.stderr)
    return max(said.status for said in done.said)


def main():
    a = arguments()
    return in_folder(lambda folder: call(a, folder))


if __name__ == "__main__":
    sys.exit(main())
