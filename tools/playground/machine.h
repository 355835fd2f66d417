/* SPDX-License-Identifier: MIT */
/*
 * One processor with its memory: ds/model, and the small program that it runs. steps.h, set_up.h and
 * handler.h say what it does next.
 */
#pragma once

#include "tools/playground/settings.h"

#define PLAY_AREA          UINT64_C(0xFFFF800000010000)
#define PLAY_PEBS_BUFFER   UINT64_C(0xFFFF800000020000)
#define PLAY_BTS_BUFFER    UINT64_C(0xFFFF800000030000)
#define PLAY_PEBS_PHYSICAL UINT64_C(0x12340000) /* of the same buffer: architectural PEBS */
#define PLAY_VECTOR        0xFEu

/* Of architectural PEBS with every group and its counters, and in fragments: more than others have. */
#define PLAY_RECORD_MAX 1664u

/* What a step was made of, in order: enum ds_model_action_kind, and of the playground itself: */
enum play_action_kind {
    PLAY_WROTE = 32,      /* set-up: WRMSR of `counters` = `after`; `before`: 0, or it raised #GP */
    PLAY_NOT_RECORDED,    /* set-up: PEBS does not record the event on the counter */
    PLAY_RETIRED,         /* the instruction with place `before`; `counters` have counted it */
    PLAY_PMI_WAITS,       /* the interrupt is taken `after` instructions later */
    PLAY_BRANCH_STORED,   /* BtsIndex, before and after */
    PLAY_BRANCH_WRAPPED,  /* BtsIndex, which is at the base again */
    PLAY_BRANCH_DROPPED,  /* BtsIndex, and the absolute maximum */
    PLAY_MEMORY_MISSING,  /* the address in `after`: the record is lost; or #PF, `before` 1 */
    PLAY_PMI_TAKEN,       /* from the address in `before`: handler, step 1 */
    PLAY_STOPPED,         /* handler: GLOBAL_CTRL, before and after 0 */
    PLAY_ACKNOWLEDGED,    /* handler: GLOBAL_STATUS; `counters`: bits that OVF_CTRL clears; `after`: is left */
    PLAY_DRAINED,         /* handler: PebsIndex, before and at the base; `counters`: number of records */
    PLAY_NOT_DRAINED,     /* handler: OvfBuf was not set, or bit 54 */
    PLAY_BRANCHES_TAKEN,  /* handler: BtsIndex, before and at the base; `counters`: number of records */
    PLAY_RESTARTED,       /* handler: a counter without PEBS, before and after */
    PLAY_LVTPC_WRITTEN,   /* handler: LVTPC, before and after */
    PLAY_LVTPC_FORGOTTEN, /* handler: LVTPC stays masked */
    PLAY_STARTED,         /* handler: GLOBAL_CTRL, before and after */
    PLAY_RETURNED,        /* IRETQ to the address in `after`; `counters` have counted it */
};

/* The kinds of steps a run can go to, as bits of a step's mark. */
enum play_mark {
    PLAY_MARK_OVERFLOW = 1,
    PLAY_MARK_RECORD = 2,
    PLAY_MARK_DROP = 4,
    PLAY_MARK_PMI = 8, /* raised, latched or lost */
    PLAY_MARK_DRAIN = 16,
    PLAY_MARK_BRANCH = 32,
    PLAY_MARK_HANDLER = 64,
};

#define PLAY_ACTIONS 64u /* of a step at most; a set-up has the most */

struct play_machine {
    struct play_settings settings;
    struct ds_model model;
    struct play_cpu cpu;
    uint32_t step;
    uint8_t marks[PLAY_STEPS]; /* of each step so far */

    struct ds_model_action action[PLAY_ACTIONS]; /* of the last step */
    uint32_t actions;
    uint32_t set_up; /* how many of the actions of step 0 are WRMSRs that raised #GP, or events not recorded */

    bool pmi_due;                    /* raised, not taken */
    uint32_t pmi_delay;              /* instructions until then */
    uint32_t in_handler;             /* its step, 1 and up; 0: the program runs */
    uint64_t ctrl, debugctl, status; /* that the handler keeps */

    uint64_t bts_seen, bts_dropped_seen; /* of the model's counts, told as actions */
    uint64_t pmis, pmis_lost, drains, drained, bts_drained;
    uint64_t initial[DS_COUNTER_NUMBERS], code[DS_COUNTER_NUMBERS];
    uint64_t newest_address; /* of the newest record; 0: there is none */
    uint32_t newest_bytes, newest_step;
    uint64_t newest_counters;
    uint8_t newest[PLAY_RECORD_MAX];

    _Alignas(8) uint8_t area[DS_AREA_BYTES_MAX];
    uint8_t buffer[PLAY_BUFFER_BYTES];
    uint8_t bts[PLAY_BTS_RECORDS * sizeof(struct ds_bts_record)];
};

/* Powered on, the program is about to begin. The machine stays where it is. */
void play_machine_begin(struct play_machine *machine, const struct play_settings *settings);

void play_act(struct play_machine *machine, uint8_t kind, uint64_t counters, uint64_t before, uint64_t after);
void play_act_counter(struct play_machine *machine, uint8_t kind, unsigned counter, uint64_t before, uint64_t after);
uint64_t play_rdmsr(const struct play_machine *machine, uint32_t msr);
uint64_t play_area_word(const struct play_machine *machine, size_t offset);
void play_area_set(struct play_machine *machine, size_t offset, uint64_t value);
/* Retires an instruction or, with `retired` NULL, takes an interrupt by `branch`, and tells what came of it. */
void play_retire(struct play_machine *machine, const struct ds_model_retired *retired,
                 const struct ds_model_branch *branch);
/* The counters that the last play_retire has moved: `before` are their values before it. */
uint64_t play_moved(const struct play_machine *machine, const uint64_t before[DS_COUNTER_NUMBERS]);
uint32_t play_counter_msr(unsigned number);
uint32_t play_cfg_c_msr(unsigned number); /* IA32_PMC_GPi_CFG_C, or of a fixed counter */
/* Where the index of the PEBS buffer stands: PebsIndex, or the position in IA32_PEBS_INDEX. */
uint64_t play_pebs_index(const struct play_machine *machine);
/* Counters in use that make no records. */
uint64_t play_plain(const struct play_machine *machine);
