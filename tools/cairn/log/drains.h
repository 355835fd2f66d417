/* SPDX-License-Identifier: MIT */
/* Drains of the PEBS buffer: the epochs that they end, and the records that came with them. A log that is kept in
 * memory lists them. Otherwise they are collected on demand, one drain at a time. */
#pragma once

#include "tools/cairn/log/event_walk.h"

/* Whether the event is an epoch's, well-formed: what comes behind it, up to the next one, belongs to it. */
bool cairn_drains_begins(const struct cairn_event *event);
/* Adds what the event, CA01H or CA04H, tells; the lists point into its payload, but to records that came in parts (the
 * list has their bytes). False: it is not what it says. */
bool cairn_drains_index(struct cairn_epochs *epochs, struct cairn_records *records, const struct cairn_log *log,
                        uint32_t cpu, const struct cairn_event *event, uint32_t piece);
/* All that belongs to a drain has come: a record of which parts are still to come has lost them. */
void cairn_drains_end(struct cairn_epochs *epochs, struct cairn_records *records);
/* Empties the list, but for a record whose parts still come. */
void cairn_records_clear(struct cairn_records *records);
void cairn_records_free(struct cairn_records *records);

struct cairn_buffer { /* as a drain found it: addresses, physical ones of architectural PEBS */
    uint64_t base, index, maximum, threshold;
    uint64_t stamp; /* of PEBS: PebsIndex, as switches have it, where it stands at the base */
};
struct cairn_buffer cairn_epoch_buffer(const struct cairn_epoch *e);
/* That of BTS, of an epoch with a DS area (not format 15). */
struct cairn_buffer cairn_epoch_bts_buffer(const struct cairn_epoch *e);
/* Format 15: CFG_C of a counter, numbered as in IA32_PERF_GLOBAL_STATUS. */
uint64_t cairn_arch_cfg_c(const struct cairn_epoch *e, unsigned counter);

/* Bytes of records that a drain tells of and that are not in the log. None where it has more: such a log lies. */
static inline uint32_t cairn_epoch_missing(const struct cairn_epoch *e)
{
    return e->record_bytes > e->bytes_seen ? e->record_bytes - e->bytes_seen : 0;
}
/* `lost`: as an epoch has it, or CAIRN_DS_LOST_UNKNOWN. */
void cairn_lost_add(struct cairn_lost *sum, uint64_t lost);
/* Adds an epoch that is complete. `passes`: the filter; what throttled counting is ended by one that does not, too. */
void cairn_drains_add(struct cairn_drain_sum *sum, const struct cairn_epoch *epoch, bool passes);
/* By time. */
void cairn_records_order(struct cairn_records *records);

struct cairn_group { /* what belongs to one drain of a CPU; or records whose drain is missing */
    const struct cairn_log *log;
    uint32_t cpu;
    struct cairn_epochs epochs;   /* at most one */
    struct cairn_records records; /* by time */
    bool ended;                   /* no other group comes */
    struct cairn_event ahead;     /* begins the next group */
    bool has_ahead;
    uint8_t *bytes; /* payloads of `events`, one behind another */
    size_t used, room;
    struct {
        struct cairn_event *items;
        size_t count, room;
    } events;
    struct cairn_walk walk; /* last: it is large, and not zeroed */
};

void cairn_group_init(struct cairn_group *group, const struct cairn_log *log, uint32_t cpu);
/* Goes on to the next group: lists of the one before are gone. False: there is none. */
bool cairn_group_next(struct cairn_group *group);
/* Goes on to the next group that has a drain. NULL: there is none. */
const struct cairn_epoch *cairn_group_drain(struct cairn_group *group);
void cairn_group_free(struct cairn_group *group);
