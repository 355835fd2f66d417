# SPDX-License-Identifier: MIT
"""libcairn-pebs as others get it: installed, found by pkg-config, linked into programs, kernels and Python. The
programs are those of docs/how-to/own-records.md."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import cairn_boot

PAGE = (cairn_boot.ROOT / "docs" / "how-to" / "own-records.md").read_text(encoding="utf-8")
HEADER = cairn_boot.ROOT / "tools" / "pebs" / "pebs.h"
XXD = (cairn_boot.ROOT / "samples" / "records.xxd").read_text(encoding="ascii")
RECORDS = bytes.fromhex("".join(line[10:49] for line in XXD.splitlines()))
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")


def block(language, begins):
    return next(text for text in re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)
                if text.startswith(begins))


def shown(command):
    """Lines that the page shows below a command."""
    return re.search(rf"^\$ .*{re.escape(command)}\n(.*?)^```", PAGE, re.M | re.S)[1].splitlines()


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, check=False, timeout=60, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


@pytest.fixture(scope="module", name="prefix")
def fixture_prefix(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed") / "usr"
    run("make", "--no-print-directory", "-o", "pebs", "install-pebs", "install-pebs-dev", f"B={cairn_boot.BUILD}",
        f"PREFIX={prefix}", cwd=cairn_boot.ROOT)
    return prefix


@pytest.fixture(scope="module", name="program")
def fixture_program(prefix):
    """records.c of the page, built as the page says."""
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config")
    source = prefix / "records.c"
    source.write_text(block("c", "/* records.c"), encoding="utf-8")
    assert 25 <= len(source.read_text(encoding="utf-8").splitlines()) <= 35
    words = run("pkg-config", "--cflags", "--libs", "cairn-pebs",
                env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()
    run("cc", "-std=c11", *WARNINGS, source, "-o", prefix / "records", *words)
    return lambda data, *arguments: subprocess.run(
        [prefix / "records", *arguments], input=data, capture_output=True, timeout=60, check=False,
        env={**os.environ, "LD_LIBRARY_PATH": str(prefix / "lib")})


def test_program(program):
    assert len(RECORDS) == 528
    done = program(RECORDS, "4")
    assert done.returncode == 0 and not done.stderr
    assert done.stdout.decode().splitlines() == shown("./records 4") and len(shown("./records 4")) == 3


@pytest.mark.parametrize("data, arguments, records, said", [
    (RECORDS[:-1], "4", 2, "byte 352: the bytes end within it\n"),
    (RECORDS[:352] + bytes(176), "4", 2, "byte 352: a size that it holds is impossible\n"),
    (RECORDS, "9", 0, "byte 0: no such record format\n"),
    (b"", "4", 0, ""),
])
def test_program_tells_what_is_wrong(program, data, arguments, records, said):
    done = program(data, arguments)
    assert (done.returncode, done.stdout.count(b"\n"), done.stderr.decode()) == (bool(said), records, said)


def test_python(prefix):
    """The program of the page, as it stands there; it says the same as the one in C."""
    source = prefix / "records.py"
    source.write_text(block("python", "# records.py"), encoding="utf-8")
    assert len(source.read_text(encoding="utf-8").splitlines()) <= 30
    printed = run(sys.executable, source, "4", input=RECORDS,
                  env={**os.environ, "LD_LIBRARY_PATH": str(prefix / "lib")})
    assert printed.splitlines() == shown("./records 4")
    assert printed.splitlines()[0] == shown("records.py 4")[0]
    done = subprocess.run([sys.executable, source, "4"], input=RECORDS[:-1], capture_output=True, check=False,
                          timeout=60, env={**os.environ, "LD_LIBRARY_PATH": str(prefix / "lib")})
    assert done.returncode == 1 and done.stderr == b"byte 352: the bytes end within it\n"
    done = subprocess.run([sys.executable, source], capture_output=True, check=False, timeout=60)
    assert done.returncode == 1 and done.stderr == b"usage: records.py FORMAT <RECORDS\n"


def test_only_the_header_is_visible(prefix):
    """Each function of pebs.h, and no other symbol; nothing is wanted of anybody, and nothing can be written."""
    declared = re.findall(r"^CAIRN_PEBS_API .*?(cairn_pebs_\w+)\(", HEADER.read_text(encoding="utf-8"), re.M)
    library = prefix / "lib/libcairn-pebs.so.1"
    exported = re.findall(r" T (\w+)$", run("nm", "-D", "--defined-only", library), re.M)
    assert sorted(declared) == sorted(exported) and len(declared) > 10
    assert not run("nm", "-D", "--undefined-only", library)
    assert "SONAME" in run("readelf", "-d", library) and "NEEDED" not in run("readelf", "-d", library)
    assert (prefix / "lib/libcairn-pebs.so").resolve() == library
    assert not re.findall(r" [dDbBC] ", run("nm", prefix / "lib/libcairn-pebs.a"))


def test_kernel(prefix, tmp_path):
    """The archive in a static program without a C library, at a kernel's address."""
    source = tmp_path / "kernel.c"
    source.write_text('''#include <cairn/pebs.h>
int start(const void *bytes, size_t size)
{
    struct cairn_pebs_buffer buffer;
    struct cairn_pebs_record r;
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    struct cairn_pebs_area area;
    int n = cairn_pebs_open(&buffer, 6, bytes, size) + cairn_pebs_area(6, bytes, size, &area);
    while (cairn_pebs_record(&buffer, &r) == 1)
        for (cairn_pebs_walk(&walk, r.format, r.bytes, r.size); cairn_pebs_next(&walk, &f); n++)
            ;
    return n;
}
''', encoding="ascii")
    run("cc", "-std=c11", *WARNINGS, "-O2", "-ffreestanding", "-mcmodel=kernel", "-mno-red-zone", "-mgeneral-regs-only",
        "-fno-pie", "-fno-stack-protector", "-nostdlib", "-static", "-no-pie", f"-I{prefix}/include",
        "-Wl,-Ttext=0xffffffff80000000", "-Wl,-e,start", "-Wl,--build-id=none", source,
        prefix / "lib/libcairn-pebs.a", "-o", tmp_path / "kernel")
    assert not run("nm", "-u", tmp_path / "kernel")
    code = run("objdump", "-d", "--no-show-raw-insn", prefix / "lib/libcairn-pebs.a")
    assert "ret" in code and not re.search(r"%[xyz]mm|%fs:|%gs:", code)
    assert not re.search(r"-0x[0-9a-f]+\(%rsp\)", code)  # nothing below the stack pointer: no red zone


def test_header_alone(prefix, tmp_path):
    """Of our headers it needs none, and C++ takes it."""
    assert sorted(path.name for path in (prefix / "include").rglob("*") if path.is_file()) == ["pebs.h"]
    text = HEADER.read_text(encoding="utf-8")
    assert set(re.findall(r"#include (\S+)", text)) == {"<stdbool.h>", "<stddef.h>", "<stdint.h>"}
    for compiler, standard in (("cc", "-std=c11"), ("c++", "-std=c++11")):
        if shutil.which(compiler):
            source = tmp_path / ("all.cc" if compiler == "c++" else "all.c")
            source.write_text("#include <cairn/pebs.h>\n", encoding="ascii")
            run(compiler, standard, *WARNINGS, "-ffreestanding", f"-I{prefix}/include", "-c", source, "-o",
                tmp_path / "all.o")


def test_the_tool_is_linked_with_it():
    """The library's own object, whose strings have the archive's build in their debug information."""
    path = cairn_boot.BUILD / "libcairn-pebs.a"
    made = {name: int(size, 16) for size, name in
            re.findall(r"^[0-9a-f]+ ([0-9a-f]+) T (cairn_pebs_\w+)$", run("nm", "-S", path), re.M)}
    used = {name: int(size, 16) for size, name in
            re.findall(r"^[0-9a-f]+ ([0-9a-f]+) [Tt] (cairn_pebs_\w+)$", run("nm", "-S", cairn_boot.BUILD / "cairn"),
                       re.M)}
    assert made["cairn_pebs_next"] and all(used[name] == size for name, size in made.items() if name in used)
    assert {"cairn_pebs_walk", "cairn_pebs_next", "cairn_pebs_get", "cairn_pebs_size"} <= set(used)
