/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/settle.h"

#include "tools/qemu-ds/retire/need.h"
#include "tools/qemu-ds/retire/retire.h"
#include "tools/qemu-ds/run/special.h"

/* Whether all blocks of the ring are due: something is to be settled, or all goes through the model. */
static bool forced(const struct qds_vcpu *v, unsigned ring)
{
    return v->step.on || v->entered.on || v->leave || v->through[ring] >= QDS_THROUGH_BRANCHES ||
           (ds_model_pmi_waits(&v->model) && !ring);
}

void qds_settle_arm(struct qds_vcpu *v)
{
    qds_counting_arm(&v->counting, &v->model);
    for (unsigned ring = 0; ring < 2; ring++)
        if (forced(v, ring))
            qds_counting_force(&v->counting, ring);
}

/* Gives the model the noted branches. Older ones are overwritten, but each adds an entry all the same: the entries'
 * number decides where the model's ring goes on. */
static void remember(struct qds_vcpu *v)
{
    for (uint32_t i = 0; i < v->history.noted; i++) {
        const struct qds_noted *n = &v->history.of[i % DS_MODEL_LBR_DEPTH];
        const struct ds_model_branch branch = {.from = n->from, .to = n->to, .type = n->type, .cpl = n->cpl};
        ds_model_remember_branch(&v->model, &branch, n->from_cpl);
    }
    v->history.noted = 0;
}

void qds_settle_sync(struct qds_vcpu *v)
{
    remember(v);
    qds_counting_sync(&v->counting, &v->model);
}

void qds_settle_note(struct qds_vcpu *v, uint64_t rip, unsigned cpl)
{
    const struct qds_block *b = v->history.block;
    v->history.block = NULL;
    if (!b->branches || !(v->noted[cpl != 0] >> b->branch_type & 1))
        return;
    const struct qds_block_insn *last = &b->insns[b->length - 1];
    const uint64_t from = v->history.rip + last->offset;
    if (last->insn.direct && rip != from + last->insn.length + (uint64_t)(int64_t)last->insn.displacement)
        return;
    if (v->history.noted == 2 * DS_MODEL_LBR_DEPTH) /* both rings go on where they are */
        v->history.noted = DS_MODEL_LBR_DEPTH;
    v->history.of[v->history.noted++ % DS_MODEL_LBR_DEPTH] =
        (struct qds_noted){from, rip, b->branch_type, b->ring ? 3 : 0, (uint8_t)cpl};
}

void qds_settle_forget(struct qds_vcpu *v, const struct qds_block *b)
{
    if (v->history.block == b)
        v->history.block = NULL;
}

void qds_settle_hold(struct qds_vcpu *v)
{
    if (v->model.preset->memory)
        qds_counting_hold(&v->counting, v->step.cpl, &v->step.amounts);
}

void qds_settle(struct qds_vcpu *v, uint64_t rip)
{
    if (v->patch.kind)
        qds_patch(v);
    if (v->history.block)
        qds_settle_note(v, rip, qds_cpl_before_delivery(v));
    if (v->step.on) {
        qds_settle_sync(v);
        v->step.on = false;
        if (!qds_retire_step(v, rip))
            qds_settle_hold(v);
        if (v->leave) /* a PMI, which may freeze */
            qds_need_follow(v);
        qds_settle_arm(v);
    }
    if (v->entered.on && rip != v->entered.from) {
        qds_settle_sync(v);
        v->entered.on = false;
        qds_enter(v, rip);
        qds_settle_arm(v);
    }
}
