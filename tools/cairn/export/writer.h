/* SPDX-License-Identifier: MIT */
/*
 * The formats that `cairn export` writes. A format is a file NAME_writer.c, or a folder NAME/ with a writer.c, that
 * defines cairn_writer_NAME, and an entry of CAIRN_WRITERS, with its word. export.c calls it for each item of the trace
 * and each gap, in time order; the writer reads no events itself.
 */
#pragma once

#include <stdio.h>

#include "tools/cairn/log/activity.h"
#include "tools/cairn/log/etl/samples.h"
#include "tools/cairn/model/elf.h"
#include "tools/cairn/model/timeline.h"
#include "trace/wire/format.h"
#include "trace/wire/spinlock.h"

/* clang-format off */
#define CAIRN_WRITERS(W)                                                                                               \
    W(ctf, "ctf") W(etl, "etl") W(folded, "folded") W(html, "html") W(json, "json") W(perf, "perf.data")               \
    W(perfetto, "perfetto") W(sqlite, "sqlite") W(svg, "svg")
/* clang-format on */

struct cairn_output {
    const struct cairn_log *log;
    const struct cairn_writer *writer;
    const char *path; /* NULL: standard output */
    FILE *file;
    struct cairn_elf *elf;             /* NULL: none was given */
    bool compact;                      /* switches are those of 0525H, else of 0524H */
    bool strict;                       /* etl */
    struct cairn_samples samples;      /* of a writer that wants them */
    const struct cairn_sample *sample; /* the event that is told, where it is one of these; else NULL */
    void *state;                       /* the writer's, zeroed at first */
};

struct cairn_held { /* a spin lock, at its release */
    struct wmi_spinlock is;
    int64_t acquired, released; /* session clock; `acquired` only where the log says how that comes from the TSC */
    bool timed;
};

struct cairn_writer {
    const char *name, *summary; /* for --help */
    bool each;                  /* it may be given some switches of a CPU and not others */
    bool samples;               /* it wants a profile's samples as such */
    size_t state;               /* bytes */
    bool needs_path;            /* it cannot go to standard output */
    bool needs_file;            /* nor to a device or a pipe: it is not written from beginning to end */
    bool binary;                /* it may, but not to a terminal */
    /* It writes a folder (folder.h): the name of its main file, which begins with `mark`; its other files are `parts`
     * and a number. NULL: it writes a file. */
    const char *folder, *mark, *parts;
    /* Whether a file that begins so may be one of this format, and is written over without a word. */
    bool (*own)(const char *start, size_t size);
    /* Before there is a file. 0, or the exit status, the reason told. NULL: nothing can be against it. */
    int (*prepare)(struct cairn_output *o);
    /* The rest is called in this order; NULL: the format has no such things. An epoch of the DS buffer comes with its
     * drain, at its end. */
    void (*begin)(struct cairn_output *o);
    void (*on_switch)(struct cairn_output *o, const struct cairn_item *item);
    void (*record)(struct cairn_output *o, const struct cairn_item *item);
    void (*epoch)(struct cairn_output *o, const struct cairn_item *item);
    /* A drain of the BTS buffer; or some of its records, of the drain that came last on the CPU. */
    void (*branches)(struct cairn_output *o, const struct cairn_item *item);
    void (*lock)(struct cairn_output *o, const struct cairn_item *item, const struct cairn_held *held);
    /* Any other event; `live`: NULL, or what it is. */
    void (*event)(struct cairn_output *o, const struct cairn_item *item, const struct cairn_live *live);
    /* Something is missing on the CPU, behind what came last. */
    void (*lost)(struct cairn_output *o, const struct cairn_item *item);
    /* That was all. 0, negative errno, or the exit status, the reason told: then there is nothing worth a file. Not
     * called where the log could not be read to its end. */
    int (*end)(struct cairn_output *o);
    void (*free)(struct cairn_output *o); /* what the state holds, always; NULL: nothing */
};

#define CAIRN_WRITER(name, word) extern const struct cairn_writer cairn_writer_##name;
CAIRN_WRITERS(CAIRN_WRITER)
#undef CAIRN_WRITER

/* Writes the log. The exit status, the reason told. Unless it is CAIRN_GOOD the file, if it is one (partial.h), stays
 * what it was. */
int cairn_export(struct cairn_output *o, enum cairn_by by);

/* When what is written begins and ends: the session, and of that what the filter's times leave (session clock). False:
 * the log does not tell. */
bool cairn_out_begins(const struct cairn_output *o, int64_t *time);
bool cairn_out_ends(const struct cairn_output *o, int64_t *time);
/* Nanoseconds since the session began; of the session clock where that is not known. */
int64_t cairn_out_ns(const struct cairn_output *o, int64_t time);
/* What so many of the log's are called: "PEBS records", "timer sample". */
const char *cairn_out_samples(const struct cairn_output *o, uint64_t count);
/* When nanosecond 0 was, in nanoseconds since 1970; and as text, "2026-11-21T02:10:59.0123456Z". False: the log does
 * not tell. */
bool cairn_out_wall(const struct cairn_output *o, int64_t *unix_ns, char text[CAIRN_DATE_TEXT]);
/* The events that the switches are taken from, "0525H" or "0524H"; NULL: there are no switches. */
const char *cairn_out_switches_from(const struct cairn_output *o);
/* cairn_function_name of the output's log and file. */
const char *cairn_out_function(const struct cairn_output *o, uint64_t address, char out[CAIRN_SHOWN]);
