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


def test_the_text_of_the_state_is_the_settings(layout):
    """A link is made of it: whoever opens it has the same state, and the same text."""
    source, catalog = random.Random(4), told("--catalog")
    first = [state for _, state in native([settings(source, catalog) for _ in range(200)], layout.size) if state]
    everything = ";".join([f"pmc{i}=conditional:9999{i}:uk:plain" for i in range(10)]
                          + [f"fixed{i}=9999{i}:uk:plain" for i in range(4)]
                          + ["cpu=lunarlake;groups=mem,gpr,xmm,lbr,cntr,metrics;lbr=32;records=7;threshold=24;extra=999",
                             "bts=31;btsthreshold=31;btint=interrupts;btsoff=usr;lvtpc=masked;delay=99;freeze=counters",
                             "handler=forgets_lvtpc;buffer=unmapped;scene=99;stop=99;at=4095"]
                          + [f"policy.{name}={values[-1]}" for name, _, values in catalog["policies"]]
                          + ["program=" + ",".join(24 * ["set:9999"])])
    first.append(native([everything], layout.size)[0][1])
    texts = [layout.text(state) for state in first]
    assert len(texts[-1]) > 1024
    for state, (_, again) in zip(first, native(texts, layout.size)):
        assert again == state


@pytest.mark.parametrize("cpu", [cpu["name"] for cpu in told("--catalog")["processors"]])
@pytest.mark.parametrize("period", [1, 2, 7])
def test_records_are_period_and_one_apart(layout, cpu, period):
    """Counted by hand: an instruction a step, nobody interrupts, so a record comes with each period + 1 steps, and with
    each period where the counter has precise distribution."""
    about = next(each for each in told("--catalog")["processors"] if each["name"] == cpu)
    for counter, number in (("pmc0", 0), ("pmc1", 1), ("fixed0", 32)):
        if not int(about["pebs"], 16) >> number & 1:
            continue
        event = "" if number >= 32 else "instructions:"
        states = [state for _, state in native(
            [f"cpu={cpu};pmc0=off;{counter}={event}{period}:uk;threshold=0;program=nop,add;at={step}"
             for step in range(40)], layout.size)]
        if not layout.of(states[0], "pebs"):
            continue  # Intel's lists do not have it there
        exact = layout.of(states[0], "pdist") >> number & 1
        apart, room = period + (not exact), 6
        for step, state in enumerate(states):
            assert layout.of(state, "records") == min(step // apart, room)
            assert layout.of(state, "dropped") == max(step // apart - room, 0)


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
    "program=nop:1", "program=sysret", "program=" + ",".join(25 * ["nop"]), "records=25", "records=-1", "extra=4000",
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


def test_random_bytes_do_no_harm(layout):
    """The parser under the sanitizers: every text is refused with a line, or runs."""
    source = random.Random(7)
    start = "cpu=lunarlake;pmc0=loads:2:u;groups=gpr,cntr;records=3;policy.fit=end_lt;program=load,jnz:0;at=9"
    texts = []
    for _ in range(2000):
        text = list(start)
        for _ in range(source.randint(1, 6)):
            text[source.randrange(len(text))] = chr(source.randint(32, 126))
        texts.append("".join(text))
    lines = [line for line, _ in native(texts, layout.size)]
    assert any(line.startswith("error ") for line in lines) and not all(line.startswith("error ") for line in lines)
