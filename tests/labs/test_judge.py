# SPDX-License-Identifier: MIT
"""labs/judge.py: verdicts that the plugin's truth contradicts are found, and those of honest programs are not."""

import re
import subprocess

import pytest

import cairn_boot as cb
from cairn_labs import LABS, ON_HW, lab, name_of, programs

JUDGE = cb.ROOT / "labs" / "judge.py"
KERNEL_LABS = [path.parent for path in LABS if (path.parent / "check.c").exists()]
FIRST_CALL = 0xFFFFFFFF8005D000


def judge(folder, seed, preset, kernel, log, truth):
    done = subprocess.run([JUDGE, folder, str(seed), preset, kernel, log, truth], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(name="boot")
def fixture_boot(tmp_path):
    """What lab 1 shows with seed 1: kernel, log, truth."""
    source = f".globl lab_first_call\n.set lab_first_call, {FIRST_CALL:#x}\n"
    subprocess.run(["gcc", "-c", "-x", "assembler", "-o", tmp_path / "kernel", "-"], input=source, text=True,
                   check=True)
    calls = [(4, call) for call in range(4, 25, 4)] + [(8, 5 + call) for call in (7, 14)]
    (tmp_path / "log").write_text("lab 1 First record\r\n"
                                  "PASS: records: counter 2, period 3: every 4th of 24 calls is recorded\r\n"
                                  "PASS: records: counter 3, period 6: every 7th of 19 calls is recorded\r\n",
                                  encoding="utf-8")
    records = [f"0 0 record at 0 counters {counters} ip {FIRST_CALL + 5 * (call - 1):x} next 0 flags 2 tsc 1 words 0\n"
               for counters, call in calls]
    (tmp_path / "truth").write_text("qemu-ds truth 2 preset skylake vcpus 1\n0 0 wrmsr msr 600 value ffff8000\n" +
                                    "".join(records) + "0 0 total records 8 dropped 0\nend\n", encoding="ascii")
    return tmp_path


def judged(boot, seed=1):
    return judge("labs/01-first-record", seed, "skylake", boot / "kernel", boot / "log", boot / "truth")


def test_right_truth(boot):
    assert judged(boot) == (0, "")


@pytest.mark.parametrize("name, old, new, said", [
    ("truth", r"\n.* record .*ip [0-9a-f]+00f .*", "", r"\(counter, address\), number 1: \(4, .*; expected \(4, "),
    ("truth", r"(\n.* record .*){2}(?=\n0 0 total)", "", r"number of records \(counter, address\): 6; expected 8"),
    ("truth", "counters 8 ip", "counters 2 ip", "number 7: "),
    ("truth", "end\n", "", r"last line of the truth: .*; expected \['end'\]"),
    ("log", "every 7th of 19", "every 7th of 18", "numbers of the verdicts: .*18.*; expected "),
    ("log", "PASS", "| PASS", r"numbers of the verdicts: \[\]")])
def test_contradictions(name, old, new, said, boot):
    text = (boot / name).read_text(encoding="utf-8")
    changed = re.sub(old, new, text)
    assert changed != text
    (boot / name).write_text(changed, encoding="utf-8")
    status, output = judged(boot)
    assert status == 4 and re.fullmatch(f"truth: .*{said}.*\n", output), output


def test_numbers_of_another_seed(boot):
    assert judged(boot, 2)[0] == 4


def test_a_symbol_of_the_students_file(boot):
    """The same name, which is not global there."""
    subprocess.run(["gcc", "-c", "-x", "assembler", "-o", boot / "students", "-"], text=True, check=True,
                   input=".data\nlab_first_call: .quad 0\n.globl lab_start\nlab_start: .quad lab_first_call\n")
    subprocess.run(["ld", "-r", "-o", boot / "both", boot / "kernel", boot / "students"], check=True)
    (boot / "both").replace(boot / "kernel")
    assert judged(boot) == (0, "")


def test_its_symbols_are_global():
    """Those of all labs' programs: it sees no other."""
    names = set(re.findall(r'"((?:lab|room)_\w+)"', JUDGE.read_text(encoding="utf-8")))
    programs_of_labs = [path for path in (cb.BUILD / "kernel" / "labs").rglob("*.asm.o") if "machine" not in path.parts]
    listed = subprocess.run(["nm", "-g", "--defined-only", *programs_of_labs], capture_output=True, text=True,
                            check=True)
    assert names and names <= {line.split()[-1] for line in listed.stdout.splitlines() if line.split()}


def test_no_kernel(boot):
    (boot / "kernel").unlink()
    assert judged(boot) == (3, f"judge.py: nm: '{boot}/kernel': No such file\n")


def test_no_truth(boot):
    (boot / "truth").unlink()
    assert judged(boot) == (3, f"judge.py: {boot}/truth: No such file or directory\n")


@pytest.mark.long
@pytest.mark.xdist_group("labs")
@ON_HW
@pytest.mark.parametrize("folder", KERNEL_LABS, ids=lambda folder: folder.name)
def test_each_lab(folder):
    """The solution passes with any seed. Without what it made the Debug Store do, the same verdicts are false."""
    for seed in (1, 6, 480123):
        status, output = lab(folder / "solution.c", "DS=hw", f"SEED={seed}")
        assert status == 0, f"SEED={seed}\n{output}"
    made = cb.BUILD / "lab" / folder.name / "solution"
    preset = (folder / "boots").read_text(encoding="utf-8").splitlines()[1].split()[0].split(",")[0]
    arguments = folder, seed, preset, made / "kernel.elf.full", made / "boot-1.log"
    lines = (made / "boot-1.truth").read_text(encoding="ascii").splitlines(keepends=True)
    assert judge(*arguments, made / "boot-1.truth") == (0, "")
    kinds = {line.split()[2] for line in lines[1:-1]} & {"record", "pmi", "branch"}
    assert kinds
    for kind in kinds:
        (made / "less.truth").write_text("".join(line for line in lines if f" {kind} " not in line), encoding="ascii")
        status, output = judge(*arguments, made / "less.truth")
        assert status == 4 and output.startswith("truth: "), kind


@pytest.mark.long
@pytest.mark.xdist_group("labs")
@ON_HW
@pytest.mark.parametrize("code", [path for path in programs("right") if (path.parent.parent / "check.c").exists()],
                         ids=name_of)
def test_right_programs(code):
    status, output = lab(code, "DS=hw", "SEED=7")
    assert status == 0, output
