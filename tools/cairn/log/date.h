/* SPDX-License-Identifier: MIT */
/*
 * Wall-clock time and time since the boot, as far as a log tells them. A file of Windows says what time it was at its
 * first event (StartTime), and when the machine booted (BootTime). A log of Cairn's has the firmware's clock, which
 * counts whole seconds, at one value of the TSC (boot.time, boot.tsc); one of cairn grab has that of Linux at its boot.
 * A log that has none of these does not know the time: nothing is assumed.
 */
#pragma once

#include "tools/cairn/log/log.h"

/* FILETIME: units of 100 ns since 1601-01-01, UTC. */
#define CAIRN_SECOND     INT64_C(10000000)
#define CAIRN_UNIX_EPOCH INT64_C(116444736000000000)
/* 9999-12-31, the last that is shown. An earlier one than CAIRN_UNIX_EPOCH was never the time of a trace. */
#define CAIRN_DATE_LATEST INT64_C(2650467743999999999)

/* Parts of cairn_log_read: fills in log->session.wall. */
void cairn_date_of_log(struct cairn_log *log);
void cairn_date_of_etl(struct cairn_log *log);

/* The FILETIME of a time of the session clock, cut off; at least CAIRN_UNIX_EPOCH, at most CAIRN_DATE_LATEST. Only
 * where log->session.wall.known. */
int64_t cairn_date_at(const struct cairn_log *log, int64_t time);
/* The other way round, rounded up: the first time of the session clock that is not earlier. */
int64_t cairn_date_time(const struct cairn_log *log, int64_t filetime);
/* Why it is not known, in some words. */
const char *cairn_date_unknown(const struct cairn_log *log);

/* ISO 8601: a date and a time, or a time of the day alone; seconds, up to 100 ns, and the zone may be missing. */
struct cairn_date {
    bool dated, zoned;
    int64_t local; /* FILETIME as if the zone were UTC; not dated: since midnight */
    int32_t east;  /* zoned: seconds east of Greenwich */
};
/* False: it is neither. */
bool cairn_date_read(struct cairn_date *d, const char *text);

/* "2026-11-21T02:10:59.0000000Z", or with "+01:00" where it is so many seconds east. */
#define CAIRN_DATE_TEXT 40u
const char *cairn_date_text(char out[CAIRN_DATE_TEXT], int64_t filetime, int32_t east);
/* Its parts: "2026-11-21", "02:10:59.0000000", "Z". */
void cairn_date_parts(char day[CAIRN_DATE_TEXT], char time[CAIRN_DATE_TEXT], char zone[CAIRN_DATE_TEXT],
                      int64_t filetime, int32_t east);
