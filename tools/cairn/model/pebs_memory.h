/* SPDX-License-Identifier: MIT */
/* What the memory words of a PEBS record say: data source, latency, transaction. */
#pragma once

#include "tools/cairn/log/log.h"
#include "tools/cairn/log/show.h"

/* Where a load's data came from: "L2 hit, STLB miss". Empty where that is not known: its encoding differs from one
 * generation of processors to the next, and it is that of load latency only where each counter of the record had such
 * an event. */
const char *cairn_show_source(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t cpu,
                              const struct cairn_record *record, uint64_t source);
/* Latency in core cycles; from Alder Lake on the instruction's, and the cache's apart. `adaptive`: of MEMINFO. */
const char *cairn_show_latency(char out[CAIRN_SHOWN], uint64_t latency, bool adaptive);
/* What a transaction came to: "12 cycles, RTM abort, conflict". */
const char *cairn_show_transaction(char out[CAIRN_SHOWN], uint64_t tx);
/* Names of the bits that are set, of `count`; NULL: of no name. */
void cairn_show_bits(char out[CAIRN_SHOWN], uint64_t value, const char *between, const char *const *names,
                     unsigned count);
