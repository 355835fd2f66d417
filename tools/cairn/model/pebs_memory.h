/* SPDX-License-Identifier: MIT */
/* The meaning of the memory words of a PEBS record (data source, latency, transaction) and of the latency in its first
 * word. */
#pragma once

#include "tools/cairn/log/log.h"
#include "tools/cairn/log/show.h"

/* The value of a row of this CPU's detection; false where the log has none of that name. */
bool cairn_detected(const struct cairn_log *log, uint32_t cpu, const char *name, uint64_t *value);
/* Where a load's data came from: "L2 hit, STLB miss". Empty where that is not known: its encoding differs from one
 * generation of processors to the next, and it is that of load latency only where each counter of the record had such
 * an event. */
const char *cairn_show_source(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t cpu,
                              const struct cairn_record *record, uint64_t source);
/* The same in parts. False: that is not known. */
struct cairn_data_source {
    const char *from; /* "L2 hit"; "reserved" */
    bool store, tells_tlb, stlb_miss, locked, blocked_on_data, blocked_on_address;
};
bool cairn_data_source_read(struct cairn_data_source *out, const struct cairn_log *log, uint32_t cpu,
                            const struct cairn_record *record, uint64_t source);
/* Latency in core cycles; from Alder Lake on the instruction's, and the cache's apart. `adaptive`: of MEMINFO. */
const char *cairn_show_latency(char out[CAIRN_SHOWN], uint64_t latency, bool adaptive);
/* Core cycles from the retirement before to the record's, by bits 47:32 of its head: "retire latency 3". Where they are
 * something else it says so; empty where they are 0 and mean nothing. `counters`: whose record it is. */
const char *cairn_show_retire_latency(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t cpu, uint64_t head,
                                      uint64_t counters);
/* That number alone. False: there is none. */
bool cairn_retire_latency(const struct cairn_log *log, uint32_t cpu, uint64_t head, uint64_t counters,
                          unsigned *latency);
/* What a transaction came to: "12 cycles, RTM abort, conflict". */
const char *cairn_show_transaction(char out[CAIRN_SHOWN], uint64_t tx);
/* Names of the bits that are set, of `count`; NULL: of no name. */
void cairn_show_bits(char out[CAIRN_SHOWN], uint64_t value, const char *between, const char *const *names,
                     unsigned count);
