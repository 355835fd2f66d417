/* SPDX-License-Identifier: MIT */
/* Architectural PEBS, that of CPUID leaf 23H: what the files of this folder share. */
#pragma once

#include "ds/driver/mechanism.h"
#include "ds/pebs23_layout.h"

struct ds_pebs23 { /* of one CPU */
    struct ds_cpu cpu;
    struct ds_arch_registers registers; /* as they have been set; `index` as it was read last */
    uint32_t buffer_bytes;              /* of the whole buffer: what IA32_PEBS_BASE says */
    uint32_t thresh;                    /* in bytes */
    bool stale;                         /* IA32_PEBS_INDEX could not be read: `index` is older */
    bool final;                         /* ds_refresh_index_panic: as `index` is, it stays */
    uint64_t position;                  /* what ds_pebs_index points to */
};

static inline uint32_t ds_pebs23_cfg_c(unsigned counter)
{
    return ds_arch_msr(counter, IA32_PMC_GP0_CFG_C, IA32_PMC_FX0_CFG_C);
}

/* Detection: ds/pebs23/detect.c. */
void ds_pebs23_find_store(struct ds_detection *d);
void ds_pebs23_find(struct ds_detection *d);
void ds_pebs23_find_users(const struct ds_machine *m, const struct ds_caps *caps, struct ds_users *users);
/* The plan: ds/pebs23/plan.c. */
uint64_t ds_pebs23_groups(const struct ds_caps *caps, const struct ds_config *config);
uint32_t ds_pebs23_record_size(const struct ds_caps *caps, const struct ds_config *config);
int ds_pebs23_plan_groups(const struct ds_cpu *ds, char *error, size_t size);
int ds_pebs23_plan(struct ds_cpu *ds, char *error, size_t size);
/* CFG_C of a counter, among the registers that are planned; and the value that reloads it. */
uint64_t *ds_pebs23_planned(struct ds_pebs23 *p, unsigned counter);
void ds_pebs23_set_reload(struct ds_pebs23 *p, const struct ds_counter *counter);
