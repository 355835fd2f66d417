# SPDX-License-Identifier: MIT
"""Two builds of the same source, in different folders and at different times, are the same byte by byte."""

import os
import shutil
import subprocess

import pytest

import cairn_boot as cb


@pytest.mark.parametrize("products", [("kernel.elf", "BOOTX64.EFI", "cairn.img", "playground.html"),
                                      cb.long(("cairn", "qemu-ds.so"))], ids=" ".join)
def test_builds_repeat(tmp_path, products):
    copy = tmp_path / "a-folder-whose-name-is-longer-than-that-of-the-first"
    shutil.copytree(cb.ROOT, copy, ignore=lambda folder, names: [name for name in names if name.startswith("build")
                                                                 or name == ".git"])
    environment = {**os.environ, "TZ": "Asia/Tokyo"}
    built = {cb.ROOT: cb.BUILD, copy: copy / "build"}
    for root, build in built.items():
        paths = [os.path.relpath(build / name, root) for name in products]
        done = subprocess.run(["make", "-j2", f"B={os.path.dirname(paths[0])}", *paths], cwd=root, env=environment,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    for name in products:
        ours, other = ((build / name).read_bytes() for build in built.values())
        assert len(ours) == len(other) and ours == other, name
