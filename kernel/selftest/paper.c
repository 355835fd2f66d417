/* SPDX-License-Identifier: MIT */
#include "kernel/selftest/paper.h"

static bool is_event(const struct kpaper_step *step, enum ds_event_kind kind)
{
    static const uint8_t bits[DS_EVENT_KINDS] = {
        [DS_EVENT_BRANCHES] = STEP_BRANCH,         [DS_EVENT_CONDITIONAL] = STEP_CONDITIONAL,
        [DS_EVENT_NEAR_TAKEN] = STEP_NEAR_TAKEN,   [DS_EVENT_NEAR_CALL] = STEP_NEAR_CALL,
        [DS_EVENT_NEAR_RETURN] = STEP_NEAR_RETURN, [DS_EVENT_FAR_BRANCH] = STEP_FAR,
    };
    bool any = kind == DS_EVENT_INSTRUCTIONS || kind == DS_EVENT_CYCLES;
    return !(step->what & STEP_ATTEMPT) && (any || step->what & bits[kind]);
}

uint64_t kpaper_count(const struct kpaper *paper, enum ds_event_kind kind)
{
    uint64_t n = 0;
    for (size_t i = 0; i < paper->steps; i++)
        n += is_event(&paper->step[i], kind);
    return n;
}

enum kpaper_verdict kpaper_judge_counts(bool exact, bool certain, uint64_t expected, const uint64_t *counts,
                                        unsigned turns)
{
    unsigned equal = 0, as_first = 0, less = 0;
    for (unsigned i = 0; i < turns; i++) {
        equal += counts[i] == expected;
        as_first += counts[i] == counts[0];
        less += counts[i] < expected;
    }
    if (exact)
        return turns && equal == turns ? KPAPER_VERIFIED : KPAPER_WRONG;
    if (certain && (less || (as_first == turns && !equal)))
        return KPAPER_WRONG;
    return equal ? KPAPER_VERIFIED : KPAPER_UNKNOWN;
}

/* Whether the record is of the step `i`. The step after it is where it went on, be that for a fault. */
static bool is_of(const struct kpaper *paper, size_t i, const struct kpaper_record *record)
{
    const struct kpaper_step *step = &paper->step[i];
    uint64_t next = step->what & STEP_SYSTEM ? paper->system : i + 1 < paper->steps ? step[1].ip : 0;
    return (record->ip || record->next) && (!record->ip || record->ip == step->ip) &&
           (!record->next || record->next == next);
}

static bool is_of_any(const struct kpaper *paper, enum ds_event_kind kind, const struct kpaper_record *record)
{
    for (size_t i = 0; i < paper->steps; i++)
        if (is_event(&paper->step[i], kind) && is_of(paper, i, record))
            return true;
    return false;
}

enum kpaper_verdict kpaper_judge_records(const struct kpaper *paper, enum ds_event_kind kind, uint64_t spacing,
                                         const struct kpaper_record *records, size_t count, size_t *wrong)
{
    uint64_t events = 0;
    *wrong = 0;
    if (!spacing) {
        for (; *wrong < count; ++*wrong)
            if (!is_of_any(paper, kind, &records[*wrong]))
                return KPAPER_WRONG;
        return count ? KPAPER_CONSISTENT : KPAPER_UNKNOWN;
    }
    for (size_t i = 0; i < paper->steps; i++) {
        if (!is_event(&paper->step[i], kind) || ++events % spacing)
            continue;
        if (*wrong == count || !is_of(paper, i, &records[*wrong]))
            return KPAPER_WRONG;
        ++*wrong;
    }
    return *wrong == count ? KPAPER_VERIFIED : KPAPER_WRONG;
}
