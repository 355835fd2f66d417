# SPDX-License-Identifier: MIT
"""What a guest sees that knows each of its instructions: see guest/*.asm. The presets are icelake's but where told."""

from bare_guest import run

CF, PF, AF, SF, OF, ALWAYS = 1, 4, 0x10, 0x80, 0x800, 2
GP, NONE = 13, 0x100


def test_rdpmc(tmp_path):
    said, messages = run(tmp_path, "rdpmc", "stats=on")
    assert said["idle_vector"] == NONE
    assert (said["gp_high"], said["gp_low"]) == (0, 0x12345678)  # RAX and RDX had all bits set
    assert (said["fixed_high"], said["fixed_low"]) == (0x9ABC, 0xDEF01234)
    assert said["flags_less"] == ALWAYS | CF | PF | AF | SF
    assert said["flags_overflow"] == ALWAYS | PF | AF | SF | OF

    # Index: 8 general-purpose counters, 4 fixed ones, PERF_METRICS.
    assert (said["gp_8_vector"], said["gp_8_error"], said["gp_8_where"]) == (GP, 0, 0x330F)
    assert said["fixed_4_vector"] == said["metrics_1_vector"] == said["fast_vector"] == GP
    assert said["metrics_vector"] == NONE

    # CPL 3: by CR4.PCE.
    assert (said["refused_vector"], said["refused_through"]) == (GP, 0)
    assert (said["allowed_vector"], said["allowed_through"], said["allowed_value"]) == (0x80, 1, 0xDEF01234)

    # What lies between two of them; the first is one instruction.
    assert said["between"] == 3 + 20 + 1
    assert said["between_one_block"] == 6
    assert said["repeated"] == 3 + 1000 * 4

    assert said["immediate_rdpmc"] == 0x330F0000
    assert said["immediate_rdmsr"] == 0x320F0000
    assert said["immediate_cpuid"] == 0xA20F0000
    assert "flags exact" in messages
    assert "RDPMC" not in messages


def test_rdpmc_of_few_counters(tmp_path):
    """Without PERF_METRICS, and with 4 general-purpose and 3 fixed counters."""
    said, _ = run(tmp_path, "rdpmc", "preset=skylake")
    assert said["metrics_vector"] == said["gp_8_vector"] == said["fixed_4_vector"] == GP
    assert said["between"] == 24


def test_remap(tmp_path):
    """Branch records go where DS memory lies now; the first is half on one page, half on the next."""
    said, messages = run(tmp_path, "remap", "stats=on")
    assert said["index"] == 0x800FF8 + 3 * 24
    assert (said["first_from"], said["first_to"]) == (said["first"], said["second"])
    assert (said["second_to"], said["third_to"]) == (said["third"], said["last"])
    assert said["first_elsewhere"] == said["second_elsewhere"] == said["third_elsewhere"] == 0
    assert " 3 branch records" in messages
