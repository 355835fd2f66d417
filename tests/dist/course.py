# SPDX-License-Identifier: MIT
"""The course, from its package alone (labs/README.md): a student's first lab, and an autograder on what Gradescope
makes of its archive. The roots have nothing but what every Debian has."""

import json
import shutil
import zipfile

from bare_root import ROOT, need

LAB = ROOT / "labs/01-first-record"
ASSEMBLER = ('#include "task.h"\nint lab_start(const struct sampling *s) { (void)s; __asm__("hlt"); return 0; }\n'
             "uint32_t lab_stop(const struct sampling *s) { (void)s; return 0; }\n")
# What is submitted, as which file, whether it gets the points, and what the first output says.
SUBMISSIONS = (((LAB / "solution.c").read_text(encoding="utf-8"), "lab.c", True, None),
               ((LAB / "wrong/no-reset.c").read_text(encoding="utf-8"), "01-first-record/lab.c", False, "FAIL: reset"),
               (ASSEMBLER, "labs/01-first-record/lab.c", False, "refused"))
# "Autograder Specifications" of Gradescope: what it takes of a test.
FIELDS = {"score": (int, float), "max_score": (int, float), "status": str, "name": str, "name_format": str,
          "number": str, "output": str, "output_format": str, "tags": list, "visibility": str, "extra_data": dict}


def first_lab(root):
    root.run("apt-get install -y --no-install-recommends ./cairn-labs_*.deb && useradd -m student", "/release")
    printed = root.run("su student -c 'cairn-labs ~/cairn && make -C ~/cairn lab N=1 SOLUTION=1'")
    need("lab 01-first-record: passed (2 boots, the model)\n" in printed, printed)
    need("\nCC " not in printed and "\nLINK " not in printed, f"more is compiled than the student's code:\n{printed}")
    return "passed as a plain user, only the student's code compiled"


def tests_of(path):
    """The tests of a results.json, in the form that Gradescope takes."""
    found = json.loads(path.read_text(encoding="utf-8"))
    need(set(found) == {"tests"}, f"results.json has {set(found)}")
    for test in found["tests"]:
        for name, value in test.items():
            need(isinstance(value, FIELDS.get(name, ())), f"results.json: {name} is {value!r}")
        need(0 <= test["score"] <= test["max_score"], f"results.json: {test}")
        need(test["status"] in ("passed", "failed"), f"results.json: {test}")
    return found["tests"]


def submit(root, code, name, passed, said):
    top = root.folder / "autograder"
    for folder in ("submission", "results"):
        shutil.rmtree(top / folder, ignore_errors=True)
        (top / folder).mkdir()
    (top / "submission" / name).parent.mkdir(parents=True, exist_ok=True)
    (top / "submission" / name).write_text(code, encoding="utf-8")
    printed = root.run("/autograder/run_autograder", "/autograder")
    results = top / "results/results.json"
    need(results.is_file(), printed)
    tests = tests_of(results)
    need(tests and all(test["score"] == (test["max_score"] if passed else 0) for test in tests), str(tests))
    need(said is None or said in tests[0]["output"], f"{name}: {tests[0]}")


def gradescope(root, dist, run):
    """The archive is unpacked without modes; run_autograder is copied, and gets one."""
    package = next(dist.glob("cairn-labs_*.deb"))
    archive = root.folder / "autograder.zip"
    run(ROOT / "labs/autograder/make.sh", package, archive, "1")
    source = root.folder / "autograder/source"
    source.mkdir(parents=True)
    with zipfile.ZipFile(archive) as unpacked:
        unpacked.extractall(source)
    shutil.copyfile(source / "run_autograder", source.parent / "run_autograder")
    (source.parent / "run_autograder").chmod(0o755)
    root.run("bash /autograder/source/setup.sh")
    for submission in SUBMISSIONS:
        submit(root, *submission)
    return f"{len(SUBMISSIONS)} submissions graded: passed, failed, refused"
