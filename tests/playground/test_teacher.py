# SPDX-License-Identifier: MIT
"""The links of tools/teacher/pictures.md open what the page's scenes say there."""

import re

import pytest

import cairn_boot
from play import MARKS, PAGE

PICTURES = cairn_boot.ROOT / "tools/teacher/pictures.md"
pytestmark = [*MARKS, pytest.mark.skipif(not PICTURES.exists(), reason="a release has no answers")]

# Whether each claim of the part that is shown holds.
HOLDS = """Object.entries(scene.now.parts[scene.part].holds).every(([name, value]) => machine.number(name) === value)"""


def test_pictures(page):
    links = re.findall(r"^\| \[.+\]\(playground\.html(#\S+)?\) \|$", PICTURES.read_text("utf-8"), re.M)
    assert len(links) > 20 and len(links) == PICTURES.read_text("utf-8").count("\n| [")
    for address in links:
        page.open(PAGE, address)
        assert not page.complaints and not page.run("by('wrong').textContent"), address
        scene = re.search(r";scene=(\d+)(?:;stop=(\d+))?", address)
        assert page.run("zero.shown") is not bool(scene), address
        if scene:
            assert page.run("[scene.number, scene.part]") == [int(scene[1]), int(scene[2] or 0)]
            assert page.run(HOLDS), address
            assert page.run("decodeURIComponent(location.hash)") == address
