# SPDX-License-Identifier: MIT
"""Two builds of the same source, in different folders and at different times, are the same byte by byte."""

import os
import re
import shutil
import subprocess

import pytest

import cairn_boot as cb


PRODUCTS = ("kernel.elf", "BOOTX64.EFI", "cairn.img", "cairn-report.efi", "playground.html", "cairn",
            "qemu-ds.so")


@pytest.mark.parametrize("name", [name for name in PRODUCTS if name != "cairn.img"])
def test_no_name_of_this_machine(name):
    """Neither where nor when it was built."""
    data = (cb.BUILD / name).read_bytes()
    assert len(data) > 10000 and not re.search(rb"\b[A-Z][a-z]{2} [ 1-3]\d 20\d\d\b", data)
    # Where a path begins: in a folder /cairn, tools/cairn is no name of this machine.
    assert not re.search(rb"(?<![\w.-])" + re.escape(os.fsencode(cb.ROOT)), data)


@pytest.mark.parametrize("products, taken", [
    (("BOOTX64.EFI", "cairn.img"), ("kernel.elf", "cairn-report.efi", "cairn-options")), cb.long(PRODUCTS, ())],
    ids=["loader", "all"])
def test_builds_repeat(tmp_path, products, taken):
    """`taken` are taken from the first build: the kernel and what the tool checks take long."""
    copy = tmp_path / "a-folder-whose-name-is-longer-than-that-of-the-first"
    shutil.copytree(cb.ROOT, copy, ignore=lambda folder, names: [name for name in names if name.startswith("build")
                                                                 or name == ".git"])
    environment = {**os.environ, "TZ": "Asia/Tokyo"}
    built = {cb.ROOT: cb.BUILD, copy: copy / "build"}
    for root, build in built.items():
        build.mkdir(exist_ok=True)
        for name in taken if root == copy else ():
            shutil.copy(cb.BUILD / name, build)
        paths = [os.path.relpath(build / name, root) for name in products]
        old = [word for name in taken for word in ("-o", os.path.relpath(build / name, root))]
        done = subprocess.run(["make", "-j2", f"B={os.path.dirname(paths[0])}", *old, *paths], cwd=root,
                              env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    for name in products:
        ours, other = ((build / name).read_bytes() for build in built.values())
        assert len(ours) == len(other) and ours == other, name
