/* SPDX-License-Identifier: MIT */
/*
 * Asks what this processor does where no manual says it: runs the experiments of ds/probe once on the first CPU of each
 * kind of core. The answers go to the console, and into the dump for `cairn probe`.
 *
 * For that it borrows the CPU's Debug Store, as workload known does: the session's is paused, and its registers are
 * restored. Then it measures context switches; for that the sessions get other masks for a moment. With ds=soft the
 * experiments have a model of their own, with the policies of the options; the answers must be these policies.
 */

#include "ds/probe/probe.h"
#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "kernel/console/report.h"
#include "kernel/control/session.h"
#include "kernel/dump_section.h"
#include "kernel/event/event.h"
#include "kernel/gate.h"
#include "kernel/lib/card.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/ds.h"
#include "kernel/recording/machine.h"
#include "kernel/sched/threads.h"
#include "kernel/workload/parts.h"
#include "trace/frames.h"
#include "trace/hub.h"

/* Among the interrupt stacks, of which there are never so many. */
#define UNMAPPED (LAYOUT_DEVICES - ARCH_PAGE_SIZE)

#define SAMPLES_EMULATED 16u /* of a cost: they say nothing about a processor, and take long */
#define SWITCHES_TIMED   128u

#define PRIORITY (KPRIORITY_NORMAL + 1)

#define OPEN_US 20u /* within which one comes that LVTPC has let go: an APIC takes some hundred cycles */

struct prober {
    uint32_t cpu;
    struct ds_probe_bench bench;
    volatile uint32_t pmis;
    bool interrupts_on; /* outside of the gate */
    struct found *found;
};

#define KINDS 4u /* of cores, more than any processor has */

enum { SWITCH_OFF, SWITCH_ON, SWITCH_STAMPED, SWITCHES };
static const char *const switch_names[SWITCHES] = {"switch_off", "switch_on", "switch_stamped"};

/* Kept for the dump, which comes after the workload. */
static struct found {
    uint32_t cpu;
    bool modelled, done;
    struct ds_probe_result results[DS_PROBE_ROWS];
    struct ds_probe_cost costs[DS_PROBE_COSTS];
    struct ds_probe_cost switched[SWITCHES];
} found[KINDS];
static uint32_t kinds;

static struct prober *volatile probers[MAX_CPUS]; /* whose PMIs those of a CPU are; NULL: nobody's */

static struct kevent turn; /* one kind of core after another */

/* ---- the bench --------------------------------------------------------------------------------------------------- */

static uint64_t execute(void *context, enum ds_probe_code code, uint32_t *pmis)
{
    struct prober *p = context;
    uint32_t handled;
    if (!pmis)
        return ds_probe_time(code, &p->pmis, &handled);
    kgate_leave(p->interrupts_on);
    const uint32_t before = p->pmis;
    const uint64_t cycles = ds_probe_time(code, &p->pmis, &handled);
    p->interrupts_on = kgate_enter();
    *pmis = handled - before;
    return cycles;
}

static void pmi(struct arch_trap_frame *frame)
{
    struct prober *p = probers[arch_cpu_index()];
    (void)frame;
    if (p)
        p->pmis++;
}

/* Out of the gate, so that other threads may run meanwhile. */
static uint32_t interrupts(void *context)
{
    struct prober *p = context;
    kgate_leave(p->interrupts_on);
    arch_delay_us(OPEN_US);
    p->interrupts_on = kgate_enter();
    uint32_t pmis = p->pmis;
    p->pmis = 0;
    return pmis;
}

/* ---- a context switch -------------------------------------------------------------------------------------------- */

struct turns {
    volatile bool done;
};

static void take_turns(void *argument)
{
    const struct turns *turns = argument;
    bool on = kgate_enter();
    while (!turns->done)
        kthread_yield();
    kgate_leave(on);
}

static void not_determined(struct ds_probe_cost *cost, const char *why)
{
    *cost = (struct ds_probe_cost){0};
    snprintf(cost->reason, sizeof cost->reason, "%s", why);
}

/* Two threads hand each other the CPU; in the gate, so nothing counts. Where another thread came in between there is no
 * sample. */
static void measure_switch(const struct prober *p, struct ds_probe_cost *cost)
{
    struct turns turns = {false};
    struct kthread *thread;
    uint64_t sample[SWITCHES_TIMED];
    unsigned n = 0;
    const struct kthread_params params = {.name = "turns",
                                          .priority = PRIORITY,
                                          .flags = KTHREAD_SAMPLED,
                                          .affinity = kcpuset_of(p->cpu),
                                          .entry = take_turns,
                                          .argument = &turns};
    if (kthread_create(&thread, &params) != 0) {
        not_determined(cost, "no memory for a thread");
        return;
    }
    kthread_yield();
    for (unsigned i = 0; i < 2 * SWITCHES_TIMED && n < SWITCHES_TIMED; i++) {
        const uint64_t before = kcpu_this()->switches, start = arch_rdtsc();
        kthread_yield();
        const uint64_t cycles = arch_rdtsc() - start;
        if (kcpu_this()->switches - before == 2)
            sample[n++] = cycles / 2;
    }
    turns.done = true;
    kthread_join(thread, KWAIT_FOREVER, NULL);
    ds_probe_cost_of(cost, sample, n);
    if (!n)
        not_determined(cost, "other threads ran in between");
}

/* Has switches tell so much, in every session that runs, whose masks by the options are `masks`. Outside of the gate.
 */
static void have_switches_tell(unsigned what, const struct perfinfo_groupmask masks[TRACE_MAX_SESSIONS])
{
    static const struct perfinfo_groupmask nothing;
    const uint32_t stamps = CAIRN_STAMP_FULL | CAIRN_STAMP_COMPACT;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++) {
        if (what == SWITCH_OFF)
            ksession_change(i + 1, &nothing);
        if (what == SWITCH_ON) {
            ksession_stamp(i + 1, 0, stamps);
            ksession_change(i + 1, &masks[i]);
        }
        if (what == SWITCH_STAMPED)
            ksession_stamp(i + 1, stamps, 0);
    }
}

/* Whatever this run's options ask of switches, less of it, and nothing. What they ask for holds again then. */
static void measure_switches(struct prober *p)
{
    struct perfinfo_groupmask masks[TRACE_MAX_SESSIONS];
    const struct kcpu *cpu = kcpu_this();
    bool traced = false;
    for (uint32_t i = 0; i < TRACE_MAX_SESSIONS; i++)
        traced |=
            ksession_masks(i + 1, &masks[i]) == 0 && (trace_group_compact(&masks[i]) || trace_group_full(&masks[i]));
    for (unsigned what = 0; what < SWITCHES; what++) {
        if (traced)
            have_switches_tell(what, masks);
        p->interrupts_on = kgate_enter();
        if (what != SWITCH_OFF && !traced)
            not_determined(&p->found->switched[what], "no session has switch events");
        else if (what == SWITCH_STAMPED && !cpu->pebs_stamp)
            not_determined(&p->found->switched[what], "the session has no PEBS, so no PebsIndex");
        else
            measure_switch(p, &p->found->switched[what]);
        kgate_leave(p->interrupts_on);
    }
}

/* ---- a CPU ------------------------------------------------------------------------------------------------------- */

/* What the model does, as it has been set. */
static const char *expected(const struct found *f, const struct ds_probe_row *row)
{
    const struct ds_machine *machine = kcpu_table[f->cpu]->machine;
    const char *set = machine->stepping->policy(machine->context, row->name);
    return set ? set : row->model;
}

static void report_cost(const struct found *f, const char *name, const struct ds_probe_cost *c)
{
    if (c->samples)
        kprintf("probe: CPU %u: cost of %s: %lu, median %lu, p99 %lu %scycles\n", f->cpu, name, (unsigned long)c->least,
                (unsigned long)c->median, (unsigned long)c->p99, f->modelled || kmachine_emulated() ? "emulated " : "");
    else
        kprintf("probe: CPU %u: cost of %s: not determined (%s)\n", f->cpu, name, c->reason);
}

/* What has neither answer nor reason has this one: the registers could not be saved, and nothing was asked. */
static void give_reason(struct found *f, const char *reason)
{
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++) {
        struct ds_probe_result *r = &f->results[i];
        if (!r->answer[0] && !r->evidence[0])
            snprintf(r->evidence, sizeof r->evidence, "%.*s", (int)sizeof r->evidence - 1, reason);
    }
    for (unsigned i = 0; i < DS_PROBE_COSTS; i++)
        if (!f->costs[i].samples && !f->costs[i].reason[0])
            not_determined(&f->costs[i], reason);
}

/* `failed`: that was said; no PASS follows. */
static void report(const struct found *f, bool failed)
{
    unsigned answered = 0, wrong = 0;
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++) {
        const struct ds_probe_result *r = &f->results[i];
        const char *name = ds_probe_rows[i].name, *set = f->modelled ? expected(f, &ds_probe_rows[i]) : NULL;
        answered += r->answer[0] != '\0';
        kprintf("probe: CPU %u: %s: %s (%s)\n", f->cpu, name, r->answer[0] ? r->answer : "not determined", r->evidence);
        if (!set || !r->answer[0] || strcmp(r->answer, set) == 0)
            continue;
        wrong++;
        kreport(KREPORT_FAIL, "probe", "CPU %u: %s: the model does %s", f->cpu, name, set);
    }
    for (unsigned i = 0; i < DS_PROBE_COSTS; i++)
        report_cost(f, ds_probe_costs[i].name, &f->costs[i]);
    for (unsigned i = 0; i < SWITCHES; i++)
        report_cost(f, switch_names[i], &f->switched[i]);
    if (!wrong && !failed)
        kreport(KREPORT_PASS, "probe", "CPU %u: %u questions, %u answered%s", f->cpu, DS_PROBE_ROWS, answered,
                f->modelled ? ", as the model is set" : "");
}

/* The verdict. `e`: registers could not be saved or given back, which `error` says. */
static void conclude(struct found *f, int e, const char *error)
{
    if (e) {
        kreport(KREPORT_FAIL, "probe", "CPU %u: %s", f->cpu, error);
        give_reason(f, error);
    }
    f->done = true;
    report(f, e != 0);
}

/* In the gate. The session's Debug Store is paused and nobody's but ours. 0, or negative with one line in `error`. */
static int ask(struct prober *p, char *error, size_t size)
{
    struct kcpu *cpu = kcpu_this();
    if (cpu->ds && ds_started(cpu->ds))
        ds_pmi(cpu->ds); /* one that is due, or pending: its status is cleared for the experiments */
    kds_lend(NULL);
    const struct ds_machine *stepped = cpu->stepped;
    if (kds->other)
        cpu->stepped = p->bench.machine;
    probers[p->cpu] = p;
    int e = ds_probe_all(&p->bench, p->found->results, p->found->costs, error, size);
    probers[p->cpu] = NULL;
    cpu->stepped = stepped;
    kds_lend(cpu->ds);
    return e;
}

static void free_pages(void *address, size_t bytes)
{
    if (address)
        kmem_pages_free(address, (bytes + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
}

static void free_memory(struct prober *p)
{
    free_pages(p->bench.area, ARCH_PAGE_SIZE);
    free_pages(p->bench.buffer, DS_PROBE_BUFFER);
    free_pages(p->bench.copy, DS_PROBE_BUFFER / 2);
    free_pages(p->bench.driver, ds_cpu_bytes());
    kds_machine_free(p->bench.machine);
}

static void prober(void *argument)
{
    struct prober *p = argument;
    char error[160];
    kevent_wait(&turn, KWAIT_EXECUTIVE, KWAIT_FOREVER);
    p->interrupts_on = kgate_enter();
    kthread_sleep(1, KWAIT_DELAY_EXECUTION); /* the switch drains the session's BTS buffer, and nothing follows */
    int e = ask(p, error, sizeof error);
    kgate_leave(p->interrupts_on);
    measure_switches(p);
    kevent_set(&turn, KWAIT_INCREMENT);
    p->interrupts_on = kgate_enter();
    conclude(p->found, e, error);
    while (!kworkload_stopping())
        kthread_sleep(1, KWAIT_DELAY_EXECUTION);
    free_memory(p);
    kgate_leave(p->interrupts_on);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void *pages(size_t bytes)
{
    return kmem_pages_alloc((bytes + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
}

static int get_memory(struct prober *p)
{
    p->bench = (struct ds_probe_bench){
        .machine = kds_machine_make(true),
        .caps = &kds->caps[p->cpu],
        .area = pages(ARCH_PAGE_SIZE),
        .buffer = kds_buffer_alloc(p->cpu, DS_PROBE_BUFFER),
        .copy = pages(DS_PROBE_BUFFER / 2),
        .driver = pages(ds_cpu_bytes()),
        .samples = kds->other || kmachine_emulated() ? SAMPLES_EMULATED : DS_PROBE_SAMPLES,
        .no_unmapped = "may be fatal on silicon: not tried",
        .vector = ARCH_VECTOR_PROBE,
        .execute = execute,
        .interrupts = interrupts,
        .context = p,
    };
    const struct ds_machine *machine = p->bench.machine;
    if (!machine || !p->bench.area || !p->bench.buffer || !p->bench.copy || !p->bench.driver)
        return -ENOMEM;
    if (machine->stepping)
        machine->stepping->check_memory(machine->context, arch_readable);
    if ((kds->other || kmachine_emulated()) && !arch_readable((const void *)UNMAPPED, 1))
        p->bench.unmapped = UNMAPPED;
    KASSERT(ds_probe_code(p->bench.sled));
    return 0;
}

static int start(uint64_t seed)
{
    uint32_t cpus[KINDS];
    int e = 0;
    (void)seed;
    if (!kds->caps) {
        kreport(KREPORT_SKIP, "probe", "nothing to ask: %s", kds->reason);
        return 0;
    }
    arch_irq_set(ARCH_VECTOR_PROBE, pmi);
    kevent_init(&turn, false, true);
    const unsigned asked = ds_probe_kinds(kds->caps, kcpu_count, cpus, KINDS);
    for (unsigned n = 0; n < asked && !e; n++) {
        const uint32_t i = cpus[n];
        struct prober *p = kworkload_alloc(sizeof *p);
        if (!p)
            return -ENOMEM;
        p->cpu = i;
        p->found = &found[kinds];
        *p->found = (struct found){.cpu = i, .modelled = kds->other != NULL};
        e = get_memory(p);
        if (!e)
            e = kworkload_thread("prober", i, PRIORITY, i, prober, p);
        if (e)
            free_memory(p);
        else
            kinds++;
    }
    return e;
}

KWORKLOAD(probe, start);

/* ---- the dump ---------------------------------------------------------------------------------------------------- */

static void dump_cost(struct trace_dump *dump, const struct found *f, unsigned i, const char *name,
                      const struct ds_probe_cost *c)
{
    trace_dump_print(dump, CAIRN_STREAM_MACHINE, "probe.%u.cost.%u=%s|%u|%lu|%lu|%lu|%s", f->cpu, i, name, c->samples,
                     (unsigned long)c->least, (unsigned long)c->median, (unsigned long)c->p99, c->reason);
}

static const char *asked(const struct found *f)
{
    return f->modelled ? "model" : kmachine_emulated() ? "TCG" : kmachine_virtual() ? "virtual" : "processor";
}

/* What has been found out so far, as lines of the machine stream. */
static void kprobe_dump(struct trace_dump *dump)
{
    const enum cairn_stream stream = CAIRN_STREAM_MACHINE;
    for (uint32_t n = 0; n < kinds; n++) {
        const struct found *f = &found[n];
        if (!f->done)
            continue;
        trace_dump_print(dump, stream, "probe.%u.machine=%s", f->cpu, asked(f));
        for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
            trace_dump_print(dump, stream, "probe.%u.%u=%s|%s|%s", f->cpu, i, ds_probe_rows[i].name,
                             f->results[i].answer, f->results[i].evidence);
        for (unsigned i = 0; i < DS_PROBE_COSTS; i++)
            dump_cost(dump, f, i, ds_probe_costs[i].name, &f->costs[i]);
        for (unsigned i = 0; i < SWITCHES; i++)
            dump_cost(dump, f, DS_PROBE_COSTS + i, switch_names[i], &f->switched[i]);
    }
}
KDUMP_SECTION(KDUMP_FOUND, KDUMP_END | KDUMP_REST, kprobe_dump);

/* The answers: of the first kind of core all that there are, of another one those that are not the first's. */
static void tell(void (*put)(const char *name, const char *value))
{
    char cpu[12];
    for (uint32_t n = 0; n < kinds; n++) {
        const struct found *f = &found[n];
        if (!f->done)
            return; /* a panic came first */
        snprintf(cpu, sizeof cpu, "%u", f->cpu);
        put("probe", cpu);
        if (n == 0)
            put("asked", asked(f));
        snprintf(cpu, sizeof cpu, "%u", found[0].cpu);
        if (n)
            put("as", cpu);
        for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
            if (n == 0 ? f->results[i].answer[0] : strcmp(f->results[i].answer, found[0].results[i].answer) != 0)
                put(ds_probe_rows[i].name, f->results[i].answer);
    }
}
static const struct kcard_row answers = {.tell = tell};
ROWS_ADD(kcard, answers);
