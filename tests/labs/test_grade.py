# SPDX-License-Identifier: MIT
"""tools/grade.sh: a class, and what it refuses."""

import csv
import ctypes
import json
import os
import re
import shutil
import subprocess

import pytest

import cairn_boot as cb
from cairn_labs import ON_HW

GRADE = cb.ROOT / "tools" / "grade.sh"
LAB = cb.ROOT / "labs" / "01-first-record"


def grade(*arguments):
    return subprocess.run([GRADE, "-b", cb.BUILD.relative_to(cb.ROOT), *arguments], cwd=cb.ROOT, capture_output=True,
                          text=True, check=False)


def write(folder, codes):
    for path, code in codes.items():
        (folder / path).mkdir(parents=True)
        (folder / path / "lab.c").write_text(code, encoding="utf-8")


def rows_of(results):
    with (results / "grades.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.long
@pytest.mark.xdist_group("labs")
def test_harm(tmp_path, _build):
    """Files that would fill the disk or the memory, stop the run, or steer the terminal that shows the report."""
    room = tmp_path / "class"
    write(room, {"big/01-first-record": "char big[600000000] = {1};", "zero/01-first-record": '#include "/dev/zero"',
                 "screen/01-first-record": "#error \033[2J\u009b2J\n" + 5000 * f"#error {'x' * 80}\n"})
    (room / "fifo" / "01-first-record").mkdir(parents=True)
    os.mkfifo(room / "fifo" / "01-first-record" / "lab.c")
    done = grade("-d", "soft", "-l", "60", "-o", tmp_path / "out", room, "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(row["student"], row["result"]) for row in rows_of(tmp_path / "out")] == [
        ("big", "error"), ("fifo", "missing"), ("screen", "error"), ("zero", "error")]
    sizes = [file.stat().st_size for file in (cb.BUILD / "grade").rglob("*") if file.is_file()]
    assert max(sizes) <= 256 * 2**20
    said = (tmp_path / "out" / "screen" / "01-first-record.txt").read_bytes()
    assert b"[2J" in said and b"\033" not in said and b"\xc2\x9b" not in said
    assert len(said) < 2**20 and b"\n[...]\n" in said


def kernel(answer):
    """Lab 1 with this answer, not worked out."""
    return (f'#include "task.h"\nint lab_start(const struct sampling *s) {{ (void)s; {answer} return 0; }}\n'
            "uint32_t lab_stop(const struct sampling *s) { (void)s; return 0; }\n")


@pytest.fixture(name="_build")
def fixture_build():
    yield
    shutil.rmtree(cb.BUILD / "grade", ignore_errors=True)


@pytest.mark.long
@pytest.mark.xdist_group("labs")  # they share a build
def test_class(tmp_path, _build):
    """Each result, and cheats that only a boot shows, in folders with blanks."""
    room = tmp_path / "my class"
    summary = 'lab_log("SUMMARY: 2 passed, 0 failed, 0 skipped"); lab_log("PASS: records: all"); '
    write(room, {
        "Ada L/01-first-record": (LAB / "solution.c").read_text(encoding="utf-8"),
        "bob/labs/01-first-record": (LAB / "wrong" / "no-reset.c").read_text(encoding="utf-8"),
        "dan/01-first-record": "int x = ;", "eve/01-first-record": kernel("for (;;) ;"),
        "fay/01-first-record": kernel("return *(int *)s->period;"),
        "gil/01-first-record": kernel(summary + "for (uint64_t *p = lab_memory(1);; p--) *p = 0;"),  # page tables, too
        "O'Neil, H/01-first-record": kernel("extern void kend(int); kend(1);")})
    (room / "cy").mkdir()
    done = grade("-d", "soft", "-j", "2", "-l", "60", room, "1")
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "my class.grades"
    assert done.stdout == f"{results}/grades.csv: 8 students, 1 labs, 1 passed\n"
    rows = rows_of(results)
    gil = next(row for row in rows if row["student"] == "gil")
    assert gil["result"] in ("failed", "error", "time") and gil["checks_passed"] == "0"
    said = (results / "gil" / "01-first-record.txt").read_text(encoding="utf-8")
    assert "SUMMARY" not in said or "| SUMMARY" in said
    assert [(row["student"], row["result"], row["checks_passed"], row["hint"]) for row in rows if row is not gil] == [
        ("Ada L", "passed", "4", ""), ("O'Neil, H", "refused", "0", "symbol"), ("bob", "failed", "0", "reset"),
        ("cy", "missing", "0", ""), ("dan", "error", "0", ""), ("eve", "time", "0", ""),
        ("fay", "failed", "0", "fault")]
    assert "expected expression" in (results / "dan" / "01-first-record.txt").read_text(encoding="utf-8")
    assert "in lab_start at lab.c:" in (results / "fay" / "01-first-record.txt").read_text(encoding="utf-8")
    points = json.loads((results / "Ada L" / "results.json").read_text(encoding="utf-8"))["tests"]
    assert [(test["score"], test["max_score"], test["status"]) for test in points] == [(15, 15, "passed")]
    seeds = [path.read_text(encoding="utf-8").splitlines()[0] for path in results.glob("*/01-first-record.txt")]
    assert len(set(seeds)) == 7 and all(re.fullmatch(r"make lab N=1 SEED=[1-9]\d*", seed) for seed in seeds)


def points_script(folder, kit):
    """A copy of tools/grade_points.py there, with a teacher's kit of its own or without one: no release has the kit."""
    if kit:
        (folder / "teacher").mkdir()
        (folder / "teacher" / "points.csv").write_text("lab,check,points\n7,path,4\n7,round,3\n", encoding="utf-8")
    return shutil.copy(cb.ROOT / "tools" / "grade_points.py", folder)


@pytest.mark.parametrize("kit", [True, False])
def test_points(kit, tmp_path):
    """With the teacher's kit, and without it: bob has passed all of one boot, and a part of the other."""
    script = points_script(tmp_path, kit)
    for folder in (".solution", "ada", "bob"):
        (tmp_path / folder).mkdir()
    said = "PASS: path: 40 branches\nPASS: round: the newest 19\n" * 2
    (tmp_path / ".solution" / "07-branches.hw").write_text(said, encoding="utf-8")
    (tmp_path / "bob" / "07-branches.txt").write_text("FAIL: order: all of them\n", encoding="utf-8")
    (tmp_path / "grades.csv").write_text("student,lab,result,checks_passed,hint,seconds\n"
                                         '"ada",07-branches,passed,4,,1\n"bob",07-branches,failed,3,order,1\n',
                                         encoding="utf-8")
    subprocess.run([script, tmp_path], check=True)
    scores = {student: [(test["name"], test["score"], test["max_score"], test["output"]) for test in json.loads(
        (tmp_path / student / "results.json").read_text(encoding="utf-8"))["tests"]] for student in ("ada", "bob")}
    why = "failed\nFAIL: order: all of them\n"
    if kit:
        assert scores["ada"] == [("07-branches: path", 4, 4, ""), ("07-branches: round", 3, 3, "")]
        assert scores["bob"] == [("07-branches: path", 4, 4, ""), ("07-branches: round", 0, 3, why)]
    else:
        names = [f"07-branches, hw, check {i + 1}: {name}" for i, name in enumerate(["path", "round"] * 2)]
        assert scores["ada"] == [(name, 1, 1, "") for name in names]
        assert scores["bob"] == [(name, 1, 1, "") for name in names[:3]] + [(names[3], 0, 1, why)]
    report = json.loads((tmp_path / "bob" / "classroom.json").read_text(encoding="utf-8"))
    assert (report["max_score"], report["status"]) == (7 if kit else 4, "fail")


def test_points_of_another_check(tmp_path):
    """The kit and the lab must have the same parts: else a part would count nothing."""
    (tmp_path / ".solution").mkdir()
    (tmp_path / "ada").mkdir()
    (tmp_path / ".solution" / "07-branches.soft").write_text("PASS: path: x\nPASS: other: x\n", encoding="utf-8")
    (tmp_path / "grades.csv").write_text("student,lab,result,checks_passed,hint,seconds\nada,07-branches,passed,2,,1\n",
                                         encoding="utf-8")
    done = subprocess.run([points_script(tmp_path, kit=True), tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "lab 07-branches: other, round: not the parts" in done.stderr


def distance(one, other):
    """From one function of the C library to another: ends a program that must not call the other."""
    library = ctypes.CDLL(None)
    start, end = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in (one, other))
    return end - start


SANDBOX = subprocess.run([cb.ROOT / "labs" / "sandbox.sh", "--", "true"], check=False, capture_output=True)
IN_SANDBOX = pytest.mark.skipif(SANDBOX.returncode != 0, reason="no bubblewrap, or no user namespaces")


FORGER = """#include "task.h"
#define AT(distance) ((uintptr_t)lab_log + (distance))
/* What the host would have written if the calls had been recorded, as a picture of that name. */
__attribute__((unused)) static void truth(const char *file, const uint64_t sessions[2][3])
{
    void (*say)(const char *, ...) = (void (*)(const char *, ...))AT(%(kprintf)d);
    say("== file %%s\\ncairn-truth\\n", file);
    for (int i = 0; i < 2; i++)
        for (uint64_t event = sessions[i][1] + 1; event <= sessions[i][2]; event += sessions[i][1] + 1)
            say("0 0 record counters %%x ip %%lx\\n", 1u << sessions[i][0],
                AT(%(lab_first_call)d) + 5 * (24 - sessions[i][2] + event - 1));
    say("end\\n== end\\n");
}
int lab_start(const struct sampling *s)
{
    const uint64_t seed = ((uint64_t (*)(void))AT(%(lab_seed)d))(), first = 3 + seed / 3 %% 6, second = 5 + seed %% 8;
    void (*pass)(const char *, const char *, ...) = (void (*)(const char *, const char *, ...))AT(%(lab_pass)d);
    const char *text = "counter %%u, period %%lu: every %%luth of %%u calls is recorded";
    pass("records", text, s->counter, first, first + 1, 24);
    pass("records", text, 1 + s->counter %% 3, second, second + 1, 19 + seed / 8 %% 4);
    %(more)s
    ((void (*)(void))AT(%(kreport_summary)d))();
    ((void (*)(bool))AT(%(kend)d))(true);
    return 0;
}
uint32_t lab_stop(const struct sampling *s)
{
    (void)s;
    return 0;
}
"""


@pytest.mark.long
@pytest.mark.xdist_group("labs")
@ON_HW
def test_forged_verdicts(tmp_path, _build):
    """A program in ring 0 prints the check's own verdicts, all right, and ends the machine: nothing was recorded. It
    also prints a truth, between the lines that make a file of it."""
    subprocess.run(["make", "-s", f"B={cb.BUILD.relative_to(cb.ROOT)}", "lab-program", "N=1", "SOLUTION=1"], check=True,
                   cwd=cb.ROOT)
    symbols = subprocess.run(["nm", cb.BUILD / "lab" / LAB.name / "solution" / "kernel.elf.full"], check=True,
                             capture_output=True, text=True).stdout
    at = {name: int(address, 16) for address, name in re.findall(r"^(\w+) [Tt] (\w+)$", symbols, re.M)}
    distances = {name: at[name] - at["lab_student_log"] for name in
                 ("lab_seed", "lab_pass", "kreport_summary", "kend", "kprintf", "lab_first_call")}
    sessions = ("const uint64_t sessions[2][3] = {{s->counter, first, 24}, "
                "{1 + s->counter % 3, second, 19 + seed / 8 % 4}};")
    more = sessions + 'truth("boot-1.truth", sessions), truth("boot-2.truth", sessions);'
    write(tmp_path / "class", {"mal/01-first-record": FORGER % {**distances, "more": ""},
                               "ned/01-first-record": FORGER % {**distances, "more": more}})
    done = grade("-o", tmp_path / "out", tmp_path / "class", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(row["result"], row["checks_passed"], row["hint"]) for row in rows_of(tmp_path / "out")] == [
        ("fake", "0", "truth")] * 2
    said = (tmp_path / "out" / "mal" / "01-first-record.txt").read_text(encoding="utf-8")
    assert "passed (2 boots, the model)" in said and "truth: number of records" in said


@pytest.mark.long
@pytest.mark.xdist_group("labs")
@ON_HW
@IN_SANDBOX
def test_host_lab_on_two_stores(tmp_path, _build):
    solution = (cb.ROOT / "labs" / "04-records" / "solution.c").read_text(encoding="utf-8")
    write(tmp_path / "class", {
        "ada/04-records": solution,
        "bob/04-records": "#include <stdio.h>\n" + re.sub(r"(\nuint32_t parse\(.*\n\{)", r'\1 puts("PASS: head: x");',
                                                         solution),
        "cy/04-records": '#include "solution.c"',
        "dee/04-records": f"""#include <stdlib.h>
#include "task.h"
uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{{
    (void)format, (void)bytes, (void)left, (void)r;
    ((void (*)(int))((char *)labs + {distance("labs", "_exit")}))(0);
    return 0;
}}
"""})
    (tmp_path / "class" / "eve").mkdir()
    (tmp_path / "class" / "eve" / "04-records").symlink_to(tmp_path / "class" / "ada" / "04-records")
    done = grade("-o", tmp_path / "out", tmp_path / "class", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = rows_of(tmp_path / "out")
    assert [(row["student"], row["result"], row["checks_passed"], row["hint"]) for row in rows] == [
        ("ada", "passed", "16", ""), ("bob", "passed", "16", ""), ("cy", "refused", "0", "include"),
        ("dee", "fake", "0", ""), ("eve", "error", "0", "")]
    report = json.loads((tmp_path / "out" / "cy" / "classroom.json").read_text(encoding="utf-8"))
    assert (report["status"], report["max_score"], sum(test["score"] for test in report["tests"])) == ("fail", 14, 0)
    assert "refused" in report["tests"][0]["message"] and report["tests"][0]["name"] == "04-records: fixed"


def test_files_of_a_check(tmp_path):
    """A picture is kept; what is printed in another one's name replaces nothing that is run or read afterwards."""
    lab, out = tmp_path / "01-lab", tmp_path / "out"
    lab.mkdir()
    out.mkdir()
    (lab / "boots").write_text("# none\n", encoding="ascii")
    check = out / "check"
    check.write_text("#!/bin/sh\nfor file in check boot-1.truth kernel.elf.full flame.svg; do\n"
                     'printf "== file %s\\nmine\\n== end\\n" $file\ndone\n', encoding="ascii")
    check.chmod(0o755)
    done = subprocess.run([cb.ROOT / "labs" / "run.sh", lab, out, cb.BUILD, "soft"], capture_output=True, text=True,
                          check=True)
    assert sorted(file.name for file in out.iterdir()) == ["check", "flame.svg"] and "printf" in check.read_text()
    assert (out / "flame.svg").read_text() == "mine\n" and "== file boot-1.truth" in done.stdout


def test_memory_of_a_check(tmp_path):
    """A program on the host that takes all memory ends as one that has failed. Huge pages are taken faster."""
    code = tmp_path / "all.c"
    code.write_text("#include <string.h>\n#include <sys/mman.h>\nenum { SIZE = 1 << 26 };\nint main(void)\n{\n"
                    "    for (;;) {\n        void *p = mmap(0, SIZE, PROT_READ | PROT_WRITE, "
                    "MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n        if (p != MAP_FAILED)\n"
                    "            madvise(p, SIZE, MADV_HUGEPAGE), memset(p, 1, SIZE);\n    }\n}\n", encoding="ascii")
    subprocess.run(["gcc", "-O0", "-fsanitize=address", "-o", tmp_path / "all", code,
                    cb.ROOT / "labs" / "host" / "sanitizers.c"], check=True)
    done = subprocess.run(["timeout", "60", tmp_path / "all"], capture_output=True, text=True, check=False)
    assert done.returncode == 99 and "hard rss limit" in done.stderr


@IN_SANDBOX
def test_sandbox(tmp_path):
    """A program that adds another student's line to the table sees one file, cannot write it, and has no network."""
    table = tmp_path / "grades.csv"
    seen = tmp_path / "seen.txt"
    for path in (table, seen):
        path.write_text("student\n", encoding="utf-8")
    script = (f"cat {seen}; echo mallory,passed >>{table}; echo x >>{seen}; ls {tmp_path} /root /home /etc/passwd; "
              "cat /proc/net/dev | wc -l; exit 7")
    done = subprocess.run([cb.ROOT / "labs" / "sandbox.sh", seen, "--", "/bin/sh", "-c", script], cwd=cb.ROOT,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 7
    assert done.stdout.splitlines()[0] == "student" and done.stdout.splitlines()[-1] == "3"  # its header, and lo
    assert table.read_text(encoding="utf-8") == seen.read_text(encoding="utf-8") == "student\n"
    assert "passwd" not in done.stdout and "Read-only" in done.stderr


@pytest.mark.parametrize("arguments, said", [
    ((), "which folder?"), (("/nowhere",), "which folder?"),
    (("-d", "sometimes", "."), "-d sometimes: must be soft, hw or both"),
    (("-j", "0", "."), "must be numbers, -j at least 1"), ((".", "77"), "there is no lab 77")])
def test_refusals(arguments, said):
    done = grade(*arguments)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1


def test_names_that_no_table_can_hold(tmp_path):
    (tmp_path / 'O"Brien').mkdir()
    done = grade("-o", tmp_path.with_name("results"), tmp_path, "1")
    assert done.returncode == 2 and "a name may have no quotation mark" in done.stderr


def test_results_are_not_in_the_class(tmp_path):
    done = grade("-o", tmp_path / "ada", tmp_path, "1")
    assert done.returncode == 2 and "must not be in the folder of the class" in done.stderr


AUTOGRADER = cb.ROOT / "labs" / "autograder"


def make_autograder(*arguments):
    return subprocess.run([AUTOGRADER / "make.sh", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.xdist_group("labs")
@ON_HW
def test_autograder(tmp_path):
    """What Gradescope does, but for setup.sh (tests/dist/course.py): here the packages are there, and the products."""
    package = tmp_path / "cairn-labs_0_amd64.deb"
    package.write_bytes(b"not unpacked here")
    assert make_autograder(package, tmp_path / "a.zip", "1").returncode == 0
    source = tmp_path / "source"
    shutil.unpack_archive(tmp_path / "a.zip", source)
    assert (source / "labs").read_text(encoding="utf-8") == "1\n"
    for file in (AUTOGRADER / "setup.sh", AUTOGRADER / "run_autograder", package):
        assert (source / file.name).read_bytes() == file.read_bytes()
    (source / "cairn").symlink_to(cb.ROOT)
    write(tmp_path, {"submission": '#include "labs/01-first-record/solution.c"\n'})
    subprocess.run([AUTOGRADER / "run_autograder"], check=True, env={**os.environ, "AUTOGRADER": str(tmp_path)})
    tests = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))["tests"]
    assert [test["score"] for test in tests] == [0] and "refused" in tests[0]["output"]


@pytest.mark.parametrize("package, labs, said", [
    ("cairn_0_amd64.deb", "1", "is no package cairn-labs_VERSION_ARCH.deb"),
    ("cairn-labs_1_amd64.deb", "1", "is no package cairn-labs_VERSION_ARCH.deb"),
    ("cairn-labs_0_amd64.deb", "77", "there is no lab 77"), ("cairn-labs_0_amd64.deb", "", "usage: ")])
def test_autograder_refusals(tmp_path, package, labs, said):
    (tmp_path / "cairn-labs_0_amd64.deb").touch()
    done = make_autograder(tmp_path / package, tmp_path / "a.zip", *labs.split())
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "a.zip").exists()
