/* SPDX-License-Identifier: MIT */
/* What was stored, played into a trace session CPU by CPU. */
#pragma once

#include "tools/grab/base/index.h"
#include "tools/grab/log.h"
#include "tools/grab/order.h"
#include "trace/session.h"

struct grab_cpu_counts {
    uint64_t records, drains, interrupts;
    uint64_t lost_bytes;                     /* of records that are not in the log */
    uint64_t branches, bts_drains, lost_bts; /* lost_bts: bytes */
    bool bts_lost_unknown;
    bool unstamped;    /* PebsIndex is not known at each switch */
    bool lost_unknown; /* the buffer was full at a drain, a drain is missing, or a hook may have been skipped */
};

struct grab_session {
    struct trace_session *session;
    struct trace_clocks clocks;
    uint64_t start_tsc, stop_tsc;
    unsigned format;
    uint32_t record_bytes; /* of each; 0: they differ, or there are none */
    bool stamped;          /* PebsIndex is known at each switch of a CPU */
    struct grab_index index;
    struct grab_order order;
    struct grab_cpu_counts cpu[GRAB_CPUS];
};

/* Whether BTS recorded any. */
bool grab_session_branches(const struct grab_session *session);
/* 0, or errno. */
int grab_session_make(struct grab_session *session, const struct grab_log *log);
/* Lines of the session's stream, and of the end's. */
void grab_session_dump(struct trace_dump *dump, const struct grab_session *session, const struct grab_log *log);
void grab_session_end(struct trace_dump *dump, const struct grab_session *session, const struct grab_log *log);
