# SPDX-License-Identifier: MIT
"""cairn-report.efi, from a stick: its file says what the machine is, and the machine is as before."""

import os
import re
import signal
import subprocess
import time

import pytest

import cairn_boot as cb
import cairn_screen as cs
import screen_picture
from cairn_presets import ARCH, PRESETS

FORMATS = {name: form for name, form, *_ in PRESETS}
CARD = re.compile(r"^(cairn=\S+ verdict=(?:.*\n)*?.*\bsum=[0-9a-f]{4})$", re.M)
RECORD = re.compile(r"^record (\d+): call (\d+) of 24$", re.M)


def seen(raw):
    """What is on the screen in the end: what follows a carriage return is over what was there."""
    rows = []
    for line in re.sub(rb"\x1b\[[0-9;=?]*[A-Za-z]", b"", raw).decode("ascii", errors="replace").split("\n"):
        row = ""
        for part in line.split("\r"):
            row = part + row[len(part):]
        rows.append(row.rstrip())
    return "\n".join(rows)


class Stick:
    """A folder that is a stick of the machine's, with the report as what it boots. The machine has a TPM, for which
    the firmware does not wait, where no --qemu is given."""

    def __init__(self, folder, *more):
        self.folder = folder / "stick"
        (self.folder / "EFI" / "BOOT").mkdir(parents=True)
        (self.folder / "EFI" / "BOOT" / "BOOTX64.EFI").write_bytes((cb.BUILD / "cairn-report.efi").read_bytes())
        self.more = more
        if "--qemu" not in more:
            qemu = "qemu-system-x86_64" if "off" in more else cb.QEMU_11
            self.more += "--qemu", cb.with_qemu(folder, *cb.failing_tpm(folder), qemu=qemu)

    def start_with(self, program):
        """This one is started first, and starts the report."""
        boot = self.folder / "EFI" / "BOOT" / "BOOTX64.EFI"
        boot.rename(self.folder / "loader.efi")
        boot.write_bytes((cb.BUILD / program).read_bytes())

    def boot(self, *arguments, key=None, until="switch off", after=None, look=None):
        """What the screen shows. `key` is pressed once `until` is there; then the machine is watched until `after`.
        `look` is called before."""
        command = [cb.ROOT / "run-qemu.sh", "--stick", self.folder, "--smp", "1", "--timeout", str(cb.LIMIT),
                   *self.more, *arguments]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "CAIRN_BUILD": str(cb.BUILD),
                                                                  "TMPDIR": str(self.folder.parent)}) as machine:
            text = self.read(machine, until) if key else b""
            if look:
                look(machine)
            if key:
                machine.stdin.write(key)
                machine.stdin.flush()
            if after:
                text += self.read(machine, after)
                self.end_machine()
            text += machine.stdout.read()
        return seen(text)

    def end_machine(self):
        """QEMU's own process, whose stick lies beside ours."""
        found = subprocess.run(["pgrep", "-f", rf"^\S*(qemu-system-x86_64|ld-linux\S*) .*{self.folder.parent}/"],
                               capture_output=True, text=True, check=False)
        for pid in found.stdout.split():
            os.kill(int(pid), signal.SIGTERM)

    @staticmethod
    def read(machine, until):
        text = b""
        while until.encode() not in text:
            more = machine.stdout.read1()
            assert more, text
            text += more
        return text

    def hung(self, machine, *ends):
        """Has the files of runs before, of `machine`, that end so."""
        for number, rest in enumerate(ends, 1):
            name = "cairn-machine.txt" if number == 1 else f"cairn-machine-{number}.txt"
            (self.folder / name).write_text(f"cairn-report=0.3.0\nmachine={machine}\n{rest}\n", encoding="ascii")

    def lines(self, name="cairn-machine.txt"):
        text = (self.folder / name).read_text(encoding="ascii")
        return text, dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def check_whole(text, lines):
    """Each step has ended, and nothing is otherwise than before."""
    assert text.startswith("cairn-report=") and text.endswith("\nend=all steps are done\n")
    assert "stopped=" not in text and "changed." not in text
    assert re.search(r"^restored=(\d+) of \1 registers are as before$", text, re.M)
    assert {"firmware.vendor", "bios.vendor", "acpi.0", "machine.cpus", "memory.0", "screen.0", "processor",
            "cpu.0.microcode"} <= set(lines)


def masked(lines):
    """The brand has the host's TSC frequency, the sum is of the brand, too."""
    return re.sub(r"0x\w+|(?<=TSC        )\d+|(?<= @ )\d\.\d\d(?=GHz)|(?<= sum=)\w+", "N", lines)


@pytest.fixture(scope="module", name="skylake")
def stick_of_skylake(tmp_path_factory):
    """Also for those that need the name of such a machine, in which the host's TSC frequency is."""
    stick = Stick(tmp_path_factory.mktemp("skylake"), "--qemu", cb.QEMU_11, "--qemu-ds", "preset=skylake")
    return stick, stick.boot()


with_skylake = pytest.mark.xdist_group("report-skylake")


@pytest.mark.parametrize("preset", [pytest.param("skylake", marks=with_skylake), "clearwaterforest",
                                    *map(cb.long, ("penryn", "nehalem", "sandybridge", "haswell", "icelake",
                                                   "sapphirerapids", "arrowlake", "lunarlake", "pantherlake"))])
def test_every_processor(tmp_path, request, preset):
    if preset == "skylake":
        stick, screen = request.getfixturevalue("skylake")
    else:
        stick = Stick(tmp_path, "--qemu", cb.QEMU_11, "--qemu-ds", f"preset={preset}")
        screen = stick.boot()
    text, lines = stick.lines()
    check_whole(text, lines)
    assert re.fullmatch(rf"QEMU qemu-ds {preset} @ \d\.\d\dGHz", lines["processor"])
    assert lines["format"] == str(FORMATS[preset])
    assert lines["pebs"].startswith("yes: ") and lines["bts"].startswith("yes: ")
    answered, of, same = re.fullmatch(r"(\d+) of (\d+) questions answered, (\d+) as the model does",
                                      lines["probe"]).groups()
    rows = [lines[f"probe.0.{n}"].split("|") for n in range(int(of))]
    assert answered == same and int(answered) == sum(row[1] != "" for row in rows)
    assert int(answered) >= (30 if FORMATS[preset] == ARCH else 18)
    calls = [(int(number), int(call)) for number, call in RECORD.findall(text)]
    assert calls == ([] if FORMATS[preset] in (0, ARCH) else [(n, 4 * n) for n in range(1, 7)])
    assert ("skipped.hello" in lines) == (not calls)
    shown = screen[screen.index("\ncairn-report "):screen.index("\nstick    ") + 1]
    assert max(len(line) for line in shown.splitlines() if not line.startswith("qemu-ds: ")) <= 80, shown
    for command, line in (("info", f"  record format  {FORMATS[preset]}"), ("probe", "backend hw; emulated")):
        done = subprocess.run([cb.BUILD / "cairn", command, stick.folder / "cairn-machine.txt"], capture_output=True,
                              text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "") and line in done.stdout, done.stdout
        assert "unknown to this version of cairn" not in done.stdout, done.stdout
    if preset == "skylake":
        page = (cb.ROOT / "docs" / "how-to" / "laptop.md").read_text(encoding="utf-8")
        head, tail = re.search(r"```\n(cairn-report .*?)\.\.\.\n(.*?)```", page, re.S).groups()
        cairn_too = re.sub(r"1: Cairn asks.*\n", "", tail)
        assert masked(head) in masked(shown) and masked(cairn_too) in masked(shown), shown


def test_no_debug_store(tmp_path):
    """QEMU's own processor; the firmware goes on with what comes next, its menu."""
    stick = Stick(tmp_path, "--qemu-ds", "off")
    cairn_too(stick)
    screen = stick.boot(key=b"x", after='loading Boot0000 "UiApp"')
    assert "\n2: Cairn records a trace (1 is for processors with a Debug Store)\n" in screen
    text, lines = stick.lines()
    check_whole(text, lines)
    why = "no: QEMU's emulated CPU has no Debug Store"
    assert lines["pebs"] == lines["bts"] == why and f"pebs={why}" in screen.replace("\n", " ")
    assert "step=probe" not in text and "step=hello" not in text and "skipped.hello" in lines


ANSWERED = {"skylake": 23, "clearwaterforest": 31}
# What the report reads and writes of the model's registers.
READ = {"skylake": "345 1A0 38D 186 187 188 189 600 3F1 1D9 3F6 3F7 8B 4C1 4C2 4C3 4C4 309 30A 30B 38E 392 38F C1",
        "clearwaterforest": "345 1A0 38D 186 187 188 189 18A 18B 18C 18D 600 1D9 3F4 3F5 1903 1907 190B 190F 1913 1917 "
                            "191B 191F 1983 1987 198B 3F6 3F7 8B 4C1 4C2 4C3 4C4 4C5 4C6 4C7 4C8 309 30A 30B 38E 392 "
                            "14CE 14CF 38F 190A 190E 1912 1916 191A 191E 1982 1986 198A C1"}
WRITTEN = {"skylake": "600 1D9 8B 38F 187 C2 3F1 390 3F6 3F7 186 4C1 4C2 188 4C3 189 4C4 309 30A 30B 38D C1",
           "clearwaterforest": "3F4 3F5 600 1D9 8B 38F 190A 190E 1912 1916 191A 191E 1982 1986 198A 1903 1907 190B "
                               "190F 1913 1917 191B 191F 1983 1987 198B 186 187 188 189 18A 18B 18C 18D 38D 4C3 390 "
                               "4C4 309 C1 4C1 4C2 4C5 4C6 4C7 4C8 30A 30B 14CE"}
OTHERS = "17 34 CE"  # of no model, but in the file; without IA32_APIC_BASE, which the firmware needs
EACH = [cb.long(preset, f"{how}:{msr}") for preset in READ
        for how, msrs in (("RDMSR", f"{READ[preset]} {OTHERS}"), ("WRMSR", WRITTEN[preset])) for msr in msrs.split()]
FEW = [("skylake", "30"), ("skylake", "58"), ("clearwaterforest", "190")]  # single accesses


@pytest.mark.long
@pytest.mark.parametrize("preset", READ)
def test_registers_of_the_report(tmp_path, preset):
    """Those above are all: the plugin lists them where the one that is to be refused does not come, and the file names
    others that are read."""
    stick = Stick(tmp_path, "--qemu-ds", f"preset={preset},refuse=RDMSR:0")
    screen = stick.boot()
    assert "qemu-ds: refuse=RDMSR:0: there was no such access\n" in screen
    for how, msrs in (("RDMSR", READ), ("WRMSR", WRITTEN)):
        there = re.search(rf"^qemu-ds: there was {how} of (.*)$", screen, re.M)[1].split()
        assert sorted(there) == sorted(msrs[preset].split())
    text, _ = stick.lines()
    named = set(re.findall(r"^cpu\.0\.msr\.(\w+)=", text, re.M))
    assert named <= {*READ[preset].split(), *OTHERS.split(), "1B"} and named >= set(OTHERS.split())


@pytest.mark.parametrize("preset, what", FEW + EACH)
def test_an_access_that_is_refused(tmp_path, preset, what):
    """#GP at one access to the registers of performance monitoring and of both stores, or at each read or each write of
    one of them: the file names it, unless the value was of no account: then all answers are there. No other register
    is changed in the end, and the firmware goes on."""
    stick = Stick(tmp_path, "--qemu-ds", f"preset={preset},refuse={what}")
    screen = stick.boot(key=b"x", after='loading Boot0000 "UiApp"')
    refused = re.search(r"^qemu-ds: access \d+ refused: ((?:RD|WR)MSR) of (\w+)H$", screen, re.M)
    assert refused and (what.isdigit() or what == f"{refused[1]}:{refused[2]}"), screen
    text, lines = stick.lines()
    msr = refused[2]
    kept = set() if what.isdigit() else {msr, "38E"} if msr == "390" else {msr}  # 390H clears 38EH
    assert text.endswith("\nend=all steps are done\n")
    assert set(re.findall(r"^changed\.(\w+)=", text, re.M)) <= kept, text
    named = rf"\b{msr}=fault$|MSR 0x{msr} raises #GP|ECX 0x{msr}$|\|a register that it needs raises #GP$"
    absent = "MSR_PEBS_FRONTEND" if preset == "clearwaterforest" else "none"
    detected = re.search(rf"^ds\.detect\.hw\.0\.\d+=(?!{absent}\b)[^|]*\|fault\|no\|", text, re.M)
    answered = re.match(r"(\d+) of \d+ questions answered, \1 as the model does$", lines.get("probe", ""))
    harmless = answered and int(answered[1]) == ANSWERED[preset]
    assert harmless or detected or re.search(named, text, re.M | re.I), refused[0]


def test_local_apic_that_faults(tmp_path):
    """The step that takes the processor names the page fault, and what needs that is left out. The firmware, which has
    the page, goes on (tests/qemu_ds/apic_page.c)."""
    stick = Stick(tmp_path, "--qemu-ds", "preset=skylake")
    stick.start_with("apic-page.efi")
    screen = stick.boot(key=b"x", after='loading Boot0000 "UiApp"')
    text, lines = stick.lines()
    stopped = re.findall(r"^stopped=(\w+): exception 14 at \w+ of this program, error code 0x0, CR2 0xfee00\w+$", text,
                         re.M)
    assert stopped == ["take"] and " verdict=stopped sig=506e3 " in text, text
    assert text.endswith("\nend=all steps are done\n") and lines["bios.vendor"] and "stopped=take: " in screen


def test_counters_in_use(tmp_path):
    """Counters that firmware has left on are taken, which a line says, and count again afterwards
    (tests/qemu_ds/counters_on.c)."""
    stick = Stick(tmp_path, "--qemu-ds", "preset=skylake")
    stick.start_with("counters-on.efi")
    screen = stick.boot()
    text, lines = stick.lines()
    check_whole(text, lines)
    assert lines["in_use"].startswith("PMC0 FIXED_CTR1 FIXED_CTR2 in use, perhaps by firmware: ")
    assert "taken=what was in use, for the questions; it has been given back\n" in screen and "taken" in lines
    assert lines["cpu.0.msr.38D"] == "0x330" and lines["probe"].startswith("23 of ")


@with_skylake
def test_a_machine_that_hung(tmp_path, skylake):
    """A file that ends with a step says where the machine hung: the next run of this machine leaves that step out, and
    has a file of its own. What hung another machine is nothing to it."""
    machine = skylake[0].lines()[1]["machine"]
    assert re.fullmatch(r"000506e3 QEMU qemu-ds skylake @ \d\.\d\dGHz 00010000", machine)
    stick = Stick(tmp_path, "--qemu-ds", "preset=skylake")
    stick.hung(machine, "step=probe.fit", "step=hello\nend=x")
    (stick.folder / "cairn-machine-3.txt").write_text(
        f"cairn-report=0.3.0\nmachine={machine.replace('skylake', 'icelake')}\nstep=smbios\n", encoding="ascii")
    screen = stick.boot()
    text, lines = stick.lines("cairn-machine-4.txt")
    check_whole(text, lines)
    assert lines["machine"] == machine
    assert re.findall("^skipped.*", text, re.M) == re.findall("^skipped.*", screen, re.M) == [
        "skipped.probe.fit=the run before this one ended there"]
    assert lines["skipped.probe.fit"] == "the run before this one ended there" and "step=probe.fit\n" not in text
    assert lines["probe.0.0"] == "fit||not asked: the run before this ended there"
    assert lines["probe.0.1"].startswith("drop_reload|yes|") and RECORD.search(text)


@with_skylake
@pytest.mark.parametrize("step, left_out", [("cpuid", "cpu.0.cpuid."), ("take", "cpu.0.msr."),
                                            cb.long("screens", "screen."), cb.long("smbios", "bios."),
                                            cb.long("acpi", "acpi."), cb.long("msrs", "cpu.0.msr.")])
def test_a_step_that_hung(tmp_path, skylake, step, left_out):
    """Whatever step hangs a machine, the next run has what all others find; CPUID and the machine's name always. Where
    the processor cannot be taken, the tables are read without."""
    stick = Stick(tmp_path, "--qemu-ds", "preset=skylake")
    _, name = skylake[0].lines()
    stick.hung(name["machine"], f"step={step}")
    screen = stick.boot()
    text, lines = stick.lines("cairn-machine-2.txt")
    assert text.endswith("\nend=all steps are done\n") and lines[f"skipped.{step}"], text
    found = {"cpu.0.cpuid.", "memory.", "screen.", "bios.", "acpi.", "cpu.0.msr."}
    assert {key for key in found if f"\n{key}" in text} == found - {left_out}, text
    whole = step not in ("take", "msrs")
    assert f" verdict={'report' if whole else 'stopped'} sig=506e3 " in screen and ("probe" in lines) == whole
    assert f'brand="{name["processor"]}"' in screen


def no_file(screen, why):
    """The screen has all of the report, and says why and what to do; Cairn, whose log would have no room, is not
    offered, which a row says, too."""
    assert f"\nThere is no file: {why} and start again,\nor send a photograph of the screen\n" in screen
    assert "\nKeys 1 and 2, a run of Cairn, need a stick that can be written\n" in screen
    assert CARD.search(screen) and "1: Cairn" not in screen and "is new in" not in screen


def cairn_too(stick):
    (stick.folder / "cairn").mkdir()
    (stick.folder / "cairn" / "loader.efi").write_bytes(b"not started")


def fill(stick, left):
    """A file leaves so many bytes of the stick that tools/stick.sh makes. It is sparse: the stick becomes no larger."""
    image = stick.folder.parent / "size"
    subprocess.run([cb.ROOT / "tools" / "stick.sh", stick.folder, image, "true"], check=True)
    said = subprocess.run(["mdir", "-i", image, "::"], capture_output=True, text=True, check=True).stdout
    image.unlink()
    free = int(re.search(r"([\d ]+) bytes free", said)[1].replace(" ", ""))
    with (stick.folder / "filler").open("wb") as file:
        file.truncate(free - left)


NO_ROOM = "the stick is full or read-only. Free 150 MiB"


def test_full_stick(tmp_path):
    stick = Stick(tmp_path, "--qemu-ds", "off")
    cairn_too(stick)
    fill(stick, 200 << 10)
    screen = stick.boot()
    no_file(screen, NO_ROOM)


@pytest.mark.long
def test_stick_with_just_enough_room(tmp_path):
    stick = Stick(tmp_path, "--qemu-ds", "off")
    fill(stick, 260 << 10)
    screen = stick.boot()
    check_whole(*stick.lines())
    assert NO_ROOM not in screen and "There is no file" not in screen


@pytest.mark.long
def test_read_only_stick(tmp_path):
    wrapper = cb.with_qemu(tmp_path, "-set", "drive.stick.readonly=on", qemu=cb.QEMU_11)
    stick = Stick(tmp_path, "--qemu", wrapper, "--qemu-ds", "off")
    cairn_too(stick)
    screen = stick.boot()
    no_file(screen, NO_ROOM)


def test_stick_full_of_reports(tmp_path):
    """One more is on the screen alone, which says why."""
    stick = Stick(tmp_path, "--qemu-ds", "off")
    stick.hung("x", *["end=x"] * 99)
    cairn_too(stick)
    screen = stick.boot()
    no_file(screen, "the stick has 99 reports. Move some away")


def module_pixels(data):
    """How wide a module is: four of them, its quiet zone, are white above a QR code. Text is grey."""
    picture = cs.Picture(data)
    white = [picture.line(0, y, picture.width).count(b"\xff") for y in range(picture.height)]
    return white.count(max(white)) / 8  # as many below it


@pytest.mark.parametrize("preset, size, pixels", [
    ("icelake", (1280, 800), 4), cb.long("icelake", (1024, 768), 3), cb.long("icelake", (800, 600), 2),
    cb.long("icelake", (640, 480), 2), cb.long("clearwaterforest", (640, 480), 0)])
def test_screen(tmp_path, preset, size, pixels):
    """The card is the last thing on the screen before the menu, and the QR code beside it has the same text. Where
    there is no room beside the text, there is no code, and the text is whole."""
    wrapper = cb.with_qemu(tmp_path, "-device", "VGA,xres={},yres={}".format(*size), "-qmp",
                           f"unix:{tmp_path}/qmp,server=on,wait=off", *cb.failing_tpm(tmp_path), qemu=cb.QEMU_11)
    picture = tmp_path / "screen.ppm"

    def code():
        (tmp_path / "screen.png").write_bytes(screen_picture.png(cs.Picture(picture.read_bytes())))
        return subprocess.run(["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", "-Sbinary",
                               tmp_path / "screen.png"], capture_output=True, text=True, check=False).stdout

    def look(machine):
        qmp = cs.Qmp(tmp_path / "qmp", machine)
        for _ in range(8 if pixels else 2):  # it is drawn behind the words; without it the machine does not wait long
            time.sleep(0.3)
            qmp.command("screendump", filename=str(picture))
            if code():
                break

    stick = Stick(tmp_path, "--qemu", wrapper, "--qemu-ds", f"preset={preset}")
    screen = stick.boot(key=b"o", look=look)
    text, lines = stick.lines()
    assert lines["screen.0"].startswith("{}x{}, ".format(*size)), lines["screen.0"]
    card, = CARD.findall(screen)
    assert card in text and f"brand=\"QEMU qemu-ds {preset}" in card
    assert f" pebs={FORMATS[preset]} " in card.replace("\n", " ")
    assert " hypervisor=none " in card.replace("\n", " ") and len(screen[screen.index(card):].splitlines()) <= 24
    if pixels:
        assert code() == card and module_pixels(picture.read_bytes()) == pixels
    else:  # text is grey
        assert code() == "" and b"\xff\xff\xff" not in picture.read_bytes()


@pytest.mark.long
def test_high_screen(tmp_path):
    """A framebuffer above 4 GiB, as most cards of today have it (tests/boot/high_screen.c)."""
    wrapper = cb.with_qemu(tmp_path, "-vga", "none", "-device", "ramfb", qemu=cb.QEMU_11)
    stick = Stick(tmp_path, "--qemu", wrapper, "--mem", "3G", "--qemu-ds", "preset=icelake")
    stick.start_with("high-screen.efi")
    stick.boot(key=b"o")
    text, lines = stick.lines()
    check_whole(text, lines)
    assert re.fullmatch(r"\d+x\d+, format \d, 0x\w+ bytes at 0x110000000", lines["screen.0"]), lines["screen.0"]


def test_image(tmp_path):
    """The image of `make image` has the report for the firmware's "boot from file"."""
    image = tmp_path / "image"
    subprocess.run([cb.ROOT / "tools" / "image.sh", image, cb.BUILD / "BOOTX64.EFI", cb.BUILD / "kernel.elf"],
                   env={**os.environ, "REPORT": str(cb.BUILD / "cairn-report.efi")}, check=True, capture_output=True)
    cb.image_tool("mcopy", image, "::/EFI/cairn/report.efi", tmp_path)
    assert (tmp_path / "report.efi").read_bytes() == (cb.BUILD / "cairn-report.efi").read_bytes()
