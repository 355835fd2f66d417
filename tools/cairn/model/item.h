/* SPDX-License-Identifier: MIT */
/* What a time line is made of: a context switch, or anything else that has a time. One cache line each. */
#pragma once

#include "tools/cairn/log/bts.h"
#include "tools/cairn/log/log.h"
#include "tools/cairn/model/attribution.h"

/* What a switch was written as; the first four are enum ccswap_type. */
enum cairn_form {
    CAIRN_FORM_IDLE_SHORT = CCSWAP_IDLE_SHORT,
    CAIRN_FORM_IDLE = CCSWAP_IDLE,
    CAIRN_FORM_LITE = CCSWAP_LITE,
    CAIRN_FORM_FULL = CCSWAP_FULL,
    CAIRN_FORM_EVENT, /* 0524H */
};

struct cairn_switch {
    int64_t time; /* session clock */
    uint32_t old_tid, new_tid;
    uint32_t wait; /* of the incoming thread, timer ticks; LITE: 0 or 1, not told which */
    uint32_t hole; /* hole right before it, or CAIRN_NO_HOLE */
    union {
        uint64_t told; /* the next eight, written at once */
        struct {
            uint8_t form;
            uint8_t state, reason; /* reason: of a waiting thread; 0524H: always */
            int8_t priority;
            int8_t base;    /* of the outgoing thread, where base_told */
            bool base_told; /* in a batch, where the thread leaves for the first time */
            bool detailed;  /* state and priority are told: not in the idle forms */
            bool raw;       /* reason is the record's field itself: no state can be told from a reason */
        };
    };
    bool new_known;                  /* new_tid is */
    const struct cairn_event *event; /* the 0524H or 0525H it is in */
};

/* First bits of `told`; above the state is the reason. */
#define CAIRN_TOLD_STATE     8
#define CAIRN_TOLD_PRIORITY  24
#define CAIRN_TOLD_BASE      32
#define CAIRN_TOLD_BASE_TOLD 40
#define CAIRN_TOLD_DETAILED  48
#define CAIRN_TOLD_RAW       56
_Static_assert(offsetof(struct cairn_switch, raw) - offsetof(struct cairn_switch, told) == CAIRN_TOLD_RAW / 8 &&
                   offsetof(struct cairn_switch, priority) - offsetof(struct cairn_switch, told) ==
                       CAIRN_TOLD_PRIORITY / 8,
               "the eight are the bytes of `told`");

enum cairn_item_kind {
    CAIRN_ITEM_SWITCH,
    CAIRN_ITEM_RECORD,
    CAIRN_ITEM_EPOCH,
    CAIRN_ITEM_HOLE,
    CAIRN_ITEM_BRANCHES, /* a drain of the BTS buffer, and then its records: cairn_lane_branches */
    CAIRN_ITEM_EVENT,    /* any other */
};

struct cairn_item {
    int64_t time;
    uint32_t cpu;
    uint8_t kind;
    uint8_t blame; /* RECORD: enum cairn_blame, by the rule asked for; EVENT: by time */
    uint8_t rule;  /* RECORD: of the two, the one asked for */
    uint8_t reserved;
    union {
        struct cairn_switch sw; /* SWITCH */
        struct {
            uint32_t tid; /* with CAIRN_BLAME_KNOWN */
            union {
                struct { /* RECORD */
                    const struct cairn_record *record;
                    struct cairn_verdict by[CAIRN_BY_RULES]; /* by each rule */
                };
                struct { /* EVENT */
                    const struct cairn_event *event;
                    const struct cairn_lock_event
                        *lock; /* the same as of a spin lock that was let go; NULL: it is none */
                };
                struct { /* HOLE */
                    const struct cairn_hole *hole;
                    int64_t until; /* the switch behind it; INT64_MAX: there is none */
                };
                const struct cairn_epoch *epoch;       /* EPOCH */
                const struct cairn_bts_step *branches; /* BRANCHES */
            };
        };
    };
};
_Static_assert(sizeof(struct cairn_item) == 64, "an item is a cache line");
