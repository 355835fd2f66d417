/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* timegm */
#include "tools/cairn/log/date.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/cairn/log/etl/etl.h"

/* ---- what the log tells ------------------------------------------------------------------------------------------ */

static bool is_date(int64_t filetime)
{
    return filetime >= CAIRN_UNIX_EPOCH && filetime <= CAIRN_DATE_LATEST;
}

/* The session clock when the machine booted. Where nothing tells the TSC then, the clock's own beginning is taken. */
static bool boot_of(const struct cairn_log *log, int64_t *boot)
{
    const struct trace_clock *clock = &log->session.clock;
    uint64_t tsc = clock->base;
    cairn_slice_u64(cairn_key(&log->text, "boot.tsc"), &tsc);
    *boot = trace_clock_units(clock, tsc);
    return log->session.known;
}

void cairn_date_of_log(struct cairn_log *log)
{
    struct cairn_wall *w = &log->session.wall;
    struct cairn_date d;
    char text[CAIRN_DATE_TEXT];
    *w = (struct cairn_wall){0};
    w->boot_known = boot_of(log, &w->boot);
    if (!w->boot_known ||
        !cairn_date_read(&d, cairn_slice_text(text, sizeof(text), cairn_key(&log->text, "boot.time"))))
        return;
    w->time = w->boot;
    w->filetime = d.local - (d.zoned ? d.east * CAIRN_SECOND : 0);
    w->known = d.dated && is_date(w->filetime);
    w->zoned = d.zoned;
    w->east = d.zoned ? d.east : 0;
}

void cairn_date_of_etl(struct cairn_log *log)
{
    const struct cairn_etl *etl = log->etl;
    struct cairn_wall *w = &log->session.wall;
    w->time = etl->start;
    w->filetime = etl->times.start_time;
    w->known = is_date(w->filetime) && cairn_etl_hz(etl);
    w->zoned = true;
    w->boot_known = w->known && is_date(etl->times.boot_time);
    if (w->boot_known)
        w->boot = cairn_date_time(log, etl->times.boot_time);
}

const char *cairn_date_unknown(const struct cairn_log *log)
{
    if (log->etl && !log->own)
        return cairn_etl_hz(log->etl) ? "StartTime in the file's header is not a date"
                                      : "the file's header does not give the clock's frequency";
    if (!log->session.known)
        return "the session stream is missing";
    return cairn_has_key(&log->text, "boot.time") ? "its boot.time is not a date"
                                                  : "the machine's firmware had no clock (no boot.time)";
}

/* Rounded down; of __int128, whose division rounds towards 0. */
static __int128 divide(__int128 a, __int128 b)
{
    return a / b - (a % b < 0);
}

int64_t cairn_date_at(const struct cairn_log *log, int64_t time)
{
    const struct cairn_wall *w = &log->session.wall;
    const __int128 at = w->filetime + divide(((__int128)time - w->time) * CAIRN_SECOND, log->session.hz);
    return at < CAIRN_UNIX_EPOCH ? CAIRN_UNIX_EPOCH : at > CAIRN_DATE_LATEST ? CAIRN_DATE_LATEST : (int64_t)at;
}

int64_t cairn_date_time(const struct cairn_log *log, int64_t filetime)
{
    const struct cairn_wall *w = &log->session.wall;
    const __int128 at = w->time - divide(((__int128)w->filetime - filetime) * log->session.hz, CAIRN_SECOND);
    return at < INT64_MIN ? INT64_MIN : at > INT64_MAX ? INT64_MAX : (int64_t)at;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* So many digits, with a value up to `most`. */
static bool number(const char **at, unsigned digits, unsigned most, unsigned *value)
{
    for (*value = 0; digits; digits--, ++*at) {
        if (!isdigit((unsigned char)**at))
            return false;
        *value = *value * 10 + (unsigned)(**at - '0');
    }
    return *value <= most;
}

static bool sign(const char **at, const char *any)
{
    if (!**at || !strchr(any, **at))
        return false;
    ++*at;
    return true;
}

/* What of a second is behind its point, in units of 100 ns. */
static bool fraction(const char **at, int64_t *units)
{
    int64_t place = CAIRN_SECOND;
    *units = 0;
    if (!sign(at, "."))
        return true;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at); ++*at)
        *units += (**at - '0') * (place /= 10);
    return true;
}

static bool zone(const char **at, struct cairn_date *d)
{
    unsigned hours, minutes;
    const bool west = **at == '-';
    if (!**at)
        return true;
    d->zoned = true;
    if (sign(at, "Z"))
        return true;
    if (!sign(at, "+-") || !number(at, 2, 23, &hours) || !sign(at, ":") || !number(at, 2, 59, &minutes))
        return false;
    d->east = (int32_t)(hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

/* "2026-11-21" as a FILETIME. */
static bool day_of(const char **at, int64_t *filetime)
{
    unsigned year, month, day;
    if (!number(at, 4, 9999, &year) || !sign(at, "-") || !number(at, 2, 12, &month) || !month || !sign(at, "-") ||
        !number(at, 2, 31, &day) || !day)
        return false;
    struct tm tm = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
    *filetime = CAIRN_UNIX_EPOCH + (int64_t)timegm(&tm) * CAIRN_SECOND;
    return true;
}

bool cairn_date_read(struct cairn_date *d, const char *text)
{
    unsigned hour, minute, second = 0;
    const char *at = text;
    int64_t units;
    *d = (struct cairn_date){.dated = strlen(text) > 4 && text[4] == '-'};
    if (d->dated && (!day_of(&at, &d->local) || !sign(&at, "T ")))
        return false;
    if (!number(&at, 2, 23, &hour) || !sign(&at, ":") || !number(&at, 2, 59, &minute) ||
        (sign(&at, ":") && !number(&at, 2, 60, &second)) || !fraction(&at, &units) || !zone(&at, d) || *at)
        return false;
    d->local += (((int64_t)hour * 60 + minute) * 60 + second) * CAIRN_SECOND + units;
    return true;
}

void cairn_date_parts(char day[CAIRN_DATE_TEXT], char time[CAIRN_DATE_TEXT], char zone_text[CAIRN_DATE_TEXT],
                      int64_t filetime, int32_t east)
{
    const int64_t local = filetime - CAIRN_UNIX_EPOCH + east * CAIRN_SECOND;
    const time_t seconds = (time_t)divide(local, CAIRN_SECOND);
    const unsigned minutes = (unsigned)(east < 0 ? -east : east) / 60;
    struct tm tm;
    gmtime_r(&seconds, &tm);
    snprintf(day, CAIRN_DATE_TEXT, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
    snprintf(time, CAIRN_DATE_TEXT, "%02d:%02d:%02d.%07" PRId64, tm.tm_hour, tm.tm_min, tm.tm_sec,
             local - seconds * CAIRN_SECOND);
    snprintf(zone_text, CAIRN_DATE_TEXT, east ? "%c%02u:%02u" : "Z", east < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

const char *cairn_date_text(char out[CAIRN_DATE_TEXT], int64_t filetime, int32_t east)
{
    char day[CAIRN_DATE_TEXT], time[CAIRN_DATE_TEXT], zone_text[CAIRN_DATE_TEXT];
    cairn_date_parts(day, time, zone_text, filetime, east);
    snprintf(out, CAIRN_DATE_TEXT, "%.12sT%.16s%.6s", day, time, zone_text);
    return out;
}
