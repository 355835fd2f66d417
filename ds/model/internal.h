/* SPDX-License-Identifier: MIT */
/* What the files of the model share; private to ds/model. */
#pragma once

#include "ds/model/model.h"

/* What the folders beside these files define is weak, and called only where it is there; or ds/model/hooks.c has what
 * holds without it. */

/* Tells the host, if it asks, what has just been done. */
void ds_model_act(const struct ds_model *model, struct ds_model_action action);

/* Whether an MSR that comes with a feature, or with a counter, is there; no other MSR has such a condition. */
bool ds_model_has_msr(const struct ds_model *model, uint32_t msr);
/* Whether the bits of an address from its sign on are one, but for `flags`. For MSRs the processor says how many bits
 * an address has, not CR4.LA57 (Linux' arch/x86/kvm/x86.h has it from a test on silicon). */
bool ds_model_canonical(const struct ds_model *model, uint64_t address, uint64_t flags);
/* Bits of an MSR that may be written as 1. Of IA32_PERF_GLOBAL_STATUS: by the MSRs that set and reset its bits. */
uint64_t ds_model_legal_perfevtsel(const struct ds_model *model, unsigned counter);
uint64_t ds_model_legal_fixed_ctr_ctrl(const struct ds_model *model);
uint64_t ds_model_legal_global_ctrl(const struct ds_model *model);
uint64_t ds_model_legal_status(const struct ds_model *model);
uint64_t ds_model_legal_debugctl(const struct ds_model *model);
uint64_t ds_model_legal_pebs_enable(const struct ds_model *model);

#define DS_MODEL_FIXED_SLOTS 3u /* the fixed counter of TOPDOWN.SLOTS */

/* Its fixed counters, bit by bit. */
static inline uint32_t ds_model_fixed(const struct ds_model_preset *p)
{
    return ((1u << p->fixed_counters) - 1) | p->fixed_more;
}

static inline bool ds_model_has_fixed(const struct ds_model_preset *p, uint32_t i)
{
    return i < 32 && ds_model_fixed(p) >> i & 1;
}

/* What a counter counts is spread over four MSRs; ds_model_retire wants it as one mask a ring and event: makes these
 * anew. */
void ds_model_select(struct ds_model *model);

/* What other processors of ds/model/presets change in a leaf of CPUID, or add. */
void ds_model_more_leaves(const struct ds_model_preset *preset, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
    __attribute__((weak));
/* Bit n: there is architectural event n. */
uint32_t ds_model_architectural_events(const struct ds_model_preset *preset);
/* The PMI of an overflow or of the PEBS threshold: freezes what DEBUGCTL says; is delivered unless LVTPC is masked, and
 * masks it. */
void ds_model_counter_pmi(struct ds_model *model);
/* That of the BTS threshold, which freezes nothing, and of which no bit of GLOBAL_STATUS need tell. */
void ds_model_bts_pmi(struct ds_model *model);

/* A record is at or beyond its threshold, of which this bit of GLOBAL_STATUS tells. Whether that raises a PMI. */
bool ds_model_reached(struct ds_model *model, uint64_t bit);
/* Software has cleared bits of GLOBAL_STATUS: a PMI that waits at LVTPC has nothing to tell any more once all are. */
void ds_model_acknowledged(struct ds_model *model);

/* DS memory, on as many pages as it may lie; false: not mapped, model->fault_address says where. What lies before that
 * has been read or written. */
bool ds_model_read(struct ds_model *model, uint64_t address, void *to, uint32_t size);
bool ds_model_write(struct ds_model *model, uint64_t address, const void *from, uint32_t size);
/* Likewise physical memory. */
bool ds_model_write_physical(struct ds_model *model, uint64_t address, const void *from, uint32_t size);
/* One of the two buffers the DS area describes, as it stands there now: `at` is where. */
struct ds_model_buffer {
    uint64_t base, index, maximum, threshold;
};
#define DS_MODEL_BTS_BUFFER  offsetof(struct ds_area_60, bts_buffer_base)
#define DS_MODEL_PEBS_BUFFER offsetof(struct ds_area_60, pebs_buffer_base)
bool ds_model_read_buffer(struct ds_model *model, uint32_t at, struct ds_model_buffer *buffer);
bool ds_model_write_index(struct ds_model *model, uint32_t at, uint64_t index);
/* The record goes where the index points, and the index behind it. False: DS memory is not mapped. */
bool ds_model_store_record(struct ds_model *model, const struct ds_model_record *record,
                           const struct ds_model_retired *retired, struct ds_model_buffer *buffer);
/* Policy residual: records to come would be of these counters, and of this instruction. */
void ds_model_late_is(struct ds_model *model, uint64_t counters, const struct ds_model_retired *retired)
    __attribute__((weak));
/* A record that these counters cause is lost. */
void ds_model_lose(struct ds_model *model, uint64_t counters);
/* What such a fault comes to by the policy: -EFAULT, or 0 after injecting it. */
int ds_model_fault(struct ds_model *model);

/* Whether a record of `size` bytes at `index` fits under the absolute maximum. */
bool ds_model_fits(const struct ds_model *model, uint64_t index, uint32_t size, uint64_t maximum);

/* `value` as a counter is reloaded with it: of its width; by the policy pdist_minimum not too near its overflow. */
uint64_t ds_model_reload_value(const struct ds_model *model, unsigned counter, uint64_t value);

/* Bytes of the record that the counters `set` cause, a multiple of 8. */
uint32_t ds_model_record_size(const struct ds_model *model, uint64_t set);
/* Writes that record to `address`; false: not mapped. */
bool ds_model_write_record(struct ds_model *model, uint64_t set, const struct ds_model_retired *retired,
                           const struct ds_model_registers *registers, uint64_t address);

/* Likewise a record of the formats 0 to 3: ds/model/presets, which alone has processors with these. */
bool ds_model_write_fixed(struct ds_model *model, uint64_t set, const struct ds_model_retired *retired,
                          const struct ds_model_registers *registers, uint64_t address) __attribute__((weak));

/* The data address of the load or store that a counter of `set` has counted, where records have it; else 0. */
uint64_t ds_model_data_address(const struct ds_model *model, uint64_t set, const struct ds_model_retired *retired);
/* Likewise data source and latency of that access. */
uint64_t ds_model_data_source(const struct ds_model *model, uint64_t set, const struct ds_model_retired *retired);
uint64_t ds_model_latency(const struct ds_model *model, uint64_t set, const struct ds_model_retired *retired);
void ds_model_fill_gpr(struct ds_pebs_gpr *gpr, const struct ds_model_registers *registers);

/* What differs on a processor that has architectural PEBS instead of the Debug Store's PEBS (ds/model/pebs23). */
struct ds_model_pebs23 {
    uint64_t status;     /* bits of GLOBAL_STATUS */
    uint64_t perfevtsel; /* legal bits, likewise of IA32_FIXED_CTR_CTRL with MSR_PERF_METRICS */
    uint64_t metrics;
    /* The older name of an MSR of version 6's block: of a counter, or of its IA32_PERFEVTSELx; else `msr`. */
    uint32_t (*alias)(const struct ds_model *model, uint32_t msr);
    /* As ds_model_rdmsr and ds_model_wrmsr, for IA32_PEBS_BASE, IA32_PEBS_INDEX, CFG_B and CFG_C. */
    int (*rdmsr)(const struct ds_model *model, uint32_t msr, uint64_t *value);
    int (*wrmsr)(struct ds_model *model, uint32_t msr, uint64_t value);
    /* Makes anew what CFG_B, CFG_C and IA32_PEBS_INDEX select; pebs_enable among it. */
    void (*select)(struct ds_model *model);
    /* Whether the overflow of a counter sets its bit of GLOBAL_STATUS. */
    bool (*flagged)(const struct ds_model *model, unsigned counter);
    /* Auto counter reload: these counters have overflowed, at one instruction. */
    void (*auto_reload)(struct ds_model *model, uint64_t overflowed);
    /* As `assist` of counting.c: one record for all counters of `set`, or one for each. False: memory is not there. */
    bool (*assist)(struct ds_model *model, uint64_t set, const struct ds_model_retired *retired, unsigned *pmis);
    /* The record of model->late, as ds_model_late has it. */
    int (*late)(struct ds_model *model);
};

/* Gives a counter another value than an event does: its event has occurred no more often for that. */
void ds_model_set_counter(struct ds_model *model, unsigned counter, uint64_t value);

/* The entry of branch history `age` branches before the newest; beyond the depth one that is 0. */
static inline struct ds_pebs_lbr ds_model_history(const struct ds_model *m, unsigned age)
{
    return age < m->lbr_depth ? m->lbr[(m->lbr_tos - age) & (m->lbr_depth - 1)] : (struct ds_pebs_lbr){0};
}
/* Branch history: ds/model/lbr. As events: DS_MODEL_LBR_INSERT, if the branch makes an entry. */
uint64_t ds_model_inserted(const struct ds_model *model, const struct ds_model_branch *branch) __attribute__((weak));
/* IA32_PERF_CAPABILITIES.LBR_FMT. */
uint8_t ds_model_lbr_format(const struct ds_model_preset *preset) __attribute__((weak));
/* Its bits of IA32_DEBUGCTL; 0: there is none. */
uint64_t ds_model_lbr_debugctl(const struct ds_model_preset *preset) __attribute__((weak));
/* As ds_model_rdmsr and ds_model_wrmsr, for its MSRs; IA32_DEBUGCTL is none of these. */
int ds_model_history_rdmsr(const struct ds_model *model, uint32_t msr, uint64_t *value) __attribute__((weak));
int ds_model_history_wrmsr(struct ds_model *model, uint32_t msr, uint64_t value) __attribute__((weak));

/* Stores `value` where it has no bit outside `legal`, else -EFAULT; or by the policy what is legal of it. */
int ds_model_store(const struct ds_model *model, uint64_t *reg, uint64_t value, uint64_t legal);
/* BTS: ds/model/bts. Stores a branch record where DEBUGCTL and `cpl` say so. *pmi: the threshold was reached. False:
 * not mapped. */
bool ds_model_store_branch(struct ds_model *model, const struct ds_model_branch *branch, unsigned cpl, bool *pmi)
    __attribute__((weak));
/* Its bits of IA32_DEBUGCTL; 0: there is none. */
uint64_t ds_model_bts_debugctl(const struct ds_model_preset *preset);

/* The general-purpose counters on which PEBS records the event as IA32_PERFEVTSELx `sel` selects it: ds/model/events.
 */
uint64_t ds_model_recorded(const struct ds_model *model, const struct ds_model_event_code *event, uint64_t sel)
    __attribute__((weak));
/* Makes model->pebs anew. */
void ds_model_select_pebs(struct ds_model *model);

/* Whether records have the retire latency (IA32_PERF_CAPABILITIES.PEBS_TIMING), and what it is. */
bool ds_model_timed(const struct ds_model_preset *preset);
uint64_t ds_model_retire_latency(const struct ds_model *model, const struct ds_model_retired *retired);
/* Top-down analysis: ds/model/topdown. An event's code moves a counter by *scale for each of the event returned. *scale
 * 0: it never occurs. */
unsigned ds_model_slots_event(const struct ds_model *model, unsigned event, uint32_t *scale);
/* Codes of events that count slots. */
const struct ds_model_event_code *ds_model_slots_codes(const struct ds_model_preset *preset) __attribute__((weak));
/* Makes the tallies count. */
void ds_model_select_tallies(struct ds_model *model) __attribute__((weak));
/* Whether there is MSR_PERF_METRICS, without which nobody calls the next: its value; as ds_model_wrmsr; and from now
 * on. */
bool ds_model_has_metrics(const struct ds_model_preset *preset);
uint64_t ds_model_metrics(const struct ds_model *model) __attribute__((weak));
int ds_model_write_metrics(struct ds_model *model, uint64_t value) __attribute__((weak));
void ds_model_set_metrics(struct ds_model *model, uint64_t value);

/* What a memory system of the host's brings: ds/model/memory. Only a preset that asks for it refers to it. */
struct ds_model_memory {
    /* Codes of events of all processors, and of this one; they go before the others, and end with a code of 0. */
    const struct ds_model_event_code *common;
    const struct ds_model_event_code *(*codes)(const struct ds_model_preset *preset);
    /* What an event that has an MSR_OFFCORE_RSP_x counts by it; NULL: nothing, or it has none. */
    const struct ds_model_event_code *(*offcore)(const struct ds_model *model, uint64_t code);
    /* Whether records of the event have data source and latency, not only an address. */
    bool (*has_latency)(const struct ds_model_preset *preset, const struct ds_model_event_code *event);
    uint64_t (*data_source)(const struct ds_model *model, uint64_t set, const struct ds_model_retired *retired);
    uint64_t (*latency)(const struct ds_model *model, uint64_t set, const struct ds_model_retired *retired);
};
const struct ds_model_event_code *ds_model_offcore(const struct ds_model *model, uint64_t code);
/* How many MSR_OFFCORE_RSP_x there are. */
unsigned ds_model_offcore_msrs(const struct ds_model_preset *preset);

/* The event of IA32_PERFEVTSELx[15:0] and UMaskExt, NULL: none the model counts. */
const struct ds_model_event_code *ds_model_event_code(const struct ds_model_preset *preset, uint64_t code);
