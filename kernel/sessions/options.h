/* SPDX-License-Identifier: MIT */
/* Options session.1 to session.8. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/session.h"

struct ksession_option {
    uint32_t on;        /* 0: there is no such session */
    uint32_t automatic; /* 1: and compact switches, or full ones, by the record format */
    struct perfinfo_groupmask masks;
    uint32_t clock; /* enum trace_clock_type */
    uint32_t circular;
    uint32_t buffer_kib, buffers; /* 0: trace.buffer_kib, trace.buffers */
};
extern struct ksession_option ksession_options[TRACE_MAX_SESSIONS];

/* Whether any session is to have `group` (trace/groups.h), from its beginning. */
bool ksession_wants(uint32_t group);
