/* SPDX-License-Identifier: MIT */
#include "tools/grab/report/seen.h"

#include <string.h>

#include "ds/layout.h"
#include "tools/pebs/pebs.h"

const struct grab_setting grab_settings[GRAB_SETTINGS] = {
    [GRAB_BRANCHES] = {"branches:upp", 1009, 100000, 0, 0},
    [GRAB_PRECISE] = {"instructions:uppp", 2003, 100000, 0, 0},
    [GRAB_PRECISE_FIRST] = {"branches:uppp", 1009, 100000, 0, 0},
    [GRAB_SHORT] = {"instructions:uppp, period 50", 50, 4000, 0, 0},
    [GRAB_TWO] = {"branches:upp with instructions:upp", 59, 30000, 46, 0},
    [GRAB_HISTORY] = {"branches:upp, branch history", 1009, 100000, 0, 0},
    [GRAB_RESTS] = {"branches:upp, the program sleeps", 101, 200, 0, 100},
    [GRAB_INTERRUPTS] = {"instructions:u", 10007, 100000, 0, 0},
    [GRAB_TRACE] = {"branches:u, each", 1, 2000, 0, 0},
    [GRAB_LOADS] = {"mem-loads:upp", 101, 20000, 0, 0},
};

struct grab_seen grab_seen_first(enum grab_setting_number setting)
{
    return (struct grab_seen){.setting = setting, .joined = true};
}

static bool read_rcx(uint64_t *rcx, unsigned format, const uint8_t *record, uint32_t size)
{
    struct cairn_pebs_walk walk;
    struct cairn_pebs_field f;
    cairn_pebs_walk(&walk, format, record, size);
    while (cairn_pebs_next(&walk, &f))
        if (f.what == CAIRN_PEBS_REGISTER && strcmp(f.name, "RCX") == 0) {
            *rcx = f.value;
            return true;
        }
    return false;
}

static void read_record(unsigned format, struct grab_seen *s)
{
    uint64_t rip, rcx, ip = 0;
    s->known = read_rcx(&rcx, format, s->record, s->size) &&
               cairn_pebs_get(format, s->record, s->size, CAIRN_PEBS_RIP, &rip) &&
               grab_known_state(&s->state, rip, rcx, grab_settings[s->setting].iterations);
    cairn_pebs_get(format, s->record, s->size, CAIRN_PEBS_EVENTING_IP, &ip);
    s->eventing = grab_known_label(ip);
    s->counters = s->tsc = 0;
    cairn_pebs_get(format, s->record, s->size, CAIRN_PEBS_COUNTERS, &s->counters);
    cairn_pebs_get(format, s->record, s->size, CAIRN_PEBS_TSC, &s->tsc);
}

bool grab_seen_next(const struct grab_judged *j, struct grab_seen *s)
{
    const struct grab_taken *t = &j->taken[s->setting];
    const struct grab_one_cpu *cpu = &j->store->cpu[j->cpu];
    if (s->next_drain < t->first)
        s->next_drain = t->first;
    bool joined = true;
    for (; s->next_drain < t->end; s->next_drain++, s->next_at = 0) {
        const struct grab_drained *d = &cpu->drains[s->next_drain];
        const uint32_t size = d->head.kind == GRAB_START ? 0 : grab_record_bytes(j->store, d, j->format, s->next_at);
        if (size) {
            s->record = j->store->records + d->at + s->next_at;
            s->size = size;
            s->drain = d;
            s->joined = joined;
            s->next_at += size;
            read_record(j->format, s);
            return true;
        }
        joined &= d->head.kind == GRAB_START || d->bytes == d->head.bytes;
    }
    return false;
}

uint64_t grab_seen_count(const struct grab_seen *s, bool branches)
{
    return grab_known_count(&s->state, grab_settings[s->setting].iterations, branches);
}
