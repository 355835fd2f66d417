/* SPDX-License-Identifier: MIT */
/* A right program for lab 4: the groups of an adaptive record are measured before one of them is read. */
#define parse right_parse
#include "labs/04-records/solution.c"
#undef parse

static uint32_t measure(const uint8_t *bytes, uint32_t left)
{
    uint64_t head;
    uint32_t mask[4], at = 32;
    if (left < 32)
        return UINT32_MAX;
    memcpy(&head, bytes, 8);
    const uint32_t groups = ds_pebs_head_groups(head);
    at += groups & MSR_PEBS_DATA_CFG_MEMINFO ? 32 : 0;
    at += groups & MSR_PEBS_DATA_CFG_GPR ? 144 : 0;
    at += groups & MSR_PEBS_DATA_CFG_XMM ? 256 : 0;
    at += groups & MSR_PEBS_DATA_CFG_LBR ? 24 * msr_pebs_data_cfg_lbr_entries(groups) : 0;
    if (!(groups & (MSR_PEBS_DATA_CFG_CNTR | MSR_PEBS_DATA_CFG_METRICS)))
        return at;
    if (left < at + 16)
        return UINT32_MAX;
    memcpy(mask, bytes + at, 16);
    const unsigned counters = (unsigned)(__builtin_popcount(mask[0]) + __builtin_popcount(mask[1]));
    return at + 16 + 8 * (counters + (mask[2] ? 2 : 0));
}

uint32_t parse(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    uint64_t head = 0;
    if (format >= 4) {
        const uint32_t needed = measure(bytes, left);
        if (needed > left)
            return 0;
        memcpy(&head, bytes, 8);
        if (needed > ds_pebs_head_size(head))
            return 0;
    }
    return right_parse(format, bytes, left, r);
}
