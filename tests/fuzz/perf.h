/* SPDX-License-Identifier: MIT */
/* The perf.data export of a log for fuzzers, read back as Linux' perf.data-file-format.txt and perf_event.h say. */
#pragma once

#include "tools/cairn/log/log.h"

/* Exports the session into a file of its own, which does not stay. Aborts where sections do not lie in the file,
 * records do not fill theirs, or a sample is not as long as its attribute says. */
void fuzz_perf(const struct cairn_log *log);
