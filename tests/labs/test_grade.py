# SPDX-License-Identifier: MIT
"""tools/grade.sh: a class of five, and what it refuses."""

import csv
import shutil
import subprocess

import pytest

import cairn_boot as cb

GRADE = cb.ROOT / "tools" / "grade.sh"
LAB = cb.ROOT / "labs" / "01-first-record"


def grade(*arguments):
    return subprocess.run([GRADE, "-b", cb.BUILD.relative_to(cb.ROOT), *arguments], cwd=cb.ROOT, capture_output=True,
                          text=True, check=False)


@pytest.mark.long
@pytest.mark.xdist_group("labs")  # they share a build
def test_class(tmp_path):
    endless = (LAB / "lab.c").read_text(encoding="utf-8").replace("    return 0;", "    for (;;)\n        ;", 1)
    fault = (LAB / "lab.c").read_text(encoding="utf-8").replace("    return 0;", "    return *(int *)s->period;", 1)
    codes = {"ada/01-first-record": (LAB / "solution.c").read_text(encoding="utf-8"),
             "bob/labs/01-first-record": (LAB / "wrong" / "no-reset.c").read_text(encoding="utf-8"),
             "dan/01-first-record": "int x = ;", "eve/01-first-record": endless, "fay/01-first-record": fault}
    for folder, code in codes.items():
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "lab.c").write_text(code, encoding="utf-8")
    (tmp_path / "cy").mkdir()
    try:
        done = grade("-j", "2", "-l", "60", tmp_path, "1")
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == f"{tmp_path}/grades.csv: 6 students, 1 labs, 1 passed\n"
    finally:
        shutil.rmtree(cb.BUILD / "grade", ignore_errors=True)
    with (tmp_path / "grades.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["student"], row["result"], row["hint"]) for row in rows] == [
        ("ada", "passed", ""), ("bob", "failed", "reset"), ("cy", "missing", ""), ("dan", "error", ""),
        ("eve", "time", ""), ("fay", "failed", "fault")]
    assert {row["lab"] for row in rows} == {"01-first-record"} and int(rows[0]["checks_passed"]) == 4
    assert "expected expression" in (tmp_path / "dan" / "01-first-record.txt").read_text(encoding="utf-8")
    assert "in lab_start at lab.c:" in (tmp_path / "fay" / "01-first-record.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments, said", [
    ((), "which folder?"), (("/nowhere",), "which folder?"),
    (("-d", "sometimes", "."), "-d sometimes: must be soft or hw"),
    (("-j", "0", "."), "must be numbers, -j at least 1"), ((".", "77"), "there is no lab 77")])
def test_refusals(arguments, said):
    done = grade(*arguments)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_names_that_are_no_folders_of_make(tmp_path):
    (tmp_path / "O'Brien $(x)").mkdir()
    done = grade(tmp_path, "1")
    assert done.returncode == 2 and "a name may have letters, digits" in done.stderr
