/* SPDX-License-Identifier: MIT */
/* The Debug Store in words: what is in a DS area, in the registers of architectural PEBS, and in PEBS records. */
#pragma once

#include "tools/cairn/log/show.h"
#include "tools/pebs/pebs.h"

/* A counter's name, with the event this log's kernel counted on it where that is known: "PMC0=INST_RETIRED.ANY_P". */
const char *cairn_show_counter(char out[CAIRN_SHOWN], const struct cairn_log *log, uint32_t cpu, unsigned counter);
#define CAIRN_SHOWN_ALL (64u * CAIRN_SHOWN) /* room enough for each of them, and more */
/* Those of all counters in `bits` (as in IA32_PERF_GLOBAL_STATUS), with blanks between. */
const char *cairn_show_counters(char out[CAIRN_SHOWN_ALL], const struct cairn_log *log, uint32_t cpu, uint64_t bits);

/* A counter's value as what it starts from: "-2003 in 48 bits". */
const char *cairn_show_reset(char out[CAIRN_SHOWN], uint64_t value);

/* What a word of a record means, beyond its value; empty where it is just a value. */
const char *cairn_show_field(char out[CAIRN_SHOWN_ALL], const struct cairn_log *log, uint32_t cpu,
                             const struct cairn_record *record, const struct cairn_pebs_field *field);

struct cairn_area_row { /* of the DS area, or of the registers in its place, as an epoch's drain found it */
    unsigned words;     /* more than one: slots of one kind that are all 0 */
    char name[48];      /* Windows', of a register the manual's */
    uint64_t value;
    char by;                   /* 'd': the driver writes it, 'p': the processor does */
    char what[CAIRN_SHOWN];    /* it says */
    char counter[CAIRN_SHOWN]; /* a reset value's; or empty */
};
/* The row that begins at word `n` of the area. */
void cairn_area_row(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch, unsigned n,
                    struct cairn_area_row *row);
/* That of the registers of architectural PEBS, which cairn_area_row takes where the epoch has them. */
void cairn_register_row(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch, unsigned n,
                        struct cairn_area_row *row);
/* The size of a drain's records, 0: not known. Fragments make them larger than the log's key says. */
uint64_t cairn_drain_record_bytes(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch);
