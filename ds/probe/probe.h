/* SPDX-License-Identifier: MIT */
/*
 * Experiments that ask a Debug Store what no manual says. Each sets registers, DS area and buffer to a known state,
 * runs instructions at known addresses, and then looks at memory and registers. They reach the processor only through
 * struct ds_machine, so they are the same on silicon, under an emulator and on ds/model. Most of them are about the
 * questions that are the model's policies (ds/policy/table/policy.c).
 *
 * An outcome that a question does not list is reported by its numbers. docs/how-to/probe.md says for each experiment
 * what is set up and what each outcome means. The host tool uses the table of questions as well, for what it prints.
 *
 * Acts on the CPU it runs on, interrupts off.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/ds.h"

/* ---- what the experiments run on --------------------------------------------------------------------------------- */

/* Straight on, then RET: NOPs; divisions, each by the result of the one before, tens of cycles each on any processor;
 * taken jumps to the next instruction, then NOPs, which the sled's count leaves out; a division and seven NOPs, again
 * and again, each eight of them one of the sled; more taken jumps, none of the NOPs. */
enum ds_probe_code {
    DS_PROBE_NOPS,
    DS_PROBE_SLOW,
    DS_PROBE_JUMPS,
    DS_PROBE_MIXED,
    DS_PROBE_MORE_JUMPS,
    DS_PROBE_CODES
};

struct ds_probe_sled {
    uint64_t start;        /* address of the first instruction */
    uint32_t count, bytes; /* so many, of so many bytes each */
};

/* Instructions of each, and of the second part of the jumps. */
#define DS_PROBE_NOPS_COUNT       1024u
#define DS_PROBE_SLOW_COUNT       512u
#define DS_PROBE_JUMPS_COUNT      64u
#define DS_PROBE_AFTER_JUMPS      512u
#define DS_PROBE_MIXED_COUNT      64u
#define DS_PROBE_MORE_JUMPS_COUNT 512u
#define DS_PROBE_MIXED_BYTES      10u /* 3 of the division, 1 of each NOP */

#define DS_PROBE_BUFFER 16384u /* bytes, 4096 shifted left: architectural PEBS has no other sizes */

/* The code of ds/probe/code.asm, as sleds. False: it has not been assembled as DS_PROBE_..._COUNT say. */
bool ds_probe_code(struct ds_probe_sled sleds[DS_PROBE_CODES]);
/* Runs it: the TSC cycles it took. *handled: what `pmis` has come to behind the code. */
uint64_t ds_probe_time(enum ds_probe_code code, const volatile uint32_t *pmis, uint32_t *handled);

struct ds_probe_bench {
    const struct ds_machine *machine;
    const struct ds_caps *caps;
    uint64_t *area;        /* a page, mapped for good: as ds_cpu_init's */
    uint8_t *buffer;       /* DS_PROBE_BUFFER bytes likewise; for architectural PEBS contiguous, aligned to its size */
    uint8_t *copy;         /* half as many, of any memory */
    struct ds_cpu *driver; /* ds_cpu_bytes of it, zeroed: drains are measured with it */
    unsigned samples;      /* of a cost, up to DS_PROBE_SAMPLES */
    uint64_t unmapped;     /* a page that is not mapped; 0: that is not to be tried */
    const char *no_unmapped; /* then: why not, one sentence */
    uint32_t vector;         /* of LVTPC */
    struct ds_probe_sled sled[DS_PROBE_CODES];
    /* Runs it, on this CPU. `pmis`: with interrupts on, and set to how many PMIs have been handled within the cycles;
     * NULL: interrupts are off. Before and behind it up to 40 other instructions may count, up to 16 of them branches.
     * Returns the TSC cycles that it took. */
    uint64_t (*execute)(void *context, enum ds_probe_code code, uint32_t *pmis);
    /* Lets interrupts in, and waits for as long as one that LVTPC has just let go may take. Returns how many PMIs have
     * come since it was last asked. */
    uint32_t (*interrupts)(void *context);
    /* Before each question, then each cost: number `row` of the questions and costs together. All is off then, and
     * LVTPC masked. Returns whether to ask it; NULL: yes. The result before it is complete. */
    bool (*before)(void *context, unsigned row);
    void *context;
};

/* ---- questions and answers --------------------------------------------------------------------------------------- */

struct ds_probe_result {
    char answer[24];    /* one of the row's words; "": not determined */
    char evidence[136]; /* the numbers behind it, or the reason why it is not determined */
};

/* What a question needs: records of retired instructions; BTS; no more than counters; and architectural PEBS. */
#define DS_PROBE_PEBS     1u
#define DS_PROBE_BTS      2u
#define DS_PROBE_COUNTERS 4u
#define DS_PROBE_ARCH     8u

struct ds_probe_row {
    const char *name;     /* of a policy: its name */
    const char *question; /* NULL: the policy's */
    const char *manual;   /* what the manual says */
    const char *model;    /* what ds/model does; NULL: what the policy says, which by default is its first value */
    const char *how;      /* how it is found out */
    unsigned needs;
    const char *not_arch; /* why nobody asks it of architectural PEBS; NULL: it is asked */
    const char *answers;  /* beside "other", the model's and the policy's, with a blank between two; NULL: none */
};

enum ds_probe_question {
    DS_PROBE_Q_FIT,
    DS_PROBE_Q_DROP_RELOAD,
    DS_PROBE_Q_BTS_FULL,
    DS_PROBE_Q_BTS_OVF_BUF,
    DS_PROBE_Q_MASKED_PMI,
    DS_PROBE_Q_BYSTANDER,
    DS_PROBE_Q_PDIST_MINIMUM,
    DS_PROBE_Q_RESERVED,
    DS_PROBE_Q_RESIDUAL,
    DS_PROBE_Q_UNMAPPED,
    DS_PROBE_Q_SPACING,
    DS_PROBE_Q_PDIST_SPACING,
    DS_PROBE_Q_SHADOW,
    DS_PROBE_Q_EVENTING_IP,
    DS_PROBE_Q_RIP,
    DS_PROBE_Q_OVERFLOW_BIT,
    DS_PROBE_Q_FULL_SIGNAL,
    DS_PROBE_Q_SELF_MASK,
    DS_PROBE_Q_THRESHOLD_AGAIN,
    DS_PROBE_Q_BTS_CIRCULAR,
    DS_PROBE_Q_BTS_CIRCULAR_PMI,
    DS_PROBE_Q_DS_AREA,
    DS_PROBE_Q_PMC_WRITE,
    DS_PROBE_Q_HYPERVISOR,
    DS_PROBE_Q_ARCH_THRESHOLD,
    DS_PROBE_Q_ARCH_FULL,
    DS_PROBE_Q_ARCH_FIT,
    DS_PROBE_Q_ARCH_BASE,
    DS_PROBE_Q_ARCH_SIZE,
    DS_PROBE_Q_ARCH_PADDING,
    DS_PROBE_Q_ARCH_OVERFLOW,
    DS_PROBE_Q_ARCH_OVF_BUF,
    DS_PROBE_Q_ARCH_FRAGMENTS,
    DS_PROBE_Q_ARCH_TOGETHER,
    DS_PROBE_ROWS
};
extern const struct ds_probe_row ds_probe_rows[DS_PROBE_ROWS];

/* The question, and what the model does by default. */
const char *ds_probe_question(const struct ds_probe_row *row);
const char *ds_probe_model(const struct ds_probe_row *row);
/* Whether the question has that answer. */
bool ds_probe_lists(const struct ds_probe_row *row, const char *answer);

/* ---- costs ------------------------------------------------------------------------------------------------------- */

struct ds_probe_cost {           /* of one thing, in TSC cycles */
    uint32_t samples;            /* 0: not determined */
    uint64_t least, median, p99; /* the last: of fewer than 100 samples the largest */
    char reason[64];             /* why not */
};

struct ds_probe_cost_row {
    const char *name, *what;
    uint64_t groups; /* of MSR_PEBS_DATA_CFG */
};

/* Before these three: PEBS records. */
enum { DS_PROBE_DRAIN = 6, DS_PROBE_PMI, DS_PROBE_BRANCH, DS_PROBE_COSTS };
extern const struct ds_probe_cost_row ds_probe_costs[DS_PROBE_COSTS];

#define DS_PROBE_SAMPLES 512u

/* Sorts the samples. */
void ds_probe_cost_of(struct ds_probe_cost *cost, uint64_t *sample, unsigned n);

/* ---- whom to ask ------------------------------------------------------------------------------------------------- */

/* The first CPU of each kind of core, of those with these `caps`; `max` at most. Kinds differ in what they say of
 * themselves, or in what there is of counters and PEBS. Returns how many. */
unsigned ds_probe_kinds(const struct ds_caps *caps, uint32_t count, uint32_t *cpus, unsigned max);

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Asks all questions, in order, and measures; every register is as before then. 0, or -EFAULT: registers cannot be
 * saved or given back, one line in `error`. */
int ds_probe_all(const struct ds_probe_bench *bench, struct ds_probe_result results[DS_PROBE_ROWS],
                 struct ds_probe_cost costs[DS_PROBE_COSTS], char *error, size_t size);
