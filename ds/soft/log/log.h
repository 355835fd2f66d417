/* SPDX-License-Identifier: MIT */
/* The model's own log (option ds.log=1), built entry by entry. */
#pragma once

#include <stdint.h>

#include "ds/soft/soft.h"
#include "trace/wire/format.h"
#include "trace/wire/model_log.h"

/* Each counter overflows, is armed and reloaded; a record; its index compared; three PMIs of counters and threshold,
 * and one of BTS. */
#define DS_LOG_ACTIONS (3u * DS_MAX_COUNTERS + 2u + 4u)
_Static_assert(sizeof(struct perfinfo_trace_header) + sizeof(struct cairn_model_entry) +
                       DS_LOG_ACTIONS * sizeof(struct cairn_model_action) <=
                   CAIRN_EVENT_MAX,
               "an entry fits an event");

struct ds_log {
    uint32_t entries;               /* finished ones */
    bool record;                    /* the open one has a record */
    struct cairn_model_entry entry; /* the open one: none where its actions are 0 */
    struct cairn_model_action action[DS_LOG_ACTIONS];
};

/* From now on each step of the model is passed to hooks.logged, if there is one. `log` is zeroed, and stays. */
void ds_log_start(struct ds_soft *soft, struct ds_log *log);
