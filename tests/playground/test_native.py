# SPDX-License-Identifier: MIT
"""The playground's machine, as the program of this host and under the sanitizers: its settings, and counts by hand."""

import random
import re

import pytest

import cairn_boot
from play import Layout, native, told
from random_settings import settings


@pytest.fixture(scope="module")
def layout():
    return Layout()


def test_the_text_of_the_state_is_the_settings(layout):
    """A link is made of it: whoever opens it has the same state, and the same text."""
    source, catalog = random.Random(4), told("--catalog")
    texts = [settings(source, catalog) for _ in range(50)]
    first = [state for _, state in native(texts, layout.size) if state]
    everything = ";".join(["extra=999"] + [f"pmc{i}=conditional:9999{i}:uk:plain" for i in range(10)]
                          + [f"fixed{i}=9999{i}:uk:plain" for i in range(4)]
                          + ["cpu=lunarlake;groups=mem,gpr,xmm,lbr,cntr,metrics;lbr=32;records=7;threshold=24",
                             "bts=31;btsthreshold=31;btint=interrupts;btsoff=usr;lvtpc=masked;delay=99;freeze=counters",
                             "handler=forgets_lvtpc;buffer=unmapped;scene=99;stop=99;at=1000"]
                          + [f"policy.{name}={values[-1]}" for name, _, values in catalog["policies"]]
                          + ["program=" + ",".join(24 * ["set:9999"])])
    first.append(native([everything], layout.size)[0][1])
    texts = [layout.text(state) for state in first]
    assert len(texts[-1]) > 1024
    for state, (_, again) in zip(first, native(texts, layout.size)):
        assert again == state


def test_the_link_in_the_document(layout):
    """docs/learn/playground.md says that it shows the first record of a Haswell."""
    text = (cairn_boot.ROOT / "docs/learn/playground.md").read_text(encoding="utf-8")
    [link] = re.findall(r"^playground.html#(.*)$", text, re.M)
    [(_, state)] = native([link], layout.size)
    assert layout.of(state, "records") == 1 and layout.of(state, "newest_step") == layout.of(state, "step")
    assert layout.of(state, "format") == 2


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
        apart, room = period + (not exact), 4096 // layout.of(states[0], "record_bytes") if about["arch"] else 6
        assert room in (6, 18)
        for step, state in enumerate(states):
            assert layout.of(state, "records") == min(step // apart, room)
            assert layout.of(state, "dropped") == max(step // apart - room, 0)


@pytest.mark.parametrize("fragments", ["none", "cont", "null"])
def test_records_of_architectural_pebs(layout, fragments):
    """As large as was said before, each behind the other by its own header, up to the position in IA32_PEBS_INDEX."""
    source, catalog = random.Random(fragments), told("--catalog")
    catalog["processors"] = [cpu for cpu in catalog["processors"] if cpu["arch"]]
    texts = [settings(source, catalog) + f";policy.arch_fragments={fragments};at=150" for _ in range(60)]
    texts = [re.sub(";policy.arch_fragments=[a-z]+(?=.*;policy.arch_fragments)", "", text) for text in texts]
    seen = 0
    for _, state in native(texts, layout.size):
        if not state or not layout.of(state, "newest_bytes"):
            continue
        assert layout.of(state, "format") == 15
        assert layout.of(state, "newest_bytes") == layout.of(state, "record_bytes"), layout.text(state)
        at, position = 0, layout.of(state, "pebs_index") & 0x7FFFFF0
        start, whole = layout.fields["buffer"][0], 0
        while at < position:
            header = int.from_bytes(state[start + at:start + at + 8], "little")
            at += (header & 0xFFFF) + 15 & ~15
            whole += not header >> 31 & 1 and header > 0xFFFF
            assert header & 0xFFFF >= 16
        assert at == position == whole * layout.of(state, "newest_bytes")
        seen += whole
    assert seen > 20


def test_full(layout):
    """The record that finds no room sets FULL; the handler's drain clears it, and records come again."""
    text = "cpu=pantherlake;pmc2=instructions:1:u;pmc0=off;groups=mem,gpr,xmm,lbr;lbr=32;delay=9;threshold=1;at="
    states = [state for _, state in native([text + str(step) for step in range(60)], layout.size)]
    full = [layout.of(state, "pebs_index") >> 31 & 1 for state in states]
    assert full[:6] == 6 * [0] and "10" in "".join(map(str, full))
    assert layout.of(states[-1], "drains") > 0 and layout.of(states[-1], "records") > 3


def test_sentences_are_whole(layout):
    """Each begins with a capital letter and ends with a full stop. With all 14 counters some are cut, and show it."""
    source, catalog = random.Random(5), told("--catalog")
    texts = [re.sub("at=[0-9]+", f"at={at}", text) for text in (settings(source, catalog) for _ in range(20))
             for at in range(1, 40, 3)]
    said = [sentence for _, state in native(texts, layout.size) if state for sentence in layout.sentences(state)]
    assert len(said) > 300
    for sentence in said:
        assert re.fullmatch(r"[A-Z].*[^.]\.", sentence) and len(sentence) < layout.sentence - 1, sentence
    many = [f"pmc{i}=instructions:3:u:plain" for i in range(10)] + [f"fixed{i}=3:u:plain" for i in range(4)]
    states = native([";".join(["cpu=lunarlake", *many, f"at={at}"]) for at in range(60)], layout.size)
    cut = [sentence for _, state in states for sentence in layout.sentences(state) if sentence.endswith("...")]
    assert cut and all(len(sentence) == layout.sentence - 1 for sentence in cut)


def test_what_is_wrong_is_said(layout):
    """The whole of the setting, and what there is instead; a blank after ';' is none of it."""
    texts = ["pmc0=loads:2:ku", "policy.drop_reload=maybe", "policy.foo=1", "handler=none", " at=5000"]
    said = [line for line, _ in native(texts, layout.size)]
    for line, text, what in zip(said, texts, ("u, k or uk", "one of: yes, no", "no such policy",
                                              "one of: drains, forgets_lvtpc, returns", "0 to 4095")):
        assert line.startswith(f"error {text.strip()}: ") and what in line and line == line.strip(), line
    (_, one), (_, other) = native(["cpu=haswell;pmc0=loads:2", "cpu=haswell; pmc0=loads:2"], layout.size)
    assert one == other and layout.of(one, "format") == 2


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
