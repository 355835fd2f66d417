/* SPDX-License-Identifier: MIT */
/* The interrupt of the PEBS threshold. */
#include "ds/probe/internal.h"

/* Many records, the threshold reached with the first. Returns the PMIs that have come. */
static uint32_t reach_threshold(struct ds_probe *p, bool masked)
{
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, p->record_bytes);
    ds_probe_count(p, &p->instructions, p->period, p->period);
    ds_probe_lvtpc(p, masked);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    return p->bench->interrupts(p->bench->context);
}

/* The threshold is reached while LVTPC is masked; then it is not masked any more, and counters are off. */
void ds_probe_masked_pmi(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint32_t open = reach_threshold(p, false), masked = reach_threshold(p, true);
    const uint64_t status = ds_probe_status(p);
    const unsigned records = ds_probe_records(p);
    ds_probe_lvtpc(p, false);
    const uint32_t late = p->bench->interrupts(p->bench->context);
    const char *answer = !open || !records ? "" : masked ? "delivered" : late ? "latched" : "lost";
    ds_probe_answer(r, answer,
                    "%u records, GLOBAL_STATUS 0x%lx; PMIs: masked %u, unmasked then %u, not masked at all %u", records,
                    (unsigned long)status, masked, late, open);
}

void ds_probe_self_mask(struct ds_probe *p, struct ds_probe_result *r)
{
    const struct ds_machine *m = p->bench->machine;
    const uint32_t pmis = reach_threshold(p, false), lvtpc = m->lvtpc_read(m->context);
    ds_probe_answer(r,
                    !pmis                  ? ""
                    : lvtpc & LVTPC_MASKED ? "yes"
                                           : "no",
                    "%u PMIs of %u records, then LVTPC is 0x%x", pmis, ds_probe_records(p), lvtpc);
}

/* The index stays where it is, above the threshold; everything else is as before the first PMI. */
void ds_probe_threshold_again(struct ds_probe *p, struct ds_probe_result *r)
{
    const uint32_t first = reach_threshold(p, false);
    const unsigned records = ds_probe_records(p);
    ds_probe_clear_status(p);
    ds_probe_lvtpc(p, false);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
    const uint32_t again = p->bench->interrupts(p->bench->context);
    const unsigned more = ds_probe_records(p) - records;
    ds_probe_answer(r,
                    !first || !more ? ""
                    : again         ? "yes"
                                    : "no",
                    "%u PMIs of the first %u records, %u of %u more", first, records, again, more);
}
