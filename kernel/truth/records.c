/* SPDX-License-Identifier: MIT */
/* The truth of PEBS records and branches, from the steps of the Debug Store's soft backend. */
#include "ds/ds.h"
#include "ds/truth/truth.h"
#include "kernel/truth/truth.h"

static void recorded(void *context, uint32_t cpu, struct ds_cpu *ds, const struct ds_soft_step *step,
                     const struct ds_model_record *record)
{
    uint8_t truth[DS_TRUTH_RECORDS_MAX][CAIRN_TRUTH_BYTES];
    (void)context;
    const uint32_t count = ktruth_kept ? ds_truth_make(truth, ds, step, record) : 0;
    for (uint32_t i = 0; i < count; i++)
        ktruth_write(cpu, truth[i]);
}

static void branched(void *context, uint32_t cpu, struct ds_cpu *ds, const struct ds_soft_step *step,
                     const struct ds_model_branch *branch, bool stored)
{
    struct cairn_truth_branch truth;
    (void)context;
    if (!ktruth_kept)
        return;
    ds_truth_make_branch(&truth, ds, step, branch, stored);
    ktruth_write(cpu, &truth);
}

static void retired(void *context, uint32_t cpu, bool branch)
{
    (void)context;
    ktruth_retired(cpu, branch);
}

void ktruth_hooks(struct ds_hooks *hooks)
{
    hooks->recorded = recorded;
    hooks->branched = branched;
    hooks->retired = retired;
}
