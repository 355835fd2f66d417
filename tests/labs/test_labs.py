# SPDX-License-Identifier: MIT
"""Each lab: the student's file fails with its first hint, the solution passes, wrong solutions get their own hints."""

import re

import pytest

from cairn_labs import FEW, LABS, each, lab, verdicts


@pytest.mark.parametrize("code", each(LABS, FEW))
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


@pytest.mark.parametrize("code", each([path for one in LABS for path in sorted(one.parent.glob("wrong/*.c"))], 1))
def test_wrong_solution(code):
    """Its second line says which hint it should get."""
    hint = re.search(r"; hint: ([\w-]+)\.", code.read_text(encoding="utf-8").splitlines()[1])[1]
    status, output = lab(code)
    assert status != 0 and verdicts(output) == [hint], output


@pytest.mark.parametrize("folder", [path.parent for path in LABS], ids=lambda folder: folder.name)
def test_three_wrong_solutions(folder):
    wrong = list(folder.glob("wrong/*.c"))
    hints = {re.search(r"; hint: ([\w-]+)\.", path.read_text(encoding="utf-8"))[1] for path in wrong}
    assert len(wrong) >= 3 and len(hints) == len(wrong)
