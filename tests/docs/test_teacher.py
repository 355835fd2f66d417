# SPDX-License-Identifier: MIT
"""`make teacher`: what teachers have and students do not."""

import csv
import re
import subprocess
import zipfile

import pytest

import cairn_boot as cb

KIT = cb.ROOT / "tools/teacher"
pytestmark = pytest.mark.skipif(not KIT.exists(), reason="a release has no answers")
LABS = sorted(path.parent for path in cb.ROOT.glob("labs/*/lab.c"))


def numbered(text):
    return [int(number) for number in re.findall(r"^(\d+)\. ", text, re.M)]


def test_each_question_has_its_answer():
    sections = re.split(r"^## Lab (\d+): (.*)$", (KIT / "key.md").read_text("utf-8"), flags=re.M)[1:]
    answers = {int(lab): (title, numbered(text)) for lab, title, text in zip(*[iter(sections)] * 3)}
    questions = {}
    for lab in LABS:
        page = (lab / "README.md").read_text("utf-8")
        number, title = re.match(r"# Lab (\d+): (.*)", page).groups()
        questions[int(number)] = (title, numbered(page.split("## Questions")[1]))
    assert answers == questions
    total = sum(len(numbers) for _, numbers in questions.values())
    assert f"the {total} questions" in (KIT / "README.md").read_text("utf-8")


def test_points():
    """Each check has points, and nothing else has; a lab has 20 with its questions."""
    with (KIT / "points.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for lab in LABS:
        source = "".join(path.read_text("utf-8") for path in lab.glob("*.c"))
        points = {row["check"]: int(row["points"]) for row in rows if int(row["lab"]) == int(lab.name[:2])}
        assert set(re.findall(r'lab_pass\("([a-z-]+)"', source)) <= set(points), lab.name
        assert all(f'"{check}"' in source for check in points), lab.name
        questions = numbered((lab / "README.md").read_text("utf-8").split("## Questions")[1])
        assert sum(points.values()) + len(questions) == 20


def test_archive():
    done = subprocess.run(["make", "-s", f"B={cb.BUILD.relative_to(cb.ROOT)}", "teacher"], cwd=cb.ROOT,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(cb.BUILD / "cairn-teacher.zip") as archive:
        assert set(archive.namelist()) == {"LICENSE", "README.md", "key.md", "pictures.md", "points.csv",
                                           "playground.html"}


def test_a_release_has_no_answers():
    """What `git archive` takes, which is what tools/release/dist.sh packs."""
    if not (cb.ROOT / ".git").exists():
        pytest.skip("no clone")
    said = subprocess.run(["git", "check-attr", "export-ignore", "tools/teacher"], cwd=cb.ROOT, capture_output=True,
                          text=True, check=True).stdout
    assert said == "tools/teacher: export-ignore: set\n"
