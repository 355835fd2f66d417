# SPDX-License-Identifier: MIT
"""`cairn export --to html` in a headless Chromium: what the page shows is what `cairn export --to json` and `cairn ds`
say, it asks the network for nothing, and pointer and keys do what they should."""

import json
import re
import subprocess

import pytest

import cairn_boot
import frames
from cairn_tool import GOLDEN, cairn, text_of
from html_page import FACTS, FIELDS, LIT, LOGS, MARKS, NS, SAMPLES, SEEN, TITLE, called, each, go, log_path, of, place

pytestmark = MARKS

# ---- opening ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", [*LOGS, *sorted(SAMPLES.glob("*.log"))], ids=lambda log: getattr(log, "stem", log))
def test_opens(chromium, pages, log):
    """Without a complaint, and without the network; and the page counts what JSON does."""
    path, lines = pages(log)
    chromium.open(path)
    chromium.run("document.getElementById('summary').click()")
    facts, end = chromium.run(FACTS), lines[-1]
    assert not chromium.complaints
    assert chromium.requests == [path.resolve().as_uri()]
    drains = sum(line["reason"] != "start" for line in of(lines, "drain"))
    assert [facts[name] for name in ("switches", "samples", "drains")] == [
        str(count) for count in (end["switches"], end["samples"], drains)]
    lost, frames_missing = end["lost"], end["missing_frames"]
    assert re.match(rf"{lost} gaps?\b" if lost else "PEBS|[0-9]+ frame" if frames_missing else "nothing|PEBS",
                    facts["lost"])
    assert facts["length"] == re.search(r"^session +(.*)$", text_of(cairn("stat", log_path(log))), re.M)[1].replace(
        " us", " µs")


def test_nothing_can_be_fetched(chromium, pages):
    """Not even if the page tried: its own policy forbids it."""
    chromium.open(pages("small")[0], "#summary")
    assert chromium.run("fetch('http://127.0.0.1:9/').then(() => 'came', () => 'refused')") == "refused"
    assert any("Content Security Policy" in words for words in chromium.complaints)


def test_says_what_log_it_is(chromium, pages):
    for log, badge in (("small", True), ("hw", False)):
        chromium.open(pages(log)[0], "#summary")
        words = chromium.run("document.querySelector('header').innerText")
        assert "script" in words and "2026-11-21T02:10:59Z" in words and "build 001122334455" in words
        assert ("Debug Store emulated" in words) == badge


# ---- PEBS records ----------------------------------------------------------------------------------------------------


def test_click_a_dot(chromium, pages):
    """It is the record that JSON has at that time, and its words are those of JSON and of `cairn ds`."""
    path, lines = pages("small")
    chromium.open(path, "#summary")
    sample = of(lines, "sample")[7]
    units = sample["ns"] / NS
    go(chromium, f"from={(units - 300) / 1e7}&to={(units + 300) / 1e7}")
    chromium.click(*place(chromium, ".sub", sample["cpu"], units))
    facts, fields = chromium.run(FACTS), chromium.run(FIELDS)
    assert facts["ip"] == f"0x{int(sample['ip'], 16):016x}" and facts["function"] == sample["function"]
    assert facts["thread"] == called(sample["thread"])
    assert {name: int(value, 16) for name, (value, _) in fields.items()} == {
        name: int(value, 16) for name, value in sample["record"].items()}
    number = int(re.match(r"PEBS record (\d+) of", chromium.run(TITLE))[1])
    shown = text_of(cairn("ds", "--cpu", sample["cpu"], "--epoch", sample["epoch"], "--record", number, "--bytes",
                          GOLDEN / "small.log"))
    assert f"at 0x{int(sample['address'], 16):016x}" in shown
    dump = re.findall(r"^  (?:bytes|     )   +[0-9a-f]+  ((?:[0-9a-f]{2} +)+[0-9a-f]{2})$", shown, re.M)
    cells = chromium.run("[...document.querySelectorAll('#parts section:nth-of-type(2) .byte')].map(e => e.innerText)")
    assert cells == " ".join(dump).split()
    assert fields["head"][1] in shown and fields["EventingIP"][1] in shown


@pytest.mark.parametrize("log", ["small", "hw", "full"])
def test_every_record(chromium, pages, log):
    path, lines = pages(log)
    chromium.open(path, "#summary")
    samples = of(lines, "sample")
    for sample, (_, facts, fields) in zip(samples, each(chromium, "record", len(samples))):
        assert {name: int(value, 16) for name, (value, _) in fields.items()} == {
            name: int(value, 16) for name, value in sample["record"].items()}
        assert int(facts["address"], 16) == int(sample["address"], 16)
        assert facts["time"].startswith(f"{sample['ns'] / 1e9:.7f} s")
        assert facts["thread"] == called(sample["thread"]) if "thread" in sample else facts["thread"]


def test_fields_and_bytes_light_up_together(chromium, pages):
    chromium.open(pages("small")[0], "#record=3")
    row = "document.querySelector('#parts section:nth-of-type(2) [data-name=\"%s\"]')"
    middle = "(({left, top, width, height}) => [left + width / 2, top + height / 2])(%s.getBoundingClientRect())"
    chromium.mouse("mouseMoved", *chromium.run(middle % (row % "EventingIP")))
    assert chromium.run(LIT) == list(range(8, 16))
    cell = "document.querySelector('#parts section:nth-of-type(2) [data-at=\"24\"]')"
    chromium.mouse("mouseMoved", *chromium.run(middle % cell))
    assert chromium.run(LIT) == list(range(24, 32))
    assert chromium.run(f"{row % 'TSC'}.classList.contains('lit')")
    chromium.mouse("mouseMoved", 600, 10)
    assert chromium.run(LIT) == []
    chromium.run(f"{row % 'head'}.focus()")
    assert chromium.run(LIT) == list(range(8))
    chromium.key("ArrowDown", "ArrowDown")
    assert chromium.run(LIT) == list(range(16, 24))
    assert chromium.run("document.activeElement.dataset.name") == "counters"


def test_ds_area(chromium, pages):
    """The area as the drain of the record's epoch found it, and where in the buffer the record lay."""
    path, lines = pages("small")
    chromium.open(path, "#summary")
    for i in (0, 20):
        sample = of(lines, "sample")[i]
        go(chromium, f"record={i}")
        shown = text_of(cairn("ds", "--cpu", sample["cpu"], "--epoch", sample["epoch"], "--records", 0,
                              GOLDEN / "small.log"))
        rows = dict(re.findall(r"^ +[0-9a-f]+ (\w+(?:\.\.\d+)?) +([0-9a-f]{16})  [dp]", shown, re.M))
        area = chromium.run(FIELDS.replace("nth-of-type(2)", "nth-of-type(3)"))
        assert {name: value for name, (value, _) in area.items()} == rows and len(rows) > 8
        own = chromium.run("""[...document.querySelectorAll(".slot")].findIndex(e => e.classList.contains("own"))""")
        base, size = int(area["PebsBufferBase"][0], 16), int(sample["record"]["head"], 16) >> 48
        assert own == (int(sample["address"], 16) - base) // size
        held = chromium.run("document.querySelectorAll('.slot.held').length")
        assert held == sum(s["cpu"] == sample["cpu"] and s["epoch"] == sample["epoch"] for s in of(lines, "sample"))


def test_start_of_a_buffer(chromium, pages):
    """Before the first record: the DS area as it was programmed, and nothing in the buffer yet."""
    path, lines = pages("small")
    chromium.open(path, "#drain=0")
    assert of(lines, "drain")[0]["reason"] == "start" and chromium.run(TITLE) == "Start of epoch 0, CPU 0"
    fields = chromium.run(FIELDS)
    assert int(fields["PebsIndex"][0], 16) == int(fields["PebsBufferBase"][0], 16) != 0
    assert chromium.run("document.querySelectorAll('.slot').length") == 8
    assert chromium.run("document.querySelectorAll('.slot.held').length") == 0
    assert not chromium.complaints


# ---- switches --------------------------------------------------------------------------------------------------------


def test_click_a_switch(chromium, pages):
    path, lines = pages("small")
    chromium.open(path, "#summary")
    n, switch = next((n, s) for n, s in enumerate(of(lines, "switch"))
                     if s["form"] == "FULL" and s.get("new", {}).get("tid"))
    units = switch["ns"] / NS
    go(chromium, f"from={(units - 30) / 1e7}&to={(units + 30) / 1e7}")
    chromium.click(*place(chromium, ".cpu", switch["cpu"], units + 1))
    assert chromium.run("document.getElementById('panel').dataset.index") == str(n)
    assert chromium.run(FACTS)["new"] == called(switch["new"])


@pytest.mark.parametrize("log", ["small", "lost", "circular"])
def test_every_switch(chromium, pages, log):
    """What the log's reader says of it, and what the page makes of the same bits, is what JSON says."""
    path, lines = pages(log)
    chromium.open(path, "#summary")
    last, switches = {}, of(lines, "switch")
    for switch, (title, facts, fields) in zip(switches, each(chromium, "switch", len(switches))):
        assert facts["time"] == f"{switch['ns'] / 1e9:.7f} s, CPU {switch['cpu']}"
        assert [facts["old"], facts["new"]] == [called(switch["old"]), called(switch["new"]) if "new" in switch else
                                                "unknown"]
        assert facts["form"] == switch["form"]
        if switch["form"] == "0524H":
            assert [int(fields[name][0]) for name in ("OldThreadId", "NewThreadId", "OldThreadPriority")] == [
                switch["old"]["tid"], switch["new"]["tid"], switch["priority"]]
            assert fields["OldThreadState"][1] == switch["state"]
            continue
        assert fields["form"][1].startswith(f"{switch['form']},")
        if not re.search(r"switch 0 of", title):
            assert int(fields["TimeDelta"][0]) * NS == switch["ns"] - last[switch["cpu"]]
        last[switch["cpu"]] = switch["ns"]
        if "state" not in switch:
            assert "slot" not in fields
            continue
        state = f"Waiting: {switch['reason']}" if "reason" in switch else switch["state"]
        assert facts["state"] == state and fields["state"][1].startswith(state)
        slot = int(fields["slot"][0])
        assert fields["slot"][1] == f"TidTable[{slot}]: {called(switch['old'])}"
        assert int(fields[f"TidTable[{slot}]"][0]) == switch["old"]["tid"]
        if "priority" in fields:
            assert int(fields["priority"][0]) == switch["priority"]
            assert int(fields["new thread waited"][0]) == switch["new_waited_ticks"]
        else:
            assert fields["priority − base"][1].endswith(f"= {switch['priority']}")


def test_bits_light_up_with_their_field(chromium, pages):
    path, lines = pages("small")
    n = next(n for n, s in enumerate(of(lines, "switch")) if s["form"] == "LITE")
    chromium.open(path, f"#switch={n}")
    bits = "[...document.querySelectorAll('.bit')].map(e => e.lastChild.data).join('')"
    cells = chromium.run("[...document.querySelectorAll('.byte.own')].map(e => e.innerText)")
    assert int(chromium.run(bits), 2) == int.from_bytes(bytes.fromhex("".join(cells)), "little")
    chromium.run("document.querySelector('[data-name=state]').focus()")
    lit = "[...document.querySelectorAll('.bit')].map(e => +e.classList.contains('lit')).join('')"
    assert chromium.run(lit) == "0" * 17 + "1" * 6 + "0" * 9  # bits 14:9


def test_a_byte_of_another_switch_leads_there(chromium, pages):
    chromium.open(pages("small")[0], "#switch=8")
    before = chromium.run(TITLE)
    chromium.run("document.querySelector('.byte.link').click()")
    assert chromium.run(TITLE) != before and chromium.run("document.querySelectorAll('.byte.own').length") >= 2


# ---- looking around --------------------------------------------------------------------------------------------------


def test_wheel_zooms_about_the_pointer(chromium, pages):
    chromium.open(pages("small")[0], "#summary")
    left, width = chromium.run("(({left, width}) => [left, width])(document.getElementById('lanes')"
                               ".getBoundingClientRect())")
    before = chromium.run(SEEN)
    x = round(left + width * 0.3)
    for _ in range(3):
        chromium.wheel(x, 200, -120)
    after = chromium.run(SEEN)
    share = (x - left) / width
    assert after[1] - after[0] < 0.7 * (before[1] - before[0])
    assert abs(before[0] + share * (before[1] - before[0]) - after[0] - share * (after[1] - after[0])) < 2
    for _ in range(20):
        chromium.wheel(x, 200, 120)
    assert chromium.run(SEEN)[1] >= before[1]


def test_keys(chromium, pages):
    path, lines = pages("small")
    chromium.open(path, "#summary")
    whole = chromium.run(SEEN)
    chromium.key("ArrowUp", "ArrowUp", "+")
    near = chromium.run(SEEN)
    assert near[1] - near[0] < 0.3 * (whole[1] - whole[0])
    chromium.key("ArrowRight")
    right = chromium.run(SEEN)
    assert right[0] > near[0] and right[1] - right[0] == pytest.approx(near[1] - near[0])
    chromium.key("ArrowLeft", "ArrowDown")
    assert chromium.run(SEEN)[0] < right[0]
    chromium.key("Home")
    assert chromium.run(SEEN) == whole
    chromium.key("r")
    first = int(chromium.run("document.getElementById('panel').dataset.index"))
    for _ in range(3):
        chromium.key("r")
    assert int(chromium.run("document.getElementById('panel').dataset.index")) == first + 3
    chromium.key("R")
    assert int(chromium.run("document.getElementById('panel').dataset.index")) == first + 2
    cpu = of(lines, "sample")[first + 2]["cpu"]
    chromium.key("n")
    after = int(chromium.run("document.getElementById('panel').dataset.index"))
    assert of(lines, "sample")[after]["cpu"] == cpu and after > first + 2
    chromium.key("Enter")
    assert chromium.run("!!document.activeElement.closest('#panel')")
    chromium.key("Escape", "Escape")
    assert chromium.run(TITLE) == "Summary"
    chromium.key("?")
    assert chromium.run("document.querySelector('#keys[open]').innerText.length") > 200
    chromium.key("Escape")
    assert not chromium.run("document.getElementById('keys').open")
    assert not chromium.complaints


def test_tab_reaches_everything(chromium, pages):
    chromium.open(pages("small")[0], "#record=3")
    chromium.run("document.body.focus()")
    seen = []
    for _ in range(12):
        chromium.key("Tab")
        seen.append(chromium.run("document.activeElement.id || document.activeElement.dataset.name ||"
                                 "document.activeElement.className"))
    assert seen[:7] == ["words", "all", "fold", "theme", "help", "scroller", "splitter"]
    assert "head" in seen and "slot held own" in seen


def test_search(chromium, pages):
    path, lines = pages("small")
    chromium.open(path, "#summary")

    def find(words):
        chromium.run(f"document.getElementById('words').value = {json.dumps(words)};"
                     "document.getElementById('find').requestSubmit()")
        chromium.settle()
        return chromium.run("document.getElementById('found').textContent")

    assert find("0.002") == ""
    seen = chromium.run(SEEN)
    assert seen[0] < 20000 < seen[1]
    assert find("workload_hash") == "" and chromium.run(FACTS)["function"] == "workload_hash"
    name = next(line["name"] for line in of(lines, "thread") if line["tid"])
    assert find(name) == "" and chromium.run("document.querySelector('#labels .only').textContent").startswith(name)
    assert find("no such thing") == "nothing is called so"


def test_a_link_shows_the_same_again(chromium, pages):
    path, _ = pages("small")
    chromium.open(path, "#summary")
    chromium.key("r", "ArrowUp", "ArrowUp")
    chromium.wait("location.hash.includes('record=')", 5)
    link, seen, title = (chromium.run(what) for what in ("location.hash", SEEN, TITLE))
    chromium.open(path, link)
    assert chromium.run(TITLE) == title and chromium.run(SEEN) == pytest.approx(seen, abs=1)


def test_light_and_dark(chromium, pages):
    path, _ = pages("small")
    shade = """(() => {
        const [r, g, b] = document.getElementById("lanes").getContext("2d").getImageData(2, 2, 1, 1).data;
        return r + g + b;
    })()"""
    for scheme, dark in (("dark", True), ("light", False)):
        chromium.prefers(scheme)
        chromium.open(path, "#summary")
        assert (chromium.run(shade) < 200) == dark
        chromium.key("t")
        assert (chromium.run(shade) < 200) != dark


# ---- what is not to be trusted, and much of it -----------------------------------------------------------------------


def test_names_are_never_markup(chromium, pages):
    """Of threads, functions, keys; in the page they are text, and end no script element."""
    data = (GOLDEN / "small.log").read_bytes()
    evil = b'</script><script>window.evil=1</script><img src=x onerror="window.evil=1">'
    parts = [(s, p.replace(b"server-3", evil).replace(b"workload_spin", b"<b>spin</b>" + evil)
              .replace(b"workload.name=script", b"workload.name=<!--" + evil).replace(b"INST_RETIRED.ANY_P", evil))
             for s, p in frames.read(data)]
    path, lines = pages("evil", frames.write(parts))
    sample = next(i for i, s in enumerate(of(lines, "sample")) if "<b>" in s.get("function", ""))
    chromium.open(path, f"#record={sample}")
    assert chromium.run("window.evil === undefined && !document.querySelector('img, b')")
    assert "<b>spin</b></script>" in chromium.run(FACTS)["function"]
    assert evil.decode() in chromium.run("document.getElementById('labels').textContent")
    assert "<!--</script>" in chromium.run("document.title")
    assert not chromium.complaints


def test_a_part_of_a_trace(chromium, tmp_path):
    """Of one CPU, of a stretch of time: no lanes of others, nothing before, and what cannot be known is not shown."""
    page = tmp_path / "part.html"
    assert cairn("export", "--to", "html", "--cpu", 1, GOLDEN / "small.log", "-o", page).returncode == 0
    chromium.open(page, "#summary")
    assert chromium.run("[...document.querySelectorAll('#labels .cpu')].map(e => e.textContent)") == ["CPU 1"]
    assert "only --cpu 1" in chromium.run("document.getElementById('identity').textContent")
    assert cairn("export", "--to", "html", "--from", "3ms", "--until", "5ms", GOLDEN / "small.log", "-o",
                 page).returncode == 0
    chromium.open(page, "#summary")
    assert chromium.run(SEEN) == [30000, 50000]
    assert not chromium.complaints


@pytest.mark.parametrize("log", [*sorted((GOLDEN.parent / "fuzz" / "corpus" / "cairn_log").iterdir()),
                                 *sorted(GOLDEN.glob("*.etl"))], ids=lambda log: log.name)
def test_strange_logs(chromium, tmp_path, log):
    """What fuzzing has found, and what Windows writes: looked through without a complaint."""
    page = tmp_path / "page.html"
    status = cairn("export", "--to", "html", log, "-o", page).returncode
    if status == 3:  # it is no log at all
        assert not page.exists()
        return
    chromium.open(page)
    chromium.key("c", "r", "n", "b", "g", "k", "e", "ArrowUp", "ArrowUp", "ArrowRight", "Home", "f")
    assert not chromium.complaints


def test_a_log_without_a_trace(chromium, pages):
    parts = [(s, p) for s, p in frames.read((GOLDEN / "small.log").read_bytes()) if s not in "TLU"]
    chromium.open(pages("empty", frames.write(parts))[0], "#summary")
    assert chromium.run(FACTS)["switches"] == "0"
    chromium.key("ArrowUp", "c", "r", "n", "g", "Home", "f")
    assert not chromium.complaints


def made(tmp_path, kind, switches):
    log, page = tmp_path / f"{kind}.log", tmp_path / f"{kind}.html"
    with log.open("wb") as out:
        subprocess.run([cairn_boot.BUILD / "make_golden", kind, str(switches)], stdout=out, check=True)
    subprocess.run([cairn_boot.BUILD / "cairn", "export", "--to", "html", log, "-o", page], capture_output=True,
                   check=False)
    return page


def frame_work(it):
    return int(it.run("document.documentElement.dataset.shapes"))


def zoom_in(it):
    """And back, by keys and from switch to switch."""
    for keys in (*["ArrowUp"] * 24, *"ccccc", "Home"):
        it.key(keys)
        yield


@pytest.mark.parametrize("switches", [100000, pytest.param(1000000, marks=pytest.mark.long)])
def test_long_traces(chromium, tmp_path, switches):
    """However much there is, a frame draws a few shapes for each column of pixels in each lane, and no more."""
    chromium.open(made(tmp_path, "large", switches), "#summary")
    assert chromium.run(FACTS)["switches"] == str(switches)
    lanes = chromium.run("document.querySelectorAll('#labels > *').length")
    most = frame_work(chromium)
    for _ in zoom_in(chromium):
        most = max(most, frame_work(chromium))
    assert 100 < most < 2 * 1280 * lanes
    assert chromium.run(TITLE).startswith("Context switch")
    assert not chromium.complaints


def test_many_gaps_and_locks(chromium, tmp_path):
    """Nor does it look at all of them; and the pointer at a few."""
    chromium.open(made(tmp_path, "crowd", 80000), "#summary")
    facts = chromium.run(FACTS)
    many, steps = 30000, "work.steps"
    assert int(facts["spin locks"]) > many and int(facts["lost"].split()[0]) > 1000
    left, width = chromium.run("(({left, width}) => [left, width])(document.getElementById('lanes')"
                               ".getBoundingClientRect())")
    labels = chromium.run("[...document.querySelectorAll('#labels > *')].map(e => (({top, height}) => top + height / 2)"
                          "(e.getBoundingClientRect())).filter(y => y < document.getElementById('splitter')"
                          ".getBoundingClientRect().top)")
    lanes, before, most, told = len(labels), chromium.run(steps), 0, set()
    for _ in zoom_in(chromium):
        after = chromium.run(steps)
        most, before = max(most, after - before), after
        assert frame_work(chromium) < 2 * 1280 * lanes
    chromium.key("Escape")
    for y in labels[:8]:
        for x in range(200, round(width), 300):
            chromium.mouse("mouseMoved", left + x, y)
            chromium.settle()
            after = chromium.run(steps)
            most, before = max(most, after - before), after
            told |= set(re.findall("missing|held", chromium.run("document.getElementById('tip').textContent")))
    assert told == {"missing", "held"}
    assert 1000 < most < many / 2  # of a few frames; a walk over all locks alone would take more
    assert not chromium.complaints
