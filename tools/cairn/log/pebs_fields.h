/* SPDX-License-Identifier: MIT */
/* The contents of a PEBS record of each format: one table of fields (pebs_fields.c) with the place of each in the
 * records of formats 0 to 3 and in the groups of formats 4 and up. Offsets are those of ds/layout.h, and of
 * architectural PEBS (format 15) those of ds/pebs23_layout.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum cairn_pebs_group {
    /* in the order in which a record of formats 4 to 6 holds them */
    CAIRN_PEBS_BASIC,
    CAIRN_PEBS_MEMINFO,
    CAIRN_PEBS_GPR,
    CAIRN_PEBS_XMM,
    CAIRN_PEBS_LBR,
    CAIRN_PEBS_CNTR,
    CAIRN_PEBS_GROUPS,
    /* of architectural PEBS besides */
    CAIRN_PEBS_HEADER = CAIRN_PEBS_GROUPS,
    CAIRN_PEBS_AUX,
    CAIRN_PEBS_XER, /* its header; the areas behind it: */
    CAIRN_PEBS_YMMH,
    CAIRN_PEBS_EGPR,
    CAIRN_PEBS_OPMASK,
    CAIRN_PEBS_ZMMH,
    CAIRN_PEBS_H16ZMM,
    CAIRN_PEBS_PADDING, /* what belongs to no group, up to the next fragment or the end */
    CAIRN_PEBS_ALL_GROUPS,
};
const char *cairn_pebs_group_name(enum cairn_pebs_group group);

/* a field's meaning */
enum cairn_pebs_what {
    CAIRN_PEBS_HEAD, /* formats 4 to 6 */
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
    /* architectural PEBS */
    CAIRN_PEBS_FRAGMENT, /* the first word of a header */
    CAIRN_PEBS_RETIRE,
    CAIRN_PEBS_SSP,
    CAIRN_PEBS_XSTATE,
    CAIRN_PEBS_VECTOR, /* of an area that only architectural PEBS has */
    CAIRN_PEBS_LBR_CTL,
    CAIRN_PEBS_LBR_DEPTH,
    CAIRN_PEBS_LER_FROM,
    CAIRN_PEBS_LER_TO,
    CAIRN_PEBS_LER_INFO,
    CAIRN_PEBS_RESERVED, /* and padding */
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
    uint64_t groups;             /* of the head; format 15: the first word of the fragment's header */
    uint32_t gp, fixed, metrics; /* of the counter group: masks; words of metrics */
    /* format 15 */
    uint8_t place;          /* of the group, in their order */
    uint32_t fragment, end; /* it begins, and ends; */
    uint32_t depth;         /* LBR_DEPTH in its group */
    bool cut;               /* a fragment so far was too short for the groups it names */
};

/* `record`: `size` bytes, as cairn_pebs_size found them. A record too short for the groups it names ends early. */
void cairn_pebs_walk(struct cairn_pebs_walk *walk, uint8_t format, const uint8_t *record, uint32_t size);
/* Every word of the record in the order of memory. False: that was all; walk->at tells how far the groups reach. */
bool cairn_pebs_next(struct cairn_pebs_walk *walk, struct cairn_pebs_field *field);

/* The field's name, or where a record may have several of it (a fragment's header, reserved words), that and its
 * offset: "header@10". */
#define CAIRN_PEBS_NAME 28u
const char *cairn_pebs_name(char out[CAIRN_PEBS_NAME], const struct cairn_pebs_field *field);

/* The field of a meaning that only one field of the table has. False: a record of this format, or with these groups,
 * has none. */
bool cairn_pebs_get(uint8_t format, const uint8_t *record, uint32_t size, enum cairn_pebs_what what, uint64_t *value);

/* Bytes of the record at `record`, of which `left` can be read. 0: not all of it is there, and *whole is how many it
 * has (UINT32_MAX: more than what is there tells), or *whole is 0: a size that it holds is invalid. A record of format
 * 15 is its first fragment and all that continue it, up to CAIRN_PEBS_SIZE_MOST. */
#define CAIRN_PEBS_SIZE_MOST UINT32_C(0x10000)
uint32_t cairn_pebs_size(uint8_t format, const uint8_t *record, uint32_t left, uint32_t *whole);
