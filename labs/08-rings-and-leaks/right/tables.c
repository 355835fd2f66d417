/* SPDX-License-Identifier: MIT */
/* A right program for lab 8: tables say how long each group is, and what is wrong with a page. */
#define lab_scrub     right_scrub
#define lab_ds_memory right_ds_memory
#include "labs/08-rings-and-leaks/solution.c"
#undef lab_scrub
#undef lab_ds_memory

static const struct {
    uint64_t group;
    uint32_t bytes;
} groups[] = {{MSR_PEBS_DATA_CFG_MEMINFO, sizeof(struct ds_pebs_meminfo)},
              {MSR_PEBS_DATA_CFG_GPR, sizeof(struct ds_pebs_gpr)},
              {MSR_PEBS_DATA_CFG_XMM, sizeof(struct ds_pebs_xmm)},
              {MSR_PEBS_DATA_CFG_LBR, 0}};

bool lab_scrub(unsigned format, uint8_t *record)
{
    const uint64_t head = *(const uint64_t *)record;
    uint8_t *at = record + sizeof(struct ds_pebs_basic), *const end = record + ds_pebs_head_size(head);
    if (format < 4)
        return right_scrub(format, record);
    if (((const struct ds_pebs_basic *)record)->eventing_ip >> 63)
        return false;
    for (unsigned i = 0; i < 4; i++) {
        if (!(head & groups[i].group))
            continue;
        if (groups[i].group == MSR_PEBS_DATA_CFG_GPR)
            hide(&((struct ds_pebs_gpr *)at)->rip);
        at += groups[i].bytes;
        for (; !groups[i].bytes && at < end; at += sizeof(struct ds_pebs_lbr)) {
            struct ds_pebs_lbr *entry = (struct ds_pebs_lbr *)at;
            if (kernel(entry->from | entry->to))
                entry->from = entry->to = entry->info = 0;
        }
    }
    return true;
}

enum lab_fitness lab_ds_memory(uint64_t address, uint64_t bytes)
{
    static const uint8_t of[16] = {
        /* by DIRTY, ACCESSED, USER, WRITABLE */
        LAB_READ_ONLY, LAB_UNTOUCHED, LAB_EXPOSED, LAB_EXPOSED, LAB_READ_ONLY, LAB_UNTOUCHED, LAB_EXPOSED, LAB_EXPOSED,
        LAB_READ_ONLY, LAB_UNTOUCHED, LAB_EXPOSED, LAB_EXPOSED, LAB_READ_ONLY, LAB_FIT,       LAB_EXPOSED, LAB_EXPOSED};
    bool seen[LAB_UNTOUCHED + 1] = {false};
    for (uint64_t page = address & ~(uint64_t)(LAB_PAGE_BYTES - 1); page < address + bytes; page += LAB_PAGE_BYTES)
        for (unsigned space = 0; space < 2; space++) {
            const uint64_t bits = lab_page((enum lab_space)space, page);
            seen[bits ? of[(bits >> 1 & 3) | (bits >> 3 & 12)] : LAB_ABSENT] = true;
        }
    for (unsigned fault = LAB_EXPOSED; fault <= LAB_UNTOUCHED; fault++)
        if (seen[fault])
            return (enum lab_fitness)fault;
    return LAB_FIT;
}
