# SPDX-License-Identifier: MIT
"""The house is as tools/rooms says, and what holds it to that notices when it is not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cairn_boot as cb

RULE = cb.ROOT / "tools" / "rooms.py"


def test_includes():
    done = subprocess.run([RULE, "includes"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


WRONG = [  # file, what it includes, what the rule says of that
    ("trace/ccswap.c", "kernel/thread.h", "trace may not include kernel/thread.h"),
    ("ds/driver/driver.c", "trace/hub.h", "ds/driver may not include trace/hub.h"),
    ("kernel/sched/sched.c", "kernel/recording/sessions.h", "kernel/sched may not include kernel/recording/sessions.h"),
    ("boot/main.c", "arch/arch.h", "boot may not include arch/arch.h"),
    ("arch/paging.c", "tests/new.h", "tests/new.h is in no room"),
    ("tools/cairn/frame/frame.c", "tools/cairn/log/log.h", "tools/cairn/frame may not include tools/cairn/log/log.h"),
    ("kernel/run.c", "kernel/monitor/break.h", "kernel/monitor/break.h is in wing monitor"),
    ("ds/driver/driver.c", "ds/policy/policy.h", "ds/policy/policy.h is in wing probe and soft"),
    ("ds/probe/rows.c", "ds/model/model.h", "ds/model/model.h is in wing soft"),
    ("kernel/monitor/monitor.c", "kernel/windows/sysinfo.h", "kernel/windows/sysinfo.h is in wing windows"),
    ("tools/cairn/export/json.c", "tools/cairn/command/command.h", "tools/cairn/export may not include"),
    ("tools/cairn/check/rules.c", "tools/qemu-ds/counting/counting.h", "tools/cairn/check may not include"),
    ("tools/qemu-ds/modelled/costs.c", "tools/qemu-ds/vcpu/vcpu.h", "tools/qemu-ds/modelled may not include"),
    ("tools/qemu-ds/run/run.c", "tools/qemu-ds/blocks/blocks.h", "tools/qemu-ds/run may not include"),
    ("tools/qemu-ds/run/tally.h", "trace/hub.h", "tools/qemu-ds/run may not include trace/hub.h"),
    ("tools/playground/machine.c", "tools/playground/steps.h", "tools/playground/machine may not include"),
    ("tools/playground/program.h", "tools/playground/settings.h", "tools/playground/program may not include"),
]


def test_wrong_includes_are_found(tmp_path):
    for folder in ("arch", "boot", "ds", "kernel", "trace", "tools"):
        shutil.copytree(cb.ROOT / folder, tmp_path / folder)
    for source, header, _ in WRONG:
        with (tmp_path / source).open("a", encoding="utf-8") as file:
            file.write(f'#include "{header}"\n')
    done = subprocess.run([tmp_path / "tools" / "rooms.py", "includes"], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and len(lines) == len(WRONG), done.stdout
    for source, _, said in WRONG:
        assert any(line.startswith(f"{source}:") and said in line for line in lines), (source, said, done.stdout)


def lint(folder, files, more=""):
    """{rule: the places that tools/lint.sh names} of a folder with these files, which is no checkout. `more`: lines of
    its .clang-format."""
    for name in ("tools/lint.sh", "tools/release/files.sh", "tools/rooms.py", "tools/names.py", ".clang-format",
                 ".gitignore"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(cb.ROOT / name, folder / name)
    with (folder / ".clang-format").open("a", encoding="utf-8") as file:
        file.write(more)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("/* SPDX-License-Identifier: MIT */\n" + text, encoding="utf-8")
    said = subprocess.run([folder / "tools" / "lint.sh"], capture_output=True, text=True, check=False,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}).stdout
    verdicts = re.findall(r"^(?:PASS|FAIL): lint: (.+)\n((?:(?!PASS|FAIL|SKIP).*\n)*)", said, re.M)
    return {rule: set(places.splitlines()) for rule, places in verdicts}


LAYOUT = "layout is .clang-format"  # not checked without clang-format 14


def test_what_lint_finds(tmp_path):
    said = lint(tmp_path, {
        "kernel/sched/semaphore.c": "", "kernel/sched/wait.h": "void ksem_wait(void);\nvoid ksched_wait(void);\n"
                                                               "void kpark(void);\nvoid sem_wait(void);\n",
        "trace/hub.h": "static inline int *hub_of(int i)\n{\n}\nint trace_of(int i);\n",
        "with500.c": 499 * "/**/\n", "with501.c": 500 * "/**/\n",
        "told501.c": "/* Longer than 500 lines: it must be. */\n" + 499 * "/**/\n",
        "tests/unit/silent.c": '\n#include "kernel/a.c"\n',
        "tests/unit/told.c": '#include "kernel/a.c" /* its state */\n',
        "tests/unit/once.c": '/* Their state. */\n#include "kernel/a.c"\n#include "kernel/b.c"\n\n'
                             '#include "kernel/c.c"\n',
        "good.c": "int a = 1;\n", "bad.c": "int a=1;\n"})
    assert said["no file over 500 lines without a reason"] == {"with501.c: 501"}
    assert said["a unit test that includes a .c says why"] == {"tests/unit/silent.c:3", "tests/unit/once.c:6"}
    assert said["a public function says which file or folder it is of"] == {
        "kernel/sched/wait.h: kpark", "kernel/sched/wait.h: sem_wait", "trace/hub.h: hub_of"}
    assert said.get(LAYOUT, {"bad.c:2"}) == {"bad.c:2"}


def test_layout_that_cannot_be_checked_fails(tmp_path):
    """clang-format does not know a key of .clang-format: that is no pass."""
    assert lint(tmp_path, {"new.c": "int a=1;\n"}, "IndentWidht: 4\n").get(LAYOUT, {"skipped"})


def objects():
    return [str(cb.ROOT / name) for name in (cb.BUILD / "kernel.objects").read_text(encoding="utf-8").split()]


def host_objects():
    names = (cb.BUILD / "libcairn.objects").read_text(encoding="utf-8").split()
    return [str(cb.BUILD / "host" / name) for name in names if name.startswith("tools/cairn/")]


def plugin_objects():
    names = (cb.BUILD / "qemu-ds.objects").read_text(encoding="utf-8").split()
    return [str(cb.ROOT / name) for name in names if "/tools/qemu-ds/" in name]


def playground_objects():
    found = sorted(str(path) for path in (cb.BUILD / "san/tools/playground").glob("*.o"))
    assert len(found) >= len(list((cb.ROOT / "tools/playground").glob("*.c")))
    return found


PROGRAMS = (objects, host_objects, plugin_objects, playground_objects)


@pytest.mark.parametrize("program, most, where", zip(PROGRAMS, (10, 7, 0, 0), ("ds/probe/", "tools/cairn/", "", "")))
def test_circles_are_small(program, most, where):
    """And none crosses a room."""
    sys.path.insert(0, str(RULE.parent))
    try:
        import rooms  # pylint: disable=import-outside-toplevel
    finally:
        sys.path.pop(0)
    house = rooms.Rooms(cb.ROOT)
    found = rooms.circles(rooms.graph(house, program()))
    assert not found or (len(found[0]) <= most and all(name.startswith(where) for name in found[0])), found[0]
    assert all(len({house.of(name) for name in circle}) == 1 for circle in found), found


@pytest.mark.parametrize("program, low, high, taken", [
    (objects, "kernel/sched/threads", "kernel/workload/workload", "kworkload_start"),
    (host_objects, "tools/cairn/log/log", "tools/cairn/model/loss", "cairn_tell_losses"),
    (plugin_objects, "tools/qemu-ds/vcpu/vcpu", "tools/qemu-ds/run/run", "qds_run_due"),
    (playground_objects, "tools/playground/machine", "tools/playground/steps", "play_steps_next"),
])
def test_a_circle_is_found(tmp_path, program, low, high, taken):
    """An object of a low room takes something from a high one, which takes something from it."""
    source = tmp_path / "extra.c"
    source.write_text(f"extern char {taken}[];\nchar *taken_too(void) {{ return {taken}; }}\n", encoding="utf-8")
    subprocess.run(["gcc", "-c", source, "-o", tmp_path / "extra.o"], check=True)
    first = next(name for name in program() if name.endswith(f"{low}.o"))
    extra = tmp_path / Path(first).relative_to(cb.BUILD)
    extra.parent.mkdir(parents=True)
    subprocess.run(["ld", "-r", "-o", extra, first, tmp_path / "extra.o"], check=True)
    other = next(name for name in program() if name.endswith(f"{high}.o"))
    done = subprocess.run([RULE, "objects", extra, other], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"a circle crosses rooms: {' '.join(sorted([low, high]))}\n")


def test_the_main_job_is_short():
    """docs/explain/reading.md: at most 42 files and 9000 lines, each there. The nucleus is not to grow."""
    build = os.path.relpath(cb.BUILD, cb.ROOT)
    done = subprocess.run(["make", "-s", "loc", f"B={build}"], cwd=cb.ROOT, capture_output=True, text=True, check=True)
    nucleus, main_job = done.stdout.split("== the main job, in reading order\n")
    linked = re.search(r"^ *(\d+) lines in \d+ files$\n *(\d+) lines in \d+ files without any wing$", nucleus, re.M)
    assert 9000 < int(linked[2]) <= 16000 and int(linked[2]) < int(linked[1]) <= 19000, linked[0]
    lines = main_job.splitlines()
    total, files = (int(word) for word in lines[-1].split()[::3])
    assert 30 <= files == len(lines) - 1 <= 42 and 5000 < total <= 9000, lines[-1]


def test_rooms_are_small():
    """At most 40 files in a folder, but for a fuzzer's inputs and what tests expect."""
    large = []
    for room, below, files in os.walk(cb.ROOT):
        below[:] = [name for name in below if not re.match(r"build|\.git$|__pycache__|corpus$|expected$", name)]
        large += [room] if len(files) > 40 else []
    assert not large


def test_tests_stand_alone():
    """No test imports another: what they share is in a module that is no test. Those of `cairn` are in rooms."""
    tests = list((cb.ROOT / "tests").glob("**/test_*.py"))
    assert len(tests) > 50
    importing = [path.name for path in tests
                 if re.search(r"^\s*(from|import) test_", path.read_text(encoding="utf-8"), re.M)]
    assert not importing
    assert not list((cb.ROOT / "tests/cairn").glob("test_*.py"))


@pytest.mark.parametrize("name, most", [("run-qemu.sh", 250), ("Makefile", 150), ("README.md", 150)])
def test_files_to_begin_with_are_short(name, most):
    assert (cb.ROOT / name).read_text(encoding="utf-8").count("\n") <= most
