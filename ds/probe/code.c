/* SPDX-License-Identifier: MIT */
/* The instructions of code.asm: where they are, and how they are run. */
#include "arch/instructions.h"
#include "ds/probe/probe.h"

extern const uint8_t ds_probe_code_nops[], ds_probe_code_nops_end[], ds_probe_code_slow[], ds_probe_code_slow_sled[],
    ds_probe_code_slow_end[], ds_probe_code_mixed[], ds_probe_code_mixed_sled[], ds_probe_code_mixed_end[],
    ds_probe_code_jumps[], ds_probe_code_jumps_end[], ds_probe_code_after_jumps_end[], ds_probe_code_more_jumps[],
    ds_probe_code_more_jumps_end[];

static struct ds_probe_sled sled(const uint8_t *start, const uint8_t *end, uint32_t bytes)
{
    return (struct ds_probe_sled){(uint64_t)(uintptr_t)start, (uint32_t)(end - start) / bytes, bytes};
}

bool ds_probe_code(struct ds_probe_sled sleds[DS_PROBE_CODES])
{
    sleds[DS_PROBE_NOPS] = sled(ds_probe_code_nops, ds_probe_code_nops_end, 1);
    sleds[DS_PROBE_SLOW] = sled(ds_probe_code_slow_sled, ds_probe_code_slow_end, 3);
    sleds[DS_PROBE_JUMPS] = sled(ds_probe_code_jumps, ds_probe_code_jumps_end, 2);
    sleds[DS_PROBE_MIXED] = sled(ds_probe_code_mixed_sled, ds_probe_code_mixed_end, DS_PROBE_MIXED_BYTES);
    sleds[DS_PROBE_MORE_JUMPS] = sled(ds_probe_code_more_jumps, ds_probe_code_more_jumps_end, 2);
    return sleds[DS_PROBE_NOPS].count == DS_PROBE_NOPS_COUNT && sleds[DS_PROBE_SLOW].count == DS_PROBE_SLOW_COUNT &&
           sleds[DS_PROBE_JUMPS].count == DS_PROBE_JUMPS_COUNT && sleds[DS_PROBE_MIXED].count == DS_PROBE_MIXED_COUNT &&
           sleds[DS_PROBE_MORE_JUMPS].count == DS_PROBE_MORE_JUMPS_COUNT &&
           ds_probe_code_after_jumps_end - ds_probe_code_jumps_end == DS_PROBE_AFTER_JUMPS;
}

uint64_t ds_probe_time(enum ds_probe_code code, const volatile uint32_t *pmis, uint32_t *handled)
{
    static const uint8_t *const entry[DS_PROBE_CODES] = {[DS_PROBE_NOPS] = ds_probe_code_nops,
                                                         [DS_PROBE_SLOW] = ds_probe_code_slow,
                                                         [DS_PROBE_JUMPS] = ds_probe_code_jumps,
                                                         [DS_PROBE_MIXED] = ds_probe_code_mixed,
                                                         [DS_PROBE_MORE_JUMPS] = ds_probe_code_more_jumps};
    const uint64_t start = arch_rdtsc();
    ((void (*)(void))(uintptr_t)entry[code])();
    *handled = *pmis; /* first: so one that comes now is among the cycles, and not counted */
    return arch_rdtsc() - start;
}
