# SPDX-License-Identifier: MIT
"""`cairn probe` of logs whose answers are written here: what is shown of them, and what of nonsense."""

import json
import re
import struct
from pathlib import Path

import pytest

from cairn_tool import GOLDEN, cairn, text_of
from probe_log import ANSWERS, IDENTITY, log

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "probe.md"


def test_table():
    done = cairn("probe", "-", data=log(ANSWERS.encode()))
    text = text_of(done)
    assert done.returncode == 0
    flat = re.sub(r"\s+", " ", text)
    assert "found: below a maximum of 3 sizes, 3 sizes + 1 and 2 sizes + 1: 3, 4 and 3 records" in flat
    assert "not determined: needs two counters with PEBS, one of them for branches" in flat
    assert "5 questions: 1 like the model's default, 2 different, 2 not determined" in flat
    assert "to make the model do the same: ds.policy.fit=start_lt" in flat  # shadow is no policy
    assert flat.count("ds.policy.") == 1
    assert re.search(r"^record +250 +270 +410   a PEBS record", text, re.M)
    assert re.search(r"^record_gpr +not determined: records of this format have no such group$", text, re.M)
    assert re.search(r"^switch_stamped +1000 +1100 +9000   a context switch, traced with", text, re.M)
    assert re.search(r"^moonlight +2 +3 +4", text, re.M)


def test_json():
    done = cairn("probe", "--to", "json", "-", data=log(ANSWERS.encode()))
    machine = json.loads(text_of(done))
    assert (done.returncode, machine["type"], machine["cpu"], machine["asked"]) == (0, "probe", 2, "processor")
    questions = {question["name"]: question for question in machine["questions"]}
    assert list(questions) == ["fit", "drop_reload", "bystander", "shadow", "tides"]
    assert (questions["fit"]["answer"], questions["fit"]["default"]) == ("start_lt", "end_le")
    assert "answer" not in questions["bystander"] and "two counters" in questions["bystander"]["reason"]
    assert "default" not in questions["tides"]
    costs = {cost["name"]: cost for cost in machine["costs"]}
    assert costs["record"] == {"name": "record", "samples": 64, "least": 250, "median": 270, "p99": 410}
    assert costs["record_gpr"]["reason"] and "median" not in costs["record_gpr"]


TYPES = {"text": str, "text, `0x` and hexadecimal": str, "number": int, "true, false": bool, "list": list}


def fields(head):
    """{name: (type, always there)} of the page's table of fields behind these words."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n{head}\n", 1)[1]
    rows = [row.split(" | ") for row in re.search(r"(?:\|.*\n)+", text)[0].splitlines()[2:]]
    return {name: (TYPES[row[1]], row[2] == "always") for row in rows for name in re.findall(r"`(\w+)`", row[0])}


def held(found, table):
    assert all(name in found for name, (_, always) in table.items() if always)
    assert {name: type(value) for name, value in found.items()} == {name: table[name][0] for name in found}


def test_fields_of_the_page():
    """The page names every field there is, and each has the type it says; no field of the page is never seen."""
    machine = json.loads(text_of(cairn("probe", "--to", "json", "-", data=log((IDENTITY + ANSWERS).encode(), True))))
    for found, head in (([machine], "## An object for each kind of core"), (machine["questions"], "Of a question:"),
                        (machine["costs"], "Of a cost:")):
        table = fields(head)
        for one in found:
            held(one, table)
        assert {name for one in found for name in one} == set(table)
    assert (machine["version"], machine["tsc_hz"], machine["hypervisor"]) == (1, 2400000000, "none")
    assert machine["brand"] == "Intel(R) Core(TM) i9"
    assert (machine["family"], machine["model"], machine["stepping"]) == (6, 0x5E, 3)
    held(json.loads(text_of(cairn("probe", "--to", "json", "-", data=log(ANSWERS.encode())))),
         fields("## An object for each kind of core"))


@pytest.mark.parametrize("name, leaves", [(b"Intel(R) Xeon(R) Gold 6430", 3), (b"Intel(R) Xeon(R) Gold 6430", 2),
                                          (b"Atom", 1), (b"", 0)])
def test_short_name_of_a_processor(name, leaves):
    """Leaves that are all zero are left out of a log."""
    words = struct.unpack("<12I", name.ljust(48, b"\0"))
    keys = "".join("cpu.0.cpuid.8000000%d.00000000=%08x %08x %08x %08x\n" % (leaf + 2, *words[4 * leaf:4 * leaf + 4])
                   for leaf in range(leaves))
    answers = log((keys + "probe.0.0=fit|end_le|3, 3 and 2 records\n").encode())
    found = re.findall(r"^processor +(.*)$", text_of(cairn("info", "-", data=answers)), re.M)
    assert found == ([name.decode()] if name else [])
    assert json.loads(text_of(cairn("probe", "--to", "json", "-", data=answers))).get("brand", "") == name.decode()


@pytest.mark.parametrize("machine, real, emulated", [
    ("processor", True, False), ("virtual", True, False), ("model", True, True), ("model", False, True),
    ("TCG", False, True)])
def test_whose_cycles(machine, real, emulated):
    """Those of a model that steps a real processor are no more the processor's than an emulator's are."""
    answers = log(ANSWERS.replace("machine=processor", f"machine={machine}").encode(), real)
    text = re.sub(r"\s+", " ", text_of(cairn("probe", "-", data=answers)))
    assert ("p99 emulated cycles" in text, "p99 TSC cycles" in text) == (emulated, not emulated)
    assert ("; emulated" in text) == emulated
    assert ("the answers are from what the hypervisor shows of this processor" in text) == (machine == "virtual")
    found = json.loads(text_of(cairn("probe", "--to", "json", "-", data=answers)))
    assert (found["asked"], found["emulated"]) == (machine, emulated)


def test_two_kinds_of_cores():
    """A table, and an object, for each; which kind each is."""
    cores = (b"cpu.0.core_type=0x40\nprobe.0.machine=processor\nprobe.0.0=fit|end_le|3, 3 and 2 records\n"
             b"cpu.16.core_type=0x20\nprobe.16.machine=processor\nprobe.16.0=fit||no counter has PEBS\n"
             b"cpu.18.core_type=0x10\nprobe.18.machine=processor\nprobe.18.0=fit|end_lt|2, 3 and 2 records\n")
    text = re.sub(r"\s+", " ", text_of(cairn("probe", "-", data=log(cores))))
    heads = [text.index(head) for head in ("CPU 0 ", "CPU 16 ", "CPU 18 ")]
    assert heads == sorted(heads) and text.count("1 questions") == 3
    for head, kind in zip(heads, ("a performance core (core type 40H)", "an efficient core (core type 20H)",
                                  "a core of an unknown kind (core type 10H)")):
        assert head < text.index(kind) < text.index("question manual", head)
    lines = text_of(cairn("probe", "--to", "json", "-", data=log(cores))).splitlines()
    assert [(machine["cpu"], machine["core_type"], machine["questions"][0].get("answer"))
            for machine in map(json.loads, lines)] == [
                (0, "0x40", "end_le"), (16, "0x20", None), (18, "0x10", "end_lt")]


def test_nonsense():
    """A log may say anything: lines stay within the width, JSON stays JSON."""
    for text in (b"probe.0.0=|\n", b"probe.0.0=|||||\n", b"probe.0.0=x\n", b"probe.63.0=fit|end_le|\n",
                 b"probe.0.0=" + b"fit|" + b"x" * 300 + b"|" + b"y" * 900 + b"\n",
                 b"probe.0.0=fit|end_lt|" + b"| " * 400 + b"\n", b"probe.0.0=" + b"n" * 700 + b"\n",
                 b"probe.0.0=fit|\"\\\x80\xff|\"\\\x1b[2J\n", b"probe.0.0=fit|end_le|e\nprobe.0.cost.0=|\n",
                 b"probe.0.0=fit|end_le|e\nprobe.0.cost.0=record|-1|x|99999999999999999999|2|\n",
                 b"probe.0.0=fit|end_le|e\nprobe.0.cost.0=" + b"z" * 500 + b"|1|18446744073709551615|0|0|\n",
                 b"".join(b"probe.0.%d=fit|end_lt|e\n" % n for n in range(30))):
        done = cairn("probe", "-", data=log(text))
        assert done.returncode == 0, (text, done.stderr)
        assert all(len(line) <= 80 for line in text_of(done).splitlines()), text
        json.loads(text_of(cairn("probe", "--to", "json", "-", data=log(text))))


def test_nothing_asked():
    done = cairn("probe", GOLDEN / "small.log")
    assert done.returncode == 1 and b"boot with workload=probe" in done.stderr and not done.stdout
    done = cairn("probe", GOLDEN / "windows-19041-64.etl")
    assert done.returncode == 1 and b"an ETL file does not have the answers" in done.stderr


def test_damaged():
    """A log that was cut says so: it may have asked more than is left of it."""
    whole = log(ANSWERS.encode())
    assert json.loads(text_of(cairn("probe", "--to", "json", "-", data=whole)))["damaged"] is False
    assert "in this log" not in text_of(cairn("probe", "-", data=whole))
    cut = whole[:whole.rindex(b"\n~Z") + 1]
    done = cairn("probe", "-", data=cut)
    assert done.returncode == 1 and re.search(r"^this log is damaged; it has 5 of \d\d questions$",
                                              text_of(done), re.M)
    done = cairn("probe", "--to", "json", "-", data=cut)
    assert done.returncode == 1 and json.loads(text_of(done))["damaged"] is True
    done = cairn("probe", "-", data=whole[:whole.index(b"\n~T") // 2])
    assert done.returncode == 1 and not done.stdout and b"boot with" not in done.stderr
    assert "they may be in the missing part" in " ".join(done.stderr.decode().split())


def test_words_are_whole():
    """The longest answer there is in one piece, under both heads; a register's name breaks between its parts."""
    text = text_of(cairn("probe", "-", data=log(b"probe.0.0=pmc_write|sign_extended|0xFFFF800000000000\n"
                                                b"probe.0.1=bts_ovf_buf|no|status 0x0\n")))
    assert re.search(r" sign_extended sign_extended ", text), text
    assert "IA32_PERF_GLOBAL_ " in text and re.search(r"^STATUS\.OVF_BUF", text, re.M), text
