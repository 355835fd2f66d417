/* SPDX-License-Identifier: MIT */
/*
 * The processors that the model can be: those whose rows are linked. This file has the default one, and the codes of
 * its events.
 *
 * Sources: SDM vol. 3B, the chapters on each microarchitecture, for counters and formats; Linux'
 * arch/x86/events/intel/{ds,core}.c, and what Linux prints when it boots there, for precise distribution and for the
 * format of each processor.
 */
#include "ds/model/presets.h"
#include "ds/ds.h"
#include "ds/model/internal.h"
#include "kernel/lib/string.h"

/* SDM vol. 3B, "Pre-defined Architectural Performance Events". */
static const struct ds_model_event_code architectural[] = {
    {0x00C0, DS_MODEL_INSTRUCTION, 0},
    {0x003C, DS_MODEL_INSTRUCTION, 0}, /* UnHalted Core Cycles: one an instruction, see model.h */
    {0x013C, DS_MODEL_INSTRUCTION, 0}, /* UnHalted Reference Cycles */
    {0x00C4, DS_MODEL_BRANCH, 0},
    {0},
};

/* What this and the other tables have of Intel's lists: docs/reference/events.md says how sure each rule is.
 * Micro-operations that retire, and the slots they take, are by convention one an instruction. */
static const struct ds_model_event_code icelake[] = {
    {0x81D0, DS_MODEL_LOAD_OR_PREFETCH, 0},
    {0x82D0, DS_MODEL_STORE, 0},
    {0x02C2, DS_MODEL_INSTRUCTION, 0},        /* UOPS_RETIRED.SLOTS */
    {0x01C4, DS_MODEL_CONDITIONAL_TAKEN, 0},  /* BR_INST_RETIRED.COND_TAKEN */
    {0x11C4, DS_MODEL_BRANCH_CONDITIONAL, 0}, /* BR_INST_RETIRED.COND */
    BRANCHES,
    {0},
};

static const struct ds_model_preset icelake_preset = {
    .name = "icelake",
    .generation = DS_GENERATION_ICELAKE,
    .signature = 0x000706E5,
    SINCE_ICELAKE(8),
    .perfmon_version = 5,
    .slots = 5,
    .format = 4,
    .baseline = true,
    .pdist = FIXED(1),
    .data_cfg = MSR_PEBS_DATA_CFG_VALID,
    .lbr_format = LBR_FMT_INFO,
    .lbr_depth = 32,
    LBR_SKYLAKE,
    .events = icelake,
};
ROWS_ADD(ds_model_preset, icelake_preset);

/* The key by which presets are sorted: the linker keeps no order. No two are equal. */
static uint64_t order(const struct ds_model_preset *p)
{
    return (uint64_t)p->generation << 40 | (uint64_t)p->format << 32 | p->signature;
}

const struct ds_model_preset *ds_model_preset_after(const struct ds_model_preset *before)
{
    const struct ds_model_preset *next = NULL, *const * row;
    for (ROWS_EACH(ds_model_preset, row))
        if ((!before || order(*row) > order(before)) && (!next || order(*row) < order(next)))
            next = *row;
    return next;
}

const struct ds_model_preset *ds_model_preset(const char *name)
{
    const struct ds_model_preset *p = NULL;
    while ((p = ds_model_preset_after(p)))
        if (strcmp(p->name, name) == 0)
            break;
    return p;
}

const struct ds_model_event_code *ds_model_event_code(const struct ds_model_preset *preset, uint64_t code)
{
    const struct ds_model_memory *memory = preset->memory;
    const struct ds_model_event_code *const tables[] = {
        architectural, preset->events, ds_model_slots_codes ? ds_model_slots_codes(preset) : NULL,
        memory ? memory->common : NULL, memory ? memory->codes(preset) : NULL};
    for (size_t t = memory ? 5 : 3; t-- > 0;)
        for (const struct ds_model_event_code *e = tables[t]; e && e->code; e++)
            if (e->code == code)
                return e;
    return NULL;
}
