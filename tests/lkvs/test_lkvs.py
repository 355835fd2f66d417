# SPDX-License-Identifier: MIT
"""What `make test-lkvs` says, without LKVS and without a guest."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE)]
import lkvs  # noqa: E402

TABLE = """
lists one tests-a tests-b
guest one 6.12 memory=model,cpi=0.5  # why
Pass   a.sh -t x -w 0
Fail   a.sh -t y       # the model has no y
(Fail) b.sh -t z       # waits for an interrupt in real time
guest one 7.3
Skip   c.sh
"""


def checkout(folder, **lists):
    for name in lkvs.NEEDED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    for name, tests in lists.items():
        (folder / "BM/pmu" / name.replace("_", "-")).write_text("# theirs\n" + "\n".join(tests) + "\n\n")
    return folder


def test_the_table_is_read():
    lists, (first, second) = lkvs.expected(TABLE)
    assert lists == {"one": ["tests-a", "tests-b"]}
    assert (str(first), str(second)) == ("one 6.12 memory=model,cpi=0.5", "one 7.3")
    assert first.tests == {"a.sh -t x -w 0": "Pass", "a.sh -t y": "Fail", "b.sh -t z": "(Fail)"}


def test_each_that_does_not_pass_has_a_reason():
    """In the table that is here. Its guests can be: presets and kernels have the plugin's and deps-ds' names."""
    text = lkvs.EXPECTED.read_text()
    rows = [line for line in text.splitlines() if line and line.split()[0] not in ("#", "lists", "guest", "Pass")]
    assert rows and all("#" in line for line in rows)
    lists, guests = lkvs.expected(text)
    assert {one.preset for one in guests} == set(lists)
    assert {one.kernel for one in guests} <= {lkvs.guest.KERNEL, lkvs.guest.NEWER}
    assert {verdict.strip("()") for one in guests for verdict in one.tests.values()} <= {"Pass", "Fail", "Skip"}


def test_another_verdict_than_the_tables_is_told():
    _, (one, _) = lkvs.expected(TABLE)
    as_there = [("a.sh -t x -w 0", "Pass", "fine"), ("a.sh -t y", "Fail", "no y"), ("b.sh -t z", "Pass", "")]
    assert lkvs.compare(one, as_there) == ([
        "Pass  a.sh -t x -w 0", "Fail  a.sh -t y", "Pass  b.sh -t z   # expected.txt: (Fail)",
        "PASS: lkvs one 6.12 memory=model,cpi=0.5: all 3 are as in expected.txt"], 0)
    for verdict in ("Fail", "Skip"):
        lines, wrong = lkvs.compare(one, [("a.sh -t x -w 0", verdict, "samples = 0!\nbad"), *as_there[1:]])
        assert wrong == 1 and lines[1:3] == ["    samples = 0!", "    bad"]
        assert lines[-1] == "FAIL: lkvs one 6.12 memory=model,cpi=0.5: 1 of 3 are not as in expected.txt"
    assert lkvs.compare(one, [as_there[0], ("a.sh -t y", "Pass", ""), as_there[2]])[1] == 1  # the table is not true


def test_lists_and_table_have_the_same_tests(tmp_path):
    lists, guests = lkvs.expected(TABLE)
    folder = checkout(tmp_path, tests_a=["a.sh -t x -w 0", "a.sh -t y", "a.sh -t x -w 0"],
                      tests_b=["b.sh -t z", "c.sh"]) / "BM/pmu"
    assert lkvs.unlike_the_lists(lists, guests, folder) == []
    ended = {"one": {"a.sh -t x -w 0": "Pass", "a.sh -t y": "Fail", "c.sh": "Skip"}}
    assert lkvs.summary(lists, ended, folder) == \
        [f"{'tests-a':24}{'one':20}  1 of 2 pass", f"{'tests-b':24}{'one':20}  0 of 1 pass"]
    (folder / "tests-b").write_text("b.sh -t z\nd.sh\n")
    assert lkvs.unlike_the_lists(lists, guests, folder) == \
        ["tests-b has d.sh, which expected.txt has not", "expected.txt has c.sh, which tests-a and tests-b have not"]


def test_what_is_no_checkout(tmp_path):
    assert "make test-lkvs LKVS=DIR" in lkvs.lacks(None)
    assert lkvs.lacks(tmp_path) == f"{tmp_path}: BM/.env is not there: this is no checkout of LKVS"
    assert lkvs.lacks(checkout(tmp_path)) is None
    (tmp_path / lkvs.NEEDED[-1]).unlink()
    assert lkvs.lacks(tmp_path) == \
        f"{tmp_path}: BM/tools/cpuid_check/cpuid_check is not there: build LKVS first, as its README says"


@pytest.mark.parametrize("why", [lkvs.guest.Trouble("no end"), lkvs.guest.of_root.Missing("root: has no gawk"),
                                 PermissionError(13, "no")])
def test_a_guest_that_cannot_be_is_told_in_a_line(tmp_path, monkeypatch, capsys, why):
    def run(*_):
        raise why
    monkeypatch.setattr(lkvs, "run", run)
    lists, guests = lkvs.expected(lkvs.EXPECTED.read_text())
    folder = checkout(tmp_path)
    for name in (name for names in lists.values() for name in names):
        (folder / "BM/pmu" / name).write_text("")
    monkeypatch.setattr(sys, "argv", ["lkvs.py", "--lkvs", str(folder)])
    assert lkvs.main() == 1
    assert capsys.readouterr().out.count(f": {why}\n") == len(guests)


@pytest.mark.parametrize("name", ["", "/nowhere"])
def test_without_a_checkout_it_fails(name):
    done = subprocess.run([lkvs.__file__, "--lkvs", name], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("test-lkvs: ") and done.stderr.count("\n") == 1
