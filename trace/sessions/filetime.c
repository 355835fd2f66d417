/* SPDX-License-Identifier: MIT */
#include "trace/sessions/filetime.h"

#include "trace/clock.h"

int64_t trace_filetime(uint32_t year, uint32_t month, uint32_t day, uint32_t hour, uint32_t minute, uint32_t second)
{
    /* The year begins in March here, so that the leap day is its last: months have 153 days in five then. */
    int64_t y = (int64_t)year - (month < 3), m = month < 3 ? month + 9 : (int64_t)month - 3;
    int64_t days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1;
    days -= INT64_C(1600) * 365 + 1600 / 4 - 1600 / 100 + 1600 / 400 + 306; /* 1601-01-01 */
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * (int64_t)TRACE_CLOCK_HZ;
}
