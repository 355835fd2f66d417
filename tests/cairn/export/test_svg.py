# SPDX-License-Identifier: MIT
"""`cairn export --to svg`: a well-formed picture whose numbers are those of --to json, and which stays small."""

import json
import re
import subprocess
from collections import Counter
from xml.etree import ElementTree

import pytest

import cairn_boot
import frames
import looks
from cairn_tool import GOLDEN, LOGS, cairn, text_of

LOGS = [*LOGS, "bts", "life", "live", "locks", "ring", "sessions", "told", "windows-19041-64", "windows-cycles"]
SAMPLES = GOLDEN.parent.parent / "samples"
SVG = "{http://www.w3.org/2000/svg}"


def path_of(log):
    return next(path for path in (GOLDEN / f"{log}.log", GOLDEN / f"{log}.etl") if path.exists())


def exported(form, log, data=None):
    done = cairn("export", "--to", form, "-" if data else path_of(log), data=data)
    assert done.returncode == 0 and b"Sanitizer" not in done.stderr, done.stderr.decode()
    return done.stdout


def lines_of(log, data=None):
    return [json.loads(line) for line in exported("json", log, data).splitlines()]


def picture(log, data=None):
    return ElementTree.fromstring(exported("svg", log, data))


def title(element):
    return element.find(f"{SVG}title").text


def lanes(svg):
    return {int(g.get("data-cpu")): g for g in svg.iter(f"{SVG}g") if g.get("class") == "cpu"}


def thread_name(thread):
    return f"{thread.get('name', 'thread')}:{thread['tid']}" if thread["tid"] else "idle"


def shares(lines):
    """Of each CPU by what JSON tells: nanoseconds of each thread, "idle" and "unknown" up to the last switch; who came
    with that, None where it is not known."""
    cpus = {cpu: (Counter(), None) for cpu in range(lines[0]["cpus"])}
    since = dict.fromkeys(cpus, 0 if lines[0]["from_session_start"] else None)
    gap = dict.fromkeys(cpus, False)
    for line in lines:
        if line["type"] == "lost":
            gap[line["cpu"]] = True
        if line["type"] != "switch":
            continue
        cpu = line["cpu"]
        who = "unknown" if gap[cpu] else thread_name(line["old"])
        if since[cpu] is not None:
            cpus[cpu][0][who] += line["ns"] - since[cpu]
        since[cpu], gap[cpu] = line["ns"], False
        cpus[cpu] = (cpus[cpu][0], thread_name(line["new"]) if "new" in line else None)
    return cpus


def drawn(lane):
    """Nanoseconds by who, as the picture's groups say."""
    found = Counter()
    for group in lane.findall(f"{SVG}g"):
        found[title(group).rsplit(" on CPU ", 1)[0]] += int(group.get("data-ns"))
    found["idle"] += int(lane.get("data-idle-ns"))
    found["unknown"] += int(lane.get("data-unknown-ns"))
    return found


@pytest.mark.parametrize("log", [log for log in LOGS if log != "windows-cycles"])  # its clock is none of whole ns
def test_shares_are_those_of_json(log):
    lines = lines_of(log)
    told, found = shares(lines), lanes(picture(log))
    assert set(told) == set(found)
    for cpu, (expected, came) in told.items():
        lane, got = found[cpu], drawn(found[cpu])
        assert sum(got.values()) == sum(int(lane.get(f"data-{what}-ns")) for what in ("busy", "idle", "unknown"))
        got.subtract(expected)  # what is left is from the last switch to the session's end: one's alone
        rest = {who: ns for who, ns in got.items() if ns}
        assert not rest or (len(rest) == 1 and set(rest) <= {came, "unknown"} and min(rest.values()) > 0), (cpu, rest)
        assert int(lane.get("data-switches")) == sum(
            line["type"] == "switch" and line["cpu"] == cpu for line in lines)


@pytest.mark.parametrize("log", LOGS)
def test_records_are_those_of_json(log):
    """Each with a time has its mark in its lane, each is in a bar; without records, samples of a profile are in the
    bars, but not those of idle CPUs."""
    records = [line for line in lines_of(log) if line["type"] == "sample"]
    samples = records or [line for line in lines_of(log) if "place" in line]
    svg = picture(log)
    for cpu, lane in lanes(svg).items():
        mine = [line for line in records if line["cpu"] == cpu]
        marks = [title(rect) for rect in lane.findall(f"{SVG}rect") if rect.get("class") == "d"]
        assert sum(int(mark.split()[0]) if mark[0].isdigit() else 1 for mark in marks) == sum(
            line["timed"] for line in mine)
        assert int(lane.get("data-records")) == len(mine)
        single = {mark for mark in marks if mark.startswith("PEBS record at")}
        expected = {f"PEBS record at {line['ns'] // 100 / 1e7:.7f} s: {line.get('function', line['ip'])}, "
                    for line in mine}
        assert all(any(mark.startswith(begin) for begin in expected) for mark in single)
    folded = Counter()
    for row in exported("folded", log).decode().splitlines() if samples else []:
        stack, count = row.rsplit(" ", 1)
        thread, function = (re.sub("_", " ", f) if f.startswith("[") else f for f in stack.split(";"))
        folded[thread, function] += int(count)
    drawn = folded if records else Counter({key: n for key, n in folded.items() if key[0] != "idle"})
    if len({function for _, function in drawn}) <= 20:
        assert bars(svg) == drawn
    assert sum(folded.values()) == len(samples)


def bars(svg):
    """Records by thread and function. The longest bar is first, its numbers are those of its parts, and each part is as
    long as its records are many."""
    found, totals, scales = Counter(), [], set()
    for bar in (g for g in svg.iter(f"{SVG}g") if g.get("data-function-records")):
        total = int(bar.get("data-function-records"))
        for part in bar.findall(f"{SVG}g"):
            records, width = int(part.get("data-records")), float(part.find(f"{SVG}rect").get("width"))
            found[title(part).rsplit(": ", 1)[0], title(bar)] += records
            scales.add(round(width / records, 0))
            total -= records
        assert total == 0 and bar.findall(f"{SVG}text")[1].text.startswith(bar.get("data-function-records") + ", ")
        totals.append(int(bar.get("data-function-records")))
    assert totals == sorted(totals, reverse=True) and len(scales) <= 1
    return found


def test_many_functions():
    """The twenty that have most records have a bar each; the others are a line, and nothing is left out of the sum."""
    svg = picture("grab")
    group = next(g for g in svg.iter(f"{SVG}g") if g.get("id") == "bars")
    rest, count = (text.text for text in group.findall(f"{SVG}text"))
    folded = Counter()
    for row in exported("folded", "grab").decode().splitlines():
        stack, records = row.rsplit(" ", 1)
        folded[stack.split(";")[-1]] += int(records)
    totals = [int(bar.get("data-function-records")) for bar in group.findall(f"{SVG}g")]
    assert totals == sorted(folded.values(), reverse=True)[:20]
    assert rest == f"{len(folded) - 20} more functions"
    assert int(count.split(",")[0]) == sum(folded.values()) - sum(totals) > 0


def test_legend_is_small():
    """Two lines: the threads that ran longest, and of the signs only those that are in the picture."""
    for log, signs in (("plain", {"idle", "thread unknown, or not recorded", "PEBS records: height shows how many"}),
                       ("damaged", {"idle", "thread unknown, or not recorded", "missing",
                                    "PEBS records: height shows how many"})):
        svg = ElementTree.fromstring(cairn("export", "--to", "svg", SAMPLES / f"{log}.log").stdout)
        of = {g.get("id"): [text.text for text in g.findall(f"{SVG}text")] for g in svg.iter(f"{SVG}g") if g.get("id")}
        assert set(of["signs"]) == signs
        assert 4 <= len(of["threads"]) <= 8 and of["threads"][-1].startswith("others ")
        assert 98 <= sum(int(re.search(r" (\d+) %$", text)[1]) for text in of["threads"]) <= 102


@pytest.mark.parametrize("log", ["plain", "damaged", "panic", "arch", "life"])
def test_text_has_contrast(log):
    """4.5:1 at least, in both themes: on the paper, and on the colours of threads and functions."""
    done = cairn("export", "--to", "svg", SAMPLES / f"{log}.log")
    style = ElementTree.fromstring(done.stdout).find(f"{SVG}style").text

    def contrast(one, other):
        low, high = sorted(looks.luminance(re.sub("^#(.)(.)(.)$", r"#\1\1\2\2\3\3", c)) for c in (one, other))
        return (high + 0.05) / (low + 0.05)

    light, dark = style.split("@media")
    for theme in (light, dark):
        paper = re.search(r"\.g\{fill:(#\w+)\}", theme)[1]
        inks = [re.search(pattern, theme)[1] for pattern in (r"svg\.cairn\{color:(#\w+)", r"text\.w\{fill:(#\w+)\}",
                                                             r"text\.q,\.q text\{fill:(#\w+)\}")]
        assert all(contrast(ink, paper) >= 4.5 for ink in inks)
        threads = re.findall(r"\.t\d+\{fill:(#\w+)\}", theme)
        assert threads and all(contrast(thread, "#111111") >= 4.5 for thread in threads)
    assert "[class^=t] text,.o text,.f text{fill:#111}" in light and ".o{fill:#a8a8a8}" in light


@pytest.mark.parametrize("log", LOGS)
def test_gaps_are_those_of_json(log):
    holes = [(line["cpu"], line["text"]) for line in lines_of(log) if line["type"] == "lost"]
    for cpu, lane in lanes(picture(log)).items():
        mine = [text for c, text in holes if c == cpu]
        gaps = [rect for rect in lane.findall(f"{SVG}rect") if int(rect.get("data-holes") or 0)]
        assert sum(int(rect.get("data-holes")) for rect in gaps) == len(mine) == int(lane.get("data-holes"))
        for rect in gaps:
            assert re.sub(r"(, and \d+ more here)? \(\S+ to \S+ s\)$", "", title(rect)) in mine


def test_missing_records_lie_in_gaps():
    """Of the same trace before it was damaged: each that is gone lies where the picture says that some are."""
    damaged = cairn("export", "--to", "svg", SAMPLES / "damaged.log")
    whole, left = ([json.loads(line) for line in cairn("export", "--to", "json", SAMPLES / f"{name}.log").stdout
                    .splitlines()] for name in ("plain", "damaged"))
    there = {(line["cpu"], line["epoch"], line["address"]) for line in left if line["type"] == "sample"}
    marked = [(cpu, *map(float, re.search(r"missing: .*PEBS records.* \((\S+) to (\S+) s\)$", title(rect)).groups()))
              for cpu, lane in lanes(ElementTree.fromstring(damaged.stdout)).items()
              for rect in lane.findall(f"{SVG}rect") if rect.get("data-unread")]
    gone = [line for line in whole if line["type"] == "sample"
            and (line["cpu"], line["epoch"], line["address"]) not in there]
    assert len(gone) > 20
    for line in gone:
        assert any(cpu == line["cpu"] and since <= line["ns"] / 1e9 <= until for cpu, since, until in marked), line
    assert not any(rect.get("data-unread") for rect in picture("small").iter(f"{SVG}rect"))


def test_gaps_are_there():
    """The test above says something of each kind."""
    kinds = {rect.get("class") for log in ("lost", "sessions", "circular", "panic", "live")
             for lane in lanes(picture(log)).values() for rect in lane.findall(f"{SVG}rect") if rect.get("data-holes")}
    assert kinds >= {"m", "u", "y"}


def test_names_are_text_whatever_they_are():
    """Markup in the names of threads and functions."""
    parts = frames.read((GOLDEN / "small.log").read_bytes())
    changed = [(s, p.replace(b" sampled-1\n", b" <b>&\"'\xC3\xA4]]>-->\n").replace(b" workload_spin\n", b" <&spin>\n"))
               for s, p in parts]
    assert changed != parts
    data = frames.write(changed)
    titles = [element.text for element in picture("", data).iter(f"{SVG}title")]
    name = next(line["name"] for line in lines_of("", data) if line.get("name", "").startswith("<b>"))
    assert any(text.startswith(f"{name}:") and " on CPU " in text for text in titles), name
    assert "<&spin>" in titles


def texts(svg):
    return " ".join("".join(element.itertext()) for element in svg.findall(f"{SVG}text"))


def test_is_called_as_its_log():
    svg = picture("small")
    assert svg.find(f"{SVG}title").text == "small.log: script, 2026-11-21T02:10:59Z"
    assert texts(svg).startswith("small.log: script, 2026-11-21T02:10:59Z 2 CPUs, ")


def went_wrong(svg):
    return [" ".join(" ".join(g.itertext()).split()) for g in svg.findall(f"{SVG}g") if g.get("class") == "w"]


def test_says_what_went_wrong():
    told = text_of(cairn("info", "--lost", GOLDEN / "lost.log"))
    lines = went_wrong(picture("lost"))
    assert len(lines) == 2 and " ".join(f"lost {line}" for line in lines) == " ".join(told.split())
    assert went_wrong(picture("small")) == []
    done = cairn("export", "--to", "svg", SAMPLES / "panic.log")
    assert went_wrong(ElementTree.fromstring(done.stdout))[0].startswith("the guest panicked: page fault")


WIDTH, CHARACTER = 1200, 7.1


def test_nothing_runs_out_of_the_picture(tmp_path):
    """Of 64 CPUs, 400 threads; of a log with a long name, of a part, with losses: no text or box is beyond the edge,
    and no text is smaller than 12 units, so that it can be read at 80 % as well."""
    wide = tmp_path / f"{'w' * 200}.log"
    wide.write_bytes(subprocess.run([cairn_boot.BUILD / "make_golden", "wide"], capture_output=True, check=True).stdout)
    for log, arguments in ((wide, []), (wide, ["--cpu", ",".join(map(str, range(63))), "--until", "20ms"]),
                           (path_of("lost"), []), (SAMPLES / "damaged.log", []), (SAMPLES / "plain.log", [])):
        svg = ElementTree.fromstring(cairn("export", "--to", "svg", *arguments, log).stdout)
        height = float(svg.get("height"))
        assert (svg.get("width"), svg.get("viewBox")) == (str(WIDTH), f"0 0 {WIDTH} {svg.get('height')}")
        assert svg.get("font-size") == "12" and "font-size" not in svg.find(f"{SVG}style").text
        for rect in svg.iter(f"{SVG}rect"):
            x, y, w, h = (float(rect.get(name) or 0) for name in ("x", "y", "width", "height"))
            assert 0 <= x and x + w <= WIDTH + 1 and 0 <= y and y + h <= height
        for anchor, group in ((g.get("text-anchor"), g) for g in [svg, *svg.iter(f"{SVG}g")]):
            for text in group.findall(f"{SVG}text"):
                assert float(text.get("font-size") or 12) >= 12
                long = len(text.text) * CHARACTER * float(text.get("font-size") or 12) / 12
                assert float(text.get("x")) + long / (2 if anchor else 1) <= WIDTH + 1, text.text
                assert 10 < float(text.get("y")) < height


def test_scale_of_many_cpus(tmp_path):
    """Above the lanes and, where those are many, below them, too; its times lie within the session."""
    log = tmp_path / "wide.log"
    log.write_bytes(subprocess.run([cairn_boot.BUILD / "make_golden", "wide"], capture_output=True, check=True).stdout)
    for source, rows in ((log, 2), (path_of("small"), 1)):
        svg = ElementTree.fromstring(cairn("export", "--to", "svg", source).stdout)
        scale = next(g for g in svg.findall(f"{SVG}g") if g.get("text-anchor"))
        times = Counter(text.text for text in scale.findall(f"{SVG}text"))
        assert len(times) > 3 and set(times.values()) == {rows}
        assert len({text.get("y") for text in scale.findall(f"{SVG}text")}) == rows
        last = max(float(re.match(r"[\d.]+", time)[0]) for time in times)
        length = re.search(r"^session +([\d.]+) ms", text_of(cairn("stat", source)), re.M)[1]
        assert last <= float(length)
        ends = {cpu: sum(int(lane.get(f"data-{what}-ns")) for what in ("busy", "idle", "unknown"))
                for cpu, lane in lanes(svg).items()}
        assert all(ns / 1e6 == pytest.approx(float(length), abs=0.011) for ns in ends.values())


def colours(log):
    """Of each thread that has a colour of its own: on a light page, on a dark one."""
    svg = ElementTree.fromstring(cairn("export", "--to", "svg", log).stdout)
    light, dark = svg.find(f"{SVG}style").text.split("@media")
    fills = [dict(re.findall(r"\.(t\d+)\{fill:(#[0-9a-f]{6})\}", part)) for part in (light, dark)]
    return {title(group).rsplit(" on CPU ", 1)[0]: tuple(fill[group.get("class")] for fill in fills)
            for lane in lanes(svg).values() for group in lane.findall(f"{SVG}g") if group.get("class") != "o"}


def test_a_thread_has_one_colour(tmp_path):
    """In all pictures: it is that of its name, whatever else there is in a log; in the page as well."""
    for logs in ([GOLDEN / f"{log}.log" for log in ("small", "lost", "live", "sessions")],
                 [SAMPLES / f"{log}.log" for log in ("plain", "damaged", "panic", "branches")]):
        found = [colours(log) for log in logs]
        for other in found[1:]:
            common = found[0].keys() & other.keys()
            assert common and all(found[0][name] == other[name] for name in common)
        assert len(set(found[0].values())) > 8
        page = tmp_path / "page.html"
        assert cairn("export", "--to", "html", logs[0], "-o", page).returncode == 0
        meta = json.loads(re.search(r'id="meta">(.*?)</script>', page.read_text(), re.S)[1])
        shown = {f"{name}:{tid}": (meta["palette"]["light"][colour], meta["palette"]["dark"][colour])
                 for tid, colour, name, _ in meta["threads"]}
        assert found[0].items() <= shown.items()


def test_says_what_was_emulated_or_damaged():
    assert "model of the Debug Store" in texts(picture("small"))
    assert "model" not in texts(picture("hw")) and "emulator" in texts(picture("hw"))
    assert "emulator" not in texts(picture("windows-19041-64"))
    assert "damaged" not in texts(picture("small"))
    done = cairn("export", "--to", "svg", SAMPLES / "damaged.log")
    assert done.returncode == 1 and "The log is damaged" in texts(ElementTree.fromstring(done.stdout))


@pytest.mark.parametrize("log", LOGS)
def test_needs_nothing_else(log):
    text = text_of(cairn("export", "--to", "svg", path_of(log)))
    assert re.findall(r"[a-z]+://\S+?(?=\")", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<(script|image|use|foreignObject)\b|href|url\(|@import|javascript:", text)
    assert "prefers-color-scheme:dark" in text


def test_stays_small(tmp_path):
    """Ten times as many switches make no larger picture once its columns are full."""
    sizes = []
    for switches in (30000, 300000):
        log = tmp_path / f"{switches}.log"
        with log.open("wb") as file:
            subprocess.run([cairn_boot.BUILD / "make_golden", "large", str(switches), "8"], stdout=file, check=True)
        done = subprocess.run([cairn_boot.BUILD / "cairn", "export", "--to", "svg", log], capture_output=True,
                              check=True)
        sizes.append((len(done.stdout), sum(1 for _ in ElementTree.fromstring(done.stdout).iter())))
    assert sizes[1][0] < 2 * sizes[0][0] and sizes[1][0] < 3 << 20
    assert sizes[1][1] < 20000


@pytest.mark.parametrize("arguments, cpus", [(["--cpu", "1"], [1]), (["--from", "5ms", "--until", "9ms"], [0, 1])])
def test_part(arguments, cpus):
    """A CPU that is left out is not drawn as idle, and the picture says that it is a part."""
    done = cairn("export", "--to", "svg", *arguments, path_of("small"))
    assert done.returncode == 0
    svg = ElementTree.fromstring(done.stdout)
    assert list(lanes(svg)) == cpus
    assert f"Only {' '.join(arguments)}. " in " ".join(svg.itertext())
    whole = picture("small")
    assert list(lanes(whole)) == [0, 1] and "Only" not in " ".join(whole.itertext())
