/* SPDX-License-Identifier: MIT */
/* PMC items: counter values, their names, and what a thread has counted from one context switch to the next. */
#pragma once

#include "tools/cairn/log/activity.h"
#include "tools/cairn/model/switches.h"

#define CAIRN_PMC_MAX 7u /* the header has three bits */

struct cairn_pmc_names { /* from the session's 0F30H */
    unsigned count;      /* 0: there is none */
    char name[CAIRN_PMC_MAX][64];
};
void cairn_pmc_names(struct cairn_pmc_names *names, const struct cairn_log *log);

struct cairn_pmcs {
    unsigned count;
    uint64_t value[CAIRN_PMC_MAX];
};
/* The items of an event, whatever its hook is; `count` 0: it carries none. */
void cairn_pmcs_of(struct cairn_pmcs *pmcs, const struct cairn_event *event);
/* What each counter has gained since the CPU's switch before, whose values are in `last`; these become `sw`'s. False:
 * it has no items, or that one is not known. */
bool cairn_pmcs_gained(struct cairn_pmcs *gained, struct cairn_pmcs *last, const struct cairn_switch *sw);
