# SPDX-License-Identifier: MIT
"""Scene 0: its numbers are the native model's, and it works at four widths, in both themes, by keys and by touch."""

import re
import subprocess

import pytest

import browser
import cairn_boot as cb
import looks
from play import MARKS, PAGE, Layout, native

pytestmark = MARKS
PANELS = "#zero > header, #zero > h1, #zero > p, #zero > div, .side"
SAMPLES = "({ interrupt: zero.interrupt.samples, pebs: zero.pebs.samples })"
ASIDE = "({ interrupt: zero.interrupt.settings, pebs: zero.pebs.settings })"
TEXT = "document.getElementById({!r}).textContent"
LOAD, NOP = 1, 5  # places in the loop
CODE = 0x401000


@pytest.fixture(autouse=True)
def fresh(page):
    page.size(1280, 720)
    page.prefers("light", "reduce")
    page.open(PAGE)
    yield
    assert not page.complaints
    page.prefers("light")


def states(settings, steps):
    layout = Layout()
    return layout, [state for _, state in native([f"{settings};at={step}" for step in steps], layout.size)]


def named(layout, before, state, plain):
    """The place that a step's sample names on the native machine, as scene 0 defines it; None: it is no sample."""
    if plain:
        entered = layout.of(state, "in_handler") and not layout.of(before, "in_handler")
        return (layout.of(state, "rip") - CODE) // 4 if entered else None
    if layout.of(state, "newest_step") != layout.of(state, "step"):
        return None
    at = layout.fields["newest"][0] + 8  # EventingIP of a record of format 4
    return (int.from_bytes(state[at:at + 8], "little") - CODE) // 4


def test_without_settings_it_opens_on_scene_0(page):
    assert page.run("[zero.shown, zero.part, document.querySelectorAll('.pair li').length]") == [True, 0, 16]
    page.open(PAGE, "#cpu=haswell")
    assert not page.run("zero.shown")
    page.run("location.hash = '#why=3'")
    page.wait("zero.shown && zero.part === 2")


@pytest.mark.parametrize("lateness", [0, 3, cb.long(6), 12])
def test_the_samples_are_the_models(page, lateness):
    page.run(f"zero.late({lateness})")
    found, settings = page.run(SAMPLES), page.run(ASIDE)
    for name, plain in (("interrupt", True), ("pebs", False)):
        samples = [(each["step"], each["place"]) for each in found[name]]
        assert f"delay={lateness}" in settings[name] and len(samples) == 24
        layout, first = states(settings[name], range(100))  # of the first steps, each
        of_each = [(step, named(layout, first[step - 1], first[step], plain)) for step in range(1, 100)]
        assert [pair for pair in of_each if pair[1] is not None] == [pair for pair in samples if pair[0] < 100]
        _, later = states(settings[name], [step - back for step, _ in samples for back in (1, 0)])
        assert [named(layout, *pair, plain) for pair in zip(later[::2], later[1::2])] == [place for _, place in samples]
        assert layout.of(later[-1], "pmis" if plain else "records") == 24  # so there are no others
    assert {each["place"] for each in found["pebs"]} == {LOAD}
    assert {each["place"] for each in found["interrupt"]} == {(LOAD + 1 + lateness) % 7}


def test_the_counter_says_who_is_guilty(page):
    """Of each instruction, how often the native machine's counter has moved when it retired."""
    layout, run = states(page.run(ASIDE)["pebs"], range(60))
    counted = [0] * 7
    for before, state in zip(run, run[1:]):
        counted[layout.of(before, "at")] += layout.of(state, "moved") != 0
    assert counted.index(max(counted)) == LOAD == page.run("zero.pebs.guilty") and sum(counted) == max(counted)


def test_24_interrupts_and_one(page):
    for part in ("", "#why=3"):
        page.open(PAGE, part)
        settings = page.run(ASIDE)
        for name, interrupts in (("interrupt", 24), ("pebs", 1)):
            step = page.run(f"zero.{name}.machine.number('step')")
            layout, [state] = states(settings[name], [step])
            assert layout.of(state, "pmis") == interrupts == page.run(f"zero.{name}.interrupts")
    assert page.run("[...document.querySelectorAll('#zero-counts b')].map((each) => +each.textContent)") == [24, 1]
    assert page.run("document.querySelectorAll('#zero-cells .full').length") == 24
    page.run("zero.again(); zero.begin(); for (let i = 0; i < 23; i++) zero.move(); zero.show()")
    assert page.run("[zero.interrupt.interrupts, zero.pebs.interrupts]") == [23, 0]


def test_the_record_unfolds(page):
    """Bytes, names and values of the first record are the native model's."""
    page.open(PAGE, "#why=2")
    rows = page.run("[...document.querySelectorAll('#zero-bytes tr')].map((row) => "
                    "[...row.cells].map((cell) => cell.textContent))")
    layout, [state] = states(page.run(ASIDE)["pebs"], [page.run("zero.pebs.machine.number('step')")])
    at = layout.fields["newest"][0]
    assert bytes.fromhex("".join(row[0] for row in rows)) == state[at:at + layout.of(state, "newest_bytes")]
    assert len(rows) == 8
    for row in rows:
        assert int(row[2][:-1], 16) == int.from_bytes(bytes.fromhex(row[0]), "little")
    assert rows[1][1:3] == ["EventingIP", f"{CODE + 4 * LOAD:X}H"] and rows[1][3].startswith("LODSQ")


def test_whose_fault(page):
    page.key("w")
    assert page.run("document.activeElement.textContent") == "MOV"
    page.key(*["Tab"] * NOP)
    page.run("document.activeElement.click()")
    said = page.run(TEXT.format("zero-question"))
    assert said.startswith("No: NOP does nothing. LODSQ loads")
    assert "Interrupts say NOP with 100 % of their samples: each comes 3 instructions too late" in said
    assert said.endswith("PEBS says LODSQ with 100 %.")
    assert page.run("[...document.querySelectorAll('.guilty .mono')].map((each) => each.textContent)") == 2 * ["LODSQ"]
    page.run("zero.late(6)")
    assert "by accident" in page.run(TEXT.format("zero-say"))
    page.run("zero.late(0)")
    assert "not late" in page.run(TEXT.format("zero-say"))


def test_keys(page):
    page.key("+", "+", "-")
    assert page.run("zero.lateness") == 4 and page.run(TEXT.format("zero-lateness")) == "4 instructions"
    page.key("s")
    assert page.run("[zero.interrupt.samples.length, zero.pebs.samples.length]") == [1, 1]
    page.key(" ")
    page.wait("zero.playing && zero.steps > 3")
    page.key(" ")
    assert not page.run("zero.playing")
    for key, part in (("n", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("N", 0), ("N", 0)):
        page.key(key)
        assert page.run("zero.part") == part
    page.key("n", "n", "n")
    assert page.run("[zero.shown, scene.number, scene.part]") == [False, 1, 0]
    page.key("N")
    assert page.run("[zero.shown, zero.part]") == [True, 2]
    page.key("4")
    assert page.run("[zero.shown, scene.number]") == [False, 4]
    page.key("0")
    assert page.run("[zero.shown, zero.part]") == [True, 0]
    page.run("document.getElementById('zero-late').focus()")
    page.key("ArrowRight")  # is the slider's
    assert page.run("[zero.part, zero.lateness]") == [0, 5]
    page.key("?")
    assert page.run("document.getElementById('about').open")
    assert "whose fault is it?" in page.run(TEXT.format("all-keys"))


def test_the_browsers_way_back(page):
    """Scene 0 and the machine are two pages for the button back; their parts and steps are not."""
    page.key("n", "n", "n", "s")
    assert not page.run("zero.shown")
    page.run("history.back()")
    page.wait("zero.shown && zero.part === 2")
    page.run("history.forward()")
    page.wait("!zero.shown && scene.number === 1 && machine.number('step') === 1")


def test_touch(page):
    page.size(390, 844)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        page.open(PAGE)
        small = page.run("""[...document.querySelectorAll("#zero button")].filter((each) => each.checkVisibility())
            .filter((each) => !each.closest(".note") && each.getBoundingClientRect().height < 44)
            .map((each) => each.textContent)""")
        assert not small
        for name, shown in (("zero-ask", "!by('zero-question').hidden"), ("zero-next", "zero.part === 1"),
                            ("zero-next", "zero.part === 2"), ("zero-next", "scene.number === 1 && !zero.shown")):
            page.run(f"document.getElementById('{name}').scrollIntoView({{ block: 'center' }})")
            box = page.run(f"document.getElementById('{name}').getBoundingClientRect().toJSON()")
            page.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.wait(shown, 5)
    finally:
        page.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_motion(page):
    """Without motion it is what comes in the end; else it runs by itself, and comes to the same."""
    assert page.run("[zero.playing, zero.finished, zero.interrupt.samples.length]") == [False, True, 24]
    still = page.run(SAMPLES)
    assert page.run("document.getAnimations().length") == 0
    page.key("s")
    assert page.run("zero.interrupt.samples.length") == 1
    page.prefers("light", "no-preference")
    page.open(PAGE)
    assert page.run("zero.playing")
    page.wait("zero.interrupt.samples.length > 0 && zero.pebs.samples.length > 0", 20)
    assert page.run("zero.interrupt.samples.length") < 24
    page.run("zero.playing = false; zero.finish(); zero.show()")
    assert page.run(SAMPLES) == still


@pytest.mark.parametrize("theme", looks.THEMES)
@pytest.mark.parametrize("width, height", looks.SIZES)
def test_looks(page, width, height, theme):
    page.size(width, height)
    page.prefers(theme, "reduce")
    for part in ("", "#why=2", "#why=3"):
        page.open(PAGE, part)
        assert not looks.faults(page, PANELS), part
    page.open(PAGE)
    for script in ("zeroPicture.ask()", "zeroPicture.tell(5)"):
        page.run(script)
        assert not looks.faults(page, PANELS), script
    if width >= 1280:
        assert page.run("document.documentElement.scrollHeight") <= height


def test_bad_looks_are_found(page):
    lead = "document.getElementById('zero-lead').style.cssText = "
    page.run(f"{lead}'color: #999; font-size: 11px; margin-top: -2em'")
    found = looks.faults(page, PANELS)
    assert [fault for fault in found if "11.0 px" in fault] and [fault for fault in found if "over" in fault]
    page.run(f"{lead}'font-size: 20px; width: 3000px'")
    assert [fault for fault in looks.faults(page, PANELS) if "the page has" in fault]


def test_the_buffer_is_the_largest_panel(page):
    for width, height in looks.SIZES:
        page.size(width, height)
        page.open(PAGE, "#why=3")
        area = page.run("""Object.fromEntries([...document.querySelectorAll("#zero-buffer .side")].map((each) =>
            [each.id, each.clientWidth * each.clientHeight]))""")
        assert area["zero-cells"] > 2 * max(size for name, size in area.items() if name != "zero-cells")


def test_the_first_picture_is_there_at_once(page):
    """Within a second; of three times, as the host has other work."""
    times = []
    for _ in range(3):
        page.open(PAGE)
        page.wait("performance.getEntriesByName('first-contentful-paint').length")
        times.append(page.run("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    assert min(times) < 1000


def test_the_picture_of_the_documents(tmp_path):
    """docs/learn/playground.md says how docs/images/scene0.png is made; it makes such a picture still."""
    text = (cb.ROOT / "docs/learn/playground.md").read_text(encoding="utf-8")
    [command] = re.findall(r"^chromium-headless-shell (.*)$", text.replace("\\\n", ""), re.M)
    options = [word.replace("docs/images", str(tmp_path)).replace("build/", f"{cb.BUILD}/").replace("$PWD/", "")
               for word in command.replace('"', "").split()]
    subprocess.run([browser.found(), "--no-sandbox", *options], check=True, capture_output=True, timeout=120)
    new, kept = tmp_path / "scene0.png", cb.ROOT / "docs/images/scene0.png"
    assert kept.stat().st_size <= 120 * 1024
    assert new.read_bytes()[16:24] == kept.read_bytes()[16:24]  # width and height
    assert 0.5 < new.stat().st_size / kept.stat().st_size < 2, "it shows something else, or fonts differ"
