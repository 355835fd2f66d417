/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* timegm, tm_gmtoff */
#include "tools/cairn/log/clock.h"

#include <stdio.h>
#include <time.h>

#include "tools/cairn/log/etl/etl.h"

unsigned cairn_clock = CAIRN_CLOCK_TRACE, cairn_zone = CAIRN_ZONE_UTC;
const char *const cairn_clock_names[] = {"trace", "boot", "wall", NULL};
const char *const cairn_zone_names[] = {"utc", "local", "trace", NULL};

bool cairn_clock_told(const struct cairn_log *log, char why[CAIRN_CLOCK_WHY])
{
    const struct cairn_wall *w = &log->session.wall;
    if (cairn_clock == CAIRN_CLOCK_WALL && !w->known) {
        snprintf(why, CAIRN_CLOCK_WHY, "--clock wall: this log does not tell what time it was: %s; use --clock %s",
                 cairn_date_unknown(log), w->boot_known ? "boot" : "trace");
        return false;
    }
    if (cairn_clock == CAIRN_CLOCK_BOOT && !w->boot_known) {
        snprintf(why, CAIRN_CLOCK_WHY,
                 "--clock boot: this log does not tell when the machine booted: %s; use --clock %s",
                 w->known ? "BootTime in the file's header is not a date" : cairn_date_unknown(log),
                 w->known ? "wall" : "trace");
        return false;
    }
    if (cairn_zone == CAIRN_ZONE_TRACE && !w->zoned) {
        snprintf(why, CAIRN_CLOCK_WHY, "--zone trace: this log does not name a zone: use --zone utc or local");
        return false;
    }
    return true;
}

const char *cairn_clock_source(const struct cairn_log *log)
{
    return !log->own || cairn_log_grabbed(log) ? ""
           : log->session.wall.zoned           ? ", by the firmware's clock: whole seconds"
                                     : ", by the firmware's clock: whole seconds, its zone not named, UTC assumed";
}

/* ---- zones ------------------------------------------------------------------------------------------------------- */

static struct tm calendar(int64_t seconds)
{
    const time_t time = (time_t)seconds;
    struct tm tm;
    gmtime_r(&time, &tm);
    return tm;
}

#define WHICH_MOST 5 /* of a weekday in a month: its last */

/* The moment of a year that a SYSTEMTIME of a zone's rules means, in seconds since 1970 of the local time. */
static int64_t moment(const uint16_t rule[8], int year)
{
    struct tm first = {.tm_year = year, .tm_mon = rule[ETL_MONTH] - 1, .tm_mday = 1}, next = first;
    next.tm_mon++;
    const int64_t begins = timegm(&first), ends = timegm(&next);
    int64_t day = rule[ETL_DAY] - 1;
    if (!rule[ETL_YEAR])
        day = (rule[ETL_WEEKDAY] + 7 - first.tm_wday) % 7 + 7 * (day < WHICH_MOST ? day : WHICH_MOST - 1);
    while (!rule[ETL_YEAR] && begins + day * 86400 >= ends)
        day -= 7;
    return begins + day * 86400 + rule[ETL_HOUR] * 3600 + rule[ETL_MINUTE] * 60 + rule[ETL_SECOND];
}

int32_t cairn_zone_of_etl(const struct cairn_etl *etl, int64_t filetime)
{
    const struct etl_time_zone *z = &etl->zone;
    const int64_t standard = ((int64_t)z->bias + z->standard_bias) * 60,
                  daylight = ((int64_t)z->bias + z->daylight_bias) * 60;
    const int64_t seconds = (filetime - CAIRN_UNIX_EPOCH) / CAIRN_SECOND;
    const int year = calendar(seconds - standard).tm_year;
    bool in_daylight = false;
    if (z->standard[ETL_MONTH] && z->daylight[ETL_MONTH]) {
        const int64_t from = moment(z->daylight, year) + standard, until = moment(z->standard, year) + daylight;
        in_daylight = from < until ? seconds >= from && seconds < until : seconds >= from || seconds < until;
    }
    return (int32_t)(-(in_daylight ? daylight : standard) % (24 * 3600)); /* no zone is a day away */
}

int32_t cairn_zone_east(const struct cairn_log *log, int64_t filetime)
{
    const time_t seconds = (time_t)((filetime - CAIRN_UNIX_EPOCH) / CAIRN_SECOND);
    struct tm tm;
    switch (cairn_zone) {
    case CAIRN_ZONE_LOCAL:
        return localtime_r(&seconds, &tm) ? (int32_t)tm.tm_gmtoff : 0;
    case CAIRN_ZONE_TRACE:
        return log->etl && !log->own ? cairn_zone_of_etl(log->etl, filetime) : log->session.wall.east;
    default:
        return 0;
    }
}

int64_t cairn_zone_filetime(const struct cairn_log *log, int64_t local)
{
    int64_t filetime = local;
    for (unsigned i = 0; i < 2; i++) /* the first time with the zone of another hour, perhaps */
        filetime = local - cairn_zone_east(log, filetime) * CAIRN_SECOND;
    return filetime;
}
