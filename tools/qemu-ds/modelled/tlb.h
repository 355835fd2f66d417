/* SPDX-License-Identifier: MIT */
/*
 * The TLBs of a modelled core for its data: a DTLB, and behind it an STLB. Pages have 4 KiB, whatever the guest's have,
 * and there are no PCIDs and no global pages: what changes where all pages lie empties both. An entry also says where
 * its page lies. In each set the least recently used entry goes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define QDS_PAGE_SHIFT 12

struct qds_tlb_entry {
    uint64_t page, physical; /* numbers of pages; page QDS_NO_PAGE: there is none here */
    uint64_t used;
    uint32_t epoch; /* in the STLB: not the TLB's: there is none here */
};
#define QDS_NO_PAGE UINT64_MAX

struct qds_tlb_size {
    uint32_t sets, ways; /* sets: a power of 2 */
};

struct qds_tlb {
    struct qds_tlb_size dtlb_size, stlb_size;
    struct qds_tlb_entry *dtlb, *stlb;
    uint32_t epoch;
};

/* Where the page lies that contains a linear address. False: the TLB may not remember it. */
typedef bool qds_tlb_walk(void *context, uint64_t address, uint64_t *physical);

enum qds_tlb_found { QDS_IN_DTLB, QDS_IN_STLB, QDS_WALKED, QDS_UNCACHED };

/* False: out of memory. */
bool qds_tlb_new(struct qds_tlb *tlb, struct qds_tlb_size dtlb, struct qds_tlb_size stlb);
void qds_tlb_free(struct qds_tlb *tlb);

/* The entry of an address's page in the DTLB, where it is now. QDS_UNCACHED: NULL in *entry. */
enum qds_tlb_found qds_tlb_find(struct qds_tlb *tlb, uint64_t address, uint64_t now, qds_tlb_walk *walk, void *context,
                                struct qds_tlb_entry **entry);

void qds_tlb_flush(struct qds_tlb *tlb);
/* As INVLPG does. The guest's page may have more than 4 KiB: of the others in it, the STLB keeps those that do not
 * move.
 */
void qds_tlb_flush_page(struct qds_tlb *tlb, uint64_t address);

/* Whether the DTLB has the page of an address at this place. */
static inline bool qds_tlb_hits(const struct qds_tlb_entry *at, uint64_t address)
{
    return at->page == address >> QDS_PAGE_SHIFT;
}
