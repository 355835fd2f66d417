/* SPDX-License-Identifier: MIT */
#include "ds/soft/model_log.h"
#include "trace/wire/model_log.h"

/* The same words on both sides: the model knows nothing of the trace. */
_Static_assert((int)DS_MODEL_OVERFLOWED == (int)CAIRN_MODEL_OVERFLOWED, "model's log");
_Static_assert((int)DS_MODEL_ARMED == (int)CAIRN_MODEL_ARMED, "model's log");
_Static_assert((int)DS_MODEL_STORED == (int)CAIRN_MODEL_STORED, "model's log");
_Static_assert((int)DS_MODEL_DROPPED == (int)CAIRN_MODEL_DROPPED, "model's log");
_Static_assert((int)DS_MODEL_RELOADED == (int)CAIRN_MODEL_RELOADED, "model's log");
_Static_assert((int)DS_MODEL_COMPARED == (int)CAIRN_MODEL_COMPARED, "model's log");
_Static_assert((int)DS_MODEL_PMI_RAISED == (int)CAIRN_MODEL_PMI_RAISED, "model's log");
_Static_assert((int)DS_MODEL_PMI_LATCHED == (int)CAIRN_MODEL_PMI_LATCHED, "model's log");
_Static_assert((int)DS_MODEL_PMI_LOST == (int)CAIRN_MODEL_PMI_LOST, "model's log");

void ds_log_add(struct ds_log *log, const struct ds_model_action *a)
{
    log->record |= a->kind == DS_MODEL_STORED || a->kind == DS_MODEL_DROPPED;
    log->action[log->entry.actions++] = (struct cairn_model_action){
        .kind = a->kind,
        .counter = a->counter,
        .counters = cairn_counters_pack(a->counters),
        .before = a->before,
        .after = a->after,
    };
}
