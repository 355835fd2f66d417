/* SPDX-License-Identifier: MIT */
/*
 * Counters that have overflowed with PEBS on and recorded nothing. A guest cannot tell this from an event that did not
 * occur: `perf record` exits with status 0 and no samples.
 */
#pragma once

#include <stdio.h>

#include "ds/model/model.h"

#define QDS_SILENT_MOST 24u /* counters and events of a vCPU; those that come later are not followed, but counted */

enum qds_silent_reason {
    QDS_SILENT_UNLISTED,  /* PEBS does not record the event on this counter */
    QDS_SILENT_DISABLED,  /* IA32_PEBS_INDEX.EN was 0 */
    QDS_SILENT_FULL,      /* the buffer had no room */
    QDS_SILENT_SWALLOWED, /* another counter's record reloaded it */
    QDS_SILENT_UNMAPPED,  /* the memory of its record was not there */
    QDS_SILENT_REASONS
};

struct qds_silent {
    struct qds_silent_counter {
        unsigned counter; /* as GLOBAL_STATUS numbers them */
        uint64_t event;   /* of IA32_PERFEVTSELx: event, unit masks and CMASK; 0: a fixed counter */
        uint64_t overflows, records, why[QDS_SILENT_REASONS];
    } followed[QDS_SILENT_MOST];
    unsigned count;
    uint64_t beyond; /* overflows of those that are not followed */
};

/* For the model's host.acted, host.recorded and host.lost: what `action`, `record` or a loss means for them. */
void qds_silent_acted(struct qds_silent *s, const struct ds_model *m, const struct ds_model_action *action);
void qds_silent_recorded(struct qds_silent *s, const struct ds_model *m, const struct ds_model_record *record);
void qds_silent_lost(struct qds_silent *s, const struct ds_model *m, uint64_t counters);

/* A line for each that has no record; nothing if all have some. */
void qds_silent_print(const struct qds_silent *s, unsigned vcpu, FILE *to);
