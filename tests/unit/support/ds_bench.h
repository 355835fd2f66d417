/* SPDX-License-Identifier: MIT */
/* A model on the test bench: its memory, its registers, what it raised and what it reported. */
#pragma once

#include "ds/model/model.h"
#include "ds/pebs23_layout.h"

/* Linear memory: the DS area; the PEBS buffer a page above, BTS at 7000H. */
#define DS_BENCH_BASE  UINT64_C(0xFFFF900000000000)
#define DS_BENCH_WORDS 4096u
/* Physical memory: 128 KiB. */
#define DS_BENCH_PHYSICAL       UINT64_C(0x12340000)
#define DS_BENCH_PHYSICAL_WORDS 16384u

/* What most tests of the model count, and look at. */
#define INSTRUCTIONS 0x00C0u /* IA32_PERFEVTSELx: event select and unit mask, of every preset */
#define BRANCHES     0x00C4u
#define BRANCH       DS_BIT(DS_MODEL_BRANCH)
#define OVF_BUF      IA32_PERF_GLOBAL_STATUS_OVF_BUF
#define STATUS(b)    ds_bench_read(b, IA32_PERF_GLOBAL_STATUS)
#define PMC(b, i)    ds_bench_read(b, IA32_PMC0 + (i))
#define MINUS(n)     (-(uint64_t)(n) & (DS_BIT(48) - 1)) /* in a counter of 48 bits */

struct ds_bench {
    struct ds_model model;
    uint64_t memory[DS_BENCH_WORDS];
    uint64_t physical[DS_BENCH_PHYSICAL_WORDS];
    struct ds_model_registers registers;
    struct ds_pebs_xmm xmm;
    uint32_t pmi[64];        /* LVTPC values delivered, in order */
    uint64_t pmi_status[64]; /* GLOBAL_STATUS at that moment */
    unsigned pmis;
    bool handler_unmasks; /* the PMI handler writes LVTPC at once */
    unsigned accesses;    /* to memory by the model so far */
    unsigned missing;     /* this access (from 1) finds no page; 0: none */
    unsigned stored, dropped;
    unsigned page_faults; /* injected, and the last of them */
    uint64_t faulted;
    bool fault_write;
};

/* The usual processors: one with the PEBS baseline, one without it, one of each record format (0 to 6). */
const struct ds_model_preset *ds_bench_icelake(void);
const struct ds_model_preset *ds_bench_skylake(void);
const struct ds_model_preset *ds_bench_of_format(unsigned format);

/* As ds_bench_init, but events that no list names are left to the policy. */
void ds_bench_init_listed(struct ds_bench *bench, const struct ds_model_preset *preset,
                          const struct ds_model_policy *policy, uint64_t maximum, uint64_t threshold);

/* A model of `preset` with a DS area and a buffer of `maximum` bytes, threshold at `threshold` bytes; LVTPC unmasked,
 * counters off. What PEBS does is the same for each event, so it records those, too, that no list names. */
void ds_bench_init(struct ds_bench *bench, const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                   uint64_t maximum, uint64_t threshold);

uint64_t *ds_bench_word(struct ds_bench *bench, uint64_t address);
uint64_t ds_bench_buffer(void);
/* Word at `offset` of the PEBS buffer. */
uint64_t ds_bench_word_at(struct ds_bench *bench, uint64_t offset);
/* DS area word at offset `offset`. */
uint64_t *ds_bench_area(struct ds_bench *bench, uint64_t offset);
uint64_t ds_bench_index(struct ds_bench *bench); /* bytes from the buffer's base */

/* With architectural PEBS, for which ds_bench_init does it with `size` 0: a buffer of 4096 << size bytes at
 * DS_BENCH_PHYSICAL, threshold at `threshold` bytes, PEBS on; and the word at DS_BENCH_PHYSICAL + `offset`. */
void ds_bench_arch(struct ds_bench *bench, unsigned size, uint64_t threshold);
uint64_t *ds_bench_physical(struct ds_bench *bench, uint64_t offset);

uint64_t ds_bench_bts_buffer(void);
uint64_t ds_bench_bts_index(struct ds_bench *bench);

/* A BTS buffer of `maximum` bytes, threshold at `threshold` bytes, and DEBUGCTL. */
void ds_bench_bts(struct ds_bench *bench, uint64_t maximum, uint64_t threshold, uint64_t debugctl);

void ds_bench_write(struct ds_bench *bench, uint32_t msr, uint64_t value); /* must not fault */
uint64_t ds_bench_read(struct ds_bench *bench, uint32_t msr);
/* GP counter i counts retired instructions (or branches) in all rings, from -period, with PEBS. */
void ds_bench_pebs_counter(struct ds_bench *bench, unsigned i, uint64_t select, uint64_t start, uint64_t reset);
/* `n` instructions retire at CPL 0, the last of them `events`. */
void ds_bench_step(struct ds_bench *bench, unsigned n, uint64_t events);
int ds_bench_retire(struct ds_bench *bench, uint64_t events, unsigned cpl);
/* A taken, predicted branch retires, from 1000H + i to 2000H + i. */
void ds_bench_branch(struct ds_bench *bench, unsigned i, unsigned cpl);
