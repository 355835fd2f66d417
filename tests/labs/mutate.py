#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Mutants of a lab's solution: each is the solution with one small mistake, as students make them. The lab's check has
to refuse every one that behaves differently; mutants/NN-name.txt lists those that pass, each with a reason.

usage: tests/labs/mutate.py [-j N] LAB...     LAB is 1, 2 and so on; prints what passes, and the numbers"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "boot")]
import cairn_boot as cb  # noqa: E402
from cairn_labs import LABS, lab  # noqa: E402

TOKEN = re.compile(r"""(?P<skip>/\*.*?\*/|//[^\n]*|^\#(?!define)[^\n]*|"(?:\\.|[^"\\])*"|\s+)
    |(?P<word>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*)
    |(?P<op><<=|>>=|\+\+|--|->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]#\\'])""",
                   re.S | re.M | re.X)
OPERATORS = {"+": "-", "-": "+", "/": "*", "%": "/", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
             "&&": "||", "||": "&&", "|": "&", "<<": ">>", ">>": "<<", "!": "", "~": "", "++": "--", "+=": "-=",
             "-=": "+=", "|=": "&=", "&=": "|="}
BETWEEN_SPACES = {"*": "/", "&": "|"}  # otherwise they belong to pointers
CONTROL = ("if", "while", "for", "switch")


@dataclass(frozen=True)
class Mutant:
    kind: str
    text: str        # the whole file
    was: str         # the lines that differ, without the spaces at their ends
    is_now: str

    @property
    def key(self):
        return f"{self.was} => {self.is_now}"


def tokens(text):
    """(kind, begin, end) of all but spaces, comments, strings and lines of the preprocessor other than #define."""
    at, found = 0, []
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"no token of C at {text[at:at + 20]!r}")
        if match.lastgroup != "skip":
            found.append((match.lastgroup, match.start(), match.end()))
        at = match.end()
    return found


def statements(text, found):
    """Simple statements: (begin, end, number of the block they are in)."""
    blocks, parens, begin, number, out = [0], 0, None, 0, []
    control = None  # depth of the parenthesis that ends the head of an if, while, for
    for kind, at, end in found:
        word = text[at:end]
        if word in "([" and kind == "op":
            parens += 1
        elif word in ")]" and kind == "op":
            parens -= 1
            if control == parens:
                control, begin = None, None
                continue
        elif word in "{}" and kind == "op" and not parens:
            number += 1
            blocks = blocks + [number] if word == "{" else blocks[:-1]
            begin = None
            continue
        if begin is None:
            begin = at
            if word in CONTROL:
                control = parens
            elif word in ("else", "do"):
                begin = None
                continue
        if word == ";" and not parens and control is None:
            if len(blocks) > 1:
                out.append((begin, end, blocks[-1]))
            begin = None
    return out


def heads(text, found):
    """The conditions of if and while: (begin, end) between the parentheses."""
    out = []
    for i, (kind, at, end) in enumerate(found):
        if kind == "word" and text[at:end] in ("if", "while"):
            depth = 0
            for _, begin, stop in found[i + 1:]:
                depth += {"(": 1, ")": -1}.get(text[begin:stop], 0)
                if not depth:
                    out.append((found[i + 1][2], begin))
                    break
    return out


def changes(text):
    """(kind, begin, end, new text) of each mutation."""
    found = tokens(text)
    for kind, at, end in found:
        word = text[at:end]
        if kind == "number":
            digits, suffix = re.fullmatch(r"(\w+?)([uUlL]*)", word).groups()
            value = int(digits, 0)
            for other in (value + 1, value - 1):
                if other >= 0:
                    yield "constant", at, end, f"{other}{suffix}"
        elif kind == "op" and word in OPERATORS:
            yield "operator", at, end, OPERATORS[word]
        elif word in BETWEEN_SPACES and text[at - 1] == text[end] == " ":
            yield "operator", at, end, BETWEEN_SPACES[word]
    simple = statements(text, found)
    for at, end, _ in simple:
        if not text.startswith("return ", at):  # the compiler tells who forgets that
            yield "omitted", at, end, ";"
        value = re.fullmatch(r"(return |[^=;{]*[^=!<>]= )([^={][^;{]*);", text[at:end], re.S)
        if value:
            yield "off by one", at, end, f"{value[1]}{value[2]} + 1;"
    for (at, end, block), (at2, end2, block2) in zip(simple, simple[1:]):
        if block == block2 and not re.search(r"\b(if|else|for|while|case|default)\b", text[at - 40:at] + text[end:at2]):
            yield "order", at, end2, text[at2:end2] + text[end:at2] + text[at:end]
    for at, end in heads(text, found):
        yield "condition", at, end, f"!({text[at:end]})"


def lines_of(text, begin, end):
    """The whole lines around, up to the end of a statement, each stripped, as one line."""
    begin = text.rfind("\n", 0, begin) + 1
    end = text.find("\n", end)
    while not re.search(r"[;{}](\s*/\*.*\*/)?$", text[begin:end]):  # the head of an `if` says too little
        end = text.find("\n", end + 1)
    return " ".join(re.sub(r"/\*.*?\*/", "", text[begin:end], flags=re.S).split())


def code_of(folder, text):
    """What the compiler makes of it; None: an error."""
    done = subprocess.run(["clang", "-x", "c", "-std=gnu11", "-O2", "-g0", "-w", "-ffreestanding", "-I.", f"-I{folder}",
                           "-c", "-", "-o", "-"], input=text.encode(), cwd=cb.ROOT, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def every_mutant(text):
    """The second one of the same lines has a (2) behind what was there."""
    out, same = [], Counter()
    for kind, begin, end, new in changes(text):
        mutated = text[:begin] + new + text[end:]
        was, is_now = lines_of(text, begin, end), lines_of(mutated, begin, begin + len(new))
        same[was, is_now] += 1
        if same[was, is_now] > 1:
            was += f" ({same[was, is_now]})"
        out.append(Mutant(kind, mutated, was, is_now))
    return out


def mutants_of(folder, workers=2):
    """Those that compile, and to other code than the solution and the mutants before."""
    text = (folder / "solution.c").read_text(encoding="utf-8")
    every = every_mutant(text)
    with ThreadPoolExecutor(workers) as pool:
        codes = list(pool.map(lambda mutant: code_of(folder, mutant.text), every))
    seen, out = {None, code_of(folder, text)}, []
    for mutant, code in zip(every, codes):
        if code not in seen:
            seen.add(code)
            out.append(mutant)
    return out


def list_of(folder):
    return Path(__file__).with_name("mutants") / f"{folder.name}.txt"


def listed(folder):
    """The mutants that may pass: {key: why}."""
    path = list_of(folder)
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return dict(re.fullmatch(r"(.+? => .*?)  # (.+)", row).groups() for row in rows if row and not row.startswith("# "))


def judge(folder, mutants, workers=2):
    """The hint that each mutant gets, in their order; None: it passes."""
    def one(numbered):
        number, mutant = numbered
        path = cb.BUILD / "mutants" / "labs" / folder.name / f"m{number:04}.c"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(mutant.text, encoding="utf-8")
        status, output = lab(path, "LAB_TIMEOUT=60")  # a boot on a busy machine
        failed = re.search(r"^(FAIL: [\w-]+|refused): ", output, re.M)
        if (status != 0) != (failed is not None):
            raise AssertionError(f"{mutant.key}: neither passed nor refused: {output}")
        return failed[1] if failed else None
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, enumerate(mutants)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-j", type=int, default=2, metavar="N", help="so many labs at a time")
    parser.add_argument("lab", nargs="+", type=int)
    arguments = parser.parse_args()
    for number in arguments.lab:
        [folder] = [path.parent for path in LABS if path.parent.name.startswith(f"{number:02}-")]
        mutants = mutants_of(folder, arguments.j)
        hints = judge(folder, mutants, arguments.j)
        allowed = listed(folder)
        for mutant, hint in zip(mutants, hints):
            if hint is None:
                why = allowed.get(mutant.key)
                print(f"{'listed' if why else 'PASSED'}: {mutant.kind}: {mutant.key}" + (f"  # {why}" if why else ""))
        print(f"{folder.name}: {len(mutants)} mutants, {sum(hint is not None for hint in hints)} refused, "
              f"{hints.count(None)} passed", flush=True)


if __name__ == "__main__":
    main()
