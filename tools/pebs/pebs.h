/* SPDX-License-Identifier: MIT */
/*
 * libcairn-pebs: records of Intel's Debug Store (PEBS, BTS) in bytes, field by field. It allocates nothing, keeps no
 * state, calls nobody (no C library either: a kernel can link the archive), and reads nothing beyond the bytes that it
 * is given. Those need no alignment. The processor writes them little-endian, and so they are read.
 *
 * A record format is the number in IA32_PERF_CAPABILITIES[11:8]: 0 to 6, or 15, which is architectural PEBS. Branch
 * records of BTS have a number here that no processor has.
 *
 * The numbers of this header do not change while the library's soname is libcairn-pebs.so.1: lists only grow. Members
 * that only the library uses are marked.
 *
 *     struct cairn_pebs_buffer buffer;
 *     struct cairn_pebs_record r;
 *     cairn_pebs_open(&buffer, 4, bytes, size);
 *     while (cairn_pebs_record(&buffer, &r) == 1)
 *         if (cairn_pebs_get(r.format, r.bytes, r.size, CAIRN_PEBS_EVENTING_IP, &ip))
 *             ...
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_PEBS_API __attribute__((visibility("default")))

#define CAIRN_PEBS_VERSION 1u
/* CAIRN_PEBS_VERSION of the library that is linked: as large, or larger if it can do more. */
CAIRN_PEBS_API unsigned cairn_pebs_version(void);

enum {                        /* formats beside 0 to 6 */
       CAIRN_PEBS_ARCH = 15,  /* architectural PEBS */
       CAIRN_PEBS_BTS = 0x80, /* branch records */
};

enum { /* what functions return that can fail; what they return otherwise is not negative */
       CAIRN_PEBS_E_FORMAT = -1,
       CAIRN_PEBS_E_CUT = -2,
       CAIRN_PEBS_E_SIZE = -3,
       CAIRN_PEBS_E_GROUPS = -4,
};
/* In words, without a capital or a full stop. */
CAIRN_PEBS_API const char *cairn_pebs_strerror(int error);

/* ---- records of a buffer ----------------------------------------------------------------------------------------- */

struct cairn_pebs_buffer {
    const uint8_t *bytes;
    size_t size, at; /* at: of the next record; where one is bad, it stays there */
    uint32_t format, reserved;
};

struct cairn_pebs_record {
    const uint8_t *bytes; /* in the buffer */
    size_t at;            /* and where in it */
    uint32_t size, format;
};

/* 0, or CAIRN_PEBS_E_FORMAT. */
CAIRN_PEBS_API int cairn_pebs_open(struct cairn_pebs_buffer *buffer, unsigned format, const void *bytes, size_t size);
/* The next record. 1; 0: the buffer ends behind the last one; CAIRN_PEBS_E_CUT: not all of the next one is there;
 * CAIRN_PEBS_E_SIZE: the size that it holds is impossible. Behind these two nothing can be found. */
CAIRN_PEBS_API int cairn_pebs_record(struct cairn_pebs_buffer *buffer, struct cairn_pebs_record *record);

/* Bytes of the record at `record`, of which `left` can be read. 0: not all of it is there, and *whole is how many it
 * has (UINT32_MAX: more than what is there tells), or *whole is 0: a size that it holds is impossible, or the format is
 * not known. A record of architectural PEBS is its first fragment and all that continue it, up to
 * CAIRN_PEBS_SIZE_MOST. */
#define CAIRN_PEBS_SIZE_MOST UINT32_C(0x10000)
CAIRN_PEBS_API uint32_t cairn_pebs_size(unsigned format, const void *record, size_t left, uint32_t *whole);

/* Bytes of a record that MSR_PEBS_DATA_CFG asks for (formats 4 to 6), or of any record of formats 0 to 3 and of BTS. 0:
 * of architectural PEBS, and where the format is not known. */
CAIRN_PEBS_API uint32_t cairn_pebs_bytes(unsigned format, uint64_t data_cfg);

/* ---- fields of a record ------------------------------------------------------------------------------------------ */

enum cairn_pebs_group {
    /* in the order in which a record of formats 4 to 6 holds them */
    CAIRN_PEBS_BASIC = 0,
    CAIRN_PEBS_MEMINFO = 1,
    CAIRN_PEBS_GPR = 2,
    CAIRN_PEBS_XMM = 3,
    CAIRN_PEBS_LBR = 4,
    CAIRN_PEBS_CNTR = 5,
    /* of architectural PEBS besides */
    CAIRN_PEBS_HEADER = 6,
    CAIRN_PEBS_AUX = 7,
    CAIRN_PEBS_XER = 8, /* its header; the areas behind it: */
    CAIRN_PEBS_YMMH = 9,
    CAIRN_PEBS_EGPR = 10,
    CAIRN_PEBS_OPMASK = 11,
    CAIRN_PEBS_ZMMH = 12,
    CAIRN_PEBS_H16ZMM = 13,
    CAIRN_PEBS_PADDING = 14, /* what belongs to no group, up to the next fragment or the end */
};
/* "BASIC"; "" of a number that is none. */
CAIRN_PEBS_API const char *cairn_pebs_group_name(unsigned group);

/* a field's meaning */
enum cairn_pebs_what {
    CAIRN_PEBS_HEAD = 0, /* formats 4 to 6: groups, retire latency, size */
    CAIRN_PEBS_EVENTING_IP = 1,
    CAIRN_PEBS_COUNTERS = 2,
    CAIRN_PEBS_STATUS = 3, /* formats 1 and 2 */
    CAIRN_PEBS_TSC = 4,
    CAIRN_PEBS_DATA_ADDRESS = 5,
    CAIRN_PEBS_DATA_SOURCE = 6,
    CAIRN_PEBS_LATENCY = 7,
    CAIRN_PEBS_TX = 8,
    CAIRN_PEBS_RFLAGS = 9,
    CAIRN_PEBS_RIP = 10,
    CAIRN_PEBS_REGISTER = 11,
    CAIRN_PEBS_XMM_LOW = 12,
    CAIRN_PEBS_XMM_HIGH = 13,
    CAIRN_PEBS_LBR_FROM = 14,
    CAIRN_PEBS_LBR_TO = 15,
    CAIRN_PEBS_LBR_INFO = 16,
    CAIRN_PEBS_CNTR_MASKS = 17,
    CAIRN_PEBS_CNTR_METRICS = 18,
    CAIRN_PEBS_CNTR_VALUE = 19,
    /* architectural PEBS */
    CAIRN_PEBS_FRAGMENT = 20, /* the first word of a header */
    CAIRN_PEBS_RETIRE = 21,
    CAIRN_PEBS_SSP = 22,
    CAIRN_PEBS_XSTATE = 23,
    CAIRN_PEBS_VECTOR = 24, /* of an area that only architectural PEBS has */
    CAIRN_PEBS_LBR_CTL = 25,
    CAIRN_PEBS_LBR_DEPTH = 26,
    CAIRN_PEBS_LER_FROM = 27,
    CAIRN_PEBS_LER_TO = 28,
    CAIRN_PEBS_LER_INFO = 29,
    CAIRN_PEBS_RESERVED = 30, /* and padding */
    /* BTS */
    CAIRN_PEBS_BTS_FROM = 31,
    CAIRN_PEBS_BTS_TO = 32,
    CAIRN_PEBS_BTS_FLAGS = 33,
};

/* The field of a meaning that a record has once (so none of a register, an entry of the branch history or a counter).
 * False: a record of this format, or with these groups, has none. `size`: as cairn_pebs_size found it. */
CAIRN_PEBS_API bool cairn_pebs_get(unsigned format, const void *record, uint32_t size, enum cairn_pebs_what what,
                                   uint64_t *value);

/* The groups that are there: bit n is enum cairn_pebs_group n. 0 of formats 0 to 3 and of BTS, which have none. */
CAIRN_PEBS_API uint64_t cairn_pebs_groups(unsigned format, const void *record, uint32_t size);

struct cairn_pebs_branch {
    uint64_t from, to, info;
};
/* Entry `n` of the branch history, in the record's order. False: there is none. */
CAIRN_PEBS_API bool cairn_pebs_branch(unsigned format, const void *record, uint32_t size, unsigned n,
                                      struct cairn_pebs_branch *branch);

/* Whether the groups that the record names fill it: 0, or CAIRN_PEBS_E_GROUPS. Before the record's end there may be
 * padding of 8 bytes in architectural PEBS, none elsewhere. */
CAIRN_PEBS_API int cairn_pebs_check(unsigned format, const void *record, uint32_t size);

/* ---- every word of a record -------------------------------------------------------------------------------------- */

struct cairn_pebs_field { /* one 8-byte word of a record */
    char name[16];
    uint8_t what, group; /* group: formats 4 and up */
    uint32_t at;
    uint64_t value;
};

struct cairn_pebs_walk {
    const uint8_t *record;
    uint32_t size, at; /* at: of the next word */
    /* The rest is for the library. */
    uint32_t format;
    uint8_t group, place;        /* place: of the group, in their order */
    uint16_t index;              /* of the next word of the group */
    uint64_t groups;             /* of the head; format 15: the first word of the fragment's header */
    uint32_t gp, fixed, metrics; /* of the counter group: masks; words of metrics */
    uint32_t fragment, end;      /* format 15: where it begins and ends; fixed formats: where the record ends */
    uint32_t depth;              /* LBR_DEPTH in its group */
    bool cut;                    /* a fragment so far was too short for the groups it names */
};

/* `record`: `size` bytes, as cairn_pebs_size found them. A record too short for the groups it names ends early. */
CAIRN_PEBS_API void cairn_pebs_walk(struct cairn_pebs_walk *walk, unsigned format, const void *record, uint32_t size);
/* Every word of the record in the order of memory. False: that was all; walk->at tells how far the groups reach. */
CAIRN_PEBS_API bool cairn_pebs_next(struct cairn_pebs_walk *walk, struct cairn_pebs_field *field);

/* The field's name, or where a record may have several of it (a fragment's header, reserved words), that and its
 * offset: "header@10". */
#define CAIRN_PEBS_NAME 28u
CAIRN_PEBS_API const char *cairn_pebs_name(char out[CAIRN_PEBS_NAME], const struct cairn_pebs_field *field);

/* ---- the DS area ------------------------------------------------------------------------------------------------- */

#define CAIRN_PEBS_COUNTERS_MOST 48u /* numbered as in IA32_PERF_GLOBAL_STATUS: fixed counters from 32 on */

struct cairn_pebs_area { /* of the 64-bit layout */
    uint64_t bts_base, bts_index, bts_maximum, bts_threshold;
    uint64_t pebs_base, pebs_index, pebs_maximum, pebs_threshold;
    uint64_t counters; /* those that have a reset value in it, bit by bit */
    uint64_t reset[CAIRN_PEBS_COUNTERS_MOST];
};

/* Bytes of the area that a processor of record format 0 to 6 reads; 0: it has none. */
CAIRN_PEBS_API uint32_t cairn_pebs_area_bytes(unsigned format);
/* 0, CAIRN_PEBS_E_FORMAT or CAIRN_PEBS_E_CUT. */
CAIRN_PEBS_API int cairn_pebs_area(unsigned format, const void *bytes, size_t size, struct cairn_pebs_area *area);

#ifdef __cplusplus
}
#endif
