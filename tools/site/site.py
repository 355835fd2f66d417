#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the site of `make site`: usage: tools/site/site.py BUILD

BUILD/site-pages gets the project's pages where they are in the project, so that their links stay right, and then
BUILD/site the site, by mkdocs. Added on the way:
- Each output of `$ build/cairn ...` in a page is printed anew, from the samples. It must have the lines that the page
  shows, in their order, and the page gets the whole of it, folded.
- A file of the source that a page links becomes a page. A link to a page reads as that page's title.
- The gallery: views and pictures of the samples.
- The home page: the playground with the doors of doors.html below its scene 0. README.md becomes about.html.
"""

import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
SAMPLES = {
    "plain": "A run of `workload=mix` on two CPUs: switches, waits, PEBS records, drains.",
    "branches": "Programs in ring 3 with branch tracing (BTS), without PEBS.",
    "life": "A short run in which the model logs each of its actions.",
    "panic": "A run that ends in a panic: the trace up to there.",
}
SHOWN = re.compile(r"^```\n\$ build/cairn (.*?)\n(.*?)^```\n", re.M | re.S)
LINK = re.compile(r"(?:\[([^][]*))?\]\(([^)#:]+)(#[^)]*)?\)")  # text, file, place
MOST = 400  # lines of an output that a page gets
ABOUT = {"README.md": "about.md"}  # pages with another name on the site: index.html is the home page
PLAYGROUND = "build/playground.html"  # where pages name it, the site has a link to it
DOORS = "<!-- doors -->"
# In the order in which all pages name them (tests/docs).
LEARN = ["docs/learn/playground.md", "labs/01-first-record/README.md", "docs/learn/hello.md",
         "docs/learn/first-trace.md", "docs/learn/monitor.md", "docs/learn/evening.md"]
# For navigation and search; add_home puts the page itself in its place.
HOME = """# Why PEBS

The same loop runs twice: interrupts blame the wrong instruction, PEBS names the right one. One record in its bytes. One
interrupt for 24 samples.
"""
LANGUAGES = {".c": "c", ".h": "c", ".asm": "nasm", ".py": "python", ".sh": "bash"}


class Trouble(Exception):
    """One line that says what is wrong, and where."""


def pages():
    """Of the project, as paths from its root, in the order of the navigation: (tab, title or None, path)."""
    def group(tab, folder, first=()):
        found = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob("*.md"))
        order = [f"{folder}/{name}.md" for name in first]
        return [(tab, None, path) for path in [*order, *(path for path in found if path not in order)]]

    result = [("Cairn", "What Cairn is", "README.md"), ("Cairn", "All documents", "docs/README.md"),
              *(("Learn", None, path) for path in LEARN), ("Learn", "The course", "labs/README.md")]
    labs = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("labs/*/README.md"))]
    result += [("Learn", None, path) for path in labs if path not in LEARN]
    result += [page for page in group("Learn", "docs/learn") if page[2] not in LEARN]
    result += [*group("How to", "docs/how-to", ("cairn",)), *group("Explain", "docs/explain", ("ds", "reading")),
               *group("Reference", "docs/reference"), *group("Reference", "docs/silicon")]
    return [*result, ("Gallery", "Gallery", "gallery.md"), ("Gallery", "Samples", "samples/README.md"),
            ("Cairn", "Contribute", "CONTRIBUTING.md"), ("Cairn", "Changes", "CHANGELOG.md")]


def cairn(build, *arguments):
    done = subprocess.run([build / "cairn", *arguments], cwd=ROOT, capture_output=True, text=True, check=False,
                          env={**os.environ, "COLUMNS": "80"})
    return done.stdout, done.returncode


def with_outputs(text, name, build):
    """Looks for the lines of each shown output in what is printed now, and adds the whole of that."""
    def with_whole(match):
        command, shown = match[1], match[2].splitlines()
        printed = cairn(build, *command.split())[0].splitlines()
        at = 0
        for line in shown:
            if line == "...":
                continue
            if line not in printed[at:]:
                raise Trouble(f"{name}: `build/cairn {command}` does not print the line '{line}'")
            at = printed.index(line, at) + 1
        whole = ""
        if "..." in shown:
            cut = f"\n... and {len(printed) - MOST} lines more" if len(printed) > MOST else ""
            whole = (f"\n<details><summary>the whole output, {len(printed)} lines</summary>\n<pre><code>"
                     f"{html.escape(chr(10).join(printed[:MOST]) + cut)}</code></pre></details>\n")
        return match[0] + whole
    return SHOWN.sub(with_whole, text)


def title(path):
    return path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")


def with_links(text, name, sources):
    """Lets links to files of the source lead to their pages; those files are added to `sources`. A link that reads as
    the name of a page gets the page's title."""
    to_root = "../" * name.count("/")

    def led(match):
        words, file, place = match[1], match[2], match[3] or ""
        target = os.path.normpath(os.path.join(os.path.dirname(name), file))
        path = ROOT / target
        if not path.exists():
            raise Trouble(f"{name}: the link {file} leads nowhere")
        if words and words.endswith(".md") and Path(words).name == path.name:
            words = title(path)
        before = "" if words is None else f"[{words}"
        if target in ABOUT:
            return f"{before}]({to_root}{ABOUT[target]}{place})"
        if path.is_dir() or path.suffix in (".md", ".png", ".svg", ".html"):
            return f"{before}]({file}{place})"
        sources.add(target)
        return f"{before}]({file}.md)"
    return LINK.sub(led, text).replace(f"`{PLAYGROUND}`", f"[`{PLAYGROUND}`]({to_root}{Path(PLAYGROUND).name})")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def add_sources(folder, sources):
    for name in sorted(sources):
        path = ROOT / name
        language = LANGUAGES.get(path.suffix, "text")
        write(folder / f"{name}.md", f"# {name}\n\n````{language}\n{path.read_text(encoding='utf-8')}````\n")


def add_gallery(folder, build):
    text = ["# Gallery", "",
            "These views and pictures are made from the [samples](samples/README.md) when the site is built, by "
            "`cairn export --to html` and `--to svg`. The logs come from QEMU; the PEBS and BTS records in them come "
            "from Cairn's model of the Debug Store.", ""]
    shutil.copy(build / "playground.html", folder / "playground.html")
    text += ["## Playground", "",
             "[Open the playground](playground.html): the model of the Debug Store in your browser, step by step.", ""]
    for name, what in SAMPLES.items():
        for kind in ("html", "svg"):
            _, status = cairn(build, "export", "--to", kind, f"samples/{name}.log", "-o",
                              str(folder / f"gallery-{name}.{kind}"))
            if status:
                raise Trouble(f"cairn export --to {kind} samples/{name}.log: exit status {status}")
        text += [f"## {name}.log", "", what, "",
                 f'<div class="gallery" markdown>![What ran on each CPU, and where records were found]'
                 f'(gallery-{name}.svg)</div>', "",
                 f"[Open the view of {name}.log](gallery-{name}.html): time line, and each record byte by byte.", ""]
    write(folder / "gallery.md", "\n".join(text))


def navigation(all_pages):
    tabs = {}
    for tab, name, path in all_pages:
        tabs.setdefault(tab, []).append({name or title(ROOT / path).replace("`", ""): ABOUT.get(path, path)})
    return [{"Why PEBS": "index.md"}, *({tab: entries} for tab, entries in tabs.items())]


def add_home(build, site):
    page = (build / "playground.html").read_text(encoding="utf-8")
    if page.count(DOORS) != 1:
        raise Trouble(f"{build / 'playground.html'}: no place for the doors ('{DOORS}')")
    icon = base64.b64encode((HERE / "icon.svg").read_bytes()).decode()
    page = page.replace("default-src 'none';", "default-src 'none'; img-src data:;", 1)
    page = page.replace("</title>", f'</title>\n<link rel="icon" href="data:image/svg+xml;base64,{icon}">', 1)
    write(site / "index.html", page.replace(DOORS, (HERE / "doors.html").read_text(encoding="utf-8")))
    write(site / ".nojekyll", "")  # for GitHub: the pages are made


def make(build):
    folder, site = build / "site-pages", build / "site"
    for old in (folder, site):
        shutil.rmtree(old, ignore_errors=True)
    pages_folder = folder / "pages"
    shutil.copytree(HERE / "theme", folder / "theme")
    shutil.copytree(ROOT / "docs" / "images", pages_folder / "docs" / "images")
    for name in ("icon.svg", "offline.js", "site.css", "site.js"):
        shutil.copy(HERE / name, pages_folder / name)
    sources = set()
    write(pages_folder / "index.md", HOME)
    add_gallery(pages_folder, build)
    for _, _, name in pages():
        if name == "gallery.md":
            continue
        text = with_outputs((ROOT / name).read_text(encoding="utf-8"), name, build)
        write(pages_folder / ABOUT.get(name, name), with_links(text, name, sources))
    add_sources(pages_folder, sources)
    more = f"site_dir: {json.dumps(str(site))}\nnav: {json.dumps(navigation(pages()))}\n"  # JSON is YAML
    write(folder / "mkdocs.yml", (HERE / "mkdocs.yml").read_text(encoding="utf-8") + more)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "0"}  # the same pages make the same site
    done = subprocess.run(["mkdocs", "build", "--quiet", "--config-file", folder / "mkdocs.yml"], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"mkdocs: {(done.stdout + done.stderr).strip()}")
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    write(site / "search" / "index.js", f"window.searchIndex = {index};\n")
    add_home(build, site)
    print(f"{site}/index.html: {len(list(site.rglob('*.html')))} pages")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tools/site/site.py BUILD")
    try:
        make(Path(sys.argv[1]).resolve())
    except Trouble as trouble:
        sys.exit(f"site.py: {trouble}")


if __name__ == "__main__":
    main()
