/* SPDX-License-Identifier: MIT */
/*
 * Events of the Branch Trace Store: it has its own hook ID, so that readers of older versions skip it. Its epochs are
 * not those of PEBS. The buffer is drained whenever a traced thread is switched out, so all records of an epoch belong
 * to one thread. For all else the rules of trace/wire/format.h apply.
 */
#pragma once

#include <stdint.h>

#define HOOK_CAIRN_BTS         0xCA02u
#define HOOK_VERSION_CAIRN_BTS 1u

enum cairn_bts_kind { CAIRN_BTS_EPOCH = 1, CAIRN_BTS_RECORDS = 2 };

struct cairn_bts_epoch {    /* the epoch that ends here (or, for START, begins) */
    uint16_t kind;          /* 00: CAIRN_BTS_EPOCH */
    uint8_t reason;         /* 02: enum cairn_ds_reason */
    uint8_t interrupting;   /* 03: 1: DEBUGCTL.BTINT was set; 0: circular */
    uint32_t epoch;         /* 04: per CPU, from 0 */
    uint64_t tsc;           /* 08: when the index was read; SWITCH: of the switch */
    uint64_t lost;          /* 10: records dropped or overwritten in this epoch, or CAIRN_DS_LOST_UNKNOWN */
    uint32_t record_bytes;  /* 18: bytes of records that follow in CAIRN_BTS_RECORDS events, oldest first */
    uint32_t record_events; /* 1C: number of those events */
    uint64_t area[4];       /* 20: base (cairn grab: where this thread's records begin), index, absolute maximum,
                             * threshold, before index was set back to base */
    uint32_t tid;           /* 40: whose branches they are */
    uint32_t reserved;      /* 44 */
};
_Static_assert(sizeof(struct cairn_bts_epoch) == 0x48, "cairn_bts_epoch");

struct cairn_bts_records { /* raw BTS records of 24 bytes follow */
    uint16_t kind;         /* 00: CAIRN_BTS_RECORDS */
    uint16_t reserved;     /* 02 */
    uint32_t epoch;        /* 04 */
    uint64_t address;      /* 08: where the first of them lay */
    uint32_t bytes;        /* 10 */
    uint32_t part;         /* 14: 0, 1, ... within the epoch */
};
_Static_assert(sizeof(struct cairn_bts_records) == 0x18, "cairn_bts_records");
