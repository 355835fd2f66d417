# SPDX-License-Identifier: MIT
"""The page itself: what it shows is the state, keys do what the help says, links are complete, nothing is fetched."""

import re

import pytest

import cairn_boot as cb
import looks
from play import MARKS, NATIVE, PAGE, Layout, native, page_state

pytestmark = MARKS
STEP = "machine.number('step')"
WRONG = "document.getElementById('wrong').textContent"
SENTENCES = "[...document.querySelectorAll('#why li')].map((each) => each.textContent)"
# What elements of the page show, by the names of the state.
SHOWN = """({
    counters: Object.fromEntries([...document.querySelectorAll("[data-counter]")].map((each) =>
        [each.dataset.counter, each.dataset.value])),
    bits: Object.fromEntries([...document.querySelectorAll("[data-counter]")].map((each) =>
        [each.dataset.counter,
         [...each.querySelectorAll(".bits span:not(.high)")].map((bit) => bit.textContent).join("")])),
    registers: Object.fromEntries([...document.querySelectorAll("[data-register]")].map((each) =>
        [each.dataset.register, each.textContent])),
    area: [...document.querySelectorAll("#area tr")].map((row) =>
        [row.cells[0], row.cells[3]].map((cell) => cell.textContent)),
    bytes: [...document.querySelectorAll("#record tr")].map((row) => row.cells[2].textContent),
    totals: Object.fromEntries([...document.querySelectorAll("[data-total]")].map((each) =>
        [each.dataset.total, +each.querySelector("b").textContent])),
    next: document.querySelector("#program .next")?.dataset.insn,
})"""


@pytest.fixture(autouse=True)
def fresh(page):
    page.run("for (const each of document.querySelectorAll('dialog[open]')) each.close(); control.open('')")
    yield
    assert not page.complaints


def bytes_of_record(rows):
    """The record's bytes from the page's rows, of which some stand for many that are 0."""
    text = ""
    for row in rows:
        many = re.fullmatch(r"00 … (\d+) bytes of 00", row)
        text += "00" * int(many[1]) if many else row
    return bytes.fromhex(text)


@pytest.mark.parametrize("text", [
    "at=24", "pmc0=loads:3:uk;pmc1=stores:2;bts=4;at=77", "cpu=haswell;pmc1=instructions:3;at=50",
    "handler=returns;at=90",
    "cpu=pantherlake;pmc2=taken:2;fixed0=9;groups=mem,gpr,xmm,lbr,cntr,metrics;bts=4;size=1;at=61",
    "cpu=clearwaterforest;pmc0=loads:2;policy.arch_fragments=null;threshold=2;at=18",
    "cpu=lunarlake;pmc0=taken:2;fixed0=9;groups=mem,gpr,xmm,lbr,cntr,metrics;records=5;threshold=1;at=61"])
def test_what_is_shown_is_the_state(page, text):
    layout = Layout()
    [(_, state)] = native([text], layout.size)
    page.run(f"control.open({text!r})")
    shown = page.run(SHOWN)
    value = layout.fields["value"][0]
    assert len(shown["counters"]) == layout.of(state, "used").bit_count()
    for number, text_of in shown["counters"].items():
        at = value + 8 * int(number)
        expected = int.from_bytes(state[at:at + 8], "little")
        assert int(text_of, 16) == expected and int(shown["bits"][number], 2) == expected % 4096
    arch = layout.of(state, "format") == 15
    for name in ("global_status", "global_ctrl", "pebs_index" if arch else "pebs_enable", "lvtpc"):
        assert int(shown["registers"][name.upper()][:-1], 16) == layout.of(state, name)
    area = layout.fields["area"][0]
    assert len(shown["area"]) == layout.of(state, "rows")
    msrs = {0x3F4: "pebs_base", 0x3F5: "pebs_index"}
    for offset, word in shown["area"]:
        at = area + int(offset, 16)
        if int(offset, 16) >= 0x1900:  # IA32_PMC_GPn_CFG_C: enabled, from the period in the settings
            assert int(word, 16) >> 63 == 1 and -int(word, 16) & 0xFFFFFFFF in (2, 5, 9)
            continue
        if int(offset, 16) in msrs:
            assert int(word, 16) == layout.of(state, msrs[int(offset, 16)])
            continue
        assert int(word, 16) == int.from_bytes(state[at:at + 8], "little")
    newest = layout.fields["newest"][0]
    assert bytes_of_record(shown["bytes"]) == state[newest:newest + layout.of(state, "newest_bytes")]
    assert shown["bytes"]
    for name, number in shown["totals"].items():
        assert number == layout.of(state, name)
    assert shown["next"] == (None if layout.of(state, "in_handler") else str(layout.of(state, "at")))
    assert len(page.run(SENTENCES)) == layout.of(state, "said_count") > 0


def test_the_ring_of_branches(page):
    """After the wrap BtsIndex is at the base again, and the buffer is full."""
    seen = set()
    for step in range(60):
        page.run(f"control.open('bts=4;at={step}')")
        written = page.run("machine.number('bts_records')")
        seen.add(written)
        shown = page.run("[...document.querySelectorAll('.buffer')].map((each) => "
                         "[each.innerText, each.querySelectorAll('.record').length])")
        [(text, marks)] = [each for each in shown if "BTS buffer" in each[0]]
        assert f"{min(written, 4)} record" in text and marks == min(written, 4)
        assert marks == page.run("document.querySelectorAll('#branches tr').length")
    assert {0, 3, 4, 5} <= seen


def test_keys(page):
    layout = Layout()
    page.key("s", "s", "s", "ArrowRight", " ")
    assert page.run(STEP) == 5 and "arms it" in page.run(SENTENCES)[-1]
    page.key("ArrowLeft", "ArrowLeft")
    assert page.run(STEP) == 3
    for key, step, name in (("o", 5, "armed"), ("r", 6, "records"), ("p", 24, "pmis"), ("d", 28, "drains")):
        page.key(key)
        assert page.run(STEP) == step and page.run(f"machine.number('{name}')") > 0
        [(_, state)] = native([f"at={step}"], layout.size)
        assert page_state(page, layout) == state
    page.key("Home")
    assert page.run(STEP) == 0
    for key, dialog in (("e", "form"), ("?", "about")):
        page.key(key)
        assert page.run(f"document.getElementById('{dialog}').open")
        page.key("s")  # belongs to the dialog
        assert page.run(STEP) == 0
        page.run(f"document.getElementById('{dialog}').close()")


def test_run_to_what_never_comes(page):
    page.run("control.open('threshold=0;at=3')")
    page.key("p")
    assert page.run(STEP) == 3
    assert page.run(WRONG) == "There is no PMI up to step 4095, where a run ends."
    page.run("machine.to(1e6); control.show()")
    assert page.run(STEP) == 4095 and page.run("document.querySelector('[data-do=step]').disabled")


def test_a_link_has_everything(page):
    """Settings changed in the form, a few steps: the address opens the same, byte by byte."""
    layout = Layout()
    page.run("""form.show(); form.change({ cpu: "haswell", pmc1: "stores:2:u", "policy.fit": "end_lt", bts: "5",
                                           program: "set:9,store,load,dec,jnz:1,syscall" })""")
    page.run("document.getElementById('form').close()")
    page.key("r", "s", "s")
    before, address = page_state(page, layout), page.run("location.hash")
    page.open(PAGE, address)
    assert page_state(page, layout) == before
    page.open(PAGE, address.replace(":", "%3A").replace(";", "%3B"))  # as some programs send it on
    assert page_state(page, layout) == before
    page.run(f"location.hash = {address.replace('haswell', 'skylake')!r}")
    page.wait("machine.number('format') === 3")


@pytest.mark.parametrize("address, said", [
    ("#cpu=i486", "one of: penryn, nehalem"), ("#at=%E0%A4%A", "a number from 0 to 4095"),
    ("#" + "x" * 5000, "longer than")])
def test_a_bad_link(page, address, said):
    page.open(PAGE, address)
    text = page.run(WRONG)
    assert text.startswith("The address has settings that are wrong. ") and said in text and "\n" not in text
    assert page.run(STEP) == 0 and page.run("document.querySelectorAll('#program tr').length") == 11
    page.key("s")
    assert page.run("document.getElementById('wrong').hidden")


def test_the_form_refuses_in_one_line(page):
    page.run("form.show(); form.change({ program: 'jnz:99' })")
    assert "its target is not in the program" in page.run("document.querySelector('#form .error').textContent")
    assert page.run("settings.get('program')").startswith("set:3")


def test_the_form_has_everything(page):
    page.run("form.show()")
    text = page.run("document.getElementById('form').textContent")
    for name, question, _ in page.run("machine.catalog.policies"):
        assert name in text and question in text
    for key, about, *_ in page.run("machine.catalog.numbers"):
        assert key in ("at", "scene", "stop") or about in text
    assert page.run("document.querySelectorAll('#form select option').length") > 40


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes(page, theme):
    page.prefers(theme)
    page.open(PAGE)
    other = {"light": "dark", "dark": "light"}[theme]
    assert page.run("document.documentElement.dataset.theme") == theme
    page.key("t")
    assert page.run("document.documentElement.dataset.theme") == other
    page.prefers("light")


def test_it_fits_a_projector(page):
    """1280 x 720: in every part of every scene all panels are in the window; only lists scroll within themselves."""
    beyond = page.run("""scenes.flatMap(({ parts }, i) => parts.flatMap((part, k) => {
        control.playScene(() => scene.play(i + 1, k));
        const panels = [...document.querySelectorAll("header, nav, section, footer")].filter((each) => !each.hidden);
        return panels.filter((each) => each.getBoundingClientRect().bottom > innerHeight + 1
                                       || each.getBoundingClientRect().right > innerWidth + 1
                                       || document.documentElement.scrollHeight > innerHeight)
            .map((each) => `${i + 1}.${k + 1} ${each.id || each.tagName}`);
    }))""")
    assert not beyond


PARTS = "#stepping > header, #controls, #scene, .column > section, #keys-line"
SEVERAL = [(1, 2), (3, 1), (6, 1), (8, 3), (10, 2), (12, 1), (13, 4)]


@pytest.mark.parametrize("theme", looks.THEMES)
@pytest.mark.parametrize("width, height", looks.SIZES)
def test_looks(page, width, height, theme):
    """Text that can be read, no panel over another, and the buffer is the largest where it has a record."""
    page.size(width, height)
    page.prefers(theme)
    try:
        page.open(PAGE, "#at=0")
        assert not looks.faults(page, PARTS)
        for number, part in SEVERAL:
            page.run(f"control.playScene(() => scene.play({number}, {part}))")
            page.run("by('scene-answer').open = true")
            assert not looks.faults(page, PARTS), (number, part)
            page.run("by('scene-answer').open = false")
            areas = page.run("""Object.fromEntries([...document.querySelectorAll(".column > section")]
                .map((each) => [each.id || each.innerText.split("\\n")[0], each.clientWidth * each.clientHeight]))""")
            assert max(areas, key=areas.get) == "buffer-section" or number == 10 and width < 1280, (number, areas)
        for key in ("e", "?"):
            page.key(key)
            assert not looks.faults(page, "dialog[open], dialog[open] h2, dialog[open] p"), key
            page.run("document.querySelector('dialog[open]').close()")
            page.settle()
    finally:
        page.size(1280, 720)
        page.prefers("light")


def test_one_file_and_no_network(page):
    page.open(PAGE)
    assert [url.split("#")[0] for url in page.requests if not url.startswith("data:")] == [PAGE.resolve().as_uri()]
    text = PAGE.read_text(encoding="utf-8")
    assert PAGE.stat().st_size <= 300 * 1024
    assert not re.search(r"https?://|(src|href)=", text)
    assert "default-src 'none'" in text
    assert NATIVE.exists() and cb.ROOT.as_posix() not in text
