# SPDX-License-Identifier: MIT
"""axe-core finds nothing in pages of all kinds: pages of the site, the playground, and pages of `cairn export`. It sees
neither a canvas nor text in an SVG picture: tests/cairn/export measures these. A few run in CI."""

import pytest

import browser
import cairn_boot as cb
import looks

SITE, AXE = cb.BUILD / "site", cb.BUILD / "axe/node_modules/axe-core/axe.min.js"
READY = "document.documentElement.dataset.ready === 'yes'"  # of pages that make themselves
PAGES = {
    "home": ("index.html", READY),
    "stepping": ("playground.html#scene=3", READY),
    "record": ("gallery-plain.html", READY),
    "summary": ("gallery-panic.html#summary", READY),
    "branches": ("gallery-branches.html", READY),
    "README": ("about.html", None),
    "ds": ("docs/explain/ds.html", None),
    "own records": ("docs/how-to/own-records.html", None),
    "gallery": ("gallery.html", None),
}
SHORT = [("home", (390, 844), "dark"), ("stepping", (1280, 720), "light"), ("record", (390, 844), "dark"),
         ("own records", (1280, 720), "dark")]
ALL = [(page, size, theme) for page in PAGES for size in looks.SIZES for theme in looks.THEMES]
VIOLATIONS = """axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.flatMap(
    ({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`)))"""
SMALL = """[...document.querySelectorAll("article *")].filter((e) => e.checkVisibility() && parseFloat(
    getComputedStyle(e).fontSize) < 12 && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .map((e) => `${e.tagName} "${e.textContent.slice(0, 30)}"`)"""

pytestmark = [pytest.mark.xdist_group("site"),
              pytest.mark.skipif(not browser.found(), reason="no Chromium: run 'make deps'"),
              pytest.mark.skipif(not AXE.exists(), reason="no axe-core: run 'make deps-axe', which needs npm")]


@pytest.fixture(scope="module")
def page(made):
    assert made
    with browser.Browser() as one:
        yield one


def look_at(page, name, size, theme):
    path, ready = PAGES[name]
    path, _, place = path.partition("#")
    page.size(*size)
    page.prefers(theme, "reduce")
    page.call("Page.navigate", url=SITE.as_uri() + "/404.html")
    page.wait("document.readyState === 'complete'")
    page.run("localStorage.clear()")  # where the site keeps its theme
    page.call("Page.navigate", url=(SITE / path).as_uri() + (f"#{place}" if place else ""))
    page.wait(f"document.readyState === 'complete' && ({ready or 'true'})")
    page.settle()
    assert page.run("document.body.dataset.mdColorScheme") in (None, {"light": "default", "dark": "slate"}[theme])
    page.run(f"{AXE.read_text(encoding='utf-8')}; 0")


@pytest.mark.parametrize("name, size, theme", [
    pytest.param(*each, id=f"{each[0]}-{each[1][0]}-{each[2]}", marks=[] if each in SHORT else pytest.mark.long)
    for each in ALL])
def test_no_violation(page, name, size, theme):
    look_at(page, name, size, theme)
    assert page.run(VIOLATIONS) == []
    assert page.run(SMALL) == []
    assert page.run("document.documentElement.scrollWidth") <= size[0]


def test_violations_are_found(page):
    """Text without contrast, a picture without words, small print: the tests above can fail."""
    look_at(page, "README", (1280, 720), "light")
    page.run("""document.querySelector("article").innerHTML +=
        '<p style="color: #999; font-size: 11px">faint</p><img src="icon.svg" width="9">'""")
    found = page.run(VIOLATIONS)
    assert {line.split(":")[0] for line in found} == {"color-contrast", "image-alt"}
    assert page.run(SMALL) == ['P "faint"']
