/* SPDX-License-Identifier: MIT */
/* RDPMC, which the kernel never executes. */
#include "ds/model/internal.h"
#include "kernel/lib/errno.h"

int ds_model_rdpmc(const struct ds_model *m, uint32_t index, uint64_t *value)
{
    const struct ds_model_preset *p = m->preset;
    if (index < p->gp_counters)
        *value = m->value[index];
    else if (index >= RDPMC_FIXED && ds_model_has_fixed(p, index - RDPMC_FIXED))
        *value = m->value[ds_counter_fixed(index - RDPMC_FIXED)];
    else if (index == RDPMC_METRICS && ds_model_has_metrics(p))
        *value = ds_model_metrics(m);
    else
        return -EFAULT;
    return 0;
}
