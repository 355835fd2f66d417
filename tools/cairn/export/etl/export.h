/* SPDX-License-Identifier: MIT */
/* A log as an ETL file: its buffers, and before and after them the events that Windows' consumers need. */
#pragma once

#include "tools/cairn/export/etl/file.h"
#include "trace/groups.h"

struct cairn_etl_export {
    const struct cairn_log *log;
    bool strict; /* leave out what Windows never writes */
    struct cairn_etl_writer writer;
    int64_t start, stop;                                    /* of all events */
    bool has_threads, has_images, has_config, has_complete; /* the kernel wrote such events itself */
    uint8_t extension[sizeof(struct etw_header_extension)]; /* payload of its first 0005H, */
    uint32_t extension_cpu, extension_piece;                /* which lies there, */
    int64_t extension_time;
    bool has_extension; /* if there is one */
    /* what was done */
    uint64_t threads, processes, images;           /* made from names and keys */
    uint64_t own_events, stamps, doubled, streams; /* strict: left out; streams: written */
    uint64_t buffers_lost, events_lost;
};

/* The file has at most so many times the bytes of what is in the log, and so many more: what a log says of its buffers'
 * size is believed only so far. Beyond, `writer.over` is set, and there is no file to write. */
#define CAIRN_ETL_GROWTH_MAX  64u
#define CAIRN_ETL_GROWTH_FREE (64u << 20)

void cairn_etl_export(struct cairn_etl_export *x, const struct cairn_log *log, bool strict);
void cairn_etl_export_free(struct cairn_etl_export *x);

/* Strict (plain.c). The groups of a 0005H or 0020H without Cairn's own, and without that of the batches where these are
 * left out. */
void cairn_etl_plain_masks(const struct cairn_etl_export *x, struct etw_header_extension *masks);
/* Writes the event, header and all, as Windows would have written it. Its bytes; 0: Windows has no such event, which
 * is counted. */
uint32_t cairn_etl_plain(struct cairn_etl_export *x, const struct cairn_event *e, uint8_t to[UINT16_MAX + 1]);

/* Parts of cairn_etl_export (rundown.c): the file's header event, the masks right after it, and the events before and
 * after those of the log. */
void cairn_etl_put_header(struct cairn_etl_export *x);
void cairn_etl_put_extension(struct cairn_etl_export *x);
void cairn_etl_put_start(struct cairn_etl_export *x);
void cairn_etl_put_end(struct cairn_etl_export *x);

static inline void cairn_etl_group_remove(struct perfinfo_groupmask *mask, uint32_t group)
{
    mask->masks[group >> PERF_MASK_SHIFT] &= ~(group & PERF_MASK_BITS);
}
