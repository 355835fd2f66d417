/* SPDX-License-Identifier: MIT */
/*
 * The software model's own log (option ds.log=1): what the model did at an instruction, step by step. It has its own
 * hook ID. On a CPU an entry comes before the drain of its epoch. An instruction that was only counted has no entry.
 * For all else the rules of trace/wire/format.h apply.
 */
#pragma once

#include <stdint.h>

#define HOOK_CAIRN_MODEL         0xCA03u
#define HOOK_VERSION_CAIRN_MODEL 1u

struct cairn_model_entry { /* one instruction; `actions` times struct cairn_model_action follow */
    uint32_t sequence;     /* 00: per CPU, from 0: a gap is entries that were lost */
    uint32_t epoch;        /* 04: of PEBS */
    uint64_t tsc;          /* 08: of the step; of one that ends in a record, as in the record */
    uint64_t ip;           /* 10: the instruction; 0: none, software has written LVTPC */
    uint64_t next_ip;      /* 18: where execution went on */
    uint32_t tid;          /* 20: the thread that was stepped, from its stack */
    uint8_t cpl;           /* 24 */
    uint8_t length;        /* 25: of its code; 0: that could not be read */
    uint16_t actions;      /* 26: how many follow */
    uint8_t code[16];      /* 28: then zeros */
};
_Static_assert(sizeof(struct cairn_model_entry) == 0x38, "cairn_model_entry");
#define CAIRN_CODE_MAX 15u

/* docs/reference/format.md says what `before` and `after` mean for each kind. */
enum cairn_model_kind {
    CAIRN_MODEL_OVERFLOWED = 1,
    CAIRN_MODEL_ARMED = 2,
    CAIRN_MODEL_STORED = 3,
    CAIRN_MODEL_DROPPED = 4,
    CAIRN_MODEL_RELOADED = 5,
    CAIRN_MODEL_COMPARED = 6,
    CAIRN_MODEL_PMI_RAISED = 7,
    CAIRN_MODEL_PMI_LATCHED = 8,
    CAIRN_MODEL_PMI_LOST = 9,
};

struct cairn_model_action {
    uint8_t kind;      /* 00: enum cairn_model_kind */
    uint8_t counter;   /* 01: OVERFLOWED, ARMED, RELOADED: its number, as in IA32_PERF_GLOBAL_STATUS */
    uint16_t reserved; /* 02 */
    uint32_t counters; /* 04: STORED, DROPPED: that cause the record: bit i general-purpose, bit 16+i fixed */
    uint64_t before;   /* 08 */
    uint64_t after;    /* 10 */
};
_Static_assert(sizeof(struct cairn_model_action) == 0x18, "cairn_model_action");
