/* SPDX-License-Identifier: MIT */
/* The model's own log (option ds.log=1), built entry by entry; private to ds/. */
#pragma once

#include <stdint.h>

#include "ds/model/model.h"
#include "trace/wire/format.h"
#include "trace/wire/model_log.h"

/* Each counter overflows, is armed and reloaded; a record; its index compared; three PMIs of counters and threshold,
 * and one of BTS. */
#define DS_LOG_ACTIONS (3u * (DS_MODEL_GP_MAX + 4u) + 2u + 4u)
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

/* What the model has just done goes into the open entry. */
void ds_log_add(struct ds_log *log, const struct ds_model_action *action);
