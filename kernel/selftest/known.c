/* SPDX-License-Identifier: MIT */
/*
 * Tests whether counting is exact. It runs programs in ring 3 of which every instruction is known in advance
 * (kernel/selftest/ring3/known.asm), once for each event of this processor, with several periods and without one. The
 * counts, and the instructions that the PEBS records name, must match each program's list (its "paper"). One verdict
 * for each program and CPU.
 *
 * For that it borrows the CPU's counters. A second Debug Store (a struct ds_cpu of its own; with ds=soft on a model of
 * its own) takes the place of the session's. The session's is paused and keeps its registers: ds_start and ds_stop
 * restore everything. What the session records of other threads does not change. (On hw, a session's counter that is
 * armed at that moment may lose that one record.)
 *
 * The counters count only ring 3, so from the program's first instruction to its last SYSCALL, whatever interrupts it:
 * nothing of the kernel has to be subtracted. The model must count exactly this. A processor may also count an
 * interrupt or the exit from ring 3. So on a processor each program runs several times, the program `empty` shows what
 * all of them have in common, and where the rule itself is not certain, a difference proves nothing.
 */
#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "ds/layout.h"
#include "ds/pebs23_layout.h"
#include "kernel/console/report.h"
#include "kernel/gate.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/ds.h"
#include "kernel/sched/threads.h"
#include "kernel/sched/wait.h"
#include "kernel/selftest/paper.h"
#include "kernel/user/user.h"
#include "kernel/workload/parts.h"

#define TURNS   8u                  /* on hw: an interrupt in between does not come every time */
#define NEVER   (UINT64_C(1) << 30) /* a period no program comes to */
#define RECORDS 64u                 /* more than a program causes */

enum { USER, KERNEL, PEBS }; /* the events of a run */

static const uint64_t periods[] = {1, 2, 5};
#define PERIODS (sizeof periods / sizeof periods[0])

/* The totals, counted by hand. Certain: by what the manual says of the instructions in it, but for the exit. */
#define PROGRAMS(_)                                                                                                    \
    /* name, certain, instructions, branches, conditional, near taken, near calls, near returns, far */                \
    _(empty, false, 3, 1, 0, 0, 0, 0, 1)                                                                               \
    _(straight, true, 15, 1, 0, 0, 0, 0, 1)                                                                            \
    _(loop, true, 24, 11, 10, 9, 0, 0, 1)                                                                              \
    _(counted, true, 12, 8, 7, 5, 0, 0, 1)                                                                             \
    _(conditional, true, 13, 7, 6, 3, 0, 0, 1)                                                                         \
    _(calls, true, 18, 11, 0, 10, 5, 5, 1)                                                                             \
    _(indirect, true, 16, 7, 0, 6, 2, 2, 1)                                                                            \
    _(rep, true, 16, 1, 0, 0, 0, 0, 1)                                                                                 \
    _(locked, true, 14, 3, 2, 2, 0, 0, 1)                                                                              \
    _(serialising, true, 10, 1, 0, 0, 0, 0, 1)                                                                         \
    _(mov_ss, true, 15, 2, 0, 1, 0, 0, 1)                                                                              \
    _(flags, true, 8, 1, 0, 0, 0, 0, 1)                                                                                \
    _(system_call, false, 10, 4, 0, 0, 0, 0, 4)                                                                        \
    _(fault, false, 11, 3, 0, 1, 0, 0, 2)                                                                              \
    _(shadow_fault, false, 9, 2, 0, 0, 0, 0, 2)                                                                        \
    _(interrupt, false, 7, 2, 0, 0, 0, 0, 2)                                                                           \
    _(far, false, 9, 2, 0, 0, 0, 0, 2)

#define DECLARE(name, ...)                                                                                             \
    extern user_program user_known_##name;                                                                             \
    extern const struct kpaper_step known_paper_##name[], known_paper_end_##name[];
PROGRAMS(DECLARE)

static const struct known {
    const char *name;
    user_program *program;
    const struct kpaper_step *paper, *paper_end;
    bool certain;
    uint32_t total[DS_EVENT_KINDS];
} programs[] = {
#define ROW(n, sure, instructions, branches, conditional, taken, calls, returns, far)                                  \
    {.name = #n,                                                                                                       \
     .program = user_known_##n,                                                                                        \
     .paper = known_paper_##n,                                                                                         \
     .paper_end = known_paper_end_##n,                                                                                 \
     .certain = sure,                                                                                                  \
     .total = {[DS_EVENT_INSTRUCTIONS] = instructions,                                                                 \
               [DS_EVENT_CYCLES] = instructions,                                                                       \
               [DS_EVENT_BRANCHES] = branches,                                                                         \
               [DS_EVENT_CONDITIONAL] = conditional,                                                                   \
               [DS_EVENT_NEAR_TAKEN] = taken,                                                                          \
               [DS_EVENT_NEAR_CALL] = calls,                                                                           \
               [DS_EVENT_NEAR_RETURN] = returns,                                                                       \
               [DS_EVENT_FAR_BRANCH] = far}},
    PROGRAMS(ROW)};
#define COUNT (sizeof programs / sizeof programs[0])

static const char *const events[DS_EVENT_KINDS] = {
    /* NULL: not on paper */
    [DS_EVENT_INSTRUCTIONS] = "INST_RETIRED.ANY",           [DS_EVENT_CYCLES] = "CPU_CLK_UNHALTED.THREAD",
    [DS_EVENT_BRANCHES] = "BR_INST_RETIRED.ALL_BRANCHES",   [DS_EVENT_CONDITIONAL] = "BR_INST_RETIRED.CONDITIONAL",
    [DS_EVENT_NEAR_TAKEN] = "BR_INST_RETIRED.NEAR_TAKEN",   [DS_EVENT_NEAR_CALL] = "BR_INST_RETIRED.NEAR_CALL",
    [DS_EVENT_NEAR_RETURN] = "BR_INST_RETIRED.NEAR_RETURN", [DS_EVENT_FAR_BRANCH] = "BR_INST_RETIRED.FAR_BRANCH",
};

struct prover {
    uint32_t cpu;
    const struct ds_machine *machine; /* NULL: nothing counts */
    const struct ds_stepping *model;  /* how it counts; NULL: hw */
    struct ds_caps *caps;             /* the CPU's, but the model has no errata */
    struct ds_cpu *ds;
    void *area, *buffer;
    size_t buffer_bytes;
    uint64_t common[DS_EVENT_KINDS]; /* what `empty` comes to: on paper, and on hw as counted */

    /* the program under proof */
    const struct known *known;
    struct kpaper paper;
    enum kpaper_verdict worst;
    char why[160];         /* it is no better */
    uint32_t events, seen; /* events counted, records seen */

    /* the last run */
    struct kpaper_record record[RECORDS];
    size_t records;
    bool lost;
    uint64_t counted[2]; /* by ring */
    unsigned counter;    /* that PEBS was on */
};

/* ---- borrowing the CPU's counters -------------------------------------------------------------------------------- */

/* An address of the program's as the kernel's image has it, which the paper has. */
static uint64_t in_image(uint64_t address)
{
    uint64_t first = kuser_address(kernel_user_start), end = kuser_address(kernel_user_end);
    return address >= first && address < end ? address - first + (uint64_t)kernel_user_start : address;
}

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static struct kpaper_record read_record(unsigned format, const void *record)
{
    if (format == DS_FORMAT_ARCH) {
        const struct {
            struct ds_arch_header header;
            struct ds_arch_basic basic;
            struct ds_arch_gpr gpr;
        } *groups = record; /* of the first fragment; the model's record has no other */
        bool gpr = groups->header.format & IA32_PMC_CFG_C_GPR;
        return (struct kpaper_record){groups->basic.eventing_ip, gpr ? groups->gpr.registers.rip : 0};
    }
    if (format >= 4) {
        const struct {
            struct ds_pebs_basic basic;
            struct ds_pebs_gpr gpr;
        } *groups = record;
        bool gpr = ds_pebs_head_groups(groups->basic.head) & MSR_PEBS_DATA_CFG_GPR; /* not where there is no baseline */
        return (struct kpaper_record){groups->basic.eventing_ip, gpr ? groups->gpr.rip : 0};
    }
    return (struct kpaper_record){format >= 2 ? ((const struct ds_pebs_fmt2 *)record)->eventing_ip : 0,
                                  ((const struct ds_pebs_fmt0 *)record)->rip};
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    struct prover *p = context;
    (void)cpu;
    p->lost |= drain->lost != 0;
    for (uint32_t at = 0, size; at < drain->bytes; at += size) {
        const uint8_t *record = (const uint8_t *)drain->records + at;
        size = ds_record_size_at(drain->format, record, drain->bytes - at);
        if (!size || p->records == RECORDS) {
            p->lost = true;
            return;
        }
        struct kpaper_record r = read_record(drain->format, record);
        p->record[p->records++] = (struct kpaper_record){in_image(r.ip), in_image(r.next)};
    }
}

/* A program of this thread's CPU, from its first instruction to its end. False: p->why says what went wrong. */
static bool run_program(struct prover *p)
{
    struct kthread *thread;
    char name[KTHREAD_NAME];
    int code;
    snprintf(name, sizeof name, "known/%s", p->known->name);
    if (kuser_create(&thread, name, KPRIORITY_NORMAL, p->cpu, p->known->program, 0, 0, NULL, 0) != 0) {
        snprintf(p->why, sizeof p->why, "no memory for the program");
        return false;
    }
    kthread_join(thread, KWAIT_FOREVER, &code);
    if (code)
        snprintf(p->why, sizeof p->why, "the program ended with code 0x%x", (unsigned)code);
    return !code;
}

/* The same with the counters of `config`: ring 3, ring 0, and the one with PEBS if there is one. Called in the gate, on
 * the CPU that the thread is bound to: nothing counts but the program. */
static bool run_counted(struct prover *p, const struct ds_config *config)
{
    struct kcpu *cpu = kcpu_this();
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained, .context = p};
    const struct ds_machine *stepped = cpu->stepped;
    struct ds_refusal refusal;
    struct ds_counts counts;

    p->records = 0;
    p->lost = false;
    ds_pmi(cpu->ds); /* one that is due, or pending: ds_start clears the status that says so, and it would be ours */
    if (ds_cpu_init(p->ds, p->cpu, p->machine, p->caps, config, &hooks, p->area, p->buffer, p->why, sizeof p->why) != 0)
        return false;
    if (p->model) {
        /* Whose frame it is only those hooks ask that are not there. */
        p->model->attach(p->machine->context, p->ds, NULL);
        cpu->stepped = p->machine;
    }
    kds_lend(p->ds);
    bool good = ds_start(p->ds, &refusal) == 0;
    if (good) {
        good = run_program(p);
        p->counter = ds_event_counter(p->ds, PEBS);
    } else {
        snprintf(p->why, sizeof p->why, "step %d in ds/driver/driver.c: MSR 0x%x raises #GP", refusal.step,
                 refusal.msr);
    }
    ds_stop(p->ds);
    ds_cpu_counts(p->ds, &counts);
    p->counted[USER] = counts.plain[USER].events;
    p->counted[KERNEL] = counts.plain[KERNEL].events;
    kds_lend(cpu->ds);
    cpu->stepped = stepped;
    return good;
}

/* ---- the proof --------------------------------------------------------------------------------------------------- */

/* Returns whether this is the worst so far: then p->why is to be written. */
static bool judge(struct prover *p, enum kpaper_verdict verdict)
{
    bool worse = verdict > p->worst;
    p->worst = worse ? verdict : p->worst;
    return worse;
}

/* The event's name for PEBS: where the lists have INST_RETIRED.PREC_DIST alone as a precise one of instructions, that
 * counts the same (ds/trial/self_test.c). */
static const char *recorded_name(const struct prover *p, enum ds_event_kind kind)
{
    const struct ds_event listed = {.kind = kind, .fixed = DS_NO_FIXED};
    const struct ds_event instead = {.kind = DS_EVENT_PREC_DIST, .fixed = DS_NO_FIXED};
    if (kind == DS_EVENT_INSTRUCTIONS && !ds_event_precise(p->caps, &listed) && ds_event_precise(p->caps, &instead))
        return "INST_RETIRED.PREC_DIST";
    return events[kind];
}

/* Records are `period` events apart with precise distribution, one more without (ds/model/counting.c). */
static void judge_records(struct prover *p, enum ds_event_kind kind, uint64_t period)
{
    bool pdist =
        p->model && (p->model->pdist(p->machine->context, p->counter) || recorded_name(p, kind) != events[kind]);
    size_t wrong;
    enum kpaper_verdict verdict =
        kpaper_judge_records(&p->paper, kind, p->model ? period + !pdist : 0, p->record, p->records, &wrong);
    if (p->lost)
        verdict = KPAPER_WRONG;
    else if (verdict == KPAPER_UNKNOWN && kpaper_count(&p->paper, kind) <= period)
        verdict = KPAPER_VERIFIED; /* no record, and none could be */
    p->seen += (uint32_t)p->records;
    if (!judge(p, verdict))
        return;
    if (verdict == KPAPER_WRONG)
        snprintf(p->why, sizeof p->why, "%s:%lu: record %lu of %lu is not of the instruction it should be, but 0x%lx%s",
                 events[kind], (unsigned long)period, (unsigned long)wrong, (unsigned long)p->records,
                 (unsigned long)(wrong < p->records ? p->record[wrong].ip : 0),
                 p->lost ? ", and records are lost" : "");
    else
        snprintf(p->why, sizeof p->why, "%s:%lu: not one record", events[kind], (unsigned long)period);
}

static void judge_counts(struct prover *p, enum ds_event_kind kind, const uint64_t *counts, unsigned turns)
{
    uint64_t least = counts[0], most = counts[0];
    uint64_t on_paper = kpaper_count(&p->paper, kind);
    uint64_t expected = on_paper - programs[0].total[kind] + p->common[kind];
    enum kpaper_verdict verdict = kpaper_judge_counts(p->model, p->known->certain, expected, counts, turns);
    for (unsigned i = 1; i < turns; i++) {
        least = counts[i] < least ? counts[i] : least;
        most = counts[i] > most ? counts[i] : most;
    }
    if (judge(p, verdict)) {
        int n = snprintf(p->why, sizeof p->why, "%s: %lu", events[kind], (unsigned long)least);
        if (most > least)
            n += snprintf(p->why + n, sizeof p->why - (size_t)n, " to %lu", (unsigned long)most);
        snprintf(p->why + n, sizeof p->why - (size_t)n, " counted, on paper %lu", (unsigned long)on_paper);
    }
    if (p->known == programs && !p->model)
        p->common[kind] = least;
}

/* One event, with PEBS at `period` (0: without): as many runs as it takes. */
static bool prove_at(struct prover *p, enum ds_event_kind kind, uint64_t period)
{
    struct ds_config config = {.groups = MSR_PEBS_DATA_CFG_GPR, .records = RECORDS, .threshold = RECORDS};
    unsigned turns = p->model ? 1 : TURNS;
    uint64_t counts[TURNS];
    char spec[160];
    const char *name = events[kind];

    int n = snprintf(spec, sizeof spec, "%s:%lu:u:plain,%s:%lu:k:plain", name, (unsigned long)NEVER, name,
                     (unsigned long)NEVER);
    if (period)
        snprintf(spec + n, sizeof spec - (size_t)n, ",%s:%lu:u", recorded_name(p, kind), (unsigned long)period);
    if (ds_parse_events(spec, &config, p->why, sizeof p->why) != 0)
        return false;
    for (unsigned i = 0; i < turns; i++) {
        if (!run_counted(p, &config))
            return false;
        counts[i] = p->counted[USER];
        if (p->model && p->counted[KERNEL] && judge(p, KPAPER_WRONG))
            snprintf(p->why, sizeof p->why, "%s: %lu counted in ring 0", name, (unsigned long)p->counted[KERNEL]);
        if (period)
            judge_records(p, kind, period);
    }
    judge_counts(p, kind, counts, turns);
    return true;
}

/* Whether this kernel knows the event. */
static bool has_name(const char *event)
{
    const char *name;
    for (size_t i = 0; (name = ds_event_name(i)); i++)
        if (!strcmp(name, event))
            return true;
    return false;
}

/* Events that are not on paper or that this kernel or processor has not are left out; so are, on hw, cycles, which are
 * nobody's to know, and periods that it cannot keep. */
static bool prove_event(struct prover *p, enum ds_event_kind kind)
{
    struct ds_config config;
    uint64_t code;
    char spec[64];
    if (!events[kind] || !has_name(events[kind]))
        return true;
    snprintf(spec, sizeof spec, "%s:1", events[kind]);
    if (ds_parse_events(spec, &config, p->why, sizeof p->why) != 0)
        return false;
    if (ds_event_code(p->caps, &config.event[0], &code) != 0 || (!p->model && kind == DS_EVENT_CYCLES))
        return true;
    p->events++;
    if (kpaper_count(&p->paper, kind) != p->known->total[kind] && judge(p, KPAPER_WRONG))
        snprintf(p->why, sizeof p->why, "%s: the steps come to %lu, the total says %u", events[kind],
                 (unsigned long)kpaper_count(&p->paper, kind), p->known->total[kind]);
    if (!ds_event_recorded(p->caps, &config.event[0]) || p->caps->errata.period_32)
        return prove_at(p, kind, 0);
    for (size_t i = 0; i < PERIODS; i++)
        if (!prove_at(p, kind, periods[i]))
            return false;
    return true;
}

static void report(const struct prover *p)
{
    const struct known *k = p->known;
    switch (p->worst) {
    case KPAPER_WRONG:
        kreport(KREPORT_FAIL, "known", "CPU %u: %s: %s", p->cpu, k->name, p->why);
        break;
    case KPAPER_UNKNOWN:
        kreport(KREPORT_SKIP, "known", "CPU %u: %s: %s: cannot be known here", p->cpu, k->name, p->why);
        break;
    default:
        kreport(KREPORT_PASS, "known",
                "CPU %u: %s: %u instructions, %u of them branches; counts of %u events verified, %u records %s", p->cpu,
                k->name, k->total[DS_EVENT_INSTRUCTIONS], k->total[DS_EVENT_BRANCHES], p->events, p->seen,
                p->worst == KPAPER_VERIFIED ? "verified" : "consistent");
    }
}

/* False: the run is to end, or cannot go on (then a FAIL has said why). */
static bool prove(struct prover *p, const struct known *k)
{
    p->known = k;
    p->paper = (struct kpaper){k->paper, (size_t)(k->paper_end - k->paper), (uint64_t)arch_syscall_entry};
    p->worst = KPAPER_VERIFIED;
    p->events = p->seen = 0;
    for (unsigned kind = 0; kind < DS_EVENT_KINDS; kind++) {
        if (kworkload_stopping())
            return false;
        if (!prove_event(p, kind)) {
            p->worst = KPAPER_WRONG;
            break;
        }
    }
    report(p);
    return true;
}

#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

static void free_pages(void *address, size_t bytes)
{
    if (address)
        kmem_pages_free(address, PAGES(bytes));
}

static void free_memory(struct prover *p)
{
    free_pages(p->caps, sizeof *p->caps);
    kds_machine_free(p->machine);
    free_pages(p->ds, ds_cpu_bytes());
    free_pages(p->area, ARCH_PAGE_SIZE);
    free_pages(p->buffer, p->buffer_bytes);
}

static void prove_all(void *argument)
{
    struct prover *p = argument;
    bool on = kgate_enter(); /* to the end: nothing of it is this thread's own work */
    size_t done = 0;
    kthread_sleep(1, KWAIT_DELAY_EXECUTION); /* the switch drains the session's BTS buffer, and nothing follows */
    if (!p->machine)
        kreport(KREPORT_SKIP, "known", "CPU %u: nothing is counted: %s", p->cpu, kds->reason);
    else
        while (done < COUNT && prove(p, &programs[done]))
            done++;
    if (p->machine && done < COUNT)
        kreport(KREPORT_SKIP, "known",
                "CPU %u: the run ended after %lu programs: give it more switches= or seconds=", p->cpu,
                (unsigned long)done);
    while (!kworkload_stopping())
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
    free_memory(p);
    kgate_leave(on);
}

/* A Debug Store like the session's. Its model has the policies' defaults: what counts does not depend on them. */
static int get_memory(struct prover *p)
{
    const struct ds_config largest = {.groups = MSR_PEBS_DATA_CFG_GPR, .records = RECORDS};
    p->caps = kmem_pages_alloc(PAGES(sizeof *p->caps));
    p->ds = kmem_pages_alloc(PAGES(ds_cpu_bytes()));
    p->area = kmem_pages_alloc(1);
    if (!p->caps || !p->ds || !p->area)
        return -ENOMEM;
    *p->caps = kds->caps[p->cpu];
    p->machine = kds_machine_make(false);
    if (!p->machine)
        return -ENOMEM;
    p->model = p->machine->stepping;
    if (p->model)
        p->caps->errata = (struct ds_errata){0};
    p->buffer_bytes = ds_buffer_bytes(p->caps, &largest);
    p->buffer = kds_buffer_alloc(p->cpu, p->buffer_bytes);
    return p->buffer ? 0 : -ENOMEM;
}

static int start(uint64_t seed)
{
    int e = 0;
    (void)seed;
    for (uint32_t i = 0; i < kcpu_count && !e; i++) {
        struct prover *p = kworkload_alloc(sizeof *p);
        if (!p)
            return -ENOMEM;
        p->cpu = i;
        for (unsigned kind = 0; kind < DS_EVENT_KINDS; kind++)
            p->common[kind] = programs[0].total[kind];
        if (kds->pebs)
            e = get_memory(p);
        if (!e)
            e = kworkload_thread("prover", i, KPRIORITY_NORMAL + 1, i, prove_all, p);
        if (e)
            free_memory(p);
    }
    return e;
}

KWORKLOAD(known, start);
