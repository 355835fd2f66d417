/* SPDX-License-Identifier: MIT */
/* The session clock as time of day, from the firmware's clock at the machine's boot, which has whole seconds. */
#pragma once

#include "tools/cairn/log/log.h"

/* In FILETIME: units of 100 ns since 1601. */
#define CAIRN_SECOND     INT64_C(10000000)
#define CAIRN_UNIX_EPOCH INT64_C(116444736000000000)

/* When the machine booted: 0 of the session clock, but of the TSC, which the firmware has let run; 0 where the log does
 * not say. */
int64_t cairn_boot_filetime(const struct cairn_log *log);
/* Of a time of the session clock; as if the machine had booted in 1601, where the log does not say when it did. */
int64_t cairn_filetime(const struct cairn_log *log, int64_t units);
