/* SPDX-License-Identifier: MIT */
/* The BTS buffer when it reaches its threshold and when it is full. */
#include "ds/probe/internal.h"

#define RECORD ((uint32_t)sizeof(struct ds_bts_record))
#define FEW    32u /* records: fewer than there are jumps, more than branches around them */
#define BTS_ON (IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS)

static const struct ds_bts_record *records(const struct ds_probe *p)
{
    return (const struct ds_bts_record *)p->bench->buffer;
}

/* How many of the first `count` records are of the jumps from `first` on. */
static unsigned jumps(const struct ds_probe *p, unsigned count, unsigned first)
{
    const struct ds_probe_sled *sled = &p->bench->sled[DS_PROBE_JUMPS];
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t offset = records(p)[i].from - sled->start;
        n += offset < (uint64_t)sled->count * sled->bytes && offset / sled->bytes >= first;
    }
    return n;
}

/* More branches than fit, the threshold out of reach. */
static void overfill(struct ds_probe *p, struct ds_probe_result *r, uint64_t debugctl)
{
    ds_probe_reset(p);
    ds_probe_bts_buffer(p, FEW * RECORD + 1, DS_PROBE_NEVER);
    ds_probe_run(p, DS_PROBE_JUMPS, debugctl);
    const uint64_t index = ds_probe_bts_index(p);
    const unsigned all = jumps(p, FEW, 0), last = jumps(p, FEW, FEW + FEW / 2);
    const char *answer = index > (FEW + 1) * RECORD ? "beyond" /* the maximum */
                         : last                     ? "wrap"
                         : all                      ? "stop"
                                                    : "";
    ds_probe_answer(r, answer, "%u jumps into %u records: index at record %lu, %u of jumps, %u of the last 16 jumps",
                    DS_PROBE_JUMPS_COUNT, FEW, (unsigned long)(index / RECORD), all, last);
}

/* With BTINT software is to empty the buffer, and nobody does. */
void ds_probe_bts_full(struct ds_probe *p, struct ds_probe_result *r)
{
    overfill(p, r, BTS_ON | IA32_DEBUGCTL_BTINT);
}

void ds_probe_bts_circular(struct ds_probe *p, struct ds_probe_result *r)
{
    overfill(p, r, BTS_ON);
}

/* Branches up to the threshold and beyond. Returns the PMIs that have come; *status: as it is before them. */
static uint32_t reach_threshold(struct ds_probe *p, uint64_t debugctl, uint64_t *status)
{
    ds_probe_reset(p);
    ds_probe_bts_buffer(p, 4 * FEW * RECORD + 1, FEW * RECORD);
    ds_probe_lvtpc(p, false);
    ds_probe_run(p, DS_PROBE_JUMPS, debugctl);
    *status = p->caps->perfmon_version >= 2 ? ds_probe_status(p) : 0;
    return p->bench->interrupts(p->bench->context);
}

static unsigned long records_up_to_index(const struct ds_probe *p)
{
    return (unsigned long)(ds_probe_bts_index(p) / RECORD);
}

void ds_probe_bts_ovf_buf(struct ds_probe *p, struct ds_probe_result *r)
{
    uint64_t status;
    if (p->caps->perfmon_version < 2) {
        ds_probe_unknown(r, "no IA32_PERF_GLOBAL_STATUS");
        return;
    }
    const uint32_t pmis = reach_threshold(p, BTS_ON | IA32_DEBUGCTL_BTINT, &status);
    const char *answer = records_up_to_index(p) < FEW ? "" : status & IA32_PERF_GLOBAL_STATUS_OVF_BUF ? "yes" : "no";
    ds_probe_answer(r, answer, "threshold at record %u, index at record %lu: GLOBAL_STATUS 0x%lx, %u PMIs", FEW,
                    records_up_to_index(p), (unsigned long)status, pmis);
}

void ds_probe_bts_circular_pmi(struct ds_probe *p, struct ds_probe_result *r)
{
    uint64_t status;
    const uint32_t pmis = reach_threshold(p, BTS_ON, &status);
    ds_probe_answer(r,
                    records_up_to_index(p) < FEW ? ""
                    : pmis                       ? "yes"
                                                 : "no",
                    "threshold at record %u, index at record %lu: GLOBAL_STATUS 0x%lx, %u PMIs", FEW,
                    records_up_to_index(p), (unsigned long)status, pmis);
}
