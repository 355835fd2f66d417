# SPDX-License-Identifier: MIT
"""Each lab's solution and right programs pass on the Debug Store that the plugin gives QEMU, too."""

import pytest

from cairn_labs import LABS, each, lab, name_of, programs


@pytest.mark.parametrize("code", each([path.with_name("solution.c") for path in LABS], 1))
def test_solution(code):
    status, output = lab(code, "DS=hw")
    assert status == 0 and "FAIL" not in output, output
    assert output.endswith("the processor's Debug Store)\n")


@pytest.mark.long
@pytest.mark.parametrize("code", programs("right"), ids=name_of)
def test_right_program(code):
    status, output = lab(code, "DS=hw")
    assert status == 0 and "FAIL" not in output, output
