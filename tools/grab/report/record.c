/* SPDX-License-Identifier: MIT */
/* Rows about one record by itself. */
#include "tools/grab/report/ask.h"

#include <inttypes.h>
#include <string.h>

#include "ds/pebs23_layout.h"
#include "tools/pebs/pebs.h"

void grab_ask_record_size(const struct grab_judged *j, struct grab_answer *a)
{
    size_t good = 0, all = 0;
    uint32_t least = UINT32_MAX, most = 0;
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        for (struct grab_seen s = grab_seen_first((enum grab_setting_number)n); grab_seen_next(j, &s);) {
            const uint64_t left = s.drain->bytes - (s.next_at - s.size); /* what is no record is at the end */
            const bool ends = grab_record_bytes(j->store, s.drain, j->format, s.next_at) || left == s.size;
            least = s.size < least ? s.size : least;
            most = s.size > most ? s.size : most;
            const bool fills = !cairn_pebs_check(j->format, s.record, s.size);
            good += fills && ends && (j->format >= 4 || s.known); /* those of older ones do not tell their size */
            all++;
        }
    if (grab_enough(a, all))
        grab_say(a, good * 100 >= all * 95 ? "as_told" : "other",
                 "%zu of %zu records, %" PRIu32 " to %" PRIu32 " bytes", good, all, least, most);
}

/* The groups that the head names, and those that Linux has asked for: by MSR_PEBS_DATA_CFG, or by CFG_C of the counter;
 * where a record names several of these, each has asked for the same. */
static bool as_asked(const struct grab_judged *j, const struct grab_seen *s, uint64_t *head)
{
    struct grab_registers registers;
    memcpy(head, s->record, sizeof *head);
    if (j->format != DS_FORMAT_ARCH) {
        *head = ds_pebs_head_groups(*head);
        return *head == (uint32_t)s->drain->head.data_cfg;
    }
    *head &= IA32_PMC_CFG_C_GROUPS;
    memcpy(&registers, s->drain->head.area, sizeof registers);
    for (unsigned c = 0; c < CAIRN_PEBS_COUNTERS_MOST; c++)
        if (s->counters >> c & 1 && (registers.cfg_c[c] & IA32_PMC_CFG_C_GROUPS) != *head)
            return false;
    return s->counters != 0;
}

void grab_ask_groups(const struct grab_judged *j, struct grab_answer *a)
{
    size_t good = 0, all = 0;
    uint64_t seen = 0;
    if (j->format < 4) {
        GRAB_NOT_ASKED(a, "records of format %u have no groups", j->format);
        return;
    }
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        for (struct grab_seen s = grab_seen_first((enum grab_setting_number)n); grab_seen_next(j, &s); all++) {
            uint64_t head;
            good += as_asked(j, &s, &head);
            seen |= head;
        }
    if (grab_enough(a, all))
        grab_say(a, good == all ? "as_asked" : "other", "%zu of %zu heads; bits of all of them %" PRIx64 "H", good, all,
                 seen);
}

void grab_ask_eventing_ip(const struct grab_judged *j, struct grab_answer *a)
{
    size_t yes = 0, next = 0, all = 0; /* next: one that can come after a branch */
    if (j->format < 2) {
        GRAB_NOT_ASKED(a, "records of format %u have no EventingIP", j->format);
        return;
    }
    if (!grab_was_run(j, GRAB_BRANCHES, a))
        return;
    for (struct grab_seen s = grab_seen_first(GRAB_BRANCHES); grab_seen_next(j, &s);)
        if (s.eventing != GRAB_ELSEWHERE) {
            yes += grab_known_is_branch(s.eventing);
            next += s.eventing == GRAB_K4 || s.eventing == GRAB_K5 || s.eventing == GRAB_F0 || s.eventing == GRAB_K6 ||
                    s.eventing == GRAB_K0;
            all++;
        }
    if (grab_enough(a, all))
        grab_say(a,
                 yes == all    ? "yes"
                 : next == all ? "next"
                               : "other",
                 "%zu of %zu records of branches name a branch", yes, all);
}

void grab_ask_rip(const struct grab_judged *j, struct grab_answer *a)
{
    size_t next = 0, same = 0, all = 0;
    if (j->format < 2) {
        GRAB_NOT_ASKED(a, "records of format %u have no EventingIP to compare with", j->format);
        return;
    }
    grab_ask_eventing_ip(j, a);
    if (strcmp(a->answer, "yes")) {
        GRAB_NOT_ASKED(a, "EventingIP is not the instruction's, so there is nothing to compare");
        return;
    }
    for (unsigned n = 0; n < GRAB_SETTINGS; n++)
        for (struct grab_seen s = grab_seen_first((enum grab_setting_number)n); grab_seen_next(j, &s);) {
            if (!s.known || s.eventing == GRAB_ELSEWHERE)
                continue;
            const enum grab_label label = s.state.next;
            struct grab_state before = s.state;
            next += grab_known_back(&before, grab_settings[n].iterations) == s.eventing;
            same += label == s.eventing;
            all++;
        }
    if (grab_enough(a, all))
        grab_say(a,
                 next == all   ? "next"
                 : same == all ? "eventing"
                               : "other",
                 "%zu of %zu: the instruction after; %zu: itself", next, all, same);
}

void grab_ask_tsc_order(const struct grab_judged *j, struct grab_answer *a)
{
    size_t back = 0, all = 0;
    if (!ds_pebs_has_tsc(j->format)) {
        GRAB_NOT_ASKED(a, "records of format %u have no TSC", j->format);
        return;
    }
    for (unsigned n = 0; n < GRAB_SETTINGS; n++) {
        uint64_t last = 0;
        for (struct grab_seen s = grab_seen_first((enum grab_setting_number)n); grab_seen_next(j, &s); all++) {
            back += s.tsc < last;
            last = s.tsc;
        }
    }
    if (grab_enough(a, all))
        grab_say(a, back ? "other" : "rising", "%zu of %zu records are older than the one before", back, all);
}
