/* SPDX-License-Identifier: MIT */
/* The SQLite export of a log for fuzzers, opened by SQLite. */
#pragma once

#include "tools/cairn/log/log.h"

/* Exports the session into a file of its own, which does not stay. Aborts where SQLite finds the database damaged, a
 * row leads to none, the items are not numbered from 1 on without a gap, or a view does not work. */
void fuzz_sqlite(const struct cairn_log *log);
