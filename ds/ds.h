/* SPDX-License-Identifier: MIT */
/*
 * The Debug Store of each CPU, or architectural PEBS in its place: detection, set-up, pause and resume, PMI, drain,
 * tear-down. It knows no trace sessions and no scheduler: kernel/recording/ds.c gives it memory, and
 * kernel/tracepoint/drains.c gets what it drains.
 *
 * PebsIndex, the stamp of switches: the address in the DS area; with architectural PEBS the byte offset in
 * IA32_PEBS_INDEX, from 0.
 *
 * Unless its comment says otherwise, a function acts on the CPU it runs on, with interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/trapframe.h"
#include "ds/caps.h"
#include "ds/layout.h"
#include "ds/machine.h"
#include "trace/wire/format.h" /* only enum cairn_ds_reason, why a drain happened */

#define DS_MAX_COUNTERS 14u /* 10 general-purpose and 4 fixed */

/* A processor with more is refused: the registers of further counters, and the bits of fixed counter 8 in
 * IA32_FIXED_CTR_CTRL, are something else. */
#define DS_GP_MAX    10u
#define DS_FIXED_MAX 8u

/* ---- what to do: from the options -------------------------------------------------------------------------------- */

enum ds_event_kind {
    DS_EVENT_INSTRUCTIONS,
    DS_EVENT_CYCLES,
    DS_EVENT_BRANCHES,
    DS_EVENT_CONDITIONAL,
    DS_EVENT_NEAR_TAKEN,
    DS_EVENT_NEAR_CALL,
    DS_EVENT_NEAR_RETURN,
    DS_EVENT_FAR_BRANCH,
    DS_EVENT_PREC_DIST,    /* instructions, with precise distribution; this and the next with PEBS only */
    DS_EVENT_LOAD_LATENCY, /* loads that took at least `setting` core cycles */
    DS_EVENT_FRONTEND,     /* instructions whose fetching was held up in the way `setting` says */
    DS_EVENT_STORE_SAMPLE, /* stores, with address, source and latency */
    DS_EVENT_KINDS
};

struct ds_event {      /* one term of pebs=EVENT:PERIOD[:u|k|uk][:plain] */
    uint8_t kind;      /* enum ds_event_kind */
    int8_t fixed;      /* the fixed counter that counts the same, DS_NO_FIXED: none */
    bool user, kernel; /* rings counted */
    bool plain;        /* counts and interrupts on overflow, without PEBS */
    uint64_t period;
    uint32_t setting; /* ldlat=, of MSR_PEBS_LD_LAT; frontend=, of MSR_PEBS_FRONTEND; other events: 0 */
    const char *name; /* Intel's name, from the event table */
};
#define DS_NO_FIXED (-1)

struct ds_config {
    uint32_t events; /* 0: no PEBS */
    struct ds_event event[DS_MAX_COUNTERS];
    uint32_t counting;  /* behind the `events` so many more, plain, without period or interrupt: they only count */
    uint64_t groups;    /* MSR_PEBS_DATA_CFG group bits wanted, LBR entries (adaptive formats) */
    uint32_t records;   /* PEBS buffer size in records, slack record not counted; >= 1 */
    uint32_t threshold; /* records until the PMI, 1..records */
    uint32_t throttle;  /* PMIs within a tick after which counting stops for a tick; 0: never */
    uint64_t tick_tsc;  /* a tick in TSC cycles: so long it stops at least */
};

#define DS_MAX_COUNTING 4u

/* Adds the event with this name (Intel's or perf's), in all rings, as one that only counts. 0, or -EINVAL: no such
 * event, or no room for it. */
int ds_add_counting(struct ds_config *config, const char *name);
/* Parses pebs=... into config->event; "none" means no events. 0, or -EINVAL with one line in `error`. */
int ds_parse_events(const char *spec, struct ds_config *config, char *error, size_t size);
/* The names that pebs= accepts, in upper or lower case: Intel's, each followed by its aliases; NULL after the last. */
const char *ds_event_name(size_t i);
/* Parses pebs.groups=, "none" or some of gpr,mem,xmm,lbr[:ENTRIES],counters, into config->groups. 0, or -EINVAL with
 * one line in `error`. */
int ds_parse_groups(const char *spec, struct ds_config *config, char *error, size_t size);

/* ---- what is there of events; of the rest: ds/caps.h ------------------------------------------------------------- */

/* The bits of IA32_PERFEVTSELx that select `event` on this processor: 15:0, and 47:40 (UMaskExt). 0, or -ENOENT. */
int ds_event_code(const struct ds_caps *caps, const struct ds_event *event, uint64_t *code);
/* The counters that can count it on this processor, with PEBS unless it is plain; some may not exist. 0: none. */
uint64_t ds_event_counters(const struct ds_caps *caps, const struct ds_event *event);
/* Whether PEBS may record it on this processor. Also true for instructions if no list says so: that has to be tried. */
bool ds_event_recorded(const struct ds_caps *caps, const struct ds_event *event);
/* Whether, by Intel's lists, the record is of the instruction that caused the event, not of a later one. */
bool ds_event_precise(const struct ds_caps *caps, const struct ds_event *event);
/* Errata that Intel's list names for the event on this processor, as in "MTL012,MTL013"; NULL: none. In ds/errata. */
const char *ds_event_errata(const struct ds_caps *caps, const struct ds_event *event);

/* ---- one CPU ----------------------------------------------------------------------------------------------------- */

struct ds_cpu;

/* What the kernel gets at a drain. The hooks are called on the CPU concerned, interrupts off, counting paused. */
struct ds_drain {
    enum cairn_ds_reason reason;
    uint32_t epoch;
    uint64_t tsc;
    uint64_t lost;      /* records dropped in this epoch, or CAIRN_DS_LOST_UNKNOWN */
    uint64_t swallowed; /* samples of counters that another's record reloaded, or CAIRN_DS_LOST_UNKNOWN */
    uint8_t format;
    const uint64_t *area; /* index not yet set back; with architectural PEBS a struct ds_arch_registers */
    uint32_t area_bytes;  /* the processor's form of it */
    const void *records;  /* base..index; NULL without any */
    uint32_t bytes;
    uint64_t address; /* of the first, as the processor has it: linear; physical with architectural PEBS */
    /* Bytes of the record at `record`, of which `left` bytes are there; 0: its size makes no sense. */
    uint32_t (*record_size)(unsigned format, const void *record, uint32_t left);
    bool in_parts; /* one may be larger than an event */
};

struct ds_bts_drain;
struct cairn_model_action;
struct cairn_model_entry;
struct ds_soft_step;
struct ds_model_record;
struct ds_model_branch;
struct ds_hooks {
    /* Before PebsIndex goes back to base: close the CPU's open batches now (no batch spans a drain). */
    void (*before_drain)(void *context, uint32_t cpu, uint64_t tsc);
    void (*drained)(void *context, uint32_t cpu, const struct ds_drain *drain);
    void *context;
    /* BTS: batches stay open. */
    void (*bts_drained)(void *context, uint32_t cpu, const struct ds_bts_drain *drain);
    /* A plain counter, that of config->event[event], has overflowed. From ds_pmi. May be NULL. */
    void (*overflowed)(void *context, uint32_t cpu, uint32_t event);
    /* soft, from the #DB handler, for who wants to know what really happened (ds/soft/soft.h). Each may be NULL: after
     * each record that the model has stored or dropped; for each branch that BTS was to store; and when an instruction
     * of the thread that runs on `cpu` has retired. */
    void (*recorded)(void *context, uint32_t cpu, struct ds_cpu *ds, const struct ds_soft_step *step,
                     const struct ds_model_record *record);
    void (*branched)(void *context, uint32_t cpu, struct ds_cpu *ds, const struct ds_soft_step *step,
                     const struct ds_model_branch *branch, bool stored);
    void (*retired)(void *context, uint32_t cpu, bool branch);
    /* Only soft with ds.log=1: what the model did at one instruction, in entry->actions actions. From the #DB handler,
     * and from a write of LVTPC. May be NULL. */
    void (*logged)(void *context, uint32_t cpu, const struct cairn_model_entry *entry,
                   const struct cairn_model_action *actions);
};

/* Lowers the values of `config` to what this processor allows, as ds_cpu_init does in its own copy. A buffer that must
 * stay within a page gets fewer records, and a lower threshold in proportion. */
void ds_fit_config(const struct ds_caps *caps, struct ds_config *config);

/* Bytes of the buffer that ds_cpu_init needs for this configuration: records and one slack record, in whole pages. With
 * architectural PEBS a power of two; the buffer is contiguous in physical memory, and aligned to its size. */
size_t ds_buffer_bytes(const struct ds_caps *caps, const struct ds_config *config);

/* The value of MSR_PEBS_DATA_CFG, if the processor has that register; the group of counters is of all that exist. */
uint64_t ds_data_cfg(const struct ds_caps *caps, const struct ds_config *config);

/* The groups of `config` as the processor wants them: ds_data_cfg; with architectural PEBS IA32_PMC_GPn_CFG_C of its
 * PEBS counters. 0 where records have none. */
uint64_t ds_groups(const struct ds_caps *caps, const struct ds_config *config);

/* Bytes of one record of this configuration's PEBS counters. With architectural PEBS it may have fewer or, split into
 * fragments, more. */
uint32_t ds_record_size(const struct ds_caps *caps, const struct ds_config *config);

size_t ds_cpu_bytes(void); /* sizeof(struct ds_cpu): the kernel allocates it */

/* Sets up the structure; accesses no MSR. `area`: one page; `buffer`: ds_buffer_bytes. Both are for the supervisor, NX,
 * stay where they are, and have been zeroed: microcode cannot store into pages that are not Accessed and Dirty. 0, or
 * -EINVAL with one line in `error`: the configuration is impossible with these caps. */
int ds_cpu_init(struct ds_cpu *ds, uint32_t cpu, const struct ds_machine *machine, const struct ds_caps *caps,
                const struct ds_config *config, const struct ds_hooks *hooks, void *area, void *buffer, char *error,
                size_t error_size);

/* Sets the area for the next ds_start, and of what runs beside PEBS, as for ds_cpu_init; NULL: there will be none.
 * Neither may run. */
void ds_set_area(struct ds_cpu *ds, void *area);

/* An access that the processor refused during ds_start, or after it. */
struct ds_refusal {
    const char *during; /* "the set-up", "the PMI handler", ... */
    int step;           /* of the set-up: the numbered sequence in ds/driver/driver.c or ds/bts/bts.c; 0: of none */
    uint32_t msr;       /* that raised #GP */
    bool write;         /* WRMSR of `value`; else RDMSR */
    uint64_t value;
};

/* Sets up counters and PEBS, if any are configured, and begins an epoch, the first is 0 (both hooks, reason START).
 * Leaves counting paused. 0; or -EFAULT: *refusal says why, and all but stale bits of GLOBAL_STATUS is as before. */
int ds_start(struct ds_cpu *ds, struct ds_refusal *refusal);
/* Drains (reason STOP), then the mirror image of ds_start. */
void ds_stop(struct ds_cpu *ds);

/* Whether PEBS or BTS runs. */
bool ds_started(const struct ds_cpu *ds);

/* What the config->counting counters have counted since ds_cpu_init, across stops and starts. Counting is paused. */
void ds_read_counting(struct ds_cpu *ds, uint64_t values[DS_MAX_COUNTING]);

/* Drains now, for `reason`. Pauses counting meanwhile and leaves it as it was. */
void ds_drain(struct ds_cpu *ds, enum cairn_ds_reason reason);

/* After a panic, for any CPU, when all others are stopped: passes the contents of its buffers to the hooks, reason
 * PANIC; again, if the CPU was stopped while it passed them on. Accesses no register and trusts no pointer. With
 * architectural PEBS a CPU that has not called ds_refresh_index_panic may have more records than its index last said:
 * then how many are lost is unknown. */
void ds_drain_panic(struct ds_cpu *ds);

/* The work of the PMI handler: drains if the threshold was reached, acknowledges, unmasks LVTPC; after too many PMIs
 * counting may stop until a ds_tick. Returns whether the interrupt came from the Debug Store. The EOI is the caller's.
 */
bool ds_pmi(struct ds_cpu *ds);

/* At each timer tick, counting paused: ends a stop of counting that has lasted a tick. `ds` may be NULL. */
void ds_tick(struct ds_cpu *ds);

/* PebsIndex of this CPU, for the events that carry it: the word of its DS area, which is always right. With
 * architectural PEBS a word of the driver's: right after ds_refresh_index and ds_switch, and in hooks. */
const volatile uint64_t *ds_pebs_index(const struct ds_cpu *ds);

/* What a drain would hand over as `area` (struct ds_drain), of any CPU; the index as it was last read. */
const uint64_t *ds_known_area(const struct ds_cpu *ds);

/* For these five counting is paused, and `ds` may be NULL. Makes *ds_pebs_index right until counting goes on. */
void ds_refresh_index(struct ds_cpu *ds);
/* Whether ds_switch refreshes the index, as each switch is stamped with it; else who stamps calls ds_refresh_index. */
void ds_stamp_switches(struct ds_cpu *ds, bool each);
/* At each switch, at `tsc`: also drains the branches of the thread that leaves (reason SWITCH). */
void ds_switch(struct ds_cpu *ds, uint64_t tsc);
/* From here on somebody else has the registers of this CPU (`lent`), or no longer: meanwhile the index stays. */
void ds_lend(struct ds_cpu *ds, bool lent);
/* The index once more, after a panic has paused this CPU for good: what ds_drain_panic believes. */
void ds_refresh_index_panic(struct ds_cpu *ds);

/* The counter that counts config->event[i], numbered as in GLOBAL_STATUS. */
unsigned ds_event_counter(const struct ds_cpu *ds, uint32_t i);

struct ds_counts {
    uint64_t records, drains, pmis;
    struct {
        uint64_t overflows;   /* each a PMI's reason */
        uint64_t events;      /* counted in all, since the last overflow too */
    } plain[DS_MAX_COUNTERS]; /* of each event of the configuration; of one with PEBS 0 */
    bool plain_whole;         /* ds_stop has read the counters since the last overflow; not after a panic */
    uint64_t lost;
    bool lost_unknown; /* hw: a drain found the buffer full */
    uint64_t swallowed;
    bool swallowed_unknown; /* hw: a drain found records where one may have swallowed another counter's sample */
    uint64_t late;          /* records that came after counters had been turned off; among `records` all the same */
    bool restless;          /* and they did not end; then lost_unknown is set, too */
    uint64_t steps;         /* soft: #DBs that counted */
    uint64_t throttles, throttled_tsc; /* how often counting was held for a tick, and for how long */
    uint64_t faults;         /* accesses to MSRs that raised #GP after ds_start: 0 unless the machine is broken */
    struct ds_refusal fault; /* the first of them */
};
void ds_cpu_counts(const struct ds_cpu *ds, struct ds_counts *out);

/* ---- pause and resume (the switch path) -------------------------------------------------------------------------- */

/* Stops the counters: the first step of the switch path and of interrupt entry. `ds` may be NULL (ds=off). */
void ds_pause(struct ds_cpu *ds);
/* Whether a ds_pause now would stop anything. `ds` may be NULL. */
bool ds_counting(const struct ds_cpu *ds);
/* Starts the counters again for the thread that now owns the stack: the last step before the return to it. */
void ds_resume(struct ds_cpu *ds);
/* The same at the end of an interrupt that returns to a sampled thread. soft: the frame decides; a thread that was not
 * being stepped (RFLAGS.TF clear) is not stepped. hw: call it only if the thread was being counted. */
void ds_resume_frame(struct ds_cpu *ds, struct arch_trap_frame *frame);
/* The same before a sampled thread enters ring 3 with `frame`. soft: sets RFLAGS.TF of the frame. */
void ds_resume_user(struct ds_cpu *ds, struct arch_trap_frame *frame);

/* ---- the processor itself ---------------------------------------------------------------------------------------- */

const struct ds_machine *ds_hw_machine(void);
