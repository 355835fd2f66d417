/* SPDX-License-Identifier: MIT */
/*
 * The processor's side of the Debug Store, in software: the performance counters, PEBS and LVTPC of one logical
 * processor. It allocates nothing, has no variables of its own, and reaches memory, registers and the interrupt through
 * struct ds_model_host. Calls on one model must not overlap, except that host.raise_pmi may call ds_model_lvtpc_write.
 *
 * Sources: SDM vol. 3B, "Processor Event Based Sampling (PEBS)", "PEBS Record Format", "Adaptive PEBS" for what happens
 * at an event and at an assist; Linux' KVM (arch/x86/kvm/vmx/pmu_intel.c) for the writes that fault. Where no source
 * settles a question, struct ds_model_policy has a switch.
 *
 * The model counts what its host can see (enum ds_model_event); counters of other events do not move. It has no clock:
 * a cycle, core or reference, is a retired instruction, unless the host says how many they are. So is a
 * micro-operation. CMASK, INV, EDGE and EQ use the same cycle, in which an event occurs once or not at all, but for
 * slots of the pipeline. What the model cannot know reads 0: TX abort information, data addresses that the host cannot
 * see, and without a memory system latencies and data sources, so that no load reaches a latency threshold. Features
 * that CPUID and IA32_PERF_CAPABILITIES do not show do not exist. The core has one thread: AnyThread changes nothing.
 *
 * Read in this order: this file, counting.c, record.c, registers.c, select.c; presets.c and ds/policy are tables.
 * hooks.c is what there is without the folders here, each of which adds something. The kernel has no use for two of
 * them: memory/ is for a host with a memory system, variant/ makes other processors of the presets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/generation.h"
#include "ds/layout.h"
#include "ds/policy/policy.h"
#include "kernel/lib/rows.h"

#define DS_MODEL_GP_MAX       10u
#define DS_MODEL_FIXED_MAX    7u
#define DS_MODEL_LBR_DEPTH    32u
#define DS_MODEL_OFFCORE_MSRS 2u

/* ---- the processor to be ----------------------------------------------------------------------------------------- */

/* What a retired instruction can be counted as; it may be several. */
enum ds_model_event {
    DS_MODEL_INSTRUCTION,
    /* Branches, by what they are: */
    DS_MODEL_BRANCH, /* any, taken or not */
    DS_MODEL_BRANCH_CONDITIONAL,
    DS_MODEL_NEAR_CALL,
    DS_MODEL_NEAR_RETURN,
    DS_MODEL_FAR_BRANCH,
    DS_MODEL_NEAR_DIRECT_CALL,
    DS_MODEL_NEAR_INDIRECT_CALL,
    DS_MODEL_NEAR_DIRECT_JUMP,
    DS_MODEL_NEAR_INDIRECT_JUMP,
    DS_MODEL_NEAR_JUMP,
    DS_MODEL_NEAR_INDIRECT, /* jump or call */
    DS_MODEL_NEAR_INDIRECT_OR_RETURN,
    DS_MODEL_BRANCH_UNCONDITIONAL, /* near or far */
    DS_MODEL_NOT_BRANCH,           /* nor any of these */
    /* Branches, by what they did: */
    DS_MODEL_BRANCH_TAKEN, /* near */
    DS_MODEL_ANY_TAKEN,    /* near or far */
    DS_MODEL_CONDITIONAL_TAKEN,
    DS_MODEL_CONDITIONAL_FORWARD,  /* of these, to a higher address */
    DS_MODEL_CONDITIONAL_BACKWARD, /* to a lower one, or its own */
    DS_MODEL_CONDITIONAL_NOT_TAKEN,
    DS_MODEL_LBR_INSERT, /* an entry of branch history has come with it; the model sees to that itself */

    DS_MODEL_LOAD, /* it read data */
    DS_MODEL_LOAD_OR_PREFETCH,
    DS_MODEL_PREFETCH,  /* PREFETCHNTA, T0, T1, T2, W */
    DS_MODEL_STORE,     /* it wrote data */
    DS_MODEL_REFERENCE, /* ticks of the TSC, where the host tells them: ds_model_retired.by */

    /* From here on a host has to have a memory system, and a preset to ask for it. Loads by where their data was: */
    DS_MODEL_PLAIN_EVENTS,
    DS_MODEL_LOAD_L1_HIT = DS_MODEL_PLAIN_EVENTS,
    DS_MODEL_LOAD_L1_COUNTED, /* L1 hits, and wherever the data was locked loads and software prefetches */
    DS_MODEL_LOAD_L1_L2_HIT,  /* the L1 or the L2 had it */
    DS_MODEL_LOAD_FILL_BUFFER,
    DS_MODEL_LOAD_L1_MISS,
    DS_MODEL_LOAD_L2_HIT,
    DS_MODEL_LOAD_L2_MISS,
    DS_MODEL_LOAD_L3_HIT,
    DS_MODEL_LOAD_L3_MISS,
    DS_MODEL_LOAD_SNOOP_NONE, /* of the L3 hits */
    DS_MODEL_LOAD_SNOOP_MISS,
    DS_MODEL_LOAD_SNOOP_HIT,
    DS_MODEL_LOAD_SNOOP_HITM,
    DS_MODEL_LOAD_STLB_MISS,
    DS_MODEL_STORE_STLB_MISS,
    DS_MODEL_LOAD_LOCKED,
    DS_MODEL_LOAD_SPLIT,   /* it is of two lines */
    DS_MODEL_LOAD_LATENCY, /* it took longer than MSR_PEBS_LD_LAT says */
    /* What an instruction may do several times: ds_model_retired.by */
    DS_MODEL_AMOUNTS,
    DS_MODEL_L1_FILLED = DS_MODEL_AMOUNTS,
    DS_MODEL_L3_ASKED,
    DS_MODEL_L3_MISSED,
    DS_MODEL_LOAD_WALK,
    DS_MODEL_STORE_WALK,
    DS_MODEL_CYCLES,
    DS_MODEL_BACKEND, /* slots: DS_MODEL_BACKEND_BOUND */
    DS_MODEL_EVENTS
};

/* As an event's code: slots of the pipeline, topdown/slots.c. */
enum ds_model_slots {
    DS_MODEL_SLOTS = DS_MODEL_EVENTS, /* all of them */
    DS_MODEL_BAD_SPECULATION,
    DS_MODEL_FRONTEND_BOUND,
    DS_MODEL_BACKEND_BOUND,
};

/* Tallies of slots, from which MSR_PERF_METRICS is made: counters that no MSR shows, with the numbers after the last.
 */
enum ds_model_tally {
    DS_MODEL_TALLY_SLOTS = DS_COUNTER_NUMBERS,
    DS_MODEL_TALLY_RETIRING,
    DS_MODEL_TALLY_BAD_SPECULATION,
    DS_MODEL_TALLY_FRONTEND,
    DS_MODEL_COUNTERS
};

struct ds_model_event_code {
    uint64_t code; /* IA32_PERFEVTSELx[15:0], unit mask and event select; [47:40], UMaskExt */
    uint8_t event; /* enum ds_model_event, or enum ds_model_slots */
    uint64_t only; /* 0: counts on every counter; else on these alone, and there with precise distribution, but with
                    * CMASK on all, and without */
};

struct ds_model_preset {
    const char *name;
    uint32_t signature;   /* CPUID.01H:EAX */
    uint32_t microcode;   /* its revision, IA32_BIOS_SIGN_ID[63:32] */
    bool la57;            /* CPUID.07H:ECX.LA57: linear addresses have 57 bits */
    bool ds, ds_cpl;      /* CPUID.01H:EDX.DS, ECX.DS_CPL */
    uint8_t core_type;    /* CPUID.1AH:EAX[31:24]; 0: not of a hybrid processor */
    uint8_t native_model; /* CPUID.1AH:EAX[23:0]: which core of its kind */
    uint8_t generation;   /* enum ds_generation: whose lists say what PEBS records */
    uint8_t perfmon_version;
    uint8_t gp_counters, fixed_counters;
    uint8_t fixed_more;                   /* fixed counters beyond these, bit by bit: 4 to 6 count slots */
    uint8_t slots;                        /* of a cycle; 0: they are not counted */
    uint16_t cpi;                         /* with a memory system: hundredths of a cycle that an instruction takes */
    uint8_t width;                        /* of every counter, in bits */
    uint8_t format;                       /* IA32_PERF_CAPABILITIES.PEBS_FMT */
    bool leaf_23h;                        /* CPUID has it: of hybrids, and of architectural PEBS */
    const struct ds_model_pebs23 *pebs23; /* architectural PEBS; NULL: the Debug Store's */
    bool baseline;                        /* IA32_PERF_CAPABILITIES.PEBS_BASELINE */
    bool full_width_writes;               /* IA32_PERF_CAPABILITIES.FW_WRITE */
    bool perf_metrics;                    /* IA32_PERF_CAPABILITIES.PERF_METRICS */
    uint8_t lbr_format;                   /* IA32_PERF_CAPABILITIES.LBR_FMT */
    bool arch_lbr;                        /* IA32_LBR_CTL, not DEBUGCTL.LBR, turns branch history on */
    uint8_t lbr_depth;                    /* entries of branch history after RESET */
    uint8_t lbr_depths;                   /* with arch_lbr: CPUID.1CH:EAX[7:0], those to choose from */
    uint16_t lbr_select;                  /* legal bits of MSR_LBR_SELECT; 0: not there */
    uint16_t lbr_from, lbr_to, lbr_info;  /* MSRs of entry 0; lbr_info 0: not there */
    bool lbr_logs;                        /* IA32_PERFEVTSELx.EN_LBR_LOG of PMC0 to PMC3 */
    const struct ds_model_memory *memory; /* &ds_model_memory: the host has a memory system; NULL: it has none */
    bool reference;                       /* the host tells reference cycles; else they are core cycles */
    bool kvm;               /* not the processor's, but what KVM leaves of it for a guest: ds_model_kvm_guest */
    bool load_latency;      /* MSR_PEBS_LD_LAT; before the baseline IA32_PEBS_ENABLE.LL_EN */
    bool precise_store;     /* IA32_PEBS_ENABLE.PS_EN */
    bool frontend;          /* MSR_PEBS_FRONTEND */
    bool bts_predicted;     /* BTS records say whether the branch had been predicted */
    uint64_t pebs_counters; /* IA32_PEBS_ENABLE has a bit for */
    uint64_t pdist;         /* counters with precise distribution: the record comes with the overflow itself */
    uint64_t data_cfg;      /* legal bits of MSR_PEBS_DATA_CFG */
    uint64_t arch_groups;   /* architectural PEBS: groups that IA32_PMC_GPn_CFG_C may name, and CNTR_ALLOW */
    uint64_t acr_reloaded, acr_causes; /* auto counter reload: counters with IA32_PMC_GPn_CFG_B; those it may name */
    const struct ds_model_event_code *events; /* beside the architectural ones; ends with a code of 0 */
};

ROWS(ds_model_preset, const struct ds_model_preset);

/* The preset after `before`, from the oldest to the newest. `before` NULL: the first. Returns NULL after the last. */
const struct ds_model_preset *ds_model_preset_after(const struct ds_model_preset *before);
/* NULL: no preset of that name. */
const struct ds_model_preset *ds_model_preset(const char *name);

/* The events of a memory system, and what records say of an access (ds/model/memory). */
extern const struct ds_model_memory ds_model_memory;

/* ---- the host ---------------------------------------------------------------------------------------------------- */

struct ds_model_registers { /* after the instruction that caused the record */
    uint64_t rflags, rip;
    uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
    uint64_t r8_r15[8];
    uint64_t eventing_ip; /* that instruction's own address */
    uint64_t tsc;
    bool compatibility; /* the code does not run in 64-bit mode; only records of architectural PEBS tell */
};

struct ds_model_record { /* what an assist did, for whoever keeps the truth */
    bool stored;         /* false: it did not fit and was dropped */
    uint64_t address;    /* where it lies, or would have: linear; with architectural PEBS physical */
    uint32_t size;
    uint64_t counters;  /* that caused it, numbered as in GLOBAL_STATUS */
    uint64_t swallowed; /* armed, and reloaded with these: a sample of theirs that no record will show */
    const struct ds_model_registers *registers;
};

/* `before` and `after` of: (with architectural PEBS IA32_PEBS_INDEX is PebsIndex, the buffer's size the maximum, bit 54
 * OVF_BUF, CFG_C the DS area's slot) */
enum ds_model_action_kind {
    DS_MODEL_OVERFLOWED = 1, /* the counter; its bit of GLOBAL_STATUS is set, unless it reloads itself */
    DS_MODEL_ARMED,          /* the counter; the next event it counts writes a record, with PDIST this one */
    DS_MODEL_STORED,         /* PebsIndex: the record lies between the two */
    DS_MODEL_DROPPED,        /* not PebsIndex, which stays: it, and the absolute maximum no record fits under */
    DS_MODEL_RELOADED,       /* the counter, from its slot of the DS area; its bit of GLOBAL_STATUS is cleared, unless
                              * it is another counter's overflow that reloads it */
    DS_MODEL_COMPARED,       /* not a change: PebsIndex, and the threshold; at or above it OVF_BUF is set */
    DS_MODEL_PMI_RAISED,     /* LVTPC, which masks itself */
    DS_MODEL_PMI_LATCHED,    /* LVTPC, which was masked: the PMI comes when it is not */
    DS_MODEL_PMI_LOST,       /* LVTPC, which was masked */
};

struct ds_model_action { /* one step of what the model does by itself */
    uint8_t kind;        /* enum ds_model_action_kind */
    uint8_t counter;     /* OVERFLOWED, ARMED, RELOADED: its number */
    uint64_t counters;   /* STORED, DROPPED: the counters that cause the record */
    uint64_t before, after;
};

struct ds_model_branch;
struct ds_model_host {
    /* Linear memory of the processor, `size` bytes of one page of 4 KiB; false where that is not there. */
    bool (*read)(void *context, uint64_t address, void *to, uint32_t size);
    bool (*write)(void *context, uint64_t address, const void *from, uint32_t size);
    /* Physical memory of the machine, likewise; needed with architectural PEBS. */
    bool (*read_physical)(void *context, uint64_t address, void *to, uint32_t size);
    bool (*write_physical)(void *context, uint64_t address, const void *from, uint32_t size);
    void (*registers)(void *context, struct ds_model_registers *out);
    void (*xmm)(void *context, struct ds_pebs_xmm *out); /* XMM0-15; NULL: unknown, they read 0 */
    uint32_t (*lvtpc)(void *context);                    /* its value; NULL: that of the last ds_model_lvtpc_write */
    /* LVTPC was not masked: deliver by this value of it. */
    void (*raise_pmi)(void *context, uint32_t lvtpc);
    /* With policy unmapped_page_fault only, and needed there: the assist's access to `address` faults. */
    void (*page_fault)(void *context, uint64_t address, bool write);
    void (*recorded)(void *context, const struct ds_model_record *record); /* NULL: nobody asks */
    /* BTS was to store the branch, and has, or has dropped it. NULL: nobody asks. */
    void (*branched)(void *context, const struct ds_model_branch *branch, bool stored);
    /* These counters' record is lost, as its memory is not there: see `lost` of the model. NULL: nobody asks. */
    void (*lost)(void *context, uint64_t counters);
    /* Each step, in order, from within the call that causes it; events that only count are none. NULL: nobody asks. */
    void (*acted)(void *context, const struct ds_model_action *action);
    void *context;
};

/* ---- the model --------------------------------------------------------------------------------------------------- */

enum ds_model_prediction { DS_MODEL_PREDICTION_UNKNOWN, DS_MODEL_PREDICTED, DS_MODEL_MISPREDICTED };

/* as IA32_LBR_CTL and MSR_LBR_SELECT tell them apart */
enum ds_model_branch_type {
    DS_MODEL_CONDITIONAL,
    DS_MODEL_DIRECT_JUMP,
    DS_MODEL_INDIRECT_JUMP,
    DS_MODEL_DIRECT_CALL,
    DS_MODEL_INDIRECT_CALL,
    DS_MODEL_RETURN,
    DS_MODEL_OTHER_BRANCH, /* far ones, interrupts, exceptions */
};

struct ds_model_branch { /* a branch that was taken, an interrupt or an exception */
    uint64_t from, to;   /* linear addresses */
    enum ds_model_prediction prediction;
    enum ds_model_branch_type type; /* this and the rest matter to branch history alone */
    unsigned cpl;                   /* where it ends */
    bool to_next;                   /* a direct call of the instruction after it */
};

/* Where the data of an access was; the later, the longer it takes. */
enum ds_model_source {
    DS_MODEL_SOURCE_UNKNOWN,
    DS_MODEL_SOURCE_L1,
    DS_MODEL_SOURCE_FILL_BUFFER, /* on its way to the L1 */
    DS_MODEL_SOURCE_L2,
    DS_MODEL_SOURCE_L3,         /* and no other core had to be asked */
    DS_MODEL_SOURCE_SNOOP_MISS, /* also in the L3, but another core might have had it */
    DS_MODEL_SOURCE_SNOOP_HIT,  /* another core has it */
    DS_MODEL_SOURCE_SNOOP_HITM, /* another core had changed it */
    DS_MODEL_SOURCE_MEMORY,
    DS_MODEL_SOURCE_UNCACHED,
    DS_MODEL_SOURCES
};

struct ds_model_access { /* all 0: there is none, or the host has no memory system */
    uint8_t source;      /* enum ds_model_source */
    bool stlb_miss, locked, split;
    uint16_t latency; /* cycles */
};

struct ds_model_retired {                 /* what one instruction was */
    uint64_t events;                      /* bit e for each enum ds_model_event it caused */
    unsigned cpl;                         /* it ran at */
    uint64_t load_address, store_address; /* linear, of its data; 0: none, or the host cannot see it */
    struct ds_model_access load, store;   /* the same accesses */
    const struct ds_model_branch *branch; /* NULL: not taken */
    uint16_t retire_latency;              /* cycles since the one before has; without a memory system it is 1 */
    const uint32_t *by;                   /* how far counters go that it moves, by their number; NULL: one */
};

struct ds_model {
    const struct ds_model_preset *preset;
    struct ds_model_policy policy;
    struct ds_model_host host;

    uint64_t counters;     /* those that exist, numbered as in GLOBAL_STATUS */
    uint64_t counter_mask; /* width */
    uint64_t value[DS_MODEL_COUNTERS];
    uint32_t scale[DS_MODEL_COUNTERS]; /* how far an event moves each */
    uint64_t perfevtsel[DS_MODEL_GP_MAX];
    uint64_t fixed_ctr_ctrl, global_ctrl, global_status, pebs_enable, data_cfg, debugctl, ds_area, misc_enable;
    uint64_t perf_metrics; /* as it was written; it reads so until more slots than metrics_from are counted */
    uint64_t metrics_from;
    uint64_t ld_lat, frontend, lbr_ctl, lbr_select;
    uint64_t offcore[DS_MODEL_OFFCORE_MSRS]; /* MSR_OFFCORE_RSP_0 and _1 */
    uint64_t pebs_base, pebs_index;          /* architectural PEBS, and the next; pebs_enable is made of these then */
    uint64_t cfg_b[DS_COUNTER_NUMBERS], cfg_c[DS_COUNTER_NUMBERS]; /* by counter */
    uint32_t lvtpc;
    bool pmi_latched, bts_pmi_latched; /* wait for LVTPC to be unmasked; by policy */

    struct ds_pebs_lbr lbr[DS_MODEL_LBR_DEPTH]; /* branch history: a ring of the first lbr_depth, a power of 2 */
    uint32_t lbr_depth, lbr_tos;                /* lbr_tos: the newest */
    uint64_t lbr_logged[DS_LBR_LOGGED];         /* where PMC0 to PMC3 stood when the newest entry came */

    uint64_t pebs;                         /* counters with PEBS: of pebs_enable those not in `unlisted` */
    uint64_t unlisted;                     /* counters of an event that PEBS does not record there */
    uint64_t armed;                        /* overflowed with PEBS enabled, neither recorded nor written since: the next
                                            * event writes a record, unless PEBS is off then */
    uint64_t adaptive;                     /* ADAPTIVE bit of every counter */
    uint64_t snapshot;                     /* CFG_C.CNTR_ALLOW of every counter */
    uint64_t reloaders;                    /* counters that some IA32_PMC_GPn_CFG_B names */
    uint64_t interrupting;                 /* INT or PMI bit of every counter */
    uint64_t pdist, loads, stores;         /* counters with precise distribution; that count loads; stores */
    uint64_t latencies;                    /* of these: with source and latency in their records */
    uint64_t counting[2][DS_MODEL_EVENTS]; /* by ring (0: CPL 0, 1: others) and event: counters it moves now */
    uint64_t conditional[2]; /* by ring: counters that instructions move by `condition`, and by no event as such */
    struct {
        uint8_t event;
        bool inverted; /* instructions that did not cause it */
        bool edge;     /* the first of several */
    } condition[DS_MODEL_GP_MAX];
    uint64_t asserted; /* counters whose condition held for the last instruction */

    struct { /* policy residual: the last event that a counter with PEBS has counted, since these are on */
        uint64_t counters; /* it moved; 0: there is none */
        struct ds_model_retired retired;
        struct ds_model_registers registers;
        unsigned owed; /* records of it that are still to come */
    } late;

    uint64_t records, dropped, lost;             /* since the beginning; lost: their DS memory was not mapped */
    uint64_t swallowed;                          /* likewise: samples, see struct ds_model_record */
    uint64_t bts_records, bts_dropped, bts_lost; /* likewise */
    uint64_t fault_address;                      /* where DS memory was missing, see ds_model_retire */
    bool fault_write;
};

/* As after RESET. `policy` NULL: all defaults. */
void ds_model_init(struct ds_model *model, const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                   const struct ds_model_host *host);

/* Leaves 0, 1, 0AH, and what ds/model/presets adds; all others are zero. Leaf 0 says that there are 15H and 16H from
 * Skylake on, for a host that knows how fast its TSC runs. */
void ds_model_cpuid(const struct ds_model *model, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);

/* Whether the model counts the event of this general-purpose counter at all. */
bool ds_model_knows(const struct ds_model *model, unsigned counter);

/* 0; -EFAULT: #GP; -ENOENT: not one of the model's MSRs, the host decides. */
int ds_model_rdmsr(const struct ds_model *model, uint32_t msr, uint64_t *value);
int ds_model_wrmsr(struct ds_model *model, uint32_t msr, uint64_t value);

/* RDPMC with this ECX, once the ring and CR4.PCE allow it. 0; -EFAULT: #GP. */
int ds_model_rdpmc(const struct ds_model *model, uint32_t index, uint64_t *value);

void ds_model_lvtpc_write(struct ds_model *model, uint32_t value);
/* Whether a PMI comes when LVTPC is unmasked. */
static inline bool ds_model_pmi_waits(const struct ds_model *model)
{
    return model->pmi_latched || model->bts_pmi_latched;
}

/* One instruction has retired. 0, or -EFAULT: DS memory is not there, at model->fault_address. What was to be stored is
 * lost, and counted so, or the counters of a record that lies there are not reloaded. */
int ds_model_retire(struct ds_model *model, const struct ds_model_retired *retired);

/* By the policy `residual` alone, for the host to call, before each access to an MSR, say: some time has passed since
 * counters with PEBS were turned off, so one of the records still to come is stored, to where IA32_DS_AREA leads now
 * (with architectural PEBS IA32_PEBS_BASE, if IA32_PEBS_INDEX.EN is set). It is of the last event they have counted; no
 * counter is reloaded and no threshold looked at. Returns as ds_model_retire. */
int ds_model_late(struct ds_model *model);

/* Adds a branch taken at `cpl` to branch history, if that is on and its filter lets it pass. For branches that are not
 * told by ds_model_retire or ds_model_interrupt, which do it themselves. */
void ds_model_remember_branch(struct ds_model *model, const struct ds_model_branch *branch, unsigned cpl)
    __attribute__((weak));

/* An interrupt or exception was taken from privilege level `cpl`: a branch that retires nothing. Returns as above. */
int ds_model_interrupt(struct ds_model *model, const struct ds_model_branch *branch, unsigned cpl);
