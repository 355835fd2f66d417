/* SPDX-License-Identifier: MIT */
/* A dump (kernel/dump/dump.h) consists of sections. Each part of the kernel that has something to dump adds its own. */
#pragma once

#include "kernel/lib/rows.h"

struct trace_config;
struct trace_dump;

/* What it is about; a dump has the sections in this order (docs/reference/format.md). */
enum kdump_subject {
    /* These set how the rest is written, and say so in stream H. */
    KDUMP_PACKING,
    KDUMP_CHARACTERS,
    /* The rest. */
    KDUMP_MACHINE,
    KDUMP_DEBUG_STORE,
    KDUMP_FOUND, /* by experiments on the machine */
    KDUMP_THREADS,
    KDUMP_SYMBOLS,
    KDUMP_SESSIONS,
    KDUMP_LIVES, /* of sessions */
    KDUMP_BUFFERS,
    KDUMP_COUNTS, /* of events, records, losses */
    KDUMP_VERDICT,
    KDUMP_TRUTH,
    KDUMP_SUBJECTS,
};

/* A dump that begins before the run has some sections then and others in its end; any other dump is written in one
 * piece. */
enum kdump_when {
    KDUMP_HEAD = 1, /* known before the run */
    KDUMP_END = 2,  /* in a dump in one piece, */
    KDUMP_REST = 4, /* and in the end of one that has begun before */
    KDUMP_FORM = 8, /* first of all, in each part */
};

struct kdump_section {
    enum kdump_subject subject;
    unsigned when;                          /* bits of enum kdump_when */
    void (*write)(struct trace_dump *dump); /* lines or frames of its own; usable in a panic */
};
ROWS(kdump, const struct kdump_section);

/* `function` writes a section. At file scope. */
#define KDUMP_SECTION(about, in, function)                                                                             \
    static const struct kdump_section section_##function = {.subject = (about), .when = (in), .write = (function)};    \
    ROWS_ADD(kdump, section_##function)

/* Adds lines about a session to the section of sessions. Weak: another part of the kernel may define it. */
void kdump_session_more(struct trace_dump *dump, const struct trace_config *config);
