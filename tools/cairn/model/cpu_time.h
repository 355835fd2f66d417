/* SPDX-License-Identifier: MIT */
/* Who had a CPU's time, from one switch to the next and at both ends of the session: a thread, nobody (idle), or
 * unknown if something is missing in between. */
#pragma once

#include "tools/cairn/model/timeline.h"

enum cairn_stint_kind { CAIRN_STINT_UNKNOWN, CAIRN_STINT_IDLE, CAIRN_STINT_THREAD };

struct cairn_stint {
    int64_t from, to; /* session clock */
    uint32_t tid;     /* of a thread */
    uint8_t kind;     /* enum cairn_stint_kind */
};

struct cairn_stints { /* of one CPU, as far as its switches have been told */
    int64_t time;     /* of the last, the latest where times go back; before it of the session's start */
    bool has_time;
    struct cairn_switch last;
    bool has_last;
};

void cairn_stints_init(struct cairn_stints *s, const struct cairn_log *log);
/* The time up to this switch, the CPU's next: none, where it comes before the last one in a damaged log, so `to` is
 * never below `from`. False: nobody knows since when. */
bool cairn_stints_next(struct cairn_stints *s, const struct cairn_switch *sw, struct cairn_stint *out);
/* From the last switch to `stop`, where the session ended; `hole`: something is missing behind that switch. False:
 * there is no such time. */
bool cairn_stints_rest(const struct cairn_stints *s, const struct cairn_log *log, uint32_t cpu, bool hole, int64_t stop,
                       struct cairn_stint *out);
/* When the session began and ended (session clock); where the session stream does not tell, the first and the last of
 * all events. At least one unit apart. */
void cairn_stints_range(const struct cairn_log *log, bool compact, int64_t *start, int64_t *stop);
