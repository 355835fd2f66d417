/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/cpu_time.h"

void cairn_stints_init(struct cairn_stints *s, const struct cairn_log *log)
{
    *s = (struct cairn_stints){.time = log->session.start, .has_time = log->session.start_known};
}

static uint8_t kind_of(bool known, uint32_t tid)
{
    return !known ? CAIRN_STINT_UNKNOWN : tid ? CAIRN_STINT_THREAD : CAIRN_STINT_IDLE;
}

bool cairn_stints_next(struct cairn_stints *s, const struct cairn_switch *sw, struct cairn_stint *out)
{
    const bool known = s->has_time;
    const int64_t from = s->time;
    s->time = known && sw->time < from ? from : sw->time;
    *out = (struct cairn_stint){from, s->time, sw->old_tid, kind_of(sw->hole == CAIRN_NO_HOLE, sw->old_tid)};
    s->has_time = true;
    s->last = *sw;
    s->has_last = true;
    return known;
}

/* Who came at the last switch is known only where it says so and nothing is missing behind it. Circular mode has no
 * hole for what was lost last. */
bool cairn_stints_rest(const struct cairn_stints *s, const struct cairn_log *log, uint32_t cpu, bool hole, int64_t stop,
                       struct cairn_stint *out)
{
    const struct cairn_cpu_end *e = &log->cpu[cpu].end;
    const bool lossless = e->events_known && e->events[CAIRN_LOST] == 0 && log->has_end;
    const bool known = s->has_last && s->last.new_known && !hole && !log->frames.missing.count && lossless;
    *out = (struct cairn_stint){s->time, stop, known ? s->last.new_tid : 0, kind_of(known, s->last.new_tid)};
    return s->has_time && stop > s->time;
}

void cairn_stints_range(const struct cairn_log *log, bool compact, int64_t *start, int64_t *stop)
{
    const struct cairn_session *session = &log->session;
    int64_t first = INT64_MAX, last = INT64_MIN;
    struct cairn_timeline t;
    const struct cairn_item *item;
    if (!session->start_known || !session->stop_known) {
        cairn_timeline_init(&t, log, -1, compact, CAIRN_BY_FORMAT, false);
        while ((item = cairn_timeline_next(&t)) != NULL) {
            if (item->kind == CAIRN_ITEM_HOLE)
                continue;
            first = item->time < first ? item->time : first;
            last = item->time > last ? item->time : last;
        }
        cairn_timeline_free(&t);
    }
    *start = session->start_known ? session->start : first;
    *stop = session->stop_known ? session->stop : last;
    if (*start == INT64_MAX) /* there are none */
        *start = 0;
    if (*stop <= *start)
        *stop = *start + 1;
}
