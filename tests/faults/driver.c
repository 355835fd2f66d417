/* SPDX-License-Identifier: MIT */
/*
 * Faults of the machine, one by one, while the driver runs on the model of every processor there is: MSRs that are
 * refused, pages of DS memory that are gone, PMIs that come too often, too late, twice or not at all. The model says
 * what it has stored. So each record that the driver hands over is compared with what was stored; what it does not hand
 * over it must call lost, and a register that was refused it must name. A row of the fault matrix is a line:
 *
 *     PASS|FAIL: faults: ROW: VARIANTS variants: OUTCOME...
 *
 *     driver [EVERY]      tries each EVERYth variant of rows that have many (1: all)
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "ds/bts/bts.h"
#include "ds/ds.h"
#include "ds/later/later.h"
#include "ds/pebs23_layout.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/rand.h"
#include "tests/faults/handed.h"
#include "tests/unit/support/model_machine.h"
#include "tests/unit/support/presets.h"

#define INSTRUCTIONS 300u
#define MANY         3000u /* for PMIs */
#define RECORDS      6u
#define BRANCHES     32u
#define PAGE         4096u
#define HARDLY       100000u /* accesses to MSRs: so many only a driver makes that does not come to an end */

static struct ds_model *const model = &model_machine.model;
static uint64_t area[512] __attribute__((aligned(PAGE)));
static uint8_t buffer[8 * PAGE] __attribute__((aligned(8 * PAGE)));
static uint8_t branch_buffer[PAGE] __attribute__((aligned(PAGE)));

/* ---- the outcome ------------------------------------------------------------------------------------------------- */

static struct row { /* of the matrix: of its variants so many had each outcome */
    uint64_t variants;
    uint64_t none;    /* nothing was refused or lost */
    uint64_t refused; /* PEBS or BTS is refused, and why */
    uint64_t counted; /* accesses that were refused, or records that were lost, while it ran */
    uint64_t unknown; /* how many are lost is called unknown */
    uint64_t hidden;  /* a record was lost, which on a processor nothing tells: its memory was gone */
} row;

static bool failed;
static struct variant { /* which it is */
    const struct ds_model_preset *preset;
    bool stepped;
    char fault[96];
} variant;

void lie(const char *format, ...)
{
    va_list args;
    failed = true;
    printf("%s, %s, %s: ", variant.preset->name, variant.stepped ? "stepped" : "hw", variant.fault);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

static void print_row(const char *name)
{
    printf("%s: faults: %s: variants: %" PRIu64 "\n    %" PRIu64 " without effect, %" PRIu64 " refused, %" PRIu64
           " counted, %" PRIu64 " unknown, %" PRIu64 " hidden\n",
           failed ? "FAIL" : "PASS", name, row.variants, row.none, row.refused, row.counted, row.unknown, row.hidden);
}

/* ---- chance, and PMIs -------------------------------------------------------------------------------------------- */

enum interrupts { PMI_AT_ONCE, PMI_STORM, PMI_TWICE, PMI_LATE, PMI_NEVER, PMI_MASKED, PMI_WAYS };
static const char *const interrupt_names[] = {"at once", "storm", "twice", "late", "now and then never", "masked"};

static struct {
    enum interrupts how;
    struct krand random;
    unsigned due; /* at this instruction */
} pmis;

static unsigned draw(unsigned below)
{
    return krand_below(&pmis.random, below);
}

/* ---- registers that are refused ---------------------------------------------------------------------------------- */

enum refused { REFUSE_NONE, REFUSE_ONE, REFUSE_ALL_FROM, REFUSE_MSR_READ, REFUSE_MSR_WRITE };

static struct {
    enum refused how;
    unsigned at;  /* the number of an access, from 1 */
    uint32_t msr; /* REFUSE_MSR_...: of this one, each access from `at` on */
    unsigned accesses, refused;
    uint32_t first; /* that was */
    bool first_write;
} msrs;

static uint32_t touched[HARDLY]; /* of the last variant, by the number of the access */

static bool refuse(uint32_t msr, bool write)
{
    if (msrs.accesses < HARDLY)
        touched[msrs.accesses] = msr;
    const bool due = ++msrs.accesses >= msrs.at;
    const bool refused = msrs.how == REFUSE_ONE         ? msrs.accesses == msrs.at
                         : msrs.how == REFUSE_ALL_FROM  ? due
                         : msrs.how == REFUSE_MSR_READ  ? due && !write && msr == msrs.msr
                         : msrs.how == REFUSE_MSR_WRITE ? due && write && msr == msrs.msr
                                                        : false;
    if (msrs.accesses == HARDLY) {
        lie("the driver does not end");
        exit(1);
    }
    if (refused && !msrs.refused++) {
        msrs.first = msr;
        msrs.first_write = write;
    }
    return refused;
}

/* Time passes: a record that is on its way may come. Architectural PEBS would not say of one that comes after two reads
 * of IA32_PEBS_INDEX have agreed (ds/pebs23/pebs23.c): there it comes at once. */
static void pass_time(void)
{
    if (variant.preset->format == DS_FORMAT_ARCH || !draw(4))
        ds_model_late(model);
}

static int faulty_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    pass_time();
    return refuse(msr, false) ? -EFAULT : model_machine_hw.rdmsr(context, msr, value);
}

static int faulty_wrmsr(void *context, uint32_t msr, uint64_t value)
{
    pass_time();
    return refuse(msr, true) ? -EFAULT : model_machine_hw.wrmsr(context, msr, value);
}

/* ---- memory that is gone ----------------------------------------------------------------------------------------- */

static const uint8_t *gone; /* a page; NULL: none */
static unsigned gone_from, gone_to;

static bool is_gone(uint64_t address, uint32_t size)
{
    const uint64_t page = (uintptr_t)gone;
    return gone && model_machine.now >= gone_from && model_machine.now < gone_to && address < page + PAGE &&
           address + size > page;
}

static bool read_memory(void *context, uint64_t address, void *to, uint32_t size)
{
    return !is_gone(address, size) && model_machine_read(context, address, to, size);
}

static bool write_memory(void *context, uint64_t address, const void *from, uint32_t size)
{
    return !is_gone(address, size) && model_machine_write(context, address, from, size);
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    (void)context, (void)lvtpc;
    if (pmis.how == PMI_NEVER && draw(2))
        return; /* and LVTPC stays masked */
    model_machine.pmi = true;
    pmis.due = (unsigned)model_machine.now + (pmis.how == PMI_LATE ? draw(400) : 0);
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    handed_drained(d, buffer, sizeof buffer);
    pass_time(); /* handing over takes some */
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

static struct ds_cpu *ds;
static unsigned instructions = INSTRUCTIONS;

static void handle_pmi(void)
{
    struct arch_trap_frame frame = {0};
    ds_pause(ds);
    ds_pmi(ds);
    if (pmis.how == PMI_TWICE)
        ds_pmi(ds);
    ds_resume_frame(ds, &frame);
}

static void take_interrupts(void)
{
    if (pmis.how == PMI_STORM && draw(2))
        handle_pmi();
    if (pmis.how == PMI_MASKED && !draw(20)) /* whoever it was unmasks it only now and then */
        ds_model_lvtpc_write(model, LVTPC_MASKED | ARCH_VECTOR_PMI);
    if (pmis.how == PMI_MASKED && !draw(20))
        ds_model_lvtpc_write(model, ARCH_VECTOR_PMI);
    if (!model_machine.pmi || model_machine.now < pmis.due)
        return;
    model_machine.pmi = false;
    handle_pmi();
}

/* Records, branches, plain overflows, PMIs, other periods on the way, switches and ticks. */
static void work(void)
{
    ds_resume(ds);
    for (model_machine.now = 1; model_machine.now <= instructions; model_machine.now++) {
        const struct ds_model_branch branch = {.from = model_machine.now, .to = model_machine.now + 64};
        const struct ds_model_retired retired = {.events = 1u << DS_MODEL_INSTRUCTION | 1u << DS_MODEL_BRANCH,
                                                 .branch = model_machine.now % 8 ? NULL : &branch};
        if (!variant.stepped || !model_machine.held)
            ds_model_retire(model, &retired);
        if (model_machine.now == 200) {
            const uint64_t later[] = {41, 60};
            char error[160] = "";
            ds_reconfigure(ds, later, error, sizeof error);
            ds_resume(ds);
        }
        if (model_machine.now % 50 == 0) {
            ds_pause(ds);
            ds_switch(ds, 0);
            ds_tick(ds);
            ds_resume(ds);
        }
        take_interrupts();
    }
}

/* A refusal names the access; later ones, and those while it runs, are counted. */
static void judge_refusals(const struct ds_caps *caps, const struct ds_refusal *refusal, const struct ds_counts *counts)
{
    bool told = refusal->during != NULL || counts->faults;
    for (uint32_t i = 0; i < caps->tests && !told; i++)
        told = caps->test[i].faulted;
    if (!told)
        lie("nothing says that %s(%x) was refused", msrs.first_write ? "WRMSR" : "RDMSR", msrs.first);
    row.refused += refusal->during != NULL || !caps->pebs;
}

/* Every register is as it was; but what was stale in GLOBAL_STATUS may be gone. */
static void judge_registers(const struct ds_model *before)
{
    const uint64_t pairs[][2] = {
        {before->global_ctrl, model->global_ctrl},
        {before->fixed_ctr_ctrl, model->fixed_ctr_ctrl},
        {before->pebs_enable, model->pebs_enable},
        {before->data_cfg, model->data_cfg},
        {before->debugctl, model->debugctl},
        {before->ds_area, model->ds_area},
        {before->pebs_base, model->pebs_base},
        {before->pebs_index, model->pebs_index},
        {before->lvtpc, model->lvtpc},
        {before->misc_enable, model->misc_enable},
        {0, model->global_status & ~before->global_status},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i][0] != pairs[i][1])
            lie("register %zu is left as %" PRIx64 ", and was %" PRIx64, i, pairs[i][1], pairs[i][0]);
    if (memcmp(before->value, model->value, sizeof model->value) ||
        memcmp(before->perfevtsel, model->perfevtsel, sizeof model->perfevtsel) ||
        memcmp(before->cfg_b, model->cfg_b, sizeof model->cfg_b) ||
        memcmp(before->cfg_c, model->cfg_c, sizeof model->cfg_c))
        lie("a counter is not left as it was");
}

static void drive(const struct ds_model_policy *policy)
{
    struct ds_config config = {.records = RECORDS, .threshold = 3, .groups = MSR_PEBS_DATA_CFG_GPR, .throttle = 20};
    const struct ds_hooks hooks = {
        .before_drain = model_machine_before_drain, .drained = drained, .bts_drained = handed_branches};
    static struct ds_bts branches;
    struct ds_machine machine = variant.stepped ? model_machine_stepped : model_machine_hw;
    struct ds_caps caps;
    struct ds_refusal refusal = {0}, branch_refusal = {0};
    struct ds_counts counts = {0};
    struct ds_model before;
    char error[160] = "";
    machine.rdmsr = faulty_rdmsr;
    machine.wrmsr = faulty_wrmsr;
    model_machine_reset(variant.preset, policy, model_machine_numbered);
    model->host.read = model->host.read_physical = read_memory;
    model->host.write = model->host.write_physical = write_memory;
    model->host.raise_pmi = raise_pmi;
    model->host.recorded = handed_recorded;
    model_machine.now = 0;
    memcpy(&before, model, sizeof before);
    handed_begin();
    msrs.accesses = msrs.refused = 0;
    row.variants++;

    ds_parse_events("INST_RETIRED.ANY:37:k,branches:50:k:plain", &config, error, sizeof error);
    ds_detect(&machine, &caps);
    memset(buffer, 0, sizeof buffer);
    if (caps.pebs && !ds_cpu_init(ds, 0, &machine, &caps, &config, &hooks, area, buffer, error, sizeof error)) {
        const int pebs = ds_start(ds, &refusal);
        int bts = -ENODEV;
        if (!ds_bts_init(&branches, ds, DS_BTS_INTERRUPT, DS_BTS_ALL, BRANCHES, (void *)branch_buffer))
            bts = ds_bts_start(ds, &branch_refusal);
        if (!pebs || !bts)
            work();
        ds_stop(ds);
        ds_cpu_counts(ds, &counts);
        if (pebs && counts.records)
            lie("PEBS was refused, and there are records");
        handed_judge(&counts, model, variant.stepped, !msrs.refused && !gone);
        if (msrs.how == REFUSE_NONE || msrs.how == REFUSE_ONE)
            judge_registers(&before);
    }
    if (msrs.refused)
        judge_refusals(&caps, refusal.during ? &refusal : &branch_refusal, &counts);
    row.counted += counts.faults || counts.lost;
    row.unknown += counts.lost_unknown;
    row.hidden += !variant.stepped && model->lost;
    row.none += !msrs.refused && !counts.lost_unknown && !model->lost && !model->dropped;
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

static unsigned every = 1;

static void each_machine(void (*faults)(void))
{
    for (size_t i = 0; i < PRESETS; i++)
        for (unsigned stepped = 0; stepped < 2; stepped++) {
            variant = (struct variant){.preset = preset_at(i), .stepped = stepped};
            faults();
        }
}

static void each_access(enum refused how, const char *name)
{
    msrs.how = how;
    msrs.refused = 1;
    for (msrs.at = 1; msrs.refused; msrs.at += every) { /* until there is no such access */
        snprintf(variant.fault, sizeof variant.fault, "%s %u", name, msrs.at);
        drive(NULL);
    }
    msrs.how = REFUSE_NONE;
}

static void one_access(void)
{
    each_access(REFUSE_ONE, "refused: access");
}

static void all_from(void)
{
    each_access(REFUSE_ALL_FROM, "refused: each access from number");
}

/* Each register that the driver uses is gone from the beginning, from the set-up on, and from the middle on. */
static void one_register(void)
{
    static uint32_t used[HARDLY];
    unsigned count;
    drive(NULL);
    memcpy(used, touched, sizeof used);
    count = msrs.accesses;
    for (unsigned i = 0; i < count; i++) {
        bool again = false;
        for (unsigned j = 0; j < i && !again; j++)
            again = used[j] == used[i];
        for (unsigned when = 0; when < 3 && !again; when++)
            for (unsigned write = 0; write < 2; write++) {
                msrs.how = write ? REFUSE_MSR_WRITE : REFUSE_MSR_READ;
                msrs.msr = used[i];
                msrs.at = when * count / 3;
                snprintf(variant.fault, sizeof variant.fault, "%s(%x) refused from access %u on",
                         write ? "WRMSR" : "RDMSR", msrs.msr, msrs.at);
                drive(NULL);
            }
    }
    msrs.how = REFUSE_NONE;
}

static void memory(void)
{
    const uint8_t *const pages[] = {(const uint8_t *)area, buffer, buffer + PAGE, branch_buffer};
    for (unsigned p = 0; p < sizeof pages / sizeof pages[0]; p++)
        for (unsigned from = 1; from <= INSTRUCTIONS; from += 7 * every)
            for (unsigned length = 1; length < 2 * INSTRUCTIONS; length *= 3) {
                gone = pages[p];
                gone_from = from;
                gone_to = from + length;
                snprintf(variant.fault, sizeof variant.fault, "page %u gone at instructions %u to %u", p, from,
                         gone_to - 1);
                drive(NULL);
            }
    gone = NULL;
}

static void interrupts(void)
{
    instructions = MANY;
    for (pmis.how = PMI_STORM; pmis.how < PMI_WAYS; pmis.how++)
        for (unsigned seed = 0; seed < 100; seed += every) {
            const struct ds_model_policy policy = {.masked_pmi_lost = seed & 1, .residual = seed >> 1 & 3};
            krand_init(&pmis.random, seed);
            snprintf(variant.fault, sizeof variant.fault, "PMI %s, seed %u", interrupt_names[pmis.how], seed);
            drive(&policy);
        }
    pmis.how = PMI_AT_ONCE;
    instructions = INSTRUCTIONS;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*faults)(void);
    } rows[] = {{"one access to an MSR refused", one_access},
                {"one access and all later ones refused", all_from},
                {"one register always refused", one_register},
                {"a page of DS memory missing for a while", memory},
                {"PMIs in storms, twice, late, never, masked", interrupts}};
    every = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 1;
    ds = malloc(ds_cpu_bytes());
    if (!every || !ds) {
        fprintf(stderr, "usage: driver [EVERY]\n");
        return 2;
    }
    bool all = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        row = (struct row){0};
        failed = false;
        each_machine(rows[i].faults);
        print_row(rows[i].name);
        all &= !failed;
    }
    free(ds);
    return all ? 0 : 1;
}
