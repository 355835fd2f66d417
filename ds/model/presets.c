/* SPDX-License-Identifier: MIT */
/* The processors the model can be. Counters and formats: SDM vol. 3B and the chapters on each microarchitecture. */
#include "ds/model/model.h"

#include "kernel/string.h"

#define GP(n)    (DS_BIT(n) - 1)
#define FIXED(n) ((DS_BIT(n) - 1) << DS_COUNTER_FIXED)

static const struct ds_model_preset presets[] = {
    {
        .name = "skylake", /* with Hyper-Threading: 4 of the 8 GP counters each */
        .signature = 0x000506E3,
        .perfmon_version = 4,
        .gp_counters = 4,
        .fixed_counters = 3,
        .width = 48,
        .format = 3,
        .full_width_writes = true,
        .pebs_counters = GP(4), /* bits 32 to 35 are load latency here, which the model has not */
    },
    {
        .name = "icelake",
        .signature = 0x000706E5,
        .perfmon_version = 5,
        .gp_counters = 8,
        .fixed_counters = 4,
        .width = 48,
        .format = 4,
        .baseline = true,
        .full_width_writes = true,
        .pebs_counters = GP(8) | FIXED(4),
        .data_cfg = MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_GPR,
    },
};

const struct ds_model_preset *ds_model_preset(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}
