# SPDX-License-Identifier: MIT
"""What `make install` brings: the tool, its manual page, completions. All made from one table, so all say the same."""

import os
import re
import shutil
import subprocess

import pytest

import cairn_boot
from cairn_tool import CAIRN, GOLDEN, cairn, errors_of, text_of

SMALL = GOLDEN / "small.log"
WHERE = {"tool": "bin/cairn", "manual": "share/man/man1/cairn.1", "bash": "share/bash-completion/completions/cairn",
         "zsh": "share/zsh/site-functions/_cairn", "fish": "share/fish/vendor_completions.d/cairn.fish"}
OPTION = r"^(?:\\fB-\w\\fR, )?\\fB--([\w-]+)\\fR( \\fI.*?\\fR)?$"
COMMANDS_PAGE = (cairn_boot.ROOT / "docs" / "how-to" / "cairn.md").read_text(encoding="utf-8")


def make(goal, root):
    """Installs what is built: nothing is made anew below the feet of the other tests."""
    return subprocess.run(["make", "--no-print-directory", "-o", "tools", goal, f"B={cairn_boot.BUILD}",
                           f"DESTDIR={root}", "PREFIX=/usr"], cwd=cairn_boot.ROOT, capture_output=True, text=True,
                          check=True)


@pytest.fixture(scope="module", name="installed")
def fixture_installed():
    """What make has built to be installed; whether it is installed is a test of its own."""
    return {"manual": cairn_boot.BUILD / "cairn.1", "bash": cairn_boot.BUILD / "cairn.bash",
            "zsh": cairn_boot.BUILD / "_cairn", "fish": cairn_boot.BUILD / "cairn.fish"}


def commands():
    return re.findall(r"^  (\w+) ", text_of(cairn("--help")), re.M)


def options(command):
    """name: whether it takes a value."""
    return {name: bool(value) for name, value in
            re.findall(r"^  (?:-\w,|   ) --([\w-]+)( [A-Z][\w:]*)?", text_of(cairn(command, "--help")), re.M)
            if name != "help"}


def formats():
    refusal = cairn("export", "--to", "none", "a").stderr.decode().replace("\n  ", " ")
    return re.findall(r"[\w.]+", re.search(r"must be (.*)", refusal)[1].replace(" or ", ", "))


def test_install_and_uninstall(tmp_path):
    done = make("install", tmp_path)
    assert {tmp_path / "usr" / path for path in WHERE.values()} <= set(tmp_path.rglob("*"))
    assert all(f"{tmp_path}/usr/{path}" in done.stdout for path in WHERE.values())
    tool = tmp_path / "usr" / WHERE["tool"]
    assert subprocess.run([tool, "--version"], capture_output=True, check=True).stdout.startswith(b"cairn ")
    page = (tmp_path / "usr" / WHERE["manual"]).read_text(encoding="ascii")
    named = set(re.findall(r"docs/([\w/-]+\.md)", page.replace("\\-", "-")))
    folder = tmp_path / "usr/share/doc/cairn"
    assert {"how-to/filters.md", "how-to/export.md"} <= named <= {str(path.relative_to(folder))
                                                                  for path in folder.rglob("*.md")}
    make("uninstall", tmp_path)
    assert not (tmp_path / "usr/share/doc/cairn").exists()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_manual_has_no_mistake(installed):
    if not shutil.which("groff"):
        pytest.skip("no groff: run 'make deps'")
    done = subprocess.run(["groff", "-man", "-ww", "-z", installed["manual"]], capture_output=True, check=True)
    assert done.stderr == b""
    shown = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-rLL=80n", installed["manual"]], capture_output=True,
                           check=True).stdout.decode("ascii")
    text = re.sub(r".\x08", "", shown)
    for heading in ("NAME", "SYNOPSIS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"):
        assert f"\n{heading}\n" in text
    for word in ("TMPDIR", "TERM", "NO_COLOR", "130"):
        assert f"\n       {word}" in text
    assert text.count("--max-wait-reason N") == 1  # what several commands have is told once
    assert all(f"cairn {command} " in text for command in commands())


def test_help_manual_and_page_agree(installed):
    page = installed["manual"].read_text(encoding="ascii").replace("\\-", "-").replace("\\(aq", "'")
    sections = {name: body for name, body in re.findall(r'^\.SS "cairn (\w+) .*"\n((?:(?!\.S[SH]).*\n)*)', page, re.M)}
    assert list(sections) == commands() and len(commands()) > 9
    common = page[page.index(".SH OPTIONS OF SEVERAL"):page.index(".SH A PART")]
    values = {name: bool(value) for name, value in re.findall(OPTION, common, re.M)}
    for command in commands():
        listed = {name: bool(value) for name, value in re.findall(OPTION, sections[command], re.M)}
        also = re.search(r"^Also (.*): see below\.$", sections[command], re.M)
        listed |= {name: values[name] for name in re.findall(r"--([\w-]+)", also[1] if also else "")}
        assert listed == options(command), command
        assert f"build/cairn {command} " in COMMANDS_PAGE, command
    assert re.findall(r"^format \\fB([\w.]+)", sections["export"], re.M) == formats()
    documented = (cairn_boot.ROOT / "docs" / "how-to" / "export.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w.]+)` \|", documented, re.M)) >= set(formats())
    assert set(formats()) == set(re.findall(r"^  ([\w.]+)  ", text_of(cairn("export", "--help")), re.M))
    for status in re.findall(r"(\d) ", re.search(r"Exit: .*", text_of(cairn("--help")).replace("\n", " "))[0]):
        assert f"\n.TP\n{status}\n" in page


def test_examples_of_the_manual(installed):
    """What it shows is what there is: each command reads a log as it stands there."""
    page = installed["manual"].read_text(encoding="ascii").replace("\\-", "-").replace("\\(aq", "'")
    examples = re.findall(r"^cairn (\w+) (.*)$", page[page.index(".SH EXAMPLES"):], re.M)
    assert len(examples) > 6
    for command, words in examples:
        for name in re.findall(r"--([\w-]+)", words):
            assert name in options(command), (command, name)
    done = subprocess.run(f"{CAIRN} " + " ".join(next(e for e in examples if "--reason" in e[1])).replace(
        "t.log", str(cairn_boot.ROOT / "samples" / "plain.log")), shell=True, capture_output=True, check=False)
    assert done.returncode == 0 and b"Mutex" in done.stdout and not done.stderr


def test_states_and_wait_reasons_are_listed():
    """By a refusal, by the completion and by the document: all the same, and each is one."""
    refusal = errors_of(cairn("dump", "--reason", "Nothing", "a"))
    words = re.search(r"as wildcards: (.*) usage:", refusal)[1].split(", ")
    assert len(words) > 50 and words[0] == "Initialized" and "WrMutex" in words
    document = (cairn_boot.ROOT / "docs" / "how-to" / "filters.md").read_text(encoding="utf-8")
    listed = re.search(r"^States: (.*?)\n\n", document, re.M | re.S)[1]
    assert re.findall(r"`(\w+)`", listed) == words
    assert b"nothing in this log matches" in cairn("dump", "--reason", ",".join(words[-9:]), SMALL).stderr
    assert cairn("dump", "--reason", "ready,WRMUTEX", SMALL).returncode == 0


def test_page_shows_no_option_there_is_not():
    for command, words in re.findall(r"build/cairn (\w+\b)(?!\.)([^\n`#|]*)", COMMANDS_PAGE):
        known = options(command)
        for name in re.findall(r"--([\w-]+)", words):
            assert name in known, (command, name)


# ---- completion ------------------------------------------------------------------------------------------------------

def complete(script, *words):
    """What bash completes the last of `words` to."""
    line = " ".join(f"'{word}'" for word in words)
    done = subprocess.run(["bash", "--norc", "-c", f"""
        source '{script}' && complete -p cairn >/dev/null || exit 9
        COMP_WORDS=({line}) COMP_CWORD={len(words) - 1}
        _cairn
        printf '%s\\n' "${{COMPREPLY[@]}}" """], capture_output=True, text=True, cwd=cairn_boot.ROOT, check=True)
    assert not done.stderr
    return [word for word in done.stdout.split("\n") if word]


def test_bash_commands_and_options(installed):
    script = installed["bash"]
    assert set(complete(script, "cairn", "")) == {*commands(), "help", "--help", "--version"}
    assert complete(script, "cairn", "prof") == ["profile"]
    assert complete(script, "cairn", "help", "du") == ["dump"]
    for command in commands():
        assert set(complete(script, "cairn", command, "--")) == {f"--{name}" for name in options(command)} | {"--help"}


def test_bash_values(installed):
    script = installed["bash"]
    assert complete(script, "cairn", "export", "--to", "") == formats()
    assert complete(script, "cairn", "dump", "--color", "=", "al") == ["always"]
    assert complete(script, "cairn", "dump", "--reason", "WrMu") == ["WrMutex"]
    assert complete(script, "cairn", "stat", "--reason", "Ready,Gate") == ["Ready,GateWait"]
    assert complete(script, "cairn", "dump", "--color", "=") == ["auto", "always", "never"]
    assert not complete(script, "cairn", "dump", "--from", "")
    assert "samples/plain.log" in complete(script, "cairn", "dump", "samples/p")
    assert "samples/plain.log" in complete(script, "cairn", "dump", "--elf", "samples/p")
    assert complete(script, "cairn", "dump", "--cpu", "0", "samples/pl") == ["samples/plain.log"]
    assert complete(script, "cairn", "capture", "--output", "samples/pl") == ["samples/plain.log"]


# A line, and what its last word becomes: there is one way only.
COMPLETED = [
    ("cairn exp", "export"),
    ("cairn --ver", "--version"),
    ("cairn help du", "dump"),
    ("cairn dump --fr", "--from"),
    ("cairn top --on", "--once"),
    ("cairn export --to perfe", "perfetto"),
    ("cairn export --to=perfe", "--to=perfetto"),
    ("cairn stat --reason Ready,Gate", "Ready,GateWait"),
    ("cairn stat --reason=Ready,Gate", "--reason=Ready,GateWait"),
    ("cairn dump samples/pla", "samples/plain.log"),
    ("cairn dump --elf samples/pla", "samples/plain.log"),
    ("cairn capture --output samples/pla", "samples/plain.log"),
]


def test_zsh_completes(installed, tmp_path):
    if not shutil.which("zsh"):
        pytest.skip("no zsh: run 'make deps'")
    done = subprocess.run(["zsh", "-f", cairn_boot.ROOT / "tests/cairn/complete.zsh", installed["zsh"],
                           *(line for line, _ in COMPLETED)], capture_output=True, text=True, cwd=cairn_boot.ROOT,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "dumb"}, timeout=300,
                          check=True)
    # an option that wants a value gets a '=', a list a comma
    assert [line.split()[-1].rstrip("=,") for line in done.stdout.splitlines()] == [word for _, word in COMPLETED]


def test_fish_completes(installed, tmp_path):
    if not shutil.which("fish"):
        pytest.skip("no fish: run 'make deps'")
    command = f"source '{installed['fish']}'; for line in $argv; complete -C $line; echo; end"
    done = subprocess.run(["fish", "--no-config", "-c", command, *(line for line, _ in COMPLETED)],
                          capture_output=True, text=True, cwd=cairn_boot.ROOT, timeout=300, check=True,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    told = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert told == [word for _, completed in COMPLETED for word in (completed, "")]


@pytest.mark.parametrize("shell, arguments", [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])])
def test_syntax(installed, shell, arguments):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}: run 'make deps'")
    done = subprocess.run([shell, *arguments, installed[shell]], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_every_option_is_there(installed, shell):
    text = installed[shell].read_text(encoding="ascii")
    for command in commands():
        if shell == "zsh":
            part = re.search(rf"^    {command}\)\n((?:.*\n)*?)        ;;", text, re.M)[1]
            found = set(re.findall(r"--([\w-]+)(?==?[\[}])", part)) - {"help"}
        else:
            found = set(re.findall(rf"^complete .* {command}' -l ([\w-]+)", text, re.M))
        assert found == set(options(command)), command


