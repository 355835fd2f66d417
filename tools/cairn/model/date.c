/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/cairn/model/date.h"

#include <stdio.h>
#include <time.h>

#include "tools/cairn/frame/text_streams.h"

int64_t cairn_boot_filetime(const struct cairn_log *log)
{
    struct cairn_slice s = cairn_key(&log->text, "boot.time");
    char text[32];
    struct tm tm = {0};
    snprintf(text, sizeof(text), "%.*s", CAIRN_SLICE(s));
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
               &tm.tm_sec) != 6)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return CAIRN_UNIX_EPOCH + (int64_t)timegm(&tm) * CAIRN_SECOND;
}

int64_t cairn_filetime(const struct cairn_log *log, int64_t units)
{
    uint64_t hz = log->session.hz;
    if (log->session.clock.type == TRACE_CLOCK_SYSTEM)
        return units; /* which they are */
    __int128 since = units;
    if (log->session.clock.type == TRACE_CLOCK_TSC)
        since -= log->session.clock.base;
    __int128 time = cairn_boot_filetime(log) + since * CAIRN_SECOND / (__int128)(hz ? hz : TRACE_CLOCK_HZ);
    return time < 0 ? 0 : time > INT64_MAX ? INT64_MAX : (int64_t)time; /* time stamps are whatever the log says */
}
