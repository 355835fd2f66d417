/* SPDX-License-Identifier: MIT */
/* What the files of the probe share; private to ds/probe. */
#pragma once

#include "ds/driver/driver.h"
#include "ds/pebs23_layout.h"
#include "ds/probe/probe.h"

#define DS_PROBE_PERIOD         64u  /* of most experiments: no processor here refuses it (ds/errata/errata.c), */
#define DS_PROBE_PERIOD_PRECISE 128u /* but some of INST_RETIRED.PREC_DIST, of which this is right everywhere */
#define DS_PROBE_FAR            (UINT64_C(1) << 20) /* a reset value that nobody comes to */

struct ds_probe_counter {
    unsigned number; /* as in GLOBAL_STATUS */
    uint64_t code;   /* IA32_PERFEVTSELx[15:0], [47:40]; of a fixed counter nothing */
};

struct ds_probe_saved {
    uint32_t msr;
    uint64_t value;
};

struct ds_probe {
    const struct ds_probe_bench *bench;
    const struct ds_caps *caps;
    struct ds_probe_counter instructions; /* retired ones, without precise distribution as far as anybody knows */
    bool tried, found, works;             /* whether that has been looked for, is there, and makes records */
    bool precise;                         /* they are counted by INST_RETIRED.PREC_DIST, for lack of another */
    uint32_t period;                      /* of most experiments with these */
    uint32_t own_size;                    /* of its first record: ds_probe_own_size */
    struct ds_probe_counter branches;     /* retired ones, another counter */
    uint64_t arming;                      /* the period with which it is armed by the last jump; 0: not known */
    uint64_t eventing, rip;               /* of its records: see ds/probe/addresses.c */
    bool armed, looked;                   /* whether these have been looked for */
    bool of_last;                         /* whether the record is known to be the last jump's */
    uint32_t record_bytes;                /* since the last reset: basic records */
    uint64_t enabled, pebs;               /* since the last reset: IA32_PERF_GLOBAL_CTRL, IA32_PEBS_ENABLE of a run */
    uint64_t fixed_ctrl;
    struct ds_probe_saved saved[10 + 4 * DS_GP_MAX + 3 * DS_FIXED_MAX];
    unsigned saves;
    /* with architectural PEBS: */
    uint64_t index; /* IA32_PEBS_INDEX after the last run, or as it has been set since */
    uint32_t begin; /* where the first record lies: the index before the first run since it was set */
    unsigned late;  /* records that came when the counters of the last run were off already: not among its records */
    uint32_t lvtpc;
    struct ds_refusal refusal; /* the last access that raised #GP */
    bool refused;              /* one has, since the last question */
};

/* ---- registers; one that raises #GP is remembered and reads 0 */
uint64_t ds_probe_read(struct ds_probe *p, uint32_t msr);
void ds_probe_write(struct ds_probe *p, uint32_t msr, uint64_t value);
uint64_t ds_probe_value(struct ds_probe *p, const struct ds_probe_counter *c); /* in the counter's width */
uint64_t ds_probe_status(struct ds_probe *p);
void ds_probe_clear_status(struct ds_probe *p);
void ds_probe_lvtpc(struct ds_probe *p, bool masked);

/* ---- the known state: all off, DS area and buffer empty, LVTPC masked, no interrupt waiting, status 0 */
void ds_probe_reset(struct ds_probe *p);
/* `bytes` of the buffer up to the absolute maximum and to the threshold; PEBS', or BTS'. PEBS' stay within a page where
 * an erratum wants that. */
void ds_probe_pebs_buffer(struct ds_probe *p, uint32_t maximum, uint32_t threshold);
void ds_probe_bts_buffer(struct ds_probe *p, uint32_t maximum, uint32_t threshold);
#define DS_PROBE_NEVER (2 * DS_PROBE_BUFFER) /* a threshold out of reach */
/* Where the index stands, from the beginning of the buffer. */
uint64_t ds_probe_pebs_index(const struct ds_probe *p);
uint64_t ds_probe_bts_index(const struct ds_probe *p);
void ds_probe_set_pebs_index(struct ds_probe *p, uint64_t address);
/* A small buffer, and the index at its end: no record fits. */
uint32_t ds_probe_full_buffer(struct ds_probe *p, bool reached);

/* A PEBS counter of ring 0 that overflows after `first` events, and after its record is set to overflow after `again`
 * more. */
void ds_probe_count(struct ds_probe *p, const struct ds_probe_counter *c, uint64_t first, uint64_t again);
/* The counter for an event, of those PEBS can be enabled for and that are not in `not_these`, the second before the
 * first. False: there is none. */
bool ds_probe_find(const struct ds_probe *p, enum ds_event_kind kind, uint64_t not_these, struct ds_probe_counter *c);

/* Its records have these groups, too; after ds_probe_count, a general-purpose counter alone. */
void ds_probe_groups(struct ds_probe *p, const struct ds_probe_counter *c, uint64_t groups);

/* Sets p->instructions and p->period, the first time; whether it makes records. */
bool ds_probe_records_instructions(struct ds_probe *p);

/* Sets p->branches and p->arming, the first time. False: there is no such counter, or no such period, and `r` says so.
 * The record is that of the branch behind the NOPs then. */
bool ds_probe_arm_at_last_jump(struct ds_probe *p, struct ds_probe_result *r);
/* One record among the jumps, by p->branches: its overflow is branch number `first`. */
void ds_probe_run_branches(struct ds_probe *p, uint64_t first, uint64_t groups);

/* Counters and `debugctl` on, the code, all off. Returns the cycles the code took. */
uint64_t ds_probe_run(struct ds_probe *p, enum ds_probe_code code, uint64_t debugctl);
/* The same with interrupts on; *pmis: PMIs handled within the cycles. */
uint64_t ds_probe_run_open(struct ds_probe *p, enum ds_probe_code code, uint32_t *pmis);

/* ---- records of the buffer, up to the index */
unsigned ds_probe_records(const struct ds_probe *p);
/* Of the first one, as it says itself; where it does not, or there is none, what it should be. */
uint32_t ds_probe_own_size(const struct ds_probe *p);
#define DS_PROBE_OUTSIDE UINT32_MAX
/* The address of the instruction that record `i` is of, one of `bytes` bytes that goes on to the next. */
uint64_t ds_probe_ip(const struct ds_probe *p, unsigned i, unsigned bytes);
/* Which of the sled's instructions record `i` is of, or none of them. */
uint32_t ds_probe_position(const struct ds_probe *p, unsigned i, const struct ds_probe_sled *sled);

/* How far apart records of consecutive instructions are. */
struct ds_probe_spacing {
    unsigned gaps; /* between records; 0: there were too few */
    uint32_t least, most, usual;
};
#define DS_PROBE_GAPS 64u
struct ds_probe_spacing ds_probe_space(struct ds_probe *p, const struct ds_probe_counter *c, uint64_t period,
                                       enum ds_probe_code code);

/* ---- architectural PEBS (ds/probe/arch.c): what the functions above do there */
static inline bool ds_probe_arch(const struct ds_probe *p)
{
    return p->caps->instead;
}
uint64_t ds_probe_arch_physical(const struct ds_probe *p); /* address of the buffer */
uint32_t ds_probe_arch_cfg_c(unsigned counter);            /* the MSR */
/* The registers that experiments change, in the order in which they may be given back; 0 behind the last. */
uint32_t ds_probe_arch_msr(const struct ds_probe *p, unsigned i);
void ds_probe_arch_off(struct ds_probe *p);
/* The smallest buffer that has `maximum` bytes. */
void ds_probe_arch_buffer(struct ds_probe *p, uint32_t maximum, uint32_t threshold);
void ds_probe_arch_set_index(struct ds_probe *p, uint32_t offset);
void ds_probe_arch_count(struct ds_probe *p, unsigned counter, uint64_t again);
/* Adds bits to the counter's CFG_C. */
void ds_probe_arch_groups(struct ds_probe *p, unsigned counter, uint64_t groups);
/* The groups that those of MSR_PEBS_DATA_CFG are here. */
uint64_t ds_probe_arch_same_groups(uint64_t data_cfg);
void ds_probe_arch_on(struct ds_probe *p);
void ds_probe_arch_wait_quiet(struct ds_probe *p);
unsigned ds_probe_arch_records(const struct ds_probe *p);
uint32_t ds_probe_arch_first_size(const struct ds_probe *p); /* with padding and all fragments; 0: there is none */
struct ds_probe_fragment {
    uint64_t format; /* 0: before the first */
    uint32_t at;     /* of the buffer */
};
/* The first fragment of record `i`, or the next one. False: there is none. */
bool ds_probe_arch_fragment(const struct ds_probe *p, unsigned i, struct ds_probe_fragment *fragment);
/* Where a group of record `i` begins, in whichever fragment it is; NULL: the record has none. */
const void *ds_probe_arch_group(const struct ds_probe *p, unsigned i, uint64_t group);

/* ---- answers */
void ds_probe_answer(struct ds_probe_result *r, const char *answer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Not determined: where periods that are no multiples of 64 are wrong (ds/errata/errata.c), of the one counter that
 * makes records. Whether that is so. */
bool ds_probe_needs_multiples(const struct ds_probe *p, struct ds_probe_result *r);
/* Not determined, and why. */
void ds_probe_unknown(struct ds_probe_result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the experiments, by file */
void ds_probe_fit(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_drop_reload(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_residual(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_unmapped(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_bts_full(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_bts_ovf_buf(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_masked_pmi(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_bystander(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_pdist_minimum(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_reserved(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_full_signal(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_bts_circular(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_bts_circular_pmi(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_self_mask(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_threshold_again(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_spacing(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_pdist_spacing(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_shadow(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_eventing_ip(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_rip(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_overflow_bit(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_ds_area(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_pmc_write(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_hypervisor(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_threshold(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_full(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_base(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_size(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_padding(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_overflow(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_ovf_buf(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_fragments(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_together(struct ds_probe *p, struct ds_probe_result *r);
void ds_probe_arch_fit(struct ds_probe *p, struct ds_probe_result *r);

/* Number `which` of ds_probe_costs. */
void ds_probe_measure(struct ds_probe *p, unsigned which, struct ds_probe_cost *cost);
