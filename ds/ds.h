/* SPDX-License-Identifier: MIT */
/*
 * The Debug Store of each CPU: detection, set-up, pause and resume, PMI, drain, tear-down. It knows no trace sessions
 * and no scheduler: kernel/recording/debug_store.c gives it memory, and kernel/tracepoint/drains.c gets what it drains.
 *
 * Unless its comment says otherwise, a function acts on the CPU it runs on, with interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/trapframe.h"
#include "ds/layout.h"
#include "ds/machine.h"
#include "trace/wire/format.h" /* enum cairn_ds_reason only: the wire's word for why a drain happened */
#include "trace/wire/truth.h"  /* what the truth hooks get */

#define DS_MAX_COUNTERS 14u /* 10 general-purpose and 4 fixed */

/* A processor with more is refused. Other registers follow those of the counters: from IA32_PMC0 + 12 on the
 * platform's, from IA32_PERFEVTSEL0 + 18 on those of power; fixed counter 8 has no bits in IA32_FIXED_CTR_CTRL that
 * are not ADAPTIVE's. */
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

/* Adds what Intel's name (or perf's) stands for, in all rings, as one that only counts. 0, or -EINVAL: no such event,
 * or no room for it. */
int ds_add_counting(struct ds_config *config, const char *name);
/* Parses pebs=... into config->event, no events for "none"; 0, or -EINVAL with one line in `error` that quotes the
 * offending word and says what would be right. */
int ds_parse_events(const char *spec, struct ds_config *config, char *error, size_t size);
/* The names pebs= knows, in any case of letters: Intel's, each followed by its aliases; NULL past the last. */
const char *ds_event_name(size_t i);
/* pebs.later=PERIOD[,...]: one for each of the `events`, or "none": then period[0] is 0. 0 or -EINVAL with one line in
 * `error`. */
int ds_parse_periods(const char *spec, uint32_t events, uint64_t *period, char *error, size_t size);
/* pebs.groups=none or some of gpr,mem,xmm,lbr[:ENTRIES],counters -> config->groups; 0 or -EINVAL with one line in
 * `error`. */
int ds_parse_groups(const char *spec, struct ds_config *config, char *error, size_t size);

enum ds_bts_mode { DS_BTS_OFF, DS_BTS_CIRCULAR, DS_BTS_INTERRUPT }; /* in the order of option bts */
enum ds_bts_rings { DS_BTS_ALL, DS_BTS_USER, DS_BTS_KERNEL };       /* in the order of option bts.rings */

/* ---- what is there ----------------------------------------------------------------------------------------------- */

#define DS_TESTS_MAX 32u

struct ds_test {      /* one row of the detection table, in the order the tests were made */
    const char *name; /* "CPUID.01H:EDX.DS[21]" */
    uint64_t value;   /* as read */
    bool faulted;     /* the read raised #GP */
    bool ok;
    const char *verdict; /* words: what follows from it */
};

/* Generations that code their events alike (ds/events/cores.tsv says which processors they are). */
enum ds_generation {
    DS_GENERATION_OTHER, /* the architectural events only */
    DS_GENERATION_CORE2,
    DS_GENERATION_NEHALEM, /* and Westmere */
    DS_GENERATION_SANDYBRIDGE,
    DS_GENERATION_IVYBRIDGE,
    DS_GENERATION_HASWELL, /* and Broadwell */
    DS_GENERATION_SKYLAKE, /* and its successors up to Ice Lake */
    DS_GENERATION_ICELAKE, /* to Rocket Lake */
    DS_GENERATION_GOLDENCOVE,
    DS_GENERATION_REDWOODCOVE,
    DS_GENERATION_LIONCOVE,
    DS_GENERATION_COUGARCOVE,
    DS_GENERATION_COYOTECOVE, /* the last of the performance cores */
    DS_GENERATION_BONNELL,
    DS_GENERATION_SILVERMONT,
    DS_GENERATION_KNIGHTS, /* Xeon Phi */
    DS_GENERATION_GOLDMONT,
    DS_GENERATION_GOLDMONTPLUS,
    DS_GENERATION_TREMONT,
    DS_GENERATION_GRACEMONT,
    DS_GENERATION_CRESTMONT,
    DS_GENERATION_SKYMONT,
    DS_GENERATION_DARKMONT,
    DS_GENERATION_ARCTICWOLF,
    DS_GENERATIONS
};

/* What this processor does otherwise than its manual says, and what the driver does about it: ds/driver/errata.c. */
struct ds_errata {
    bool pebs_unusable;        /* no PEBS */
    bool pebs_needs_microcode; /* no PEBS with the microcode it has */
    bool one_page_buffer;      /* the PEBS buffer stays within one page */
    bool counters_stuck;       /* before they are set up counters are set free, see ds/driver/driver.c */
    bool period_32;            /* shorter periods are refused */
    bool period_128;           /* likewise, of INST_RETIRED.PREC_DIST */
    bool period_64;            /* of INST_RETIRED.PREC_DIST: multiples of 64, from 128 on */
    bool pmc3_taken;           /* PMC3 is not used */
};

/* what turns branch history on */
enum ds_lbr {
    DS_LBR_NONE,
    DS_LBR_DEBUGCTL,
    DS_LBR_ARCHITECTURAL, /* IA32_LBR_CTL */
};

struct ds_caps {
    bool pebs, bts, bts_cpl;
    uint8_t generation;              /* enum ds_generation */
    const char *const *event_errata; /* ds_core_errata */
    uint8_t core_type;               /* CPUID.1AH:EAX[31:24] of a hybrid processor, else 0 */
    uint8_t perfmon_version, gp_counters, gp_width, fixed_counters, fixed_width;
    uint8_t format; /* PEBS record format 0..6 */
    bool baseline;  /* PEBS_BASELINE: adaptive records, PEBS_DATA_CFG, all counters */
    bool full_width_writes;
    bool no_load_latency, no_frontend; /* a hypervisor hides MSR_PEBS_LD_LAT, MSR_PEBS_FRONTEND */
    uint8_t lbr;                       /* enum ds_lbr */
    uint8_t lbr_depth;                 /* entries; 0: not told */
    uint64_t lbr_ctl;                  /* IA32_LBR_CTL for all branches */
    uint64_t pebs_counters;            /* those PEBS can be enabled for, numbered as in GLOBAL_STATUS */
    uint32_t area_bytes;    /* 0x60, 0xA0 or 0x1C0: the form of PROCESSOR_PROFILE_CONTROL_AREA this format needs */
    const char *reason;     /* one sentence: why there is or is not PEBS; may point to in_use */
    const char *bts_reason; /* likewise BTS */
    struct ds_errata errata;
    uint64_t counters_in_use; /* enabled before anybody asked, numbered as in GLOBAL_STATUS */
    bool area_in_use;         /* IA32_DS_AREA set, PEBS or BTS on */
    char in_use[256];         /* one sentence that names them; or "" */
    uint32_t tests;
    struct ds_test test[DS_TESTS_MAX];
};

/* The name of the hypervisor whose leaf CPUID.40000000H this is. */
const char *ds_hypervisor_name(const uint32_t leaf[4]);

/* Every test in the order of ds/driver/detect.c, on this CPU, through `machine`. Reads only, but for IA32_DS_AREA and
 * IA32_DEBUGCTL under a hypervisor, which are restored, and IA32_BIOS_SIGN_ID, which is read by writing it. Never
 * faults. Returns 0 where caps->pebs, -ENODEV otherwise; caps->bts may be set in either case. */
int ds_detect(const struct ds_machine *machine, struct ds_caps *caps);

/* After ds_detect: takes PEBS, and BTS, out of `caps` where counters, or the DS area, are in use, and names these as
 * the reason. Without it set-up takes them over, and tear-down gives them back as they were, but for what of a
 * general-purpose counter lies above bit 31 where there are no full-width writes. */
void ds_leave_alone(struct ds_caps *caps);

/* The row of detection that says whether records have the retire latency: IA32_PERF_CAPABILITIES[17]. */
#define DS_TEST_TIMING "IA32_PERF_CAPABILITIES.PEBS_TIMING_INFO[17]"

/* What of IA32_PERFEVTSELx makes a counter count `event` there: bits 15:0, and 47:40 (UMaskExt). 0; -ENOENT: nothing
 * does. */
int ds_event_code(const struct ds_caps *caps, const struct ds_event *event, uint64_t *code);
/* The counters that can count it there, with PEBS unless it is plain, those that exist or not; 0: none. */
uint64_t ds_event_counters(const struct ds_caps *caps, const struct ds_event *event);
/* Whether PEBS may record it there: instructions are worth trying (ds_self_test) where no list says that it does. */
bool ds_event_recorded(const struct ds_caps *caps, const struct ds_event *event);
/* Whether Intel's lists say that the instruction in the record is the one that caused the event; else it may be some
 * way behind. */
bool ds_event_precise(const struct ds_caps *caps, const struct ds_event *event);
/* Whether no other event may be counted beside it, by the core's other thread neither: ds_cpu_init refuses other PEBS
 * events, Hyper-Threading is the user's. */
bool ds_event_alone(const struct ds_caps *caps, const struct ds_event *event);
/* Errata that Intel's list names for the event on this processor, as in "MTL012,MTL013"; NULL: none. */
const char *ds_event_errata(const struct ds_caps *caps, const struct ds_event *event);
/* What family, model and core type say: CPUID.01H:EAX, and EAX of CPUID.1AH or 0. */
enum ds_generation ds_generation(uint32_t signature, uint32_t core_type);
const char *const *ds_core_errata(uint32_t signature, uint32_t core_type); /* for struct ds_caps */
const char *ds_generation_text(enum ds_generation generation);

/* ---- one CPU ----------------------------------------------------------------------------------------------------- */

struct ds_cpu;

/* What the kernel is told. Called on the CPU concerned, interrupts off, counting paused. */
struct ds_drain {
    enum cairn_ds_reason reason;
    uint32_t epoch;
    uint64_t tsc;
    uint64_t lost;      /* records dropped in this epoch, or CAIRN_DS_LOST_UNKNOWN */
    uint64_t swallowed; /* samples of counters that another's record reloaded, or CAIRN_DS_LOST_UNKNOWN */
    uint8_t format;
    const uint64_t *area; /* index not yet set back */
    uint32_t area_bytes;  /* the processor's form of it */
    const void *records;  /* base..index; NULL without any */
    uint32_t bytes;
};

struct ds_bts_run { /* of records, oldest first */
    const struct ds_bts_record *at;
    uint32_t count;
};

struct ds_bts_drain {
    enum cairn_ds_reason reason;
    enum ds_bts_mode mode;
    uint32_t epoch; /* BTS' own, from 0 */
    uint64_t tsc;
    uint64_t lost;            /* overwritten or dropped in this epoch, or CAIRN_DS_LOST_UNKNOWN */
    const uint64_t *area;     /* as above */
    uint32_t records;         /* in both runs */
    struct ds_bts_run run[2]; /* the second is not empty only where the processor has gone round */
};

struct ds_hooks {
    /* Before PebsIndex goes back to base: close the CPU's open batches now (no batch spans a drain). */
    void (*before_drain)(void *context, uint32_t cpu, uint64_t tsc);
    void (*drained)(void *context, uint32_t cpu, const struct ds_drain *drain);
    /* soft only, in the #DB handler, after each record the model wrote or dropped, for the truth: `count` records of
     * CAIRN_TRUTH_BYTES, a cairn_truth_pebs and what belongs to it. NULL: nobody asks. */
    void (*recorded)(void *context, uint32_t cpu, const void *truth, uint32_t count);
    void *context;
    /* BTS: no batch need be closed before. `branched` is to branches what `recorded` is to PEBS records. */
    void (*bts_drained)(void *context, uint32_t cpu, const struct ds_bts_drain *drain);
    void (*branched)(void *context, uint32_t cpu, const struct cairn_truth_branch *branch);
    /* A plain counter, config->event[event]'s, has overflowed. From ds_pmi. NULL: nobody asks. */
    void (*overflowed)(void *context, uint32_t cpu, uint32_t event);
    /* soft, from the #DB handler: an instruction of the thread with `frame` has retired. NULL: nobody asks. */
    void (*retired)(void *context, uint32_t cpu, const struct arch_trap_frame *frame, bool branch);
    /* soft with ds_soft_log only: what the model did at one instruction, entry->actions of them. From the #DB handler,
     * and from whoever writes LVTPC. */
    void (*logged)(void *context, uint32_t cpu, const struct cairn_model_entry *entry,
                   const struct cairn_model_action *actions);
};

/* Lowers what of `config` is more than this processor can have: ds_cpu_init does so with its own copy. A buffer that
 * must stay within a page has fewer records, and a threshold lower in proportion. */
void ds_fit_config(const struct ds_caps *caps, struct ds_config *config);

/* How many records of the truth a PEBS record of this configuration has (soft). */
uint32_t ds_truth_records(const struct ds_caps *caps, const struct ds_config *config);

/* Bytes of the buffer ds_cpu_init wants for this configuration: records and one slack record, page multiple. */
size_t ds_buffer_bytes(const struct ds_caps *caps, const struct ds_config *config);

/* MSR_PEBS_DATA_CFG: the groups wanted; of counters all there are. Only where there is that register. */
uint64_t ds_data_cfg(const struct ds_caps *caps, const struct ds_config *config);

/* Bytes of one record of this configuration's PEBS counters. */
uint32_t ds_record_size(const struct ds_caps *caps, const struct ds_config *config);

size_t ds_cpu_bytes(void); /* sizeof(struct ds_cpu): the kernel allocates it */

/* Sets the structure up; touches no MSR. `area`: one page, never moved. `buffer`: ds_buffer_bytes. Both zeroed (so that
 * their pages are Accessed and Dirty: a store out of microcode can do nothing about it), supervisor, NX, mapped for
 * good. 0, -EINVAL (configuration impossible on these caps: one line in `error`). */
int ds_cpu_init(struct ds_cpu *ds, uint32_t cpu, const struct ds_machine *machine, const struct ds_caps *caps,
                const struct ds_config *config, const struct ds_hooks *hooks, void *area, void *buffer, char *error,
                size_t error_size);

/* ---- does PEBS make records? (ds/driver/self_test.c) ------------------------------------------------------------- */

enum ds_tried {
    DS_TRIED_RECORDS,
    DS_TRIED_NO_RECORD, /* the counter has run past 0, PebsIndex has not moved */
    DS_TRIED_STILL,     /* the counter has not come to 0 */
    DS_TRIED_NOT,       /* PEBS of it cannot be set up: ds_cpu_init and ds_start say why */
};

#define DS_SELF_TEST_BUFFER 4096u /* a page */

/* Has PEBS make records of `event`, of instructions, by some hundred of the kernel's, with a driver of its own:
 * ds_cpu_bytes at `ds`, `area` and DS_SELF_TEST_BUFFER bytes at `buffer` as ds_cpu_init's. Adds a row to caps. Nothing
 * runs; every register is as before. */
enum ds_tried ds_self_test(struct ds_cpu *ds, const struct ds_machine *machine, struct ds_caps *caps,
                           const struct ds_event *event, void *area, void *buffer);

/* The first event of `config` by which PEBS samples instructions, without precise distribution; NULL: none. */
const struct ds_event *ds_sampled_instructions(const struct ds_config *config);

/* INST_RETIRED.PREC_DIST takes that event's place, with the nearest period that errata let it have, and so has later[]
 * where later[0] is not 0. 0; nothing is changed: -ENOENT (it is no event of instructions as such on this processor),
 * or -EBUSY (there is more than one that samples instructions: one counter has it; or there are other PEBS events, and
 * it has to be taken alone). */
int ds_take_prec_dist(const struct ds_caps *caps, struct ds_config *config, uint64_t *later);

/* The area of the next ds_start and ds_bts_start, such as ds_cpu_init's; NULL: there will be none. Nothing runs. */
void ds_set_area(struct ds_cpu *ds, void *area);

/* What the processor did not let ds_start do, or what came after it. */
struct ds_refusal {
    const char *during; /* "the set-up", "the PMI handler", ... */
    int step;           /* of the set-up: the numbered sequence in ds/driver/driver.c or ds/driver/bts.c; 0: of none */
    uint32_t msr;       /* that raised #GP */
    bool write;         /* WRMSR of `value`; else RDMSR */
    uint64_t value;
};

/* Numbered set-up sequence of the counters and PEBS; nothing where none are configured. On failure everything is as
 * before, but for stale bits of GLOBAL_STATUS, and *refusal says why. Begins an epoch, the first is 0 (both hooks,
 * reason START: batches open until now carry no index of this epoch). Leaves counting paused. 0 or -EFAULT. */
int ds_start(struct ds_cpu *ds, struct ds_refusal *refusal);
/* Drains (reason STOP), then the mirror image of ds_start. */
void ds_stop(struct ds_cpu *ds);

/* Whether PEBS or BTS runs. */
bool ds_started(const struct ds_cpu *ds);

/* Gives config->event[i] the period period[i], for each: drains (reason RECONFIGURE), then numbered steps of its own
 * (ds/driver/reconfigure.c). Leaves counting paused. 0; -EINVAL with one line in `error`, nothing is changed then: to
 * be asked before ds_start, too. What raises #GP on the way shows in the counts. */
int ds_reconfigure(struct ds_cpu *ds, const uint64_t *period, char *error, size_t size);

/* What config->counting counters have counted since ds_cpu_init, over stops and starts. Counting is paused. */
void ds_read_counting(struct ds_cpu *ds, uint64_t values[DS_MAX_COUNTING]);

/* Drain now, for `reason`. Counting is paused around it and stays as it was. */
void ds_drain(struct ds_cpu *ds, enum cairn_ds_reason reason);

/* After a panic, for any CPU, all others being stopped: hands over what its buffer holds, with reason PANIC. Touches no
 * register and believes no pointer. Each store by itself: a CPU that was stopped while it handed over an epoch of one
 * hands that over again, so `drained` and `bts_drained` may see an epoch a second time, then with reason PANIC. */
void ds_drain_panic(struct ds_cpu *ds);

/* The PMI handler's work (numbered): drain if the threshold was reached, acknowledge, unmask LVTPC; where there are too
 * many of them, hold counting until a ds_tick. Returns whether the interrupt was ours. EOI is the caller's. */
bool ds_pmi(struct ds_cpu *ds);

/* The timer's tick: counting that was held for a tick's time goes on when it is resumed. Counting is paused. NULL:
 * nothing. */
void ds_tick(struct ds_cpu *ds);

/* ---- branch tracing (ds/driver/bts.c): beside PEBS or without it
 * -------------------------------------------------------- */

/* Why a processor cannot trace the branches of these rings; NULL: it can. */
const char *ds_bts_refusal(const struct ds_caps *caps, enum ds_bts_rings rings);

/* Bytes of a buffer of `records` records and one slack record, page multiple. */
size_t ds_bts_buffer_bytes(uint32_t records);

/* After ds_cpu_init; touches no MSR. `buffer`: as ds_cpu_init's. `rings`: whose branches, by the
 * privilege level they run at. 0, -EINVAL (the processor has no BTS: caps->bts_reason; it cannot choose by ring:
 * !caps->bts_cpl; or nothing is asked for). */
int ds_bts_init(struct ds_cpu *ds, enum ds_bts_mode mode, enum ds_bts_rings rings, uint32_t records, void *buffer);

/* Numbered set-up sequence of its own, after ds_start or without it. On failure everything is as before it, PEBS runs
 * on, and *refusal says why (step: in ds/driver/bts.c). Begins BTS' first epoch (hook, reason START). 0 or -EFAULT.
 * ds_stop, ds_pause, ds_resume, ds_pmi and ds_drain_panic look after both. */
int ds_bts_start(struct ds_cpu *ds, struct ds_refusal *refusal);

/* Drain now. Counting is paused. `tsc`: when. Where reason is CAIRN_DS_SWITCH and there is nothing, no epoch ends.
 * NULL, or no BTS: nothing. PEBS and its epochs go on: records of branches have no part in PebsIndex. */
void ds_bts_drain(struct ds_cpu *ds, enum cairn_ds_reason reason, uint64_t tsc);

struct ds_bts_counts {
    uint64_t records, drains, lost;
    bool lost_unknown; /* hw: a drain found that the buffer had been full */
};
void ds_bts_cpu_counts(const struct ds_cpu *ds, struct ds_bts_counts *out);

/* PebsIndex of this CPU's DS area, for what a trace stamps with it. */
const volatile uint64_t *ds_pebs_index(const struct ds_cpu *ds);

/* The counter that counts config->event[i], numbered as in GLOBAL_STATUS. */
unsigned ds_event_counter(const struct ds_cpu *ds, uint32_t i);

struct ds_counts {
    uint64_t records, drains, pmis;
    struct {
        uint64_t overflows;   /* each a PMI's reason */
        uint64_t events;      /* counted in all, since the last overflow too */
    } plain[DS_MAX_COUNTERS]; /* of each event of the configuration; of one with PEBS 0 */
    bool plain_whole;         /* ds_stop has read what there was since the last overflow; not after a panic */
    uint64_t lost;
    bool lost_unknown; /* hw: a drain found the buffer full */
    uint64_t swallowed;
    bool swallowed_unknown; /* hw: a drain found records where one may have swallowed another counter's sample */
    uint64_t late;          /* records that came after counters had been turned off; among `records` all the same */
    bool restless;          /* and they have not come to an end; lost_unknown, too */
    uint64_t steps;         /* soft: #DBs that counted */
    uint64_t throttles, throttled_tsc; /* how often counting was held for a tick, and for how long */
    uint64_t faults;         /* accesses to MSRs that raised #GP after ds_start: 0, or the machine is broken */
    struct ds_refusal fault; /* the first of them */
};
void ds_cpu_counts(const struct ds_cpu *ds, struct ds_counts *out);

/* ---- pause and resume (the switch path) -------------------------------------------------------------------------- */

/* Counters stop: hw: GLOBAL_CTRL = 0; soft: steps no longer count and TF goes at the next #DB. First act of the switch
 * path and of interrupt entry, before any time stamp. `ds` may be NULL (ds=off): nothing. */
void ds_pause(struct ds_cpu *ds);
/* Whether a ds_pause now would stop anything. `ds` may be NULL. */
bool ds_counting(const struct ds_cpu *ds);
/* Counters run again for the thread that now owns the stack. Last act before return to it. In a thread: sets TF on
 * return of this function (soft). */
void ds_resume(struct ds_cpu *ds);
/* The same at the end of an interrupt that returns to a sampled thread. soft: the frame decides, a thread that was not
 * being stepped (RFLAGS.TF clear) still is not. hw: call it only where the thread had been counting. */
void ds_resume_frame(struct ds_cpu *ds, struct arch_trap_frame *frame);
/* The same before a sampled thread goes (back) to ring 3 with `frame`, whose RFLAGS.TF it sets (soft). */
void ds_resume_user(struct ds_cpu *ds, struct arch_trap_frame *frame);

/* ---- the two machines -------------------------------------------------------------------------------------------- */

const struct ds_machine *ds_hw_machine(void);

/* soft: one model per CPU. `preset`: a name of ds_model_presets; -EINVAL unknown. `policy` NULL: all defaults. The #DB
 * handler is ds_soft_step, given to arch_debug_set by the kernel; raise_pmi sends ARCH_VECTOR_PMI to itself. */
struct ds_soft;
struct ds_model_policy;
size_t ds_soft_bytes(void);
int ds_soft_init(struct ds_soft *soft, const char *preset, const struct ds_model_policy *policy);
const struct ds_machine *ds_soft_machine(struct ds_soft *soft);
/* Connects the model to its CPU's driver state, for the hooks and the truth; `tid` names the thread whose registers a
 * frame holds. A model that nobody attaches only counts. */
void ds_soft_attach(struct ds_soft *soft, struct ds_cpu *ds, uint32_t (*tid)(const struct arch_trap_frame *frame));
/* From here on the model asks `mapped` before it touches DS memory, as ds.policy.unmapped needs it. */
void ds_soft_check_memory(struct ds_soft *soft, bool (*mapped)(const void *address, size_t size));
/* From here on each step of the model goes to hooks.logged (option ds.log=1). After ds_soft_attach. */
void ds_soft_log(struct ds_soft *soft);
uint32_t ds_soft_logged(const struct ds_soft *soft); /* entries so far */
/* A program being stepped has entered the kernel by SYSCALL, with `frame`: counts that instruction and ends the
 * stepping. Before ds_pause. */
void ds_soft_system_call(struct ds_soft *soft, struct arch_trap_frame *frame);
/* An interrupt, or a program's fault, has come with `frame`: counts what has retired without a #DB of its own. Before
 * ds_pause. */
void ds_soft_interrupted(struct ds_soft *soft, struct arch_trap_frame *frame);
/* The #DB handler: false where the #DB is not a step of this backend. */
bool ds_soft_step(struct ds_soft *soft, struct arch_trap_frame *frame);
