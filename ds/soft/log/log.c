/* SPDX-License-Identifier: MIT */
#include "ds/soft/log/log.h"
#include "arch/arch.h"
#include "ds/driver/driver.h"
#include "ds/soft/inside.h"
#include "kernel/lib/string.h"

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

static void acted(void *context, const struct ds_model_action *a)
{
    struct ds_soft *soft = context;
    struct ds_log *log = soft->log;
    if (!soft->ds || !soft->ds->hooks.logged)
        return;
    log->record |= a->kind == DS_MODEL_STORED || a->kind == DS_MODEL_DROPPED;
    log->action[log->entry.actions++] = (struct cairn_model_action){
        .kind = a->kind,
        .counter = a->counter,
        .counters = cairn_counters_pack(a->counters),
        .before = a->before,
        .after = a->after,
    };
}

/* Hands over the open entry, if it has actions. */
void ds_soft_acted(struct ds_soft *soft, unsigned length)
{
    struct ds_log *log = soft->log;
    if (!log || !log->entry.actions)
        return;
    const struct ds_cpu *ds = soft->ds;
    struct cairn_model_entry *e = &log->entry;
    e->sequence = log->entries++;
    e->epoch = ds->epoch;
    e->tsc = log->record ? soft->record_tsc : arch_rdtsc();
    if (length) {
        e->ip = soft->step.ip;
        e->next_ip = soft->step.next;
        e->tid = soft->tid(soft->step.frame);
        e->cpl = soft->cpl;
        if (!soft->cpl)
            memcpy(e->code, (const void *)(uintptr_t)e->ip, length);
        if (!soft->cpl || arch_copy_from_user(e->code, e->ip, length) == 0)
            e->length = (uint8_t)length;
    }
    ds->hooks.logged(ds->hooks.context, ds->cpu, e, log->action);
    log->entry = (struct cairn_model_entry){0};
    log->record = false;
}

void ds_log_start(struct ds_soft *soft, struct ds_log *log)
{
    soft->log = log;
    soft->model.host.acted = acted;
}
