/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/zeros/silent.h"

#include <inttypes.h>

#include "ds/pebs23_layout.h"

#define UMASK UINT64_C(0xFF00)
#define EVENT (IA32_PERFEVTSEL_EVENT | UMASK | IA32_PERFEVTSEL_UMASK2 | IA32_PERFEVTSEL_CMASK)

static bool architectural(const struct ds_model *m)
{
    return m->preset->pebs23 != NULL;
}

/* Whether software has asked for records of it. */
static bool with_pebs(const struct ds_model *m, unsigned counter)
{
    return architectural(m) ? m->cfg_c[counter] & IA32_PMC_CFG_C_EN
                            : m->pebs_enable & m->preset->pebs_counters & DS_BIT(counter);
}

/* NULL: there is no room for another one. */
static struct qds_silent_counter *follow(struct qds_silent *s, const struct ds_model *m, unsigned counter)
{
    const uint64_t event = counter < DS_COUNTER_FIXED ? m->perfevtsel[counter] & EVENT : 0;
    for (unsigned i = 0; i < s->count; i++)
        if (s->followed[i].counter == counter && s->followed[i].event == event)
            return &s->followed[i];
    if (s->count == QDS_SILENT_MOST)
        return NULL;
    s->followed[s->count] = (struct qds_silent_counter){.counter = counter, .event = event};
    return &s->followed[s->count++];
}

void qds_silent_acted(struct qds_silent *s, const struct ds_model *m, const struct ds_model_action *action)
{
    if (action->kind != DS_MODEL_OVERFLOWED || !with_pebs(m, action->counter))
        return;
    struct qds_silent_counter *c = follow(s, m, action->counter);
    if (!c) {
        s->beyond++;
        return;
    }
    c->overflows++;
    if (m->unlisted & DS_BIT(action->counter))
        c->why[QDS_SILENT_UNLISTED]++;
    else if (!(m->pebs & DS_BIT(action->counter)))
        c->why[QDS_SILENT_DISABLED]++;
}

static void each(struct qds_silent *s, const struct ds_model *m, uint64_t counters, bool stored, unsigned why)
{
    for (; counters; counters &= counters - 1) {
        struct qds_silent_counter *c = follow(s, m, (unsigned)__builtin_ctzll(counters));
        if (c && stored)
            c->records++;
        else if (c)
            c->why[why]++;
    }
}

void qds_silent_recorded(struct qds_silent *s, const struct ds_model *m, const struct ds_model_record *record)
{
    each(s, m, record->counters, record->stored, QDS_SILENT_FULL);
    each(s, m, record->swallowed, false, QDS_SILENT_SWALLOWED);
}

void qds_silent_lost(struct qds_silent *s, const struct ds_model *m, uint64_t counters)
{
    each(s, m, counters, false, QDS_SILENT_UNMAPPED);
}

static const char *reason(const struct qds_silent_counter *c)
{
    static const char *const text[QDS_SILENT_REASONS] = {
        [QDS_SILENT_UNLISTED] = "PEBS does not record this event on this counter (policy.unlisted=)",
        [QDS_SILENT_DISABLED] = "IA32_PEBS_INDEX.EN was 0",
        [QDS_SILENT_FULL] = "the buffer was full",
        [QDS_SILENT_SWALLOWED] = "another counter's record reloaded it",
        [QDS_SILENT_UNMAPPED] = "DS memory was not mapped",
    };
    unsigned most = 0;
    for (unsigned i = 1; i < QDS_SILENT_REASONS; i++)
        most = c->why[i] > c->why[most] ? i : most;
    return c->why[most] ? text[most] : "the next event, which writes the record, did not come while PEBS was on";
}

void qds_silent_print(const struct qds_silent *s, unsigned vcpu, FILE *to)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct qds_silent_counter *c = &s->followed[i];
        if (c->records || !c->overflows)
            continue;
        fprintf(to, "qemu-ds: vCPU %u: ", vcpu);
        if (c->counter < DS_COUNTER_FIXED)
            fprintf(to, "PMC%u, event %02XH/%02XH", c->counter, (unsigned)(c->event & 0xFF),
                    (unsigned)(c->event >> 8 & 0xFF));
        else
            fprintf(to, "fixed counter %u", c->counter - DS_COUNTER_FIXED);
        if (c->event & IA32_PERFEVTSEL_UMASK2)
            fprintf(to, ", UMaskExt %02XH", (unsigned)(c->event >> 40 & 0xFF));
        if (c->event & IA32_PERFEVTSEL_CMASK)
            fprintf(to, ", CMASK %u", (unsigned)(c->event >> 24 & 0xFF));
        fprintf(to, ": %" PRIu64 " overflow%s with PEBS on, but no record: %s\n", c->overflows,
                c->overflows == 1 ? "" : "s", reason(c));
    }
    if (s->beyond)
        fprintf(to,
                "qemu-ds: vCPU %u: %" PRIu64 " overflows with PEBS on of more than %u counters and events: not "
                "followed\n",
                vcpu, s->beyond, QDS_SILENT_MOST);
}
