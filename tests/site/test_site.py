# SPDX-License-Identifier: MIT
"""`make site`: every link leads somewhere, no page needs the network, and search works from a file, too."""

import os
import re
import shutil
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import browser
import cairn_boot as cb
import looks

SITE = cb.BUILD / "site"

pytestmark = pytest.mark.xdist_group("site")  # one makes it, for all


class Page(HTMLParser):
    """The names of a page's places, where its links lead, and what it loads by itself."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links, self.loads, self.logos = set(), [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        about = dict(attrs)
        self.places |= {about[key] for key in ("id", "name") if about.get(key)}
        if tag == "a" and "href" in about:
            self.links.append(about["href"])
            if "md-logo" in about.get("class", ""):
                self.logos.append(about["href"])
        elif tag == "link" and about.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(about["href"])
        elif tag in ("script", "img", "iframe") and "src" in about:
            self.loads.append(about["src"])


@pytest.fixture(scope="module")
def site(made):
    found = sorted(SITE.rglob("*.html"))
    assert f"{SITE}/index.html: {len(found)} pages\n" == made
    return {path: Page(path) for path in found if path.name != "404.html"}


def local(target):
    return not target.startswith(("http:", "https:", "data:", "mailto:", "javascript:"))


def broken(pages):
    for path, page in pages.items():
        for target in [*page.links, *page.loads]:
            file, place = urldefrag(target)
            if file == "playground.html":
                place = ""  # settings
            to = Path(os.path.normpath(path.parent / unquote(file))) if file else path
            if local(target) and not (to.is_file() and (not place or to not in pages or unquote(place) in
                                                        pages[to].places)):
                yield f"{path.relative_to(SITE)}: {target}"


def test_links(site):
    assert len(site) > 40 and sum(len(page.links) for page in site.values()) > 1000
    assert not list(broken(site))


def test_a_broken_link_is_found(site):
    page = Page(SITE / "index.html")
    page.links += ["docs/nowhere.html", "docs/explain/ds.html#nowhere", "docs/explain/ds.html"]
    assert len(list(broken({**site, SITE / "index.html": page}))) == 2


def test_nothing_is_loaded_from_elsewhere(site):
    assert not [target for page in site.values() for target in page.loads
                if not local(target) and not target.startswith("data:")]


def test_all_documents_are_there(site):
    for path in [*(cb.ROOT / "docs").rglob("*.md"), *cb.ROOT.glob("labs/*/README.md")]:
        name = path.relative_to(cb.ROOT).with_suffix(".html")
        assert SITE / (name.with_name("index.html") if path.name == "README.md" else name) in site, name


def test_outputs_are_the_samples(site):
    text = (SITE / "docs" / "explain" / "ds.html").read_text(encoding="utf-8")
    assert SITE / "gallery.html" in site and text.count("<summary>the whole output, ") >= 2
    assert (SITE / "gallery-plain.svg").stat().st_size > 10000


def test_the_way_home(site):
    """Each page's logo leads to the home page, which is in the search, too; README.md is a page beside it."""
    pages = {path: page for path, page in site.items() if page.logos}
    assert len(pages) > 40
    for path, page in pages.items():
        assert {os.path.normpath(path.parent / logo) for logo in page.logos} == {str(SITE / "index.html")}, path
    assert "two commands" in (SITE / "about.html").read_text(encoding="utf-8").lower()
    assert '"location":"index.html' in (SITE / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "../../playground.html" in site[SITE / "docs" / "learn" / "playground.html"].links


def test_doors(site):
    """The home page has them; the playground, which is one file for itself, has no link."""
    doors = [link for link in site[SITE / "index.html"].links if link.endswith(".html") or "#" in link]
    assert len(doors) >= 15 and {"docs/learn/hello.html", "docs/how-to/rr.html", "docs/explain/ds.html"} <= set(doors)
    assert not site[SITE / "playground.html"].links
    home = (SITE / "index.html").read_text(encoding="utf-8")
    assert (cb.ROOT / "tools/site/doors.html").read_text(encoding="utf-8") in home
    assert (SITE / "index.html").stat().st_size <= 300 * 1024


def test_links_read_as_titles(site):
    """And not as names of pages; the icon is the project's own."""
    texts = [text for path in site for text in re.findall(r"<a [^>]*>([^<]*)</a>", path.read_text(encoding="utf-8"))]
    assert "Architectural PEBS" in texts and not [text for text in texts if text.endswith(".md")]
    assert any(load.startswith("data:image/svg+xml;") for load in site[SITE / "index.html"].loads)
    assert all([load.rsplit("/", 1)[-1] for load in page.loads].count("icon.svg") >= 2  # of the tab, and the logo
               for page in site.values() if page.logos)


def test_publishing(site, tmp_path):
    """The commands of docs/how-to/site.md, with a folder for the web server and a bare clone for the Git host."""
    page = (cb.ROOT / "docs/how-to/site.md").read_text(encoding="utf-8")
    unpack, push = re.findall(r"^(ssh .*|cd build/site .*\n.*)$", page, re.M)
    archive = re.search(r"<(\S+)\.tar\.xz$", unpack)[1]
    served, pushed = tmp_path / "served", tmp_path / "pushed"
    served.mkdir()
    shutil.copytree(SITE, tmp_path / archive)
    subprocess.run(["tar", "-cJf", f"{archive}.tar.xz", archive], cwd=tmp_path, check=True,
                   env={**os.environ, "XZ_OPT": "-0"})
    subprocess.run(unpack.replace("ssh user@example.org ", "").replace("/var/www/cairn", str(served)), shell=True,
                   cwd=tmp_path, check=True)
    subprocess.run(["git", "init", "-q", "--bare", pushed], check=True)
    shutil.copytree(SITE, tmp_path / "build/site")
    who = "-c user.name=x -c user.email=x@example.org"
    push = push.replace("git@github.com:YOU/cairn.git", str(pushed)).replace("git commit", f"git {who} commit")
    subprocess.run(push, shell=True, cwd=tmp_path, check=True, stderr=subprocess.DEVNULL)
    files = {str(path.relative_to(SITE)) for path in SITE.rglob("*") if path.is_file()}
    assert {str(path.relative_to(served)) for path in served.rglob("*") if path.is_file()} == files
    listed = subprocess.run(["git", "-C", pushed, "ls-tree", "-r", "-z", "--name-only", "pages"], capture_output=True,
                            text=True, check=True).stdout
    assert set(listed.split("\0")) - {""} == files and ".nojekyll" in files and len(site) > 40


@pytest.mark.skipif(not browser.found(), reason="no Chromium")
def test_the_home_page_is_scene_0(site):
    assert site
    with browser.Browser() as page:
        for width, height in looks.SIZES:
            for theme in looks.THEMES:
                page.size(width, height)
                page.prefers(theme, "reduce")
                page.open(SITE / "index.html")
                assert page.run("zero.shown && [zero.interrupt.interrupts, zero.pebs.interrupts]") == [24, 1]
                assert not looks.faults(page, "#zero > header, #zero > h1, #zero > p, .side, #doors section")
        assert page.run("document.activeElement.tagName") == "BODY"
        page.run("document.querySelector('#doors a').focus()")
        page.key("Enter")
        page.wait("location.pathname.endsWith('/playground.html') && document.documentElement.dataset.ready")
        assert page.run("scene.number") == 1 and not page.complaints


@pytest.mark.skipif(not browser.found(), reason="no Chromium")
def test_search_from_a_file(site):
    assert site
    with browser.Browser() as page:
        page.call("Page.navigate", url=(SITE / "docs" / "explain" / "ds.html").as_uri())
        page.wait("document.readyState === 'complete'")
        page.run("document.querySelector('.md-search__input').focus()")
        deadline = time.monotonic() + 60
        page.key(*"threshold")
        found = "[...document.querySelectorAll('.md-search-result__link')].map(link => link.href)"
        while not page.run(f"{found}.length") and time.monotonic() < deadline:
            time.sleep(0.5)  # the theme may not have listened yet when a key came: then the next one finds them all
            page.run("document.querySelector('.md-search__input').dispatchEvent(new Event('keyup'))")
        links = page.run(found)
        assert len(links) > 5 and all(link.startswith(SITE.as_uri()) for link in links)
        # the theme's own search warns of a single letter, if the host is slow enough that it is looked for
        assert not [complaint for complaint in page.complaints if "Invalid query: t " not in complaint]
        assert not [url for url in page.requests if not url.startswith(("file:", "data:"))]
