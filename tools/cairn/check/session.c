/* SPDX-License-Identifier: MIT */
/* When the session ran on each CPU, and what it had to write, by its own events (CA10H) and by the truth. Within a life
 * the trace has every switch that the session's masks ask for (truth.c), outside its lives none. */
#include <inttypes.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/check/check.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/told.h"

#define FAIL(l, time, ...) cairn_fail((l)->check, CAIRN_RULE_SESSION, (int)(l)->n, time, __VA_ARGS__)

static const char *const what_text[] = {
    [CAIRN_SESSION_START] = "start", [CAIRN_SESSION_STOP] = "stop", [CAIRN_SESSION_MASKS] = "change of masks"};

static void not_running(struct cairn_running *l, const int64_t *time, uint16_t hook)
{
    FAIL(l, time, "an event %04XH while the session did not run", hook);
}

static void told(struct cairn_running *l, const struct cairn_session_event *a, int64_t time)
{
    bool starts = a->what == CAIRN_SESSION_START;
    l->check->compared[CAIRN_RULE_SESSION]++;
    if (a->what < CAIRN_SESSION_START || a->what > CAIRN_SESSION_MASKS) { /* the file is another than was indexed */
        FAIL(l, &time, "it is not a start, stop or change, but kind %u", a->what);
        return;
    }
    if (l->late)
        not_running(l, &l->late_time, l->late);
    l->late = 0;
    if (!l->unknown && starts == l->runs)
        FAIL(l, &time, "a %s of the session, although it %s", what_text[a->what],
             l->runs ? "already ran" : "did not run");
    uint32_t life = l->began && starts ? l->life + 1 : l->began ? l->life : 0;
    if (!l->unknown && a->life != life)
        FAIL(l, &time, "its life is %" PRIu32 ", but %" PRIu32 " was expected", a->life, life);
    if (!l->unknown && a->what == CAIRN_SESSION_STOP && memcmp(&l->masks, a->masks, sizeof(l->masks)) != 0)
        FAIL(l, &time, "it stops with masks that it did not have");
    if (!l->unknown && a->what == CAIRN_SESSION_STOP && l->stamps != a->stamps)
        FAIL(l, &time, "it stops with a stamp setting that it did not have");
    l->runs = a->what != CAIRN_SESSION_STOP;
    l->began = true;
    l->life = a->life;
    memcpy(&l->masks, a->masks, sizeof(l->masks));
    l->stamps = a->stamps;
    l->unknown = false;
}

void cairn_running_event(struct cairn_running *l, const struct cairn_event *e)
{
    struct cairn_session_event a;
    if (!l->check->log->session.lives)
        return;
    if (e->hook == HOOK_CAIRN_SESSION) {
        memcpy(&a, e->payload, sizeof(a));
        if (a.clock != l->check->log->session.clock.type && l->check->log->session.known)
            FAIL(l, &e->time, "it names clock type %u, which is not the session's", a.clock);
        if (a.session == l->check->log->number) {
            told(l, &a, e->time);
            return;
        }
    }
    if (l->unknown)
        return;
    l->check->compared[CAIRN_RULE_SESSION]++;
    if (!l->runs && l->began && l->check->log->panic) { /* it may have stopped the CPU where that had told of the end */
        l->late = e->hook;
        l->late_time = e->time;
    } else if (!l->runs)
        not_running(l, &e->time, e->hook);
    else if ((e->hook == HOOK_CONTEXTSWAP_BATCH && !trace_group_compact(&l->masks)) ||
             (e->hook == HOOK_CONTEXTSWAP && !trace_group_full(&l->masks)))
        FAIL(l, &e->time, "an event %04XH that its masks do not ask for", e->hook);
    else if (!trace_group_on(&l->masks, cairn_told_group(e->hook)))
        FAIL(l, &e->time, "an event %04XH of a group its masks do not have", e->hook);
}

/* Behind a hole the session may be anything, but where it is only that it did not run. */
void cairn_running_hole(struct cairn_running *l, const struct cairn_hole *hole)
{
    if (hole->kind != CAIRN_HOLE_STOPPED)
        l->unknown = true;
}

void cairn_running_end(struct cairn_running *l)
{
    const struct cairn_log *log = l->check->log;
    const struct cairn_cpu *cpu = &log->cpu[l->n];
    if (!log->session.lives || l->unknown || !l->check->whole || !cpu->end.lives_known)
        return;
    l->check->compared[CAIRN_RULE_SESSION]++;
    if (cpu->end.lives != (l->began ? l->life + UINT64_C(1) : 0))
        FAIL(l, NULL, "%" PRIu64 " lives, but the kernel counted %" PRIu64, l->began ? l->life + UINT64_C(1) : 0,
             cpu->end.lives);
    if (l->runs && !log->panic)
        FAIL(l, NULL, "its last life does not end");
}

/* ---- against the truth ------------------------------------------------------------------------------------------ */

static bool same(const struct cairn_truth_session *t, const struct cairn_session_event *a)
{
    return t->what == a->what && t->life == a->life && t->tsc == a->tsc && memcmp(t->masks, a->masks, 0x20) == 0;
}

/* The next of this session's own, from `*i` on. */
static const struct cairn_ack *next_own(const struct cairn_cpu *cpu, size_t *i)
{
    while (*i < cpu->acks.count)
        if (cpu->acks.items[(*i)++].own)
            return &cpu->acks.items[*i - 1];
    return NULL;
}

void cairn_check_session(struct cairn_check *check, uint32_t n)
{
    const struct cairn_cpu *cpu = &check->log->cpu[n];
    struct cairn_truth truth;
    const uint8_t *record;
    size_t at = 0;
    cairn_truth_init(&truth, check->log, n);
    for (size_t i = 0; next_own(cpu, &i);)
        check->uncompared_sessions++;
    const struct cairn_ack *a = next_own(cpu, &at);
    while ((record = cairn_truth_next(&truth, CAIRN_TRUTH_OF(CAIRN_TRUTH_SESSION)))) {
        struct cairn_truth_session t;
        memcpy(&t, record, sizeof(t));
        if (t.session != check->log->number)
            continue;
        int64_t time = trace_clock_units(&check->log->session.clock, t.tsc);
        for (; a && truth.gap && a->event.tsc < t.tsc; a = next_own(cpu, &at))
            ;
        truth.gap = false;
        if (a && same(&t, &a->event)) {
            check->compared[CAIRN_RULE_TRUTH_SESSION]++;
            check->uncompared_sessions--;
            a = next_own(cpu, &at);
        } else if (!cpu->holes.count || (a && a->event.tsc <= t.tsc)) {
            const char *what = t.what <= CAIRN_SESSION_MASKS && t.what ? what_text[t.what] : "?";
            cairn_fail(check, CAIRN_RULE_TRUTH_SESSION, (int)n, &time, "the %s of life %" PRIu32 " is not in the trace",
                       what, t.life);
            a = a && a->event.tsc <= t.tsc ? next_own(cpu, &at) : a;
        }
    }
    if (a && !truth.gap && (!check->log->panic || next_own(cpu, &at))) /* which may come between the two */
        cairn_fail(check, CAIRN_RULE_TRUTH_SESSION, (int)n, &a->time, "the truth does not have this %s",
                   what_text[a->event.what]);
}
