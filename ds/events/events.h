/* SPDX-License-Identifier: MIT */
/* Processors in Intel's lists of events. tools/events.py makes the table from ds/events/cores.tsv. */
#pragma once

#include "ds/event_data.h"
#include "ds/generation.h"

struct ds_core_data { /* a model of processors, and of hybrids one of its kinds of core; family 0 ends the table */
    uint8_t family, model;
    uint8_t core_type;         /* CPUID.1AH:EAX[31:24]; 0: any */
    uint32_t native_model;     /* CPUID.1AH:EAX[23:0]; 0: any */
    uint8_t generation;        /* enum ds_generation */
    const char *const *errata; /* of each kind of event, as in "MTL012,MTL013", or NULL; NULL: of none */
};
extern const struct ds_core_data ds_core_data[];

/* Whether no other event may be counted at the same time, not even by the core's other thread. ds_cpu_init refuses
 * other PEBS events; the user must take care of Hyper-Threading. */
bool ds_event_alone(const struct ds_caps *caps, const struct ds_event *event);

/* From family, model and core type: CPUID.01H:EAX, and EAX of CPUID.1AH or 0. */
enum ds_generation ds_generation(uint32_t signature, uint32_t core_type);
const char *ds_generation_text(enum ds_generation generation);
