/* SPDX-License-Identifier: MIT */
/* The driver's state of one CPU; private to ds/. Only its own CPU uses it. */
#pragma once

#include "ds/driver/beside.h"
#include "ds/ds.h"

struct ds_mechanism; /* ds/driver/mechanism.h */

/* Words of the DS area. */
enum {
    DS_AREA_PEBS_BASE = offsetof(struct ds_area_60, pebs_buffer_base) / 8,
    DS_AREA_PEBS_INDEX = offsetof(struct ds_area_60, pebs_index) / 8,
    DS_AREA_PEBS_MAXIMUM = offsetof(struct ds_area_60, pebs_absolute_maximum) / 8,
    DS_AREA_PEBS_THRESHOLD = offsetof(struct ds_area_60, pebs_interrupt_threshold) / 8,
};

/* GLOBAL_CTRL, PEBS_ENABLE (each twice), DEBUGCTL, DS_AREA, LVTPC, PEBS_DATA_CFG, FIXED_CTR_CTRL, two settings; of
 * branch history four, of BTS two; four counters set free; each counter and its control, an auxiliary one; another
 * mechanism may have two of every counter. */
#define DS_UNDO_MAX (17u + 2 * 4 + 2 * (DS_MAX_COUNTERS + 1) + 2 * (DS_GP_MAX + DS_FIXED_MAX))

struct ds_counter { /* an event and the counter that counts it */
    const struct ds_event *event;
    uint8_t number;   /* as in GLOBAL_STATUS */
    uint64_t code;    /* IA32_PERFEVTSELx[15:0] and [47:40] */
    uint64_t initial; /* -period in the counter's width */
};

struct ds_setting { /* a register that an event needs, and its value */
    uint32_t msr;
    uint64_t value;
};
#define DS_SETTINGS_MAX 2u

struct ds_undo { /* one register that the set-up has written */
    uint32_t msr;
    bool lvtpc;   /* instead of an MSR */
    bool refused; /* to take the old value back, once */
    uint64_t before;
};

struct ds_cpu {
    const struct ds_mechanism *mechanism;
    const struct ds_machine *machine;
    struct ds_caps caps;
    struct ds_config config;
    struct ds_hooks hooks;
    uint32_t cpu;

    volatile uint64_t *area;
    void *buffer;
    uint32_t record_bytes;
    uint32_t taken; /* bytes handed over that the index, where it has refused to go back, still counts */
    bool unsure;    /* the index could not be read, or PEBS has gone off by itself: how much is lost is unknown */
    bool each;      /* ds_stamp_switches */
    bool lent;      /* the registers are another driver's for now; after a panic nobody's */

    struct ds_counter counter[DS_MAX_COUNTERS + 1]; /* of config.event, and an auxiliary one */
    uint32_t counters, settings;
    struct ds_setting setting[DS_SETTINGS_MAX]; /* in the order in which they are written */
    struct ds_event auxiliary;                  /* only counts */
    uint64_t global_ctrl, pebs_enable;          /* what they are while a session runs */
    uint64_t debugctl;                          /* with the LBR group: likewise, without LBR */
    uint64_t load_latency_enable;               /* likewise IA32_PEBS_ENABLE.LL_EN, before the baseline */

    bool started;          /* PEBS and the counters; what is beside them has its own */
    bool at_switch;        /* ds_switch has something to do (ds_settle_switch) */
    bool running;          /* hw only: GLOBAL_CTRL and DEBUGCTL.TR are on */
    bool throttled;        /* until a tick of the timer, a tick later at least */
    uint64_t throttled_at; /* TSC */
    uint32_t pmis_in_tick;
    uint32_t epoch;
    volatile uint32_t handed; /* epochs handed over; one more than `epoch` while the index goes back: for a panic */
    struct ds_stepped before; /* the machine's counts when this epoch began */
    struct ds_counts counts;
    uint64_t counted[DS_MAX_COUNTING]; /* what the counters that only count held at each stop, together */

    struct ds_undo undo[DS_UNDO_MAX];
    uint32_t undos;
    struct ds_refusal refusal; /* the step of set-up under way, and the last access that raised #GP */

    struct ds_beside *beside; /* records with it (ds/driver/beside.h); NULL: nothing does */
};

/* Whether something runs beside PEBS, which itself need not. */
static inline bool ds_beside_started(const struct ds_cpu *ds)
{
    return ds->beside && ds->beside->started;
}

/* ---- the plan: ds/driver/plan.c ---------------------------------------------------------------------------------- */

static inline bool ds_is_fixed(unsigned counter)
{
    return counter >= DS_COUNTER_FIXED;
}

/* The MSR of a counter's value, in its whole width where that can be written. */
uint32_t ds_counter_msr(const struct ds_caps *caps, unsigned counter);
/* What a counter starts with to overflow after `period` events: -period in its width. */
uint64_t ds_initial(const struct ds_caps *caps, unsigned counter, uint64_t period);
/* Whether an event could have that period on that counter. `option`: where the period comes from. 0, or -EINVAL with
 * one line in `error`. */
int ds_check_period(const struct ds_caps *caps, const struct ds_event *event, unsigned counter, uint64_t period,
                    const char *option, char *error, size_t size);

/* ---- what is in the buffer: ds/driver/drain.c -------------------------------------------------------------------- */

/* The first record that was not handed over. */
const uint8_t *ds_records(const struct ds_cpu *ds);
/* For a panic's drain: whether memory of the Debug Store is there; the panic may be about that. */
bool ds_readable(const struct ds_cpu *ds, const void *address, size_t bytes);
/* What a drain at `tsc` hands over, but for records. */
struct ds_drain ds_drain_of(const struct ds_cpu *ds, enum cairn_ds_reason reason, uint64_t tsc);

/* ---- where PEBS stands: ds/driver/index.c ------------------------------------------------------------------------ */

/* Makes at_switch anew, when something it depends on has changed. */
void ds_settle_switch(struct ds_cpu *ds);

/* ---- throttling: weak, ds/throttle ---------------------------------------------------------------------------- */

/* One more PMI was ours; counting is paused. Holds it, with a drain, if that was one too many. */
void ds_throttle(struct ds_cpu *ds) __attribute__((weak));
/* At the stop: what it lasted is counted. */
void ds_throttle_end(struct ds_cpu *ds) __attribute__((weak));

/* ---- hold and go on: ds/driver/driver.c -------------------------------------------------------------------------- */

/* Turns counters, branch history and what runs beside PEBS off and on: as pause and resume where nothing is stepped. */
void ds_hold(struct ds_cpu *ds);
void ds_go_on(struct ds_cpu *ds);

/* Whether there is a CPU, and PEBS or what is beside it runs there. */
bool ds_in_use(const struct ds_cpu *ds);
/* What a machine that steps has counted; else 0. */
struct ds_stepped ds_stepped(const struct ds_cpu *ds);

/* ---- PEBS goes off: ds/driver/quiet.c ---------------------------------------------------------------------------- */

/* Waits for records that are on their way after counters and PEBS have been turned off. 0 or -EFAULT. */
int ds_wait_quiet(struct ds_cpu *ds);
/* Counting is paused. Turns PEBS off, and counters, waits, and drains for `reason` what is there then. */
void ds_pebs_off(struct ds_cpu *ds, enum cairn_ds_reason reason);

/* ---- registers: ds/driver/driver.c, for the others --------------------------------------------------------------- */

int ds_rdmsr(struct ds_cpu *ds, uint32_t msr, uint64_t *value);
int ds_wrmsr(struct ds_cpu *ds, uint32_t msr, uint64_t value);
/* A refusal that nobody can be told of at once. */
void ds_count_fault(struct ds_cpu *ds);
/* A write that cannot be refused once the set-up has succeeded; if it is, that shows in the counts. 0 or -EFAULT. */
int ds_write_running(struct ds_cpu *ds, uint32_t msr, uint64_t value);
/* Writes an MSR and remembers what it held, for ds_roll_back. */
int ds_set_msr(struct ds_cpu *ds, uint32_t msr, uint64_t value);
/* Clears what GLOBAL_STATUS shows; a refusal shows in the counts. 0 or -EFAULT. */
int ds_clear_status(struct ds_cpu *ds);
/* Adds to the counts what a plain event's counter, paused, has counted from its start value on. False: #GP. */
bool ds_add_plain(struct ds_cpu *ds, uint32_t event);
/* LVTPC to the PMI's vector; and so that ds_roll_back brings back what it was. */
void ds_write_lvtpc(struct ds_cpu *ds);
void ds_set_lvtpc(struct ds_cpu *ds);
/* Takes back what was set, the last first, down to the first `undos`; then once more what was refused because of what
 * another register still held. */
void ds_roll_back(struct ds_cpu *ds, uint32_t undos);

/* Part of set-up's step 6 where errata.counters_stuck applies: ds/errata, which finds that. 0 or -EFAULT. */
int ds_free_counters(struct ds_cpu *ds) __attribute__((weak));

/* ---- branch history: ds/lbr -------------------------------------------------------------------------------------- */

struct ds_history {
    /* Part of set-up's step 5: 0 or -EFAULT. */
    int (*prepare)(struct ds_cpu *ds);
    /* Its part of ds_hold and ds_go_on. If BTS runs, ds/bts writes DEBUGCTL.LBR: it is in the same register. */
    void (*turn)(struct ds_cpu *ds, bool on);
    /* The bits of IA32_DEBUGCTL that are set while it is on, for other code that writes the register. */
    uint64_t (*debugctl)(const struct ds_cpu *ds);
};

/* The branch history of this CPU, if its records have the LBR group; else NULL. */
static inline const struct ds_history *ds_history(const struct ds_cpu *ds)
{
    return ds->config.groups & MSR_PEBS_DATA_CFG_LBR ? ds->caps.history : NULL;
}
