/* SPDX-License-Identifier: MIT */
/*
 * The processor's side of the Debug Store, in software: one logical processor's performance counters, PEBS and LVTPC.
 * No allocation, no globals, no host types: memory, registers and the interrupt are reached through struct
 * ds_model_host. Calls on one model must not overlap.
 *
 * What happens at an event and at an assist: SDM vol. 3B, "Processor Event Based Sampling (PEBS)" and "PEBS Record
 * Format"; which writes fault: Linux' KVM (arch/x86/kvm/vmx/pmu_intel.c). Where no source settles a question
 * struct ds_model_policy has a switch for it.
 *
 * It counts what its host can see: retired instructions and branches. Counters programmed for any other event, or with
 * EDGE, INV or CMASK, stay still: the model knows no cycles and invents none. For the same reason data addresses, data
 * sources and latencies read 0. Not modelled, and absent from CPUID and MSRs: LBR and XMM record groups, BTS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/layout.h"

#define DS_MODEL_GP_MAX    8u
#define DS_MODEL_FIXED_MAX 4u

/* ---- the processor to be ----------------------------------------------------------------------------------------- */

struct ds_model_preset {
    const char *name;
    uint32_t signature; /* CPUID.01H:EAX */
    uint8_t perfmon_version;
    uint8_t gp_counters, fixed_counters;
    uint8_t width;          /* of every counter, in bits */
    uint8_t format;         /* IA32_PERF_CAPABILITIES.PEBS_FMT */
    bool baseline;          /* IA32_PERF_CAPABILITIES.PEBS_BASELINE */
    bool full_width_writes; /* IA32_PERF_CAPABILITIES.FW_WRITE */
    uint64_t pebs_counters; /* legal bits of IA32_PEBS_ENABLE */
    uint64_t pdist;         /* counters with precise distribution: the record comes with the overflow itself */
    uint64_t data_cfg;      /* legal bits of MSR_PEBS_DATA_CFG: the groups that are modelled */
};

/* NULL: no preset of that name. */
const struct ds_model_preset *ds_model_preset(const char *name);

enum ds_model_fit { /* when a record fits under the absolute maximum: the manual's two wordings allow three readings */
                    DS_MODEL_END_LE,   /* index + size <= maximum */
                    DS_MODEL_END_LT,   /* index + size < maximum */
                    DS_MODEL_START_LT, /* index < maximum */
};

/* The answers to what no source says. All zero is the default. */
struct ds_model_policy {
    enum ds_model_fit fit;
    bool drop_keeps_overflow; /* a dropped record leaves its counter overflowed and armed; else it is reloaded */
    bool masked_pmi_latched;  /* a PMI raised while LVTPC is masked comes at unmasking; else it is lost */
    bool bystander_swapped;   /* an armed counter whose event this is not: formats 0-2 reload it with the others, 3 and
                               * up leave it alone; true: the other way round */
    bool pdist_minimum;       /* PDIST counters reload nothing closer to overflow than 128 */
    bool reserved_ignored;    /* writes of reserved bits are dropped, not #GP (as QEMU's TCG does) */
};

/* ---- the host ---------------------------------------------------------------------------------------------------- */

struct ds_model_registers { /* after the instruction that caused the record */
    uint64_t rflags, rip;
    uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
    uint64_t r8_r15[8];
    uint64_t eventing_ip; /* that instruction's own address */
    uint64_t tsc;
};

struct ds_model_record { /* what an assist did, for whoever keeps the truth */
    bool stored;         /* false: it did not fit and was dropped */
    uint64_t address;    /* where it lies, or would have */
    uint32_t size;
    uint64_t counters; /* that caused it, numbered as in GLOBAL_STATUS */
    const struct ds_model_registers *registers;
};

struct ds_model_host {
    /* Linear memory of the processor; false where the page is not there. */
    bool (*read64)(void *context, uint64_t address, uint64_t *value);
    bool (*write64)(void *context, uint64_t address, uint64_t value);
    void (*registers)(void *context, struct ds_model_registers *out);
    /* LVTPC was not masked: deliver by this value of it. */
    void (*raise_pmi)(void *context, uint32_t lvtpc);
    void (*recorded)(void *context, const struct ds_model_record *record); /* NULL: nobody asks */
    void *context;
};

/* ---- the model --------------------------------------------------------------------------------------------------- */

enum ds_model_event { DS_MODEL_INSTRUCTION, DS_MODEL_BRANCH, DS_MODEL_EVENTS };

struct ds_model {
    const struct ds_model_preset *preset;
    struct ds_model_policy policy;
    struct ds_model_host host;

    uint64_t counters;     /* those that exist, numbered as in GLOBAL_STATUS */
    uint64_t counter_mask; /* width */
    uint64_t value[DS_COUNTER_NUMBERS];
    uint64_t perfevtsel[DS_MODEL_GP_MAX];
    uint64_t fixed_ctr_ctrl, global_ctrl, global_status, pebs_enable, data_cfg, debugctl, ds_area, misc_enable;
    uint32_t lvtpc;
    bool pmi_latched;

    uint64_t armed;                        /* overflowed with PEBS enabled: the next event writes a record */
    uint64_t adaptive;                     /* ADAPTIVE bit of every counter */
    uint64_t interrupting;                 /* INT or PMI bit of every counter */
    uint64_t counting[2][DS_MODEL_EVENTS]; /* by ring (0: CPL 0, 1: others) and event: counters it moves now */

    uint64_t records, dropped; /* since the beginning */
    uint64_t fault_address;    /* where DS memory was missing, see ds_model_retire */
};

/* As after RESET. `policy` NULL: all defaults. */
void ds_model_init(struct ds_model *model, const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                   const struct ds_model_host *host);

/* Leaves 0, 1 and 0AH, all others zero: no more of the processor is modelled. */
void ds_model_cpuid(const struct ds_model *model, uint32_t leaf, uint32_t out[4]);

/* 0; -EFAULT: #GP; -ENOENT: not one of the model's MSRs, the host decides. */
int ds_model_rdmsr(const struct ds_model *model, uint32_t msr, uint64_t *value);
int ds_model_wrmsr(struct ds_model *model, uint32_t msr, uint64_t value);

void ds_model_lvtpc_write(struct ds_model *model, uint32_t value);

/* One instruction has retired at privilege level `cpl`; `events` has bit e set for each enum ds_model_event it caused.
 * 0, or -EFAULT: the DS area or the buffer is not mapped at model->fault_address; the record is gone. */
int ds_model_retire(struct ds_model *model, unsigned events, unsigned cpl);
