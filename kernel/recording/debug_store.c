/* SPDX-License-Identifier: MIT */
#include "kernel/recording/debug_store.h"

#include "arch/arch.h"
#include "kernel/lib/print.h"
#include "kernel/recording/control_area.h"
#include "kernel/sched/cross_call.h"
#include "kernel/recording/sessions.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/tracepoint/switch.h"
#include "kernel/memory/mem.h"
#include "kernel/tracepoint/mutant.h"
#include "kernel/options/options.h"
#include "kernel/recording/pmi.h"
#include "kernel/console/print.h"
#include "kernel/tracepoint/stepping.h"
#include "kernel/lib/string.h"
#include "kernel/thread.h"

struct ksession ksession;

/* PMIs within a tick of 1 ms: with some microseconds each they take a good part of it, and then threads have one. */
#define THROTTLE_HW 100

#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

/* One structure (or array) of its own pages, zeroed, never freed. */
static void *pages(size_t bytes)
{
    return kmem_pages_alloc(PAGES(bytes));
}

/* ---- Debug Store ------------------------------------------------------------------------------------------------ */

static void detect_hw(void *unused)
{
    (void)unused;
    struct ds_caps *caps = &ksession.hw_caps[arch_cpu_index()];
    ds_detect(ds_hw_machine(), caps);
    if (!kopt.ds_force)
        ds_leave_alone(caps);
}

static void detect_soft(void *unused)
{
    (void)unused;
    struct kcpu *cpu = kcpu_this();
    uint64_t debugctl;
    /* With BTF left on by somebody, RFLAGS.TF would step from branch to branch. */
    if (arch_rdmsr_safe(IA32_DEBUGCTL, &debugctl) == 0 && debugctl & IA32_DEBUGCTL_BTF)
        arch_wrmsr_safe(IA32_DEBUGCTL, debugctl & ~IA32_DEBUGCTL_BTF);
    ds_detect(ds_soft_machine(cpu->ds_soft), &ksession.caps[cpu->arch.index]);
}

/* Why the first CPU that cannot trace branches as asked does not, or NULL. */
static const char *bts_refusal(const struct ds_caps *caps, uint32_t *cpu)
{
    for (*cpu = 0; *cpu < kcpu_count; ++*cpu) {
        const char *why = ds_bts_refusal(&caps[*cpu], (enum ds_bts_rings)kopt.bts_rings);
        if (why)
            return why;
    }
    return NULL;
}

/* Why the first CPU whose own Debug Store cannot do what is asked for cannot, or NULL. */
static const char *hw_refusal(uint32_t *cpu)
{
    if (!kopt_pebs())
        return bts_refusal(ksession.hw_caps, cpu);
    for (*cpu = 0; *cpu < kcpu_count; ++*cpu)
        if (!ksession.hw_caps[*cpu].pebs)
            return ksession.hw_caps[*cpu].reason;
    return NULL;
}

static int choose_backend(char *error, size_t error_size)
{
    uint32_t cpu, other;
    const char *refusal = hw_refusal(&cpu);
    const char *can = kopt_pebs() ? ksession.hw_caps[0].reason : ksession.hw_caps[0].bts_reason;

    ksession.pebs = kopt_pebs();
    switch (kopt.ds) {
    case KOPT_DS_OFF:
        ksession.backend = "off";
        snprintf(ksession.reason, sizeof ksession.reason, "asked for with ds=off");
        return 0;
    case KOPT_DS_SOFT:
        ksession.backend = "soft";
        snprintf(ksession.reason, sizeof ksession.reason, "asked for with ds=soft");
        return 0;
    case KOPT_DS_HW:
        if (refusal && kopt_pebs() && kopt.bts && !bts_refusal(ksession.hw_caps, &other)) {
            ksession.backend = "hw";
            ksession.pebs = false;
            snprintf(ksession.reason, sizeof ksession.reason, "asked for with ds=hw; BTS alone: CPU %u: %s", cpu,
                     refusal);
            return 0;
        }
        if (refusal) {
            snprintf(error, error_size, "ds=hw: CPU %u: %s; use ds=soft (or ds=auto) to run on the model instead", cpu,
                     refusal);
            return -ENODEV;
        }
        ksession.backend = "hw";
        snprintf(ksession.reason, sizeof ksession.reason, "asked for with ds=hw; %s", can);
        return 0;
    default:
        ksession.backend = refusal ? "soft" : "hw";
        if (refusal && cpu) /* cores of several kinds: CPU 0 could */
            snprintf(ksession.reason, sizeof ksession.reason, "CPU %u: %s", cpu, refusal);
        else
            snprintf(ksession.reason, sizeof ksession.reason, "%s", refusal ? refusal : can);
        return 0;
    }
}

/* Who was stepped, from the stack it was stepped on; in ring 3, from the one its next interrupt will use. */
static struct kthread *thread_of_frame(const struct arch_trap_frame *frame)
{
    bool user = frame->cs & 3 || frame->rip == (uint64_t)arch_syscall_entry;
    return kstack_thread(user ? arch_this_cpu()->kernel_stack : frame->rsp);
}

static uint32_t tid_of_frame(const struct arch_trap_frame *frame)
{
    const struct kthread *thread = thread_of_frame(frame);
    return thread ? thread->tid : 0;
}

static void retired(void *context, uint32_t cpu, const struct arch_trap_frame *frame, bool branch)
{
    (void)context, (void)cpu;
    struct kthread *thread = thread_of_frame(frame);
    if (!thread)
        return;
    thread->retired.instructions++;
    thread->retired.branches += branch;
}

/* What errata take away from the configuration is said once. */
static void say_what_fits(void)
{
    for (uint32_t i = 0; ksession.ds.events && i < kcpu_count; i++) {
        struct ds_config fitted = ksession.ds;
        ds_fit_config(&ksession.caps[i], &fitted);
        if (fitted.records != ksession.ds.records) {
            kprintf("ds: CPU %u: pebs.records=%u and pebs.threshold=%u are lowered to %u and %u: the buffer has to "
                    "stay within a page\n",
                    i, ksession.ds.records, ksession.ds.threshold, fitted.records, fitted.threshold);
            return;
        }
    }
}

/* Memory and driver state of one CPU, from the boot processor. */
static int prepare_cpu(struct kcpu *cpu, const struct ds_machine *machine, char *error, size_t error_size)
{
    uint32_t i = cpu->arch.index;
    struct ds_cpu *ds = pages(ds_cpu_bytes());
    struct ds_hooks hooks = khook_ds;
    if (!kopt.truth) { /* making it takes time */
        hooks.recorded = NULL;
        hooks.branched = NULL;
    }
    if (kopt.truth && ksession.ds.counting)
        hooks.retired = retired;
    ksession.areas[i] = pages(ARCH_PAGE_SIZE);
    ksession.buffers[i] = pages(ksession.buffer_bytes);
    if (!ds || !ksession.areas[i] || !ksession.buffers[i]) {
        snprintf(error, error_size, "no memory for the PEBS buffer of CPU %u: lower pebs.records", i);
        return -ENOMEM;
    }
    int e = ds_cpu_init(ds, i, machine, &ksession.caps[i], &ksession.ds, &hooks, ksession.areas[i],
                        ksession.buffers[i], error, error_size);
    if (e)
        return e;
    if (ksession.later[0] && (e = ds_reconfigure(ds, ksession.later, error, error_size)) != 0)
        return e; /* known before the run: it has not begun, so nothing is changed yet */
    if (ksession.bts && !(ksession.bts_buffers[i] = pages(ds_bts_buffer_bytes(kopt.bts_records)))) {
        snprintf(error, error_size, "no memory for the BTS buffer of CPU %u: lower bts.records", i);
        return -ENOMEM;
    }
    if (ksession.bts)
        e = ds_bts_init(ds, kopt.bts, kopt.bts_rings, kopt.bts_records, ksession.bts_buffers[i]);
    if (e) {
        snprintf(error, error_size, "CPU %u: %s", i, ksession.caps[i].bts_reason);
        return e;
    }
    if (cpu->ds_soft) {
        ds_soft_attach(cpu->ds_soft, ds, tid_of_frame);
        if (kopt.ds_log)
            ds_soft_log(cpu->ds_soft);
    }
    cpu->ds = cpu->active_ds = ds;
    cpu->active_model = cpu->ds_soft;
    cpu->pebs_index = ds_pebs_index(ds);
    return 0;
}

/* BTS on every CPU, or on none: then why, and PEBS runs without it. */
static int choose_bts(void)
{
    uint32_t cpu;
    const char *refusal = bts_refusal(ksession.caps, &cpu);
    if (refusal) {
        snprintf(ksession.bts_refusal, sizeof ksession.bts_refusal, "CPU %u: %s", cpu, refusal);
        return 0;
    }
    ksession.bts_buffers = pages(kcpu_count * sizeof *ksession.bts_buffers);
    ksession.bts = true;
    return ksession.bts_buffers ? 0 : -ENOMEM;
}

static int init_ds(char *error, size_t error_size)
{
    ksession.hw_caps = pages(kcpu_count * sizeof *ksession.hw_caps);
    if (!ksession.hw_caps)
        goto memory;
    kcall_all(detect_hw, NULL);
    int e = choose_backend(error, error_size);
    if (e || kopt.ds == KOPT_DS_OFF)
        return e;

    ksession.areas = pages(kcpu_count * sizeof *ksession.areas);
    ksession.buffers = pages(kcpu_count * sizeof *ksession.buffers);
    if (!ksession.areas || !ksession.buffers)
        goto memory;
    bool soft = strcmp(ksession.backend, "soft") == 0;
    ksession.caps = ksession.hw_caps;
    if (soft) {
        ksession.caps = pages(kcpu_count * sizeof *ksession.caps);
        for (uint32_t i = 0; i < kcpu_count; i++) {
            struct ds_soft *model = pages(ds_soft_bytes());
            if (!ksession.caps || !model)
                goto memory;
            e = ds_soft_init(model, kopt.ds_preset, &kopt.ds_policy);
            if (e) {
                snprintf(error, error_size, "ds.preset=%s: the model has no such processor", kopt.ds_preset);
                return e;
            }
            kcpu_table[i]->ds_soft = model;
        }
        arch_debug_set(kstepping_debug);
        kcall_all(detect_soft, NULL);
    }
    kpmi_init();
    if (kopt.bts && choose_bts())
        goto memory;

    if ((e = kopt_ds_config(&ksession.ds, ksession.later, error, error_size)) != 0)
        return e;
    kopt_pmc(&ksession.pmc, error, error_size); /* which kopt_ds_config has found right */
    if (!kopt.ds_throttle && !soft)
        ksession.ds.throttle = THROTTLE_HW;
    ksession.ds.tick_tsc = arch_tsc_hz() / 1000000 * kopt.tick_us;
    if (!ksession.pebs && ksession.ds.counting) {
        snprintf(error, error_size, "session.pmc=%s counts beside PEBS only, which is not to be had: %s",
                 kopt.session_pmc, ksession.reason);
        return -ENODEV;
    }
    if (!ksession.pebs)
        ksession.ds.events = 0;
    for (uint32_t i = 0; i < kcpu_count; i++) { /* cores of several kinds may have several record formats */
        size_t bytes = ds_buffer_bytes(&ksession.caps[i], &ksession.ds);
        uint32_t truth = soft ? ds_truth_records(&ksession.caps[i], &ksession.ds) : 1;
        if (bytes > ksession.buffer_bytes)
            ksession.buffer_bytes = bytes;
        if (truth > ksession.truth_records)
            ksession.truth_records = truth;
    }
    say_what_fits();
    for (uint32_t i = 0; i < kcpu_count && !e; i++)
        e = prepare_cpu(kcpu_table[i], soft ? ds_soft_machine(kcpu_table[i]->ds_soft) : ds_hw_machine(), error,
                        error_size);
    return e;
memory:
    snprintf(error, error_size, "no memory for the Debug Store of %u CPUs", kcpu_count);
    return -ENOMEM;
}

int ksession_counter(uint16_t source)
{
    for (uint32_t i = 0; i < ksession.ds.counting; i++)
        if (ksession.pmc.source[i] == source)
            return (int)i;
    return -ENOENT;
}

/* ---- trace sessions ---------------------------------------------------------------------------------------------- */

/* What 'auto' writes of switches. Records without a TSC are told apart by PebsIndex alone: then
 * every switch shall have its own, which 0524H has; and it alone has the PMC items that are asked for. */
static void add_default_switches(struct perfinfo_groupmask *masks)
{
    bool compact = !trace_pmc_items(&ksession.pmc, HOOK_CONTEXTSWAP);
    for (uint32_t i = 0; ksession.pebs && i < kcpu_count; i++)
        compact &= ds_pebs_has_tsc(ksession.caps[i].format);
    trace_group_add_switches(masks, compact);
}

static int init_session(uint32_t number, char *error, size_t error_size)
{
    const struct kopt_session *o = &kopt.session[number - 1];
    struct kcontrol_params params = {
        .number = number,
        .masks = o->masks,
        .clock = o->clock,
        .circular = o->circular,
        .live = kopt.dump == KOPT_DUMP_LIVE && !o->circular,
        .buffer_kib = o->buffer_kib ? o->buffer_kib : kopt.trace_buffer_kib,
        .buffers = o->buffers ? o->buffers : kopt.trace_buffers,
    };
    if (!o->on)
        return 0;
    if (o->automatic)
        add_default_switches(&params.masks);
    for (uint32_t i = 0; i < ksession.pmc.hooks; i++)
        if (trace_pmc_writes(&params.masks, ksession.pmc.hook[i]))
            params.pmc = ksession.pmc;
    return kcontrol_create(&params, error, error_size);
}

static int init_trace(char *error, size_t error_size)
{
    int e = kcontrol_init(error, error_size);
    for (uint32_t number = 1; number <= TRACE_MAX_SESSIONS && !e; number++)
        e = init_session(number, error, error_size);
    return e;
}

int ksession_init(char *error, size_t error_size)
{
    ksession.truth_records = 1;
    int e = init_ds(error, error_size);
    return e ? e : init_trace(error, error_size);
}

/* ---- start and stop: on every CPU, interrupts off ---------------------------------------------------------------- */

/* The first CPU whose PEBS, or BTS, did not start. */
static struct failure {
    int error;
    struct ds_refusal refusal;
    uint32_t cpu;
} failure, bts_failure;

static void note(struct failure *f, int error, const struct ds_refusal *refusal)
{
    int none = 0;
    if (error && __atomic_compare_exchange_n(&f->error, &none, error, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        f->refusal = *refusal;
        f->cpu = kcpu_this()->arch.index;
    }
}

void ksession_explain(const struct ds_refusal *r, uint32_t cpu, char *text, size_t size)
{
    char step[24] = "";
    if (r->step)
        snprintf(step, sizeof step, ", step %d", r->step);
    if (r->write)
        snprintf(text, size, "CPU %u: %s%s: WRMSR(0x%x) of 0x%lx raises #GP", cpu, r->during, step, r->msr,
                 (unsigned long)r->value);
    else
        snprintf(text, size, "CPU %u: %s%s: RDMSR(0x%x) raises #GP", cpu, r->during, step, r->msr);
}

static bool start_cpu(void)
{
    struct karea_begun begun;
    bool moved = karea_begin(&begun);
    note(&failure, begun.pebs, &begun.pebs_refusal);
    note(&bts_failure, begun.bts, &begun.bts_refusal);
    return moved;
}

static void stop_cpu(void *unused)
{
    (void)unused;
    struct kcpu *cpu = kcpu_this();
    if (cpu->ds)
        ds_stop(cpu->ds);
}

int ksession_start(char *error, size_t error_size)
{
    for (uint32_t i = 0; i < kcpu_count; i++) {
        const struct kcpu *stamp = kcpu_table[CAIRN_MUTANT == KMUTANT_STAMP ? (i + 1) % kcpu_count : i];
        kcpu_table[i]->pebs_stamp = ksession.pebs ? stamp->pebs_index : NULL;
    }
    kcontrol_start_all(start_cpu);
    if (bts_failure.error)
        ksession_explain(&bts_failure.refusal, bts_failure.cpu, ksession.bts_refusal, sizeof ksession.bts_refusal);
    if (!failure.error)
        return 0;
    ksession_explain(&failure.refusal, failure.cpu, ksession.pebs_refusal, sizeof ksession.pebs_refusal);
    if (ksession.bts && !bts_failure.error)
        return 0; /* each by itself: branches are traced all the same */
    snprintf(error, error_size, "%s", ksession.pebs_refusal);
    kcontrol_stop_all(stop_cpu);
    return failure.error;
}

static void reconfigure_cpu(void *unused)
{
    (void)unused;
    char error[160]; /* ksession_init has asked */
    struct kcpu *cpu = kcpu_this();
    if (cpu->ds)
        ds_reconfigure(cpu->ds, ksession.later, error, sizeof error);
}

void ksession_reconfigure(void)
{
    if (ksession.later[0])
        kcall_all(reconfigure_cpu, NULL);
}

void ksession_stop(void)
{
    kcontrol_stop_all(stop_cpu);
}
