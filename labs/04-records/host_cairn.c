/* SPDX-License-Identifier: MIT */
#include "host_cairn.h"

#include <string.h>

#include "tools/pebs/pebs.h"

/* Where a word with this meaning belongs, if that follows from the meaning alone. */
static uint64_t *plain(struct record *is, uint8_t what, uint32_t *has)
{
    switch (what) {
    case CAIRN_PEBS_EVENTING_IP:
        *has = HAS_EVENTING_IP;
        return &is->eventing_ip;
    case CAIRN_PEBS_COUNTERS:
        *has = HAS_COUNTERS;
        return &is->counters;
    case CAIRN_PEBS_STATUS:
        *has = HAS_STATUS;
        return &is->status;
    case CAIRN_PEBS_TSC:
        *has = HAS_TSC;
        return &is->tsc;
    case CAIRN_PEBS_DATA_ADDRESS:
        *has = HAS_MEMORY;
        return &is->data_address;
    case CAIRN_PEBS_DATA_SOURCE:
        return &is->data_source;
    case CAIRN_PEBS_LATENCY:
        return &is->latency;
    case CAIRN_PEBS_TX:
        *has = HAS_TX;
        return &is->tx;
    case CAIRN_PEBS_RFLAGS:
        *has = HAS_GPR;
        return &is->rflags;
    case CAIRN_PEBS_RIP:
        return &is->rip;
    default:
        return NULL;
    }
}

static uint64_t *gpr(struct record *is, const char *name)
{
    static const char *const names[16] = {"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI",
                                          "R8",  "R9",  "R10", "R11", "R12", "R13", "R14", "R15"};
    unsigned i = 0;
    while (i < 15 && strcmp(names[i], name) != 0)
        i++;
    return &is->gpr[i];
}

/* `i`: number of the word in its group. */
static uint64_t *numbered(struct record *is, const struct cairn_pebs_field *f, unsigned i)
{
    switch (f->what) {
    case CAIRN_PEBS_REGISTER:
        return gpr(is, f->name);
    case CAIRN_PEBS_XMM_LOW:
    case CAIRN_PEBS_XMM_HIGH:
        is->has |= HAS_XMM;
        return &is->xmm[i / 2][i % 2];
    case CAIRN_PEBS_LBR_FROM:
        is->has |= HAS_LBR;
        is->branches = i / 3 + 1;
        return &is->lbr[i / 3].from;
    case CAIRN_PEBS_LBR_TO:
        return &is->lbr[i / 3].to;
    case CAIRN_PEBS_LBR_INFO:
        return &is->lbr[i / 3].info;
    default:
        return NULL;
    }
}

/* Value `i` of the counter group, from 0: of the bits that are set in the two masks, then slots and metrics. */
static uint64_t *value(struct record *is, unsigned i)
{
    for (unsigned bit = 0; bit < 64; bit++)
        if ((is->gp_mask | (uint64_t)is->fixed_mask << 32) >> bit & 1 && i-- == 0)
            return bit < 32 ? &is->gp[bit] : &is->fixed[bit - 32];
    return i == 0 ? &is->slots : &is->metrics;
}

static void set(struct record *is, const struct cairn_pebs_walk *walk, const struct cairn_pebs_field *f)
{
    const unsigned i = walk->index - 1u;
    uint32_t has = 0;
    uint64_t *to = plain(is, f->what, &has);
    is->has |= has;
    if (f->what == CAIRN_PEBS_CNTR_MASKS) {
        is->gp_mask = walk->gp;
        is->fixed_mask = walk->fixed;
    } else if (f->what == CAIRN_PEBS_CNTR_METRICS) {
        is->has |= (walk->groups & MSR_PEBS_DATA_CFG_CNTR ? HAS_VALUES : 0) | (walk->metrics ? HAS_METRICS : 0);
    } else if (f->what == CAIRN_PEBS_CNTR_VALUE) {
        to = value(is, i - 2);
    } else if (!to) {
        to = numbered(is, f, i);
    }
    if (to)
        *to = f->value;
}

void as_cairn_reads(struct record *is, const struct cairn_record *record)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    memset(is, 0, sizeof *is);
    cairn_pebs_walk(&walk, record->format, record->at, record->size);
    while (cairn_pebs_next(&walk, &f))
        set(is, &walk, &f);
}
