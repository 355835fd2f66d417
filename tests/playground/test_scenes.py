# SPDX-License-Identifier: MIT
"""The guided scenes: each plays to its end, what it says holds, and a link to a part of it shows that part."""

import pytest

from play import MARKS, PAGE, Layout, native

pytestmark = MARKS
SCENES = 13

# Of each part: what it claims of the state and what the page has, and the text of the settings.
PLAY = """(number) => {
    const seen = [];
    control.playScene(() => scene.play(number, 0));
    for (let i = 0; i < scenes[number - 1].parts.length; i++) {
        if (i)
            control.do("scene-forward");
        const { holds } = scene.now.parts[scene.part];
        seen.push({ at: [scene.number, scene.part], text: machine.string("text"),
                    holds: Object.entries(holds).map(([name, value]) => [name, value, machine.number(name)]),
                    title: by("scene-title").textContent, say: by("scene-say").textContent,
                    wrong: by("wrong").textContent, address: decodeURIComponent(location.hash.slice(1)) });
    }
    return seen;
}"""


def test_there_are_so_many(page):
    assert page.run("scenes.length") == SCENES
    titles = page.run("scenes.map((each) => each.title)")
    assert len(set(titles)) == SCENES and all(len(title) < 50 for title in titles)
    assert page.run("scenes.every(({ parts }) => parts.length >= 3 && parts.some(({ ask }) => ask))")


@pytest.mark.parametrize("number", range(1, SCENES + 1))
def test_scene(page, number):
    layout = Layout()
    parts = page.run(f"({PLAY})({number})")
    assert not page.complaints
    for i, part in enumerate(parts):
        assert part["at"] == [number, i] and part["say"] and not part["wrong"]
        assert part["holds"], "each part claims something"
        for name, claimed, found in part["holds"]:
            assert claimed == found, f"scene {number}, part {i + 1}: {name} is {found}, not {claimed}"
        [(_, state)] = native([part["text"]], layout.size)  # and the native machine, by the link alone, says so, too
        for name, claimed, _ in part["holds"]:
            assert layout.of(state, name) == claimed
        assert part["address"] == part["text"]
    page.run("control.do('scene-forward')")
    assert page.run("[scene.number, scene.part]") == [number % SCENES + 1, 0]


# Each answer's proof: where the machine is then, what was claimed, and what it says.
PROVE = """() => scenes.flatMap(({ parts }, i) => parts.flatMap(({ ask, answer, proof }, k) => {
    if (!ask)
        return [];
    control.playScene(() => scene.play(i + 1, k));
    const shown = !by("scene-answer").hidden && by("scene-answer-text").textContent;
    if (proof.set && machine.open(proof.set))
        throw new Error(proof.set);
    for (const go of proof.go ?? [])
        scene.go(go, i + 1);
    return [{ at: [i + 1, k], answer, shown, text: machine.string("text"),
              holds: Object.entries(proof.holds).map(([name, value]) => [name, value, machine.number(name)]) }];
}))"""


def test_answers(page):
    """Each question has one; the page's machine and the native one both say what it claims."""
    answers, layout = page.run(f"({PROVE})()"), Layout()
    assert len(answers) >= SCENES and page.run("scenes.every(({ parts }) => parts.every(({ ask, answer }) => "
                                               "!ask === !answer))")
    for each, (_, state) in zip(answers, native([each["text"] for each in answers], layout.size)):
        assert each["shown"] == each["answer"] and each["holds"]
        for name, claimed, found in each["holds"]:
            assert claimed == found == layout.of(state, name), (each["at"], name)


def test_an_answer_opens(page):
    page.run("control.playScene(() => scene.play(3, 3))")
    opened = "by('scene-answer').open"
    assert not page.run(opened)
    page.key("a")
    assert page.run(opened) and page.run("by('scene-answer-text').getBoundingClientRect().height > 10")
    page.key("n")
    assert page.run("by('scene-answer').hidden")
    page.key("N")
    assert not page.run(opened)


def test_a_wrong_claim_is_found(page):
    """What the tests compare is what the machine does: with another period the first scene's claims do not hold."""
    page.run("scenes[0].set = scenes[0].set.replace(':5:', ':6:')")
    try:
        parts = page.run(f"({PLAY})(1)")
        assert any(claimed != found for part in parts for _, claimed, found in part["holds"])
    finally:
        page.open(PAGE)


def test_a_link_to_a_part(page):
    page.run("control.playScene(() => scene.play(3, 3))")
    shown = "[scene.number, scene.part, machine.number('step'), machine.number('drains')]"
    address, before = page.run("location.hash"), page.run(shown)
    page.open(PAGE, address)
    assert page.run(shown) == before == [3, 3, 28, 1]
    page.key("N")
    assert page.run("[scene.number, scene.part]") == [3, 2]
    page.key("n", "n", "n")
    assert page.run("[scene.number, scene.part]") == [4, 0]
    page.key("Escape")
    assert page.run("[scene.number, document.getElementById('scene').hidden]") == [0, True]


def test_by_number(page):
    page.key("7")
    assert page.run("[scene.number, scene.part]") == [7, 0]
