/* SPDX-License-Identifier: MIT */
/* The contents of a PEBS record of each format: one table of fields (pebs_fields.c) with the place of each in the
 * records of formats 0 to 3 and in the groups of formats 4 and up. Offsets are those of ds/layout.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* in the order in which a record of format 4 and up holds them */
enum cairn_pebs_group {
    CAIRN_PEBS_BASIC,
    CAIRN_PEBS_MEMINFO,
    CAIRN_PEBS_GPR,
    CAIRN_PEBS_XMM,
    CAIRN_PEBS_LBR,
    CAIRN_PEBS_CNTR,
    CAIRN_PEBS_GROUPS,
};
const char *cairn_pebs_group_name(enum cairn_pebs_group group);

/* a field's meaning */
enum cairn_pebs_what {
    CAIRN_PEBS_HEAD,
    CAIRN_PEBS_EVENTING_IP,
    CAIRN_PEBS_COUNTERS,
    CAIRN_PEBS_STATUS, /* formats 1 and 2 */
    CAIRN_PEBS_TSC,
    CAIRN_PEBS_DATA_ADDRESS,
    CAIRN_PEBS_DATA_SOURCE,
    CAIRN_PEBS_LATENCY,
    CAIRN_PEBS_TX,
    CAIRN_PEBS_RFLAGS,
    CAIRN_PEBS_RIP,
    CAIRN_PEBS_REGISTER,
    CAIRN_PEBS_XMM_LOW,
    CAIRN_PEBS_XMM_HIGH,
    CAIRN_PEBS_LBR_FROM,
    CAIRN_PEBS_LBR_TO,
    CAIRN_PEBS_LBR_INFO,
    CAIRN_PEBS_CNTR_MASKS,
    CAIRN_PEBS_CNTR_METRICS,
    CAIRN_PEBS_CNTR_VALUE,
};

struct cairn_pebs_field { /* one 8-byte word of a record */
    char name[16];
    uint8_t what, group; /* group: formats 4 and up */
    uint32_t at;
    uint64_t value;
};

struct cairn_pebs_walk {
    const uint8_t *record;
    uint32_t size, at; /* at: of the next word */
    uint8_t format, group;
    uint16_t index;              /* of the next word of the group */
    uint32_t groups;             /* of the head */
    uint32_t gp, fixed, metrics; /* of the counter group: masks; words of metrics */
};

/* `record`: `size` bytes, as ds_pebs_record_size found them. A record too short for the groups it names ends early. */
void cairn_pebs_walk(struct cairn_pebs_walk *walk, uint8_t format, const uint8_t *record, uint32_t size);
/* Every word of the record in the order of memory. False: that was all; walk->at tells how far the groups reach. */
bool cairn_pebs_next(struct cairn_pebs_walk *walk, struct cairn_pebs_field *field);

/* The field of a meaning that only one field of the table has. False: a record of this format, or with these groups,
 * has none. */
bool cairn_pebs_get(uint8_t format, const uint8_t *record, uint32_t size, enum cairn_pebs_what what, uint64_t *value);
