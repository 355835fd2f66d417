# SPDX-License-Identifier: MIT
"""Mutants of the labs' solutions: each check refuses all but those that are listed, with a reason each."""

import pytest

import mutate
from cairn_labs import LABS

FOLDERS = [path.parent for path in LABS if mutate.list_of(path.parent).exists()]


def test_mutations():
    """Each kind, in a program that has one place for each."""
    text = ("int f(int a, int b)\n{\n    g(a);\n    h(b);\n    if (a < 7)\n        a = b;\n    return a + 1;\n}\n")
    made = [(mutant.kind, mutant.key) for mutant in mutate.every_mutant(text)]
    for expected in (("operator", "if (a < 7) a = b; => if (a <= 7) a = b;"),
                     ("constant", "return a + 1; => return a + 2;"), ("omitted", "g(a); => ;"),
                     ("off by one", "a = b; => a = b + 1;"), ("order", "g(a); h(b); => h(b); g(a);"),
                     ("condition", "if (a < 7) a = b; => if (!(a < 7)) a = b;")):
        assert made.count(expected) == 1, made


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_listed_mutants_exist(folder):
    every = [mutant.key for mutant in mutate.every_mutant((folder / "solution.c").read_text(encoding="utf-8"))]
    for key in mutate.listed(folder):
        assert every.count(key) == 1, key


@pytest.mark.long
@pytest.mark.xdist_group("labs")  # one build, and a processor for each of two
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_mutants(folder):
    mutants = mutate.mutants_of(folder)
    passed = {mutant.key for mutant, hint in zip(mutants, mutate.judge(folder, mutants)) if hint is None}
    assert len(mutants) > 20 and passed == set(mutate.listed(folder))
