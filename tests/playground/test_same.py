# SPDX-License-Identifier: MIT
"""The page's machine and the native one are the same, byte by byte and step by step, for random programs."""

import random
import re

import pytest

import cairn_boot as cb
from play import MARKS, Layout, native, on_page, page_state, told
from random_settings import settings

pytestmark = MARKS
BATCH = 50  # a message from the browser has so many states


@pytest.fixture(scope="module")
def layout():
    return Layout()


@pytest.mark.parametrize("count", [100, cb.long(1000)])
def test_random_programs(page, layout, count):
    source, catalog = random.Random(count), told("--catalog")
    texts = [settings(source, catalog) for _ in range(count)]
    seen, good = dict.fromkeys(("records", "dropped", "swallowed", "pmis", "pmis_lost", "drains", "lost", "bts_records",
                                "bts_dropped"), 0), 0
    for first in range(0, count, BATCH):
        batch = texts[first:first + BATCH]
        for text, ours, theirs in zip(batch, native(batch, layout.size), on_page(page, batch)):
            assert not layout.differences(ours[1], theirs[1]) and ours[1] == theirs[1], text
            assert ours[0] == theirs[0], text  # an error, or the digest of all steps
            good += bool(ours[1])
            for name in seen:
                seen[name] += ours[1] != b"" and layout.of(ours[1], name) > 0
    assert good >= 0.9 * count  # few settings are refused
    assert all(seen.values()), seen  # each of these happened in some of them


def test_back_and_forth(page, layout):
    """Wherever one goes, and from where, a step's state is the same."""
    source, catalog = random.Random(3), told("--catalog")
    for _ in range(5):
        text = re.sub("at=[0-9]+", "at=0", settings(source, catalog))
        steps = [source.randrange(200) for _ in range(8)]
        states = native([text.replace("at=0", f"at={step}") for step in steps], layout.size)
        page.run(f"machine.open({text!r})")
        for step, (_, state) in zip(steps, states):
            page.run(f"machine.to({step})")
            assert state and page_state(page, layout) == state, (text, step)


def test_the_catalog_and_the_layout_are_the_same(page):
    assert page.run("machine.catalog") == told("--catalog")
    assert page.run("machine.layout") == told("--layout")


def test_a_difference_is_found(page, layout):
    """One byte of memory that is changed in the page's machine, while it runs: states and digests differ."""
    text = "pmc0=instructions:5:u;at=40"
    page.run(f"machine.open({text!r})")
    offset = layout.fields["buffer"][0]
    [(_, right)] = native([text], layout.size)
    page.run(f"machine.memory(machine.state + {offset}, 1)[0] ^= 1")
    wrong = page_state(page, layout)
    assert layout.differences(right, wrong) == ["buffer"]
    [(ours, _)], [(theirs, _)] = native([text], layout.size), on_page(page, [text.replace("40", "41")])
    assert ours != theirs
    [(other, _)] = native([text.replace(":5", ":6")], layout.size)
    assert other != ours


@pytest.mark.parametrize("text", [
    "cpu=i486", "cpu", "=", ";;;", "pmc0=loads", "pmc0=loads:0", "pmc0=loads:5:x", "pmc9=loads:5", "fixed0=x",
    "cpu=penryn;fixed0=5", "cpu=haswell;pmc0=instructions:5;pmc7=loads:5", "program=", "program=set", "program=jnz:30",
    "program=nop:1", "program=sysret", "program=" + ",".join(25 * ["nop"]), "records=33", "records=-1", "extra=4000",
    "lvtpc=x", "policy.fit=maybe", "policy.x=y", "groups=gpr,abc", "at=4096", "x" * 2000,
    "groups=mem,gpr,xmm,lbr;lbr=32;records=20", "\u00e4=1", "cpu=%s%n"])
def test_bad_settings(page, layout, text):
    """One line on the page, the same as of the native program, and what was shown stays."""
    page.run("control.open('at=7')")
    [(ours, _)] = native([text], layout.size)
    error = page.run(f"machine.open({text!r})")
    if ours.startswith("error "):
        assert ours == f"error {error}" and "\n" not in error and 10 < len(error) < 240
        assert page.run("machine.number('step')") == 7
    else:
        assert text == ";;;" and error == ""
