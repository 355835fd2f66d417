# SPDX-License-Identifier: MIT
"""What the documents show is what the programs print, and every link leads somewhere."""

import re
import subprocess

import pytest

import cairn_boot as cb

DOCUMENTS = [*(cb.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "samples/README.md")),
             *sorted((cb.ROOT / "docs").rglob("*.md")), *sorted((cb.ROOT / "labs").rglob("*.md"))]


def printed(*command):
    return subprocess.run(command, cwd=cb.ROOT, capture_output=True, text=True, check=False).stdout


def test_options():
    page = cb.ROOT / "docs" / "reference" / "options.md"
    assert printed(cb.BUILD / "cairn-options", "docs") == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["guest.py", "perf.py"])
def test_presets(command):
    """The help names the presets of ds.preset=."""
    page = (cb.ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    known = re.search(r"^\| `ds\.preset` \| (.+?) \|", page, re.M)[1]
    assert f"(icelake): {known} " in " ".join(printed(cb.ROOT / "tools/qemu-ds" / command, "--help").split())


def test_silicon():
    page = cb.ROOT / "docs" / "silicon" / "README.md"
    assert printed(cb.ROOT / "tools/silicon.py") == page.read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(cb.ROOT)))
def test_shown_output(document):
    """A block that begins with `$ build/cairn ...` shows lines of that command's output, in order; `...` stands for any
    that are left out."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n\$ build/cairn (.*?)\n(.*?)^```", text, re.M | re.S)
    assert blocks or document.name != "README.md" or document.parent != cb.ROOT
    for block in blocks:
        output = printed(cb.BUILD / "cairn", *block[0].split()).splitlines()
        at = 0
        for line in block[1].splitlines():
            if line == "...":
                continue
            assert line in output[at:], f"{document.name}: not printed by cairn {block[0]}: {line}"
            at = output.index(line, at) + 1


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(cb.ROOT)))
def test_badges(document):
    """A page with a badge of how sure something is links what the badges mean; docs/README.md says it."""
    text = document.read_text(encoding="utf-8")
    badges = re.findall(r"\*\*`(?:certain|inferred|not\s+found|never\s+on\s+silicon)`\*\*", text)
    assert not badges or "#how-sure)" in text or document == cb.ROOT / "docs" / "README.md"


def test_monitor():
    """A block of docs/learn/monitor.md that has a prompt shows lines of the transcript, in order, and so
    do the blocks one after another."""
    transcript = (cb.ROOT / "samples" / "monitor.txt").read_text(encoding="utf-8").splitlines()
    text = (cb.ROOT / "docs" / "learn" / "monitor.md").read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S)]
    shown = [block for block in blocks if any(line.startswith("cairn> ") for line in block)]
    assert len(shown) > 8
    at = 0
    for block in shown:
        for line in block:
            if line != "...":
                assert line in transcript[at:], f"not in the transcript: {line}"
                at = transcript.index(line, at) + 1


ORDER = ["playground", "01-first-record", "hello", "first-trace", "monitor"]


def order(text):
    """The names of ORDER, by where the text first links them or names their page."""
    found = {name: re.search(rf'[("][\w./-]*{name}[\w/]*\.(?:md|html)|{name}/(?:README\.md|index\.html)', text)
             for name in ORDER}
    return sorted((name for name in ORDER if found[name]), key=lambda name: found[name].start())


@pytest.mark.parametrize("name,begin", [("README.md", "1. **Learn.**"), ("docs/README.md", "## Learn"),
                                        ("labs/README.md", ""), ("tools/site/doors.html", "door-learn"),
                                        ("tools/site/site.py", "LEARN = ")])
def test_one_order(name, begin):
    """All pages that say what to begin with say the same."""
    text = (cb.ROOT / name).read_text(encoding="utf-8")
    assert order(text[text.index(begin):]) == ORDER


def test_order_of_the_evening():
    text = (cb.ROOT / "docs" / "learn" / "evening.md").read_text(encoding="utf-8")
    assert [name for name in order(text) if name != "first-trace"] == ["01-first-record", "hello", "monitor"]
    assert text.index("playground") < text.index("01-first-record")


def test_minutes():
    """labs/README.md says how long each lab takes; the lab's page says so, too, in words or in minutes."""
    table = dict(re.findall(r"^\| \[(\d\d)-.*\| (\d+)[^|]*\|$", (cb.ROOT / "labs/README.md").read_text("utf-8"), re.M))
    pages = {path.parent.name[:2]: path.read_text("utf-8").split("##")[0] for path in cb.ROOT.glob("labs/*/README.md")}
    assert set(table) == {"00", *pages}
    for lab, page in pages.items():
        [said] = re.findall(r"Allow (.*?)\.\s", page, re.S)
        numbers = [int(number) for number in re.findall(r"\d+", said)] or [{"two hours": 120}[said]]
        assert sum(numbers) == int(table[lab]), (lab, said)


def anchors(page):
    """Of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {re.sub(r"[^\w -]", "", re.sub(r"\]\(.*?\)", "", heading)).strip().lower().replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.M)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(cb.ROOT)))
def test_links(document):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", document.read_text(encoding="utf-8")):
        page = document.parent / target if target else document
        assert page.exists(), f"{document.name}: {target} is not there"
        assert not anchor or anchor in anchors(page), f"{document.name}: {target} has no heading for #{anchor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(cb.ROOT)))
def test_lists_of_sections_are_links(document):
    assert not re.findall(r"^1 [^\n]* · .*$", document.read_text(encoding="utf-8"), re.M)


def test_files_named_in_reading():
    """Every path in docs/explain/reading.md exists."""
    text = (cb.ROOT / "docs" / "explain" / "reading.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:boot|arch|kernel|ds|trace|tools|tests)/[\w./-]*)`", text)
    assert len(paths) > 20
    for path in paths:
        assert (cb.ROOT / path).exists(), path


def test_where_is():
    """Each row of "Where is ...?" in docs/explain/reading.md: the file defines the name, beyond using it."""
    text = (cb.ROOT / "docs" / "explain" / "reading.md").read_text(encoding="utf-8")
    table = text.split("## Where is ...?")[1].split("| --- |")[-1]
    rows = re.findall(r"^\| .*`([\w./-]+)` \| `(\w+)` \|$", table, re.M)
    assert len(rows) == table.count("\n| ") >= 20
    for path, name in rows:
        source = (cb.ROOT / path).read_text(encoding="utf-8")
        defined = rf"^(?:(?:[a-z]|#define)[^=;\n]*[ *])?{name}(?:\(|\[\w*\] = \{{$| \{{$)"
        assert re.search(defined, source, re.M), f"{path} does not define {name}"


@pytest.mark.parametrize("name", ["control", "windows", "memory", "workloads", "format", "filters", "export"])
def test_names_of_the_source(name):
    """Every path that these documents name exists, and every function of the kernel's is in the source."""
    text = next((cb.ROOT / "docs").rglob(f"{name}.md")).read_text(encoding="utf-8")
    quoted = set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)))
    for path in quoted:
        if re.fullmatch(r"(?:boot|arch|kernel|ds|trace|tools|tests)/[\w./-]+", path):
            assert (cb.ROOT / path).exists(), path
    source, _ = kernel_source()
    words = set(re.findall(r"\w+", "\n".join(source.values())))
    functions = {word for word in quoted if re.fullmatch(r"(?:k(?!ernel_)|arch_|ds_|user_)[a-z]*_[a-z0-9_]+", word)}
    assert functions - {"ds_backend"} <= words, functions - words  # a key of a CTF export


def test_keys_of_a_dump():
    """docs/reference/format.md has every key that the kernel writes into a dump."""
    text = (cb.ROOT / "docs" / "reference" / "format.md").read_text(encoding="utf-8")
    text = text[text.index("## 3. "):text.index("## 4. ")] + text[text.index("## 16. "):]
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))
    source, _ = kernel_source()
    keys = {key for code in source.values() if "trace_dump_print" in code
            for key in re.findall(r'(?:LINE\(|CAIRN_STREAM_\w+, |stream, )"([^"=]*)=', code)}
    assert len(keys) > 100
    for key in keys:
        parts = re.findall(r"[a-z]\w*", re.sub(r"%\d*[sux]", "", key))
        assert not parts or parts[-1] in words, key


def test_code_in_workloads():
    """The workload of docs/how-to/workloads.md compiles, and its program is one of the kernel's."""
    text = (cb.ROOT / "docs" / "how-to" / "workloads.md").read_text(encoding="utf-8")
    workload, program = re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S)
    subprocess.run(["cc", "-std=gnu17", "-ffreestanding", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", cb.ROOT,
                    "-x", "c", "-"], input=workload, text=True, check=True)
    programs = (cb.ROOT / "kernel" / "user" / "ring3" / "programs.c").read_text(encoding="utf-8")
    assert program[program.index("\nvoid "):] in programs


def test_wings_in_reading():
    """The wings that docs/explain/reading.md tells you to keep are in tools/wings."""
    rows = (cb.ROOT / "tools" / "wings").read_text(encoding="utf-8").splitlines()
    page = (cb.ROOT / "docs" / "explain" / "reading.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z0-9_]+)`", page[page.index("## Nucleus and wings"):page.index("## Beside")]))
    assert len(named) > 5 and named <= {row.split("|")[0].strip() for row in rows}


def test_steps_of_the_driver():
    """The numbered steps of docs/explain/ds.md are those of the driver, and each writes what the document says."""
    source = "".join((cb.ROOT / "ds" / f"{name}.c").read_text(encoding="utf-8")
                     for name in ("driver/driver", "driver/store", "driver/drain", "lbr/lbr", "errata/errata"))
    document = (cb.ROOT / "docs" / "explain" / "ds.md").read_text(encoding="utf-8")

    def body(function):
        found = re.search(rf"^[a-z].*\b{function}\(struct ds_cpu \*ds[^;{{]*\)\n\{{\n(.*?)^\}}", source, re.M | re.S)
        return found[1] if found else ""

    parts = re.split(r"\*step = (\d+);", body("set_up"))
    steps = dict(zip(map(int, parts[1::2]), parts[2::2]))
    rows = {}
    for n, text in re.findall(r"^\| (\d+)[ab]? \| (.*?) \| .*\|$", document, re.M):
        if "= 0" in text or "IA32" in text or "the area:" in text or "LVTPC" in text or "MSR_" in text:
            rows[int(n)] = rows.get(int(n), "") + text
    assert sorted(steps) == sorted(rows) == list(range(1, 10))
    for n, code in steps.items():
        for _ in range(2):  # what a step calls, and what that calls
            code += "".join(body(call) for call in set(re.findall(r"\b(\w+)\(ds\)", code)))
        registers = re.findall(r"`((?:IA32|MSR)_\w+)`", rows[n])
        assert registers or n in (2, 4)
        assert all(register in code for register in registers), (n, registers)
    # the same, without the Debug Store
    code = "".join(path.read_text(encoding="utf-8") for path in (cb.ROOT / "ds" / "pebs23").glob("*.[ch]"))
    page = (cb.ROOT / "docs" / "explain" / "arch-pebs.md").read_text(encoding="utf-8")
    others = re.findall(r"^\| (\d) \| (.*?) \| (.*?) \|$", page[page.index("**Set-up.**"):page.index("## 4. ")], re.M)
    assert [int(n) for n, _, _ in others] == [1, 2, 3, 5, 8]
    for n, ours, theirs in others:
        assert set(re.findall(r"`((?:IA32|MSR)_\w+)`", ours)) <= set(re.findall(r"`(\w+)`", rows[int(n)])), n
        assert all(name in code for name in re.findall(r"`(IA32_\w+)`", theirs)), n
    handler = body("ds_pmi").replace("handle_status(ds);", body("handle_status"))
    pmi = list(map(int, re.findall(r"/\* (\d)\. ", handler)))
    listed = document[document.index("### PMI\n"):document.index("### Drain\n")]
    assert pmi == list(map(int, re.findall(r"^(\d)\. ", listed, re.M))) == [1, 2, 3, 4, 5, 6, 7]
    changes = re.findall(r"/\* (\d)\. ", (cb.ROOT / "ds" / "later" / "reconfigure.c").read_text(encoding="utf-8"))
    listed = document[document.index("### Reconfiguration\n"):document.index("### Tear-down\n")]
    assert changes == re.findall(r"^(\d)\. ", listed, re.M) == ["1", "2", "3", "4", "5"]
    branches = re.split(r"\*step = (\d+);", (cb.ROOT / "ds" / "bts" / "bts.c").read_text(encoding="utf-8"))
    listed = document[document.index("(`ds_bts_start`)"):document.index("(`ds_bts_drain`)")]
    assert branches[1::2] == re.findall(r"^(\d)\. ", listed, re.M) == ["1", "2", "3", "4", "5"]


def spoken(text):
    """C source without the seams of its string literals, so that a line it prints is found whole."""
    return re.sub(r'"\s*L?"', "", text)


def kernel_source():
    """Text by path, and all of it without seams."""
    source = {path: path.read_text(encoding="utf-8") for folder in ("arch", "boot", "ds", "kernel", "tools/cairn")
              for path in (cb.ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".asm")}
    return source, spoken("\n".join(source.values()))


def test_hardware_lines():
    """What docs/reference/hardware.md says that a machine says is printed somewhere; `...` stands for what differs."""
    text = (cb.ROOT / "docs" / "reference" / "hardware.md").read_text(encoding="utf-8")
    _, lines = kernel_source()
    told = re.findall(r"^\| `(.*?)` \| ", text[text.index("| line | what"):text.index("\n## 6")], re.M)
    assert len(told) > 10
    for line in told:
        for part in line.split("..."):
            assert part.strip() in lines, line
    announced = re.findall(r"\| `dump: (\d+) bytes in \d+ frames follow, (\d+) s at (\d+) baud` \|", text)
    assert len(announced) > 3
    assert all(int(seconds) == -(-int(size) * 10 // int(baud)) for size, seconds, baud in announced)


def test_hardware_sizes():
    """The dumps of section 6 of docs/reference/hardware.md are as large as its formula says."""
    text = (cb.ROOT / "docs" / "reference" / "hardware.md").read_text(encoding="utf-8")
    base, each, factor = (float(n.replace(",", "")) for n in re.search(
        r"characters = ([\d,]+) \+ ([\d,]+) x CPUs\n +\+ ([\d.]+) x ", text).groups())
    switches = re.findall(r"^\| `ds=off switches=(\d+)` \| `dump: (\d+) bytes", text, re.M)
    assert len(switches) == 2
    for count, size in switches:
        assert 4 * int(count) < (int(size) - base - 2 * each) / factor < 10 * int(count)


def test_sticks():
    """The options of every stick in the documents, and of one that is made without any, are valid, and no trace of
    theirs floods: the period is a processor's, or it is the probe that samples. A misspelt CONFIG= is refused."""
    said = [config for document in DOCUMENTS
            for config in re.findall(r'^make .*\bimage\b.*CONFIG=["\'](.*?)["\']',
                                     document.read_text(encoding="utf-8"), re.M)]
    assert len(said) > 3
    default = re.search(r"^CONFIG *:= (.*)$", (cb.ROOT / "tools" / "image.mk").read_text(encoding="utf-8"), re.M)[1]
    for config in (default, *said):
        subprocess.run([cb.BUILD / "cairn-options", "check", *config.split()], check=True, stdout=subprocess.DEVNULL)
        periods = re.findall(r"\bpebs=[\w.]+:(\d+)", config)
        assert "workload=probe" in config or periods and all(int(n) >= 10**7 for n in periods), config
    wrong = subprocess.run(["make", "-n", "image", "config=seed=1"], cwd=cb.ROOT, capture_output=True, text=True,
                           check=False)
    assert wrong.returncode and "CONFIG=, in capitals" in wrong.stderr


def test_hardware_review():
    """The entries of a section of docs/explain/hardware-review.md are numbered without a gap. One with a risk names
    files and functions that are there, and how sure its source is; the lines of all of them are printed, and the
    questions are the probe's."""
    text = (cb.ROOT / "docs" / "explain" / "hardware-review.md").read_text(encoding="utf-8")
    source, lines = kernel_source()
    questions = set(re.findall(r'"(\w+)"', (cb.ROOT / "ds" / "probe" / "rows.c").read_text(encoding="utf-8")))
    entry = re.compile(r"^(?:- )?\*\*([A-Z])(\d+)(\.?) ?(.*?)(?=\n\n|\n- |\Z)", re.M | re.S)
    counts = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        entries = [(letter, int(number), full, " ".join(rest.split()))
                   for letter, number, full, rest in entry.findall(section)]
        assert sorted(number for _, number, _, _ in entries) == list(range(1, len(entries) + 1)), section[:30]
        assert len({letter for letter, _, _, _ in entries}) <= 1
        counts.append(len(entries))
        for letter, number, full, told in entries:
            name = f"{letter}{number}"
            told, _, seen = told.partition("Symptom: ") if full else (told, "", told)
            if full:
                assert re.search(r"\*\*`(certain|inferred|not found)`\*\*", told), name
                assert re.search(r"Risk: (medium|high)", told), name
                places = re.findall(r"`([\w/]+\.(?:c|h|asm))`: ((?:`\w+`(?:, )?)+)", told)
                assert places, name
                for path, names in places:
                    for function in re.findall(r"`(\w+)`", names):
                        assert re.search(rf"\b{function}\b", source[cb.ROOT / path]), (name, path, function)
            for asked in re.findall(r"Probe: ((?:`\w+`(?:, )?)+)", told):
                assert set(re.findall(r"`(\w+)`", asked)) <= questions, (name, asked)
            for line in re.findall(r"`([^`]*)`", seen):
                if re.search("[ :]", line) and line != "not found" and not line.startswith("cairn "):
                    assert all(part.strip() in lines for part in line.split("...")), (name, line)
    assert sum(counts) > 100


def test_packages():
    """CONTRIBUTING.md names every package `make deps` may install, and no other."""
    deps = (cb.ROOT / "tools" / "deps.sh").read_text(encoding="utf-8")
    rows = "\n".join(re.findall(r"cat <<'END'\n(.*?)\nEND", deps, re.S)).splitlines()
    wanted = {row.split()[2 if row.startswith(("on_path ", "header ")) else 1] for row in rows}
    page = (cb.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page[page.index("| package (Debian) |"):]
    cells = "\n".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    named = set(re.findall(r"`([\w.+-]+)`", cells))
    assert wanted <= named | {"libc6-dev", "python3"} and named <= wanted | {"make"}, (wanted, named)


def test_symbols_of_qemu():
    """docs/explain/upstream.md has what the plugin looks up by name in QEMU's binary, and nothing else."""
    used = {name for path in (cb.ROOT / "tools/qemu-ds").rglob("*.c")
            for name in re.findall(r'exported\("(\w+)"', path.read_text(encoding="utf-8"))}
    page = (cb.ROOT / "docs/explain/upstream.md").read_text(encoding="utf-8")
    rows = "".join(re.findall(r"^\| (`.*?) \|", page, re.M))
    assert used and set(re.findall(r"`(\w+)`", rows)) == used


def test_version():
    """Documents name the files of this version, and the newest released changes are its."""
    version = re.search(r"^VERSION := (.*)$", (cb.ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1]
    named = [found for document in DOCUMENTS for found in re.findall(
        r"\b(?:cairn|cairn-labs|qemu-ds|cairn-site)[-_](\d+\.\d+\.\d+)", document.read_text(encoding="utf-8"))]
    assert len(named) > 5 and set(named) == {version}
    changes = (cb.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (?!Unreleased$)(.*)$", changes, re.M)[1].startswith(f"{version} (")


def test_samples():
    """samples/README.md has a row for each log, counts those of boots, and says which version wrote them."""
    text = (cb.ROOT / "samples" / "README.md").read_text(encoding="utf-8")
    logs = {path.name: path for path in (cb.ROOT / "samples").glob("*.log")}
    assert set(re.findall(r"^\| `(.*?)` \| ", text, re.M)) == set(logs)
    edited = re.search(r"The sixth, `(.*?)`, is a copy of `plain.log` with damage", text)[1]
    assert edited in logs and "Five logs are of real boots" in text and len(logs) == 6
    others, newer, name = re.search(r"Cairn ([\d.]+) wrote them\s.*, and ([\d.]+) wrote `(.*?)`", text).groups()
    for log, path in logs.items():
        wrote = re.search(r"^kernel +([\d.]+)$", printed(cb.BUILD / "cairn", "info", path), re.M)[1]
        assert wrote == (newer if log == name else others), log


def test_house_words():
    """No document speaks of a file outside the repository."""
    for document in DOCUMENTS:
        assert "../shared" not in document.read_text(encoding="utf-8")
