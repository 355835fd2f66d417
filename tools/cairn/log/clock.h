/* SPDX-License-Identifier: MIT */
/* On which clock times are shown, and taken in filters: --clock and --zone. */
#pragma once

#include "tools/cairn/log/date.h"

enum cairn_clock { CAIRN_CLOCK_TRACE, CAIRN_CLOCK_BOOT, CAIRN_CLOCK_WALL };
enum cairn_zone { CAIRN_ZONE_UTC, CAIRN_ZONE_LOCAL, CAIRN_ZONE_TRACE }; /* LOCAL: of this computer */
extern unsigned cairn_clock, cairn_zone;
extern const char *const cairn_clock_names[], *const cairn_zone_names[];

/* Whether the log tells of what was asked for. False: `why` says what is missing, and what to do. */
#define CAIRN_CLOCK_WHY 256u
bool cairn_clock_told(const struct cairn_log *log, char why[CAIRN_CLOCK_WHY]);

/* How the time of a log of Cairn's is known: ", by the firmware's clock ..."; "" where nothing needs to be said. */
const char *cairn_clock_source(const struct cairn_log *log);

/* Seconds that the zone asked for is east of Greenwich, at a FILETIME. */
int32_t cairn_zone_east(const struct cairn_log *log, int64_t filetime);
/* The same of the zone in which the machine of an ETL file was. */
int32_t cairn_zone_of_etl(const struct cairn_etl *etl, int64_t filetime);
/* The FILETIME of a time in the zone asked for, given as if that were UTC. */
int64_t cairn_zone_filetime(const struct cairn_log *log, int64_t local);
