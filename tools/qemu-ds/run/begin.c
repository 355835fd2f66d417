/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/begin.h"

#include <stdlib.h>
#include <string.h>

#include "tools/qemu-ds/cpuid/tsc.h"
#include "tools/qemu-ds/qemu/end.h"
#include "tools/qemu-ds/retire/host.h"
#include "tools/qemu-ds/retire/need.h"
#include "tools/qemu-ds/retire/truth.h"
#include "tools/qemu-ds/run/accesses.h"

void qds_begin_anew(struct qds_vcpu *v)
{
    const struct ds_model model = v->model;
    ds_model_init(&v->model, model.preset, &model.policy, &model.host);
    v->model.records = model.records;
    v->model.dropped = model.dropped;
    v->model.lost = model.lost;
    v->model.bts_records = model.bts_records;
    v->model.bts_dropped = model.bts_dropped;
    v->model.bts_lost = model.bts_lost;
    v->step.on = v->entered.on = v->leave = v->fault.on = false;
    v->exception.raised = 0;
    v->stepped.on = v->stepped.tf = false;
    v->counted.from = v->counted.to = NULL;
    v->history.block = NULL;
    v->history.noted = 0;
    qds_need_follow(v);
    v->patch.kind = QDS_PATCH_NONE;
    memset(v->pages, 0, sizeof v->pages);
    v->board->patch = v->board->block = 0;
    qds_accesses_reset(v->index);
    qds_counting_arm(&v->counting, &v->model);
}

bool qds_begin(unsigned index, const struct ds_model_preset *preset, const struct ds_model_policy *policy)
{
    struct qds_vcpu *v = qds_vcpus[index];
    const bool plugged_again = v;
    if (!v && !(v = calloc(1, sizeof *v)))
        qds_out_of_memory();
    v->index = index;
    v->fresh = true;
    const bool found = qds_vcpu_attach(v);
    if (plugged_again) {
        v->env = NULL;
        v->env_looked_for = false;
        qds_begin_anew(v);
    } else {
        const struct ds_model_host host = qds_host(v);
        ds_model_init(&v->model, preset, policy, &host);
        v->counting.always = qds_truth_counts();
        v->counting.tsc = preset->reference ? qds_tsc_now : NULL;
        qds_counting_arm(&v->counting, &v->model);
    }
    qds_vcpus[index] = v;
    return found;
}
