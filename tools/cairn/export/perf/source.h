/* SPDX-License-Identifier: MIT */
/* Where a load's or a store's data was, as perf has it: union perf_mem_data_src of Linux' uapi/linux/perf_event.h. */
#pragma once

#include "tools/cairn/model/timeline.h"

/* Of an item that is a record with that word, or without: then, and where the word's meaning is not known, each part
 * says that it is not available. */
uint64_t cairn_perf_source(const struct cairn_log *log, const struct cairn_item *item, bool there, uint64_t word);
