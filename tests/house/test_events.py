# SPDX-License-Identifier: MIT
"""tools/events.py refuses data that it cannot make a table of, with file and line."""

import shutil
import subprocess

import pytest

import cairn_boot as cb


def made(folder):
    return subprocess.run([cb.ROOT / "tools" / "events.py", folder], capture_output=True, text=True, check=False)


def test_the_data_as_it_is():
    done = made(cb.ROOT / "ds" / "events")
    assert done.returncode == 0, done.stderr
    assert "[DS_EVENT_CONDITIONAL] = {0x100000011c4, 0x100000011c4," in done.stdout


@pytest.mark.parametrize("file, old, new, said", [
    ("intel.tsv", "SPR\tINST_RETIRED.ANY_P\t0xC0", "SPR\tINST_RETIRED.ANY_P\t0xC1", "EMR says other things of INSTR"),
    ("intel.tsv", "SPR\tINST_RETIRED.ANY_P\t0xC0", "SPR\tINST_RETIRED.ANY_P\t0x1C0", "more than 0xff"),
    ("intel.tsv", "SPR\tINST_RETIRED.ANY_P\t0xC0", "SPR\tINST_RETIRED.ANY_P\tC0h", "not a hexadecimal number"),
    ("intel.tsv", "SPR\tINST_RETIRED.ANY_P\t", "SPX\tINST_RETIRED.ANY_P\t", "core SPX is not in cores.tsv"),
    ("intel.tsv", "SPR\tINST_RETIRED.ANY_P\t", "SPR\tINST_RETIRED.ANY\t", "INST_RETIRED.ANY of SPR is there twice"),
    ("intel.tsv", "0,1,2,3,4,5,6,7", "0,1,2,3,4,5,6,x", "not counters as in 0,1,2"),
    ("intel.tsv", "MTL012,MTL013", "MTL012 MTL013", "not errata as in MTL012,MTL013"),
    ("intel.tsv", "umask_ext", "umask_extra", "the columns have to be core, event"),
    ("cores.tsv", "6-8F", "8F", "model '8F' is not FAMILY-MODEL"),
    ("cores.tsv", "\t6-8F", "", "6 columns, not 7"),
    ("added.tsv", "REDWOODCOVE\tFRONTEND", "REDWOOD\tFRONTEND", "generation REDWOOD is not in cores.tsv"),
    ("added.tsv", "ICELAKE\tFRONTEND", "SKYLAKE\tFRONTEND", "Intel's lists of SKYLAKE have FRONTEND themselves"),
])
def test_data_that_is_wrong(tmp_path, file, old, new, said):
    folder = tmp_path / "events"
    shutil.copytree(cb.ROOT / "ds" / "events", folder)
    text = (folder / file).read_text(encoding="ascii")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="ascii")
    done = made(folder)
    assert done.returncode == 1
    assert said in done.stderr and ".tsv:" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
