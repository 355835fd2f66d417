/* SPDX-License-Identifier: MIT */
/*
 * ETL files, written by Windows or by `cairn export`: the file as buffers (file.c), what it says besides its events
 * (text.c), and all of it as a log (log.c). No byte is used before it has been checked; what is wrong is a flaw, and
 * the rest is still read.
 */
#pragma once

#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/log/etl/described/descriptions.h"
#include "tools/cairn/log/etl/file_names.h"
#include "tools/cairn/log/etl/lives.h"
#include "tools/cairn/log/log.h"

struct cairn_etl_buffer {
    const uint8_t *events; /* behind the buffer header */
    uint8_t *decoded;      /* that they lie in, where they were compressed */
    uint32_t size;         /* of them */
    uint32_t number;       /* in the order of the file */
    uint16_t cpu, flag, type;
    uint64_t sequence;
    int64_t time;
    bool added;  /* by this project's writer: nothing in it is the kernel's */
    bool unread; /* its header cannot be: whose it is, nobody knows */
};

struct cairn_etl_flaw {
    uint32_t buffer; /* in the order of the file; UINT32_MAX: of none */
    char what[96];
};

struct cairn_etl {
    struct {
        struct cairn_etl_buffer *items;
        size_t count, room;
    } buffers; /* in the order of the file */
    struct {
        struct cairn_etl_flaw *items;
        size_t count, room;
    } flaws;
    /* the file's first event */
    struct etl_logfile_header header;
    struct etl_time_zone zone;
    struct etl_logfile_times times;
    int64_t start; /* its time stamp, which is times.start_time */
    int64_t last;  /* time stamp of the latest event; as they are read */
    uint32_t pointer;
    const uint8_t *names; /* logger name, log file name */
    uint32_t names_bytes;
    struct cairn_lives lives;               /* of images and threads */
    struct cairn_descriptions descriptions; /* of its providers' events */
    struct cairn_file_names files;
    uint64_t skipped;   /* sequence numbers that no buffer has, where each should be there, */
    bool skipped_first; /* right behind the header's, too */
    bool compressed;    /* at least one buffer */
    bool cairn;         /* this project wrote it: its buffers' flags tell where events were lost */
    bool account;       /* and tells which buffers it added */
};

/* Whether the bytes begin as an ETL file does. */
bool cairn_etl_is(const char *data, size_t size);

/* Finds the file's buffers. 0, -ENOENT: no file header after all; -ENOTSUP: see `refusal`. cairn_etl_free after 0. */
int cairn_etl_open(struct cairn_etl *etl, const uint8_t *data, size_t size, char refusal[CAIRN_REFUSAL]);
void cairn_etl_flaw(struct cairn_etl *etl, uint32_t buffer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cairn_etl_free(struct cairn_etl *etl); /* and the structure itself; NULL: nothing */

/* By what the header counts, as long as it was closed. Of a file that need not have all that its session wrote, nobody
 * knows what is missing. Buffers that a circular file has written over, with newer ones. */
uint64_t cairn_etl_missing(const struct cairn_etl *etl);
uint64_t cairn_etl_overwritten(const struct cairn_etl *etl);

/* Whether a buffer of events says that something was lost behind it. */
static inline bool cairn_etl_flags_loss(const struct cairn_etl_buffer *b)
{
    return b->type != ETL_BUFFER_TYPE_HEADER && b->flag & (WMI_BUFFER_FLAG_EVENTS_LOST | ETL_BUFFER_FLAG_BUFFER_LOST);
}

/* Clock units per second; 0: the file does not say. */
uint64_t cairn_etl_hz(const struct cairn_etl *etl);

/* KWAIT_REASON's MaximumWaitReason of a build, CAIRN_WAIT_REASONS_UNKNOWN where nobody has told. */
uint32_t cairn_etl_wait_reasons(uint32_t build);

/* Parts of cairn_log_read. What the file says, as frames of text; whether it has the streams of a serial log. */
void cairn_etl_gather(struct cairn_log *log, struct cairn_etl *etl);
int cairn_etl_read(struct cairn_log *log, const struct cairn_choice *choice, char refusal[CAIRN_REFUSAL]);
