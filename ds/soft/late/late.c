/* SPDX-License-Identifier: MIT */
/* Policy residual: records that come late, with the truth of the step that they are of. */
#include "ds/soft/inside.h"

void ds_soft_remember(struct ds_soft *soft)
{
    const uint64_t tsc = soft->model.late.registers.tsc;
    if (!soft->model.policy.residual || tsc == soft->late.tsc)
        return;
    soft->late.step = soft->step; /* one still to come is of this step */
    soft->late.step.tid = soft->tid ? soft->tid(soft->step.frame) : 0;
    soft->late.frame = *soft->step.frame;
    soft->late.step.frame = &soft->late.frame;
    soft->late.tsc = tsc;
}

/* Time passes with each access, as far as the model has any. */
void ds_soft_late(struct ds_soft *soft)
{
    if (!soft->model.late.owed || soft->step.frame == &soft->late.frame) /* its truth is made of registers, too */
        return;
    const struct ds_soft_step step = soft->step;
    soft->step = soft->late.step;
    ds_model_late(&soft->model);
    soft->step = step;
}
