/* SPDX-License-Identifier: MIT */
/* What ds/driver/detect.c and ds/driver/errata.c share: the first finds what the processor has, the second knows its
 * errata. */
#pragma once

#include "ds/ds.h"

/* One more row of the detection table. */
struct ds_test *ds_caps_row(struct ds_caps *caps, const char *name, uint64_t value, bool ok, const char *verdict);

/* No PEBS, and why: the first reason stays. */
void ds_caps_refuse(struct ds_caps *caps, const char *why);

/* Fills caps->errata of the processor with CPUID.01H:EAX `signature`, a row each; some refuse PEBS. To be called when
 * record format and counters are known. Writes IA32_BIOS_SIGN_ID where the microcode's revision matters. */
void ds_find_errata(const struct ds_machine *machine, uint32_t signature, struct ds_caps *caps);

/* Where errata.counters_stuck applies, counters have to hold these for a moment, each of the first four its own, with
 * IA32_PERF_GLOBAL_CTRL on: IA32_PERFEVTSELx. (AAK100, AAP53, BD53; what Linux writes.) */
#define DS_STUCK_COUNTERS 4u
extern const uint32_t ds_stuck_counters[DS_STUCK_COUNTERS];

/* A row that says whether there is a hypervisor; where there is one, who it is, and whether the registers do what CPUID
 * says: takes PEBS or BTS out of `caps` where they do not, sets no_load_latency and no_frontend. To be called last. */
void ds_find_hypervisor(const struct ds_machine *machine, bool present, struct ds_caps *caps);

/* Fills caps->counters_in_use, area_in_use and in_use, a row each (ds/driver/in_use.c). To be called when the counters
 * are known. */
void ds_find_users(const struct ds_machine *machine, struct ds_caps *caps);
