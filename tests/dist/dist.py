#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A release, used as those use it who get it: `make dist` in two clones, then from its files alone, in bare Debian
roots, what README.md and docs/how-to/ci.md say. --short: `make dist` in this tree, and what can be seen of its files
here. A PASS or FAIL line for each step, the files at the end. A step that fails ends it."""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import course
from bare_root import ROOT, BareRoot, Failed, need

VERSION = re.search(r"^VERSION := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1]
SOURCE = f"cairn-{VERSION}"
# The release of the second clone is made where all of this is different.
ELSEWHERE = {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "99"}


def run(*command, cwd=ROOT, status=0, name=None, **more):
    """What the command prints; its exit status is 0, or any other with status=None. A failure names `name`."""
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False, **more)
    need((done.returncode == 0) == (status == 0),
         f"{name or ' '.join(map(str, command))}: exit status {done.returncode}\n" + done.stdout[-3000:])
    return done.stdout


def step(name, function, *arguments):
    start = time.monotonic()
    try:
        text = function(*arguments)
    except Failed as failed:
        print(f"FAIL: dist: {name}: {failed}", flush=True)
        sys.exit(1)
    print(f"PASS: dist: {name}: {text}, {time.monotonic() - start:.0f} s", flush=True)


def need_shown(shown, printed, what):
    """The lines `shown` are printed, in their order; `...` stands for any, a number for another one."""
    lines, at = [line.rstrip() for line in printed.splitlines()], 0
    for line in shown.splitlines():
        pattern = re.compile(re.sub(r"\d+", r"\\d+", re.escape(line)))
        found = next((n for n in range(at, len(lines)) if pattern.fullmatch(lines[n])), None)
        need(line == "..." or found is not None, f"{what} does not print '{line}'\n{printed[-2000:]}")
        at = at if line == "..." else found + 1


# ---- What can be seen of the files here

def sums(dist):
    files = sorted(path.name for path in dist.iterdir())
    listed = re.findall(r"^[0-9a-f]{64}  (.*)$", (dist / "SHA256SUMS").read_text(encoding="ascii"), re.M)
    need(sorted([*listed, "SHA256SUMS"]) == files, f"SHA256SUMS lists {listed}, there are {files}")
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=dist)
    return f"{len(listed)} files are what SHA256SUMS says"


def unpack(dist, folder):
    run("tar", "-xJf", dist / f"{SOURCE}.tar.xz", "-C", folder)
    return folder / SOURCE


def files_of_the_commit(source, clone):
    """The tarball has them all but the teachers' answers, and no other; but for one they are the same."""
    names = run("git", "ls-tree", "-r", "-z", "--name-only", "HEAD", cwd=clone).strip("\0").split("\0")
    names = [name for name in names if not name.startswith("tools/teacher/")]  # .gitattributes: export-ignore
    there = {str(path.relative_to(source)) for path in source.rglob("*") if not path.is_dir()}
    need(set(names) == there, f"not in both: {sorted(set(names) ^ there)[:10]}")
    different = [name for name in names if (source / name).read_bytes() != (clone / name).read_bytes() or
                 (source / name).stat().st_mode & 0o100 != (clone / name).stat().st_mode & 0o100]
    need(different == ["tools/release/commit.txt"], f"not as in the commit: {different[:10]}")
    commit = run("git", "log", "-1", "--format=%H %ct", cwd=clone)
    need((source / different[0]).read_text(encoding="ascii") == commit, "commit.txt does not name the commit")
    run("make", "-n", "all", cwd=source)
    return f"{len(names)} files of commit {commit[:8]}"


def package(dist, source, folder):
    deb = next(dist.glob("cairn_*.deb"))
    need(run("dpkg-deb", "--field", deb, "Version").strip() == VERSION, f"{deb.name} is of another version")
    run("dpkg-deb", "--extract", deb, folder / "root")
    cairn = folder / "root/usr/bin/cairn"
    need(run(cairn, "--version").startswith(f"cairn {VERSION},"), "cairn --version")
    need("\nPASS: every rule held" in run(cairn, "check", source / "samples/plain.log"), "cairn check")
    for name in ("libcairn-pebs1", "libcairn-pebs-dev"):
        run("dpkg-deb", "--extract", next(dist.glob(f"{name}_*.deb")), folder / "root")
    need((folder / "root/usr/include/cairn/pebs.h").is_file(), "no header of libcairn-pebs")
    library = next((folder / "root/usr/lib").glob("*/libcairn-pebs.so"))
    need(library.resolve().name == "libcairn-pebs.so.1" and library.resolve().is_file(), f"{library} leads nowhere")
    return f"{deb.name}: its cairn checks a sample; libcairn-pebs is whole"


def changed_source(clone):
    """What is not committed is in no release."""
    (clone / "kernel/new.c").write_text("", encoding="ascii")
    printed = run("make", "-s", "dist", cwd=clone, status=None)
    need(printed.startswith("release: kernel/new.c is not committed (git status)\n"), printed)
    (clone / "kernel/new.c").unlink()
    return "refused, in one line"


def short(build, folder):
    changed = subprocess.run([ROOT / "tools/release/commit.sh", "--clean"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, check=False).stderr.strip()
    if changed:
        print(f"{'FAIL' if 'CI' in os.environ else 'SKIP'}: dist: {changed}")
        sys.exit('CI' in os.environ)
    step("made", lambda: run("make", "-s", f"B={build.relative_to(ROOT)}", "XZ_LEVEL=0", "dist").splitlines()[-1])
    look(build / "dist", folder, ROOT)


def look(dist, folder, clone):
    step("sums", sums, dist)
    source = unpack(dist, folder)
    if clone and (clone / ".git").exists():
        step("source", files_of_the_commit, source, clone)
        run("git", "clone", "-q", "--shared", clone, folder / "changed")
        step("changed source", changed_source, folder / "changed")
    step("package", package, dist, source, folder)


# ---- Two clones, and bare roots

def made_in_clones(folders):
    for folder, origin, umask in zip(folders, (ROOT, folders[0]), (0o22, 0o77)):
        run("git", "clone", "-q", origin, folder, umask=umask)
    for folder, more, umask in zip(folders, ({}, ELSEWHERE), (0o22, 0o77)):
        run("make", "-s", f"-j{os.cpu_count()}", "dist", cwd=folder, umask=umask, env={**os.environ, **more})
    ours, other = ((folder / "build/dist/SHA256SUMS").read_text(encoding="ascii").splitlines() for folder in folders)
    need(ours == other, f"not the same: {sorted(set(ours) ^ set(other))}")
    return f"{len(ours)} files are the same in both"


def bare(root, dist):
    root.make()
    shutil.copytree(dist, root.folder / "release")
    packages = root.run("dpkg-query -W").count("\n")
    return f"{packages} packages"


def installed(root):
    """Debian 12 has no QEMU for the plugin: its package says so. The one of `cairn` installs."""
    root.run("sha256sum --check --strict SHA256SUMS", "/release")
    root.run("apt-get install -y --no-install-recommends ./cairn_*.deb", "/release")
    need(root.run("cairn --version").startswith(f"cairn {VERSION},"), "cairn --version")
    printed = root.run("apt-get install -y ./qemu-ds_*.deb", "/release", status=None)
    need("qemu-ds : Depends: qemu-system-x86 (>= 1:11.0)" in printed, printed)
    unpacked(root)
    printed = root.run("cairn check samples/plain.log", f"/{SOURCE}")
    need("\nPASS: every rule held" in printed, printed)
    return "cairn checks a sample; the package of qemu-ds names the QEMU that it needs"


def unpacked(root):
    root.run(f"apt-get install -y --no-install-recommends make xz-utils && tar -xJf /release/{SOURCE}.tar.xz")


def own_records(root):
    """docs/how-to/own-records.md: its program with the installed library; cairn-grab says what it is for."""
    page = (ROOT / "docs/how-to/own-records.md").read_text(encoding="utf-8")
    program, commands = (re.search(rf"^```c?\n({start}.*?)^```", page, re.M | re.S)[1]
                         for start in (r"/\* records\.c: ", r"\$ cc records\.c "))
    shell, output = (re.findall(pattern, commands, re.M) for pattern in (r"^\$ (.*)\n", r"^(?!\$ ).*\n"))
    need(len(shell) == 2 and len(output) == 3, f"the page shows no program: {commands}")
    root.run("apt-get install -y --no-install-recommends ./libcairn-pebs*.deb ./cairn-grab_*.deb "
             "gcc libc6-dev pkgconf xxd", "/release")
    (root.folder / "records.c").write_text(program, encoding="ascii")
    (root.folder / "samples").mkdir()
    shutil.copy(ROOT / "samples/records.xxd", root.folder / "samples")
    need(root.run("\n".join(shell)) == "".join(output), "records.c prints something else")
    need(root.run("cairn-grab --help").startswith("usage: cairn grab "), "cairn-grab --help")
    return f"{len(output)} records with libcairn-pebs; cairn-grab is there"


def readme(root):
    return (root.folder / SOURCE / "README.md").read_text(encoding="utf-8")


def readme_run(root):
    """`make deps run`; README.md shows what it prints."""
    need(re.findall(r"^make deps (\w+) +#", readme(root), re.M) == ["run", "test"], "README.md has other commands")
    printed = root.run("make deps run", f"/{SOURCE}")
    need_shown(re.search(r"^```\n(PASS: run: .*?)^```", readme(root), re.M | re.S)[1], printed, "make deps run")
    need(len(re.findall(r"^ +\d+\.\d{7} +\d+ +.* > ", printed, re.M)) > 5, "no decoded switches\n" + printed[-3000:])
    trace = root.run("build/cairn dump build/last.log", f"/{SOURCE}")
    need(re.search(r"^ +\d+\.\d{7} +\d+ +\* ", trace, re.M), "no decoded PEBS record\n" + trace[:3000])
    return re.search(r"^PASS: trace: .*$", printed, re.M)[0].removeprefix("PASS: ").replace(";", ",")


def readme_commands(root):
    """What README.md shows of `cairn`, and its other commands."""
    blocks = re.findall(r"^```\n\$ (build/cairn .*?)\n(.*?)^```", readme(root), re.M | re.S)
    need(len(blocks) >= 2, "README.md shows no command")
    for command, shown in blocks:
        need_shown(shown, root.run(command, f"/{SOURCE}"), command)
    others = ("make deps tools", "build/cairn export --to html samples/plain.log -o view.html",
              "./run-qemu.sh ds=soft ds.preset=pantherlake", "./run-qemu.sh --help", "make help")
    for command in others:
        need(f"`{command}" in readme(root), f"README.md has no `{command}`")
        root.run(command, f"/{SOURCE}")
    return f"{len(blocks)} outputs and {len(others)} other commands"


def image(root):
    printed = root.run("./run-qemu.sh --image /release/cairn.img", f"/{SOURCE}")
    found = re.search(r"^PASS: (run: \d+ switches on \d+ CPUs)[\s\S]*^verdict +pass", printed, re.M)
    need(found, printed[-3000:])
    return found[1]


def made_there(root):
    """From the tarball, in a folder and on a machine that had nothing of ours."""
    root.run("make deps dist && cmp build/dist/SHA256SUMS /release/SHA256SUMS", f"/{SOURCE}")
    return "the same bytes, with " + root.run(
        "dpkg-query -W -f '${Package} ${Version}, ' gcc-12 binutils nasm gnu-efi clang-14 lld-14 mtools gdisk "
        "dpkg-dev xz-utils mkdocs mkdocs-material").rstrip(", \n")


def readme_test(root):
    printed = root.run("make deps test", f"/{SOURCE}")
    last = printed.splitlines()[-1]
    need(re.match(r"\d+ passed, 0 failed", last), printed[-3000:])
    return last


def plugin(root):
    """The commands of docs/how-to/ci.md, sections 1 and 2."""
    page = (ROOT / "docs/how-to/ci.md").read_text(encoding="utf-8")
    starts = "echo 'deb ", 'qemu-ds-guest --preset skylake "', "qemu-ds-guest --preset skylake --program rr"
    install, guest, rr = (re.search(rf"^```\n({start}.*?)^```\n(?:```\n(.*?)^```)?", page, re.M | re.S)
                          for start in starts)
    root.run("set -e\n" + install[1].replace("./build/", "./"), "/release")
    need_shown(guest[2], root.run(guest[1]), "qemu-ds-guest")
    recorded, replayed = re.split(r"^# rr replay .*\n", root.run(rr[1]), flags=re.M)
    recorded = re.split(r"^# rr record .*\n", recorded, flags=re.M)[1]
    need(recorded and recorded == replayed, f"recorded:\n{recorded}replayed:\n{replayed}")
    return "qemu-ds installed, perf counts in the guest, rr replays what it recorded"


def sharing(root):
    """docs/how-to/qemu-ds.md, section 5, with the installed plugin: perf c2c names the line that two threads share."""
    page = (ROOT / "docs/how-to/qemu-ds.md").read_text(encoding="utf-8")
    commands = re.search(r"^```\n(make build/linux-sharing.*?)^```", page, re.M | re.S)[1]
    printed = root.run(commands.replace("tools/qemu-ds/guest.py", "qemu-ds-guest"), f"/{SOURCE}")
    address = re.search(r"^0*([0-9a-f]+) B shared$", printed, re.M)[1]
    line = re.search(rf"^ +0 +0x{address} .*%.*$", printed, re.M)
    need(line, printed)
    return "the first line of perf c2c is " + " ".join(line[0].split())


def built_there(root):
    unpacked(root)
    return readme_run(root)


def whole(folder, dist, with_tests):
    if dist:
        look(dist, folder, None)
    else:
        clones = [folder / name for name in ("clone", "another/clone-whose-name-is-longer")]
        step("two clones", made_in_clones, clones)
        dist = clones[0] / "build/dist"
        look(dist, folder, clones[0])
    root, newer = BareRoot(folder / "debian12", "bookworm", run), BareRoot(folder / "debian13", "trixie", run)
    grader = BareRoot(folder / "grader", "bookworm", run)
    step("the course: a bare root", bare, grader, dist)
    step("the course: Gradescope", course.gradescope, grader, dist, run)
    step("the course: a student", course.first_lab, grader)
    step("Debian 12: a bare root", bare, root, dist)
    step("Debian 12: packages", installed, root)
    step("Debian 12: make deps run", readme_run, root)
    step("Debian 12: README.md", readme_commands, root)
    step("Debian 12: cairn.img", image, root)
    step("Debian 12: make deps dist", made_there, root)
    step("Debian 12: own records", own_records, root)
    step("Debian 13: a bare root", bare, newer, dist)
    step("Debian 13: qemu-ds", plugin, newer)
    step("Debian 13: make deps run", built_there, newer)
    step("Debian 13: perf c2c", sharing, newer)
    step("Debian 13: own records", own_records, newer)
    if with_tests:
        step("Debian 12: make deps test", readme_test, root)
    for path in sorted(dist.iterdir()):
        print(f"{path.name:32} {path.stat().st_size:10} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="only in this tree, without roots")
    parser.add_argument("--dist", type=Path, help="folder of a release that is there already: without the clones")
    parser.add_argument("--without-tests", action="store_true", help="no `make deps test` in the root")
    parser.add_argument("--keep", action="store_true", help="leave the folder with clones and roots")
    parser.add_argument("--build", default="build", help="build directory, of --short")
    arguments = parser.parse_args()
    if not arguments.short and (os.getuid() or not shutil.which("debootstrap")):
        print(f"{'FAIL' if 'CI' in os.environ else 'SKIP'}: dist: bare roots need root, and debootstrap")
        sys.exit('CI' in os.environ)
    for name in "MAKEFLAGS", "MFLAGS", "MAKELEVEL":  # of the make that runs this: here they are for nobody
        os.environ.pop(name, None)
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="cairn-dist."))
        if not arguments.keep:
            stack.callback(shutil.rmtree, folder)
        if arguments.short:
            short((ROOT / arguments.build).resolve(), folder)
        else:
            whole(folder, arguments.dist, not arguments.without_tests)


if __name__ == "__main__":
    main()
