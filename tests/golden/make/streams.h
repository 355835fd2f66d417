/* SPDX-License-Identifier: MIT */
/* Text streams of a dump that no kernel has written, as a kernel writes them (docs/reference/format.md, section 3). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/frames.h"
#include "trace/session.h"

#define U(v) ((unsigned long long)(v))

/* The counting pass's findings, which frame 0 of the writing pass tells. Fixed widths, so that both have one length. */
struct stream_totals {
    uint32_t frames;
    uint64_t bytes, raw;
};

/* One line, formatted, of at most 511 characters. */
void stream_text(struct trace_dump *d, enum cairn_stream stream, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void stream_header(struct trace_dump *d, const struct stream_totals *t, bool live, const char *cause);
/* What a session was made to be. `ds`: events carry PebsIndex; `tells_live`: it says when its buffers leave. */
void stream_session(struct trace_dump *d, const struct trace_config *c, bool ds, bool tells_live, uint32_t tick_us);
void stream_lives(struct trace_dump *d, const struct trace_config *c, uint64_t start_tsc, uint64_t stop_tsc);
/* What a session has counted. */
void stream_counts(struct trace_dump *d, struct trace_session *session);
