/* SPDX-License-Identifier: MIT */
/* `cairn ds`: a CPU's DS area, or registers, its buffers to scale, and PEBS records word by word. */
#pragma once

#include "tools/cairn/log/pebs_fields.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/timeline.h"

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
    char name[32];      /* Windows', of a register the manual's */
    uint64_t value;
    char by;                   /* 'd': the driver writes it, 'p': the processor does */
    char what[CAIRN_SHOWN];    /* it says */
    char counter[CAIRN_SHOWN]; /* a reset value's; or empty */
};
/* The row that begins at word `n` of the area. */
void cairn_area_row(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch, unsigned n,
                    struct cairn_area_row *row);

/* Every field of the area, or of the registers, as this epoch's drain found it, then the buffers it points to. */
void cairn_draw_area(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch);

/* Parts of these. Of architectural PEBS (ds_registers.c). */
void cairn_register_row(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch, unsigned n,
                        struct cairn_area_row *row);
void cairn_draw_registers(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch);
/* A line, or more; `at`: its number. */
void cairn_print_area_row(unsigned at, const struct cairn_area_row *row);
/* "base + 24 records", "base + 32 records + 1"; `record_bytes` 0: not known. */
const char *cairn_show_offset(char out[64], uint64_t base, uint64_t at, uint64_t record_bytes);
/* A buffer to scale; `end`: of the memory, where that is known. False: there is none to draw. */
bool cairn_draw_buffer(const struct cairn_buffer *buffer, const char *name, const char *maximum, uint64_t record_bytes,
                       uint64_t end);

/* Every word of a record; those that differ from `before` (NULL: none), where that has the same groups, are marked. */
void cairn_draw_record(const struct cairn_log *log, uint32_t cpu, const struct cairn_record *record,
                       const struct cairn_record *before);
/* Its bytes as they lay in memory. */
void cairn_draw_bytes(const struct cairn_record *record);
