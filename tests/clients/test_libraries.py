# SPDX-License-Identifier: MIT
"""PAPI and libpfm: their names of events lead to the right counts (libraries.c)."""

import clients
import guest
import known
import pytest

PROGRAM = guest.BUILD / "clients-libraries"
MACHINE = "usr/lib/x86_64-linux-gnu"
PAPI = ("PAPI_TOT_INS", "PAPI_BR_INS", "INST_RETIRED:ANY_P")
PFM = {"skl::INST_RETIRED:ANY_P:u": 0xC0, "skl::BR_INST_RETIRED:ALL_BRANCHES:u": 0xC4,
       "skl::MEM_INST_RETIRED:ALL_LOADS:u": 0x81D0, "ix86arch::INSTRUCTION_RETIRED:u": 0xC0}
LOOP = 100000  # of libraries.c: LONG - SHORT
COMMANDS = [
    f"clients-libraries papi {' '.join(PAPI)}",
    "papi_avail -a",
    "papi_command_line PAPI_TOT_INS PAPI_BR_INS",
    *(f"clients-libraries pfm {event} {clients.KNOWN}" for event in PFM),
]


@pytest.mark.long
def test_papi_and_libpfm(tmp_path):
    (papi, available, own, *pfm), paper = clients.boot(
        tmp_path, COMMANDS, ("papi_avail", "papi_command_line", f"{MACHINE}/libpapi.so.7.1", f"{MACHINE}/libpfm.so.4"),
        files={"bin/clients-libraries": PROGRAM})
    assert papi.output.split() == ["PAPI_TOT_INS", str(2 * LOOP), "PAPI_BR_INS", str(LOOP), "INST_RETIRED:ANY_P",
                                   str(2 * LOOP)], papi.output
    assert "Of 53 available events" in available.output
    # Its own program is a loop, too, of which nobody has said how long it is: a branch in ten instructions.
    counts = dict(line.split(" : ") for line in own.output.splitlines() if " : " in line)
    assert int(counts["PAPI_TOT_INS"]) > 9 * int(counts["PAPI_BR_INS"]) > 10 ** 8, own.output

    in_loop = [sum(name in names for name in known.EVEN + known.ODD) for names in (known.BRANCHES, known.LOADS)]
    branches, loads = (paper.iterations // 2 * count + 1 for count in in_loop)  # SYSCALL; s0
    expected = [paper.instructions, branches, loads, paper.instructions]
    for (event, code), count, said in zip(PFM.items(), expected, pfm):
        name, encoded, counted = said.output.split()
        assert name.startswith(event.removesuffix(":u")), said.output
        assert (int(encoded, 16) & 0xFFFF, int(counted)) == (code, count), said.output
