# SPDX-License-Identifier: MIT
"""Each lab: the student's file fails with its first hint, the solution and unusual right programs pass, wrong ones get
the hint that they name."""

import re

import pytest

import cairn_boot as cb
from cairn_labs import FEW, LABS, each, lab, name_of, programs, verdicts

WRONG_FEW = ("01-first-record/no-reset", "01-first-record/past-the-end")  # `make test-all` runs all


@pytest.mark.parametrize("code", each(LABS, 1))
def test_skeleton(code):
    """The page shows what the student sees first."""
    status, output = lab(code)
    shown = re.search(r"```\n(lab \d+ (?:.*\n)+?)```", (code.parent / "README.md").read_text(encoding="utf-8"))[1]

    def masked(text):
        return re.sub(r"0x[0-9a-f]+", "N", re.sub(r"^(make(\[\d+\])?: |[A-Z]+ +build).*\n", "", text, flags=re.M))
    assert status != 0 and len(verdicts(output)) == 1, output
    assert masked(output) == masked(shown)


@pytest.mark.parametrize("code", each([path.with_name("solution.c") for path in LABS], FEW))
def test_solution(code):
    status, output = lab(code)
    boots = [line for line in (code.parent / "boots").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert status == 0 and "FAIL" not in output, output
    assert output.count("PASS: ") >= 1
    assert output.endswith(f"lab {code.parent.name}: passed ({len(boots)} boot{'s' * (len(boots) > 1)}, the model)\n")


@pytest.mark.long
@pytest.mark.parametrize("code", [path.with_name("solution.c") for path in LABS], ids=name_of)
def test_solution_with_any_seed(code):
    """A grade draws the seed. The numbers that the checks derive from it repeat after a few dozen, but for labs 9 and
    10, which draw samples and machines: these were tried with 10,000 seeds when their limits were chosen."""
    for seed in [0, *range(4, 17, 3), 1000, 65535, 480123, 999999]:
        status, output = lab(code, f"SEED={seed}")
        assert status == 0, f"SEED={seed}\n{output}"


def test_numbers_of_one_seed():
    """A program that knows the periods of `make lab` passes that, and no other seed."""
    solution = LABS[0].with_name("solution.c").read_text(encoding="utf-8")
    known = "(s->record_bytes == 200 ? s->counter == 2 ? 3ul : 6ul : s->counter == 3 ? 3ul : 7ul)"
    code = cb.BUILD / "labs" / LABS[0].parent.name / "one-seed.c"
    code.parent.mkdir(parents=True, exist_ok=True)
    assert "s->period" in solution
    code.write_text(solution.replace("s->period", known), encoding="utf-8")
    status, output = lab(code)
    assert status == 0, output
    status, output = lab(code, "SEED=4711")
    assert status != 0 and verdicts(output) == ["period"], output


@pytest.mark.parametrize("seed", ["x", cb.long("-1"), cb.long("1234567890")])
def test_seed_that_is_none(seed):
    status, output = lab(LABS[0].with_name("solution.c"), f"SEED={seed}")
    assert status != 0 and f"SEED={seed}: must be a number of at most 9 digits" in output


@pytest.mark.long
@pytest.mark.parametrize("code", programs("right"), ids=name_of)
def test_right_program(code):
    status, output = lab(code)
    assert status == 0 and "FAIL" not in output, output


@pytest.mark.parametrize("code", [
    pytest.param(path, id=name_of(path), marks=[] if name_of(path) in WRONG_FEW else pytest.mark.long)
    for path in programs("wrong")])
def test_wrong_solution(code):
    """Its second line says which hint it should get."""
    hint = re.search(r"; hint: ([\w-]+)\.", code.read_text(encoding="utf-8").splitlines()[1])[1]
    status, output = lab(code)
    assert status != 0 and verdicts(output) == [hint], output


@pytest.mark.parametrize("folder", [path.parent for path in LABS], ids=lambda folder: folder.name)
def test_three_hints(folder):
    hints = {re.search(r"; hint: ([\w-]+)\.", path.read_text(encoding="utf-8"))[1]
             for path in folder.glob("wrong/*.c")}
    assert len(hints) >= 3
