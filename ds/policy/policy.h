/* SPDX-License-Identifier: MIT */
/* What no source says of the processor: questions, with the answers that the model can be set to (option
 * ds.policy.NAME) and that the probe looks for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* when a record fits under the absolute maximum: the manual's two wordings allow three readings */
enum ds_model_fit {
    DS_MODEL_END_LE,   /* index + size <= maximum */
    DS_MODEL_END_LT,   /* index + size < maximum */
    DS_MODEL_START_LT, /* index < maximum */
};

/* Events that Intel's lists do not name for PEBS, and listed ones on counters that the lists do not name for them. If
 * PEBS does not record an event, its counter runs as without PEBS (ds/model/events/listed.c). */
enum ds_model_unlisted {
    DS_MODEL_UNLISTED_BY_GENERATION, /* before Sandy Bridge what Linux takes is recorded; from there on every event, but
                                      * listed ones on the counters of the lists alone */
    DS_MODEL_UNLISTED_NONE,          /* before Ice Lake only what Intel's lists or Linux name is recorded */
    DS_MODEL_UNLISTED_RECORD,        /* all is recorded, on each counter */
};

/* All zero is the default. Every field is one byte and has a row in ds_model_policies. */
struct ds_model_policy {
    uint8_t fit;              /* enum ds_model_fit */
    bool drop_keeps_overflow; /* a dropped record leaves its counter overflowed and armed; else it is reloaded */
    bool bts_full_wraps;      /* BTINT=1 and the BTS buffer full: goes on at its base; else it stops */
    bool bts_sets_ovf_buf;    /* the BTS threshold sets GLOBAL_STATUS.OVF_BUF, too */
    bool masked_pmi_lost;     /* a PMI raised while LVTPC is masked is lost, so each record at or beyond its threshold
                               * raises one; else it comes at unmasking, if what GLOBAL_STATUS says has not been
                               * acknowledged by then, and a threshold whose bit is set raises no other */
    bool bystander_swapped;   /* an armed counter whose event this is not: formats 0-2 reload it with the others, 3 and
                               * up leave it alone; true: the other way round */
    bool pdist_minimum;       /* PDIST counters reload nothing closer to overflow than 128 */
    bool reserved_ignored;    /* writes of reserved bits are dropped, not #GP (as QEMU's TCG does) */
    uint8_t residual;         /* records still to come when counters with PEBS are turned off, see ds_model_late */
    bool unmapped_page_fault; /* DS memory that is not there: #PF by host.page_fault, and the counters stay armed; else,
                               * and always where it is physical memory, -EFAULT, and the record is lost and they are
                               * disarmed */
    uint8_t unlisted;         /* enum ds_model_unlisted */

    /* architectural PEBS, ds/model/pebs23 */
    bool arch_threshold_gt;  /* IA32_PEBS_INDEX has to pass the threshold; else to reach it */
    bool arch_full_disables; /* a record that finds no room clears IA32_PEBS_INDEX.EN, too; else it only sets FULL */
    bool arch_base_aligned;  /* IA32_PEBS_BASE is a multiple of the buffer's size, or #GP; else of a page */
    bool arch_size_wide;     /* IA32_PEBS_BASE.SIZE is [11:0]; else [3:0] */
    bool arch_padding_apart; /* a record's size does not count its padding; else it does */
    uint8_t arch_overflow;   /* enum ds_model_arch_overflow */
    bool arch_sets_ovf_buf;  /* the threshold sets GLOBAL_STATUS.OVF_BUF beside bit 54 */
    uint8_t arch_fragments;  /* enum ds_model_arch_fragments */
    bool arch_record_each;   /* counters that cause a record at one instruction write one each; else one for all */
};

/* What the overflow of a counter with PEBS does to its own bit of IA32_PERF_GLOBAL_STATUS. */
enum ds_model_arch_overflow {
    DS_MODEL_ARCH_CLEARED, /* sets it; its record clears it */
    DS_MODEL_ARCH_NEVER,   /* nothing */
    DS_MODEL_ARCH_STAYS,   /* sets it; software clears it */
};

enum ds_model_arch_fragments {
    DS_MODEL_ARCH_WHOLE,
    DS_MODEL_ARCH_CONT, /* a fragment for each group; those with one behind them have CONT */
    DS_MODEL_ARCH_NULL, /* likewise, and the first has a null header before it */
};

/* What `policy` answers to the question of this name; NULL: there is no such question. In ds/policy/table. */
const char *ds_model_policy_named(const struct ds_model_policy *policy, const char *name) __attribute__((weak));
