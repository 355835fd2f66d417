# SPDX-License-Identifier: MIT
"""What `make install` brings: the tool, its manual page, completions. All made from one table, so all say the same."""

import re
import shutil
import subprocess

import pytest

import cairn_boot
from cairn_tool import cairn, text_of

WHERE = {"tool": "bin/cairn", "manual": "share/man/man1/cairn.1", "bash": "share/bash-completion/completions/cairn",
         "zsh": "share/zsh/site-functions/_cairn", "fish": "share/fish/vendor_completions.d/cairn.fish"}
README = (cairn_boot.ROOT / "README.md").read_text(encoding="utf-8")


def make(goal, root):
    return subprocess.run(["make", "--no-print-directory", goal, f"B={cairn_boot.BUILD}", f"DESTDIR={root}",
                           "PREFIX=/usr"], cwd=cairn_boot.ROOT, capture_output=True, text=True, check=True)


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
            re.findall(r"^  (?:-\w,|   ) --([\w-]+)( [A-Z][\w:]*)?", text_of(cairn(command, "--help")), re.M)}


def formats():
    refusal = cairn("export", "--to", "none", "a").stderr.decode().replace("\n  ", " ")
    return re.findall(r"\w+", re.search(r"must be (.*)", refusal)[1].replace(" or ", ", "))


def test_install_and_uninstall(tmp_path):
    done = make("install", tmp_path)
    assert {tmp_path / "usr" / path for path in WHERE.values()} <= set(tmp_path.rglob("*"))
    assert all(f"{tmp_path}/usr/{path}" in done.stdout for path in WHERE.values())
    tool = tmp_path / "usr" / WHERE["tool"]
    assert subprocess.run([tool, "--version"], capture_output=True, check=True).stdout.startswith(b"cairn ")
    make("uninstall", tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_manual_has_no_mistake(installed):
    if not shutil.which("groff"):
        pytest.skip("no groff: run 'make deps'")
    done = subprocess.run(["groff", "-man", "-ww", "-z", installed["manual"]], capture_output=True, check=True)
    assert done.stderr == b""
    shown = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-rLL=80n", installed["manual"]], capture_output=True,
                           check=True).stdout.decode("ascii")
    text = re.sub(r".\x08", "", shown)
    for heading in ("NAME", "SYNOPSIS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT"):
        assert f"\n{heading}\n" in text
    assert all(f"cairn {command} " in text for command in commands())


def test_help_manual_and_readme_agree(installed):
    page = installed["manual"].read_text(encoding="ascii").replace("\\-", "-").replace("\\(aq", "'")
    sections = {name: body for name, body in re.findall(r'^\.SS "cairn (\w+) .*"\n((?:(?!\.S[SH]).*\n)*)', page, re.M)}
    assert list(sections) == commands() and len(commands()) > 9
    for command in commands():
        listed = {name: bool(value) for name, value in
                  re.findall(r"\\fB--([\w-]+)\\fR( \\fI.*?\\fR)?$", sections[command], re.M)}
        assert listed == options(command), command
        assert f"build/cairn {command} " in README, command
    assert re.findall(r"^format \\fB(\w+)", sections["export"], re.M) == formats()
    documented = (cairn_boot.ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", documented, re.M)) >= set(formats())
    assert set(formats()) == set(re.findall(r"^  (\w+)  ", text_of(cairn("export", "--help")), re.M))
    for status in re.findall(r"(\d) ", re.search(r"Exit: .*", text_of(cairn("--help")).replace("\n", " "))[0]):
        assert f"\n.TP\n{status}\n" in page


def test_readme_shows_no_option_there_is_not():
    for command, words in re.findall(r"build/cairn (\w+)([^\n`#|]*)", README):
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
    assert complete(script, "cairn", "dump", "--color", "=") == ["auto", "always", "never"]
    assert not complete(script, "cairn", "dump", "--from", "")
    assert "samples/plain.log" in complete(script, "cairn", "dump", "samples/p")
    assert "samples/plain.log" in complete(script, "cairn", "dump", "--elf", "samples/p")
    assert complete(script, "cairn", "dump", "--cpu", "0", "samples/pl") == ["samples/plain.log"]


@pytest.mark.parametrize("shell, arguments", [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])])
def test_syntax(installed, shell, arguments):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here")
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


