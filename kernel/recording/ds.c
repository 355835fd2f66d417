/* SPDX-License-Identifier: MIT */
#include "kernel/recording/ds.h"

#include "arch/arch.h"
#include "kernel/console/print.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/recording/hybrid.h"
#include "kernel/recording/pmi.h"
#include "kernel/recording/sessions.h"
#include "kernel/sched/cross_call.h"
#include "kernel/thread.h"
#include "kernel/tracepoint/drains.h"
#include "kernel/tracepoint/stepping.h"

static struct kds state;
static const struct ds_config no_events; /* of a CPU without PEBS */
const struct kds *const kds = &state;

#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

/* One structure (or array) of its own pages, zeroed, never freed. */
static void *pages(size_t bytes)
{
    return kmem_pages_alloc(PAGES(bytes));
}

void *kds_buffer_alloc(uint32_t cpu, size_t bytes)
{
    return state.caps[cpu].instead ? kmem_pages_alloc_aligned(PAGES(bytes)) : kmem_pages_alloc(PAGES(bytes));
}

void kds_lend(struct ds_cpu *to)
{
    struct kcpu *cpu = kcpu_this();
    ds_lend(cpu->ds, to != cpu->ds);
    cpu->active_ds = to;
}

const struct ds_machine *kds_machine_make(bool policies)
{
    return state.other ? state.other->make(policies) : ds_hw_machine();
}

void kds_machine_free(const struct ds_machine *machine)
{
    if (machine && machine->stepping)
        state.other->free(machine);
}

__attribute__((weak)) void kds_detected(struct ds_caps *caps)
{
    (void)caps;
}

__attribute__((weak)) void kds_limit(struct ds_config *config)
{
    (void)config;
}

static void detect_hw(void *unused)
{
    (void)unused;
    struct ds_caps *caps = &state.hw_caps[arch_cpu_index()];
    ds_detect(ds_hw_machine(), caps);
    kds_detected(caps);
}

static void detect_other(void *unused)
{
    (void)unused;
    struct kcpu *cpu = kcpu_this();
    uint64_t debugctl;
    /* With BTF left on by somebody, RFLAGS.TF would step from branch to branch. */
    if (arch_rdmsr_safe(IA32_DEBUGCTL, &debugctl) == 0 && debugctl & IA32_DEBUGCTL_BTF)
        arch_wrmsr_safe(IA32_DEBUGCTL, debugctl & ~IA32_DEBUGCTL_BTF);
    ds_detect(cpu->machine, &state.caps[cpu->arch.index]);
}

/* What the options ask for beside PEBS; NULL: nothing. */
static const struct kbeside *asked_beside(void)
{
    return kopt.beside ? &kbeside : NULL;
}

/* Why the first CPU that cannot record beside PEBS as asked does not, or NULL; of nothing that is asked, NULL. */
static const char *beside_refusal(const struct ds_caps *caps, uint32_t *cpu)
{
    const struct kbeside *beside = asked_beside();
    for (*cpu = 0; beside && *cpu < kcpu_count; ++*cpu) {
        const char *why = beside->refusal(&caps[*cpu]);
        if (why)
            return why;
    }
    return NULL;
}

/* Why the first CPU whose own Debug Store cannot do what is asked for cannot, or NULL. */
static const char *hw_refusal(uint32_t *cpu)
{
    if (!kopt_pebs())
        return beside_refusal(state.hw_caps, cpu);
    for (*cpu = 0; *cpu < kcpu_count; ++*cpu)
        if (!state.hw_caps[*cpu].pebs && !(&khybrid && khybrid.left_out(&state.hw_caps[*cpu])))
            return state.hw_caps[*cpu].reason;
    return NULL;
}

/* That of this name, or with NULL any; NULL: this kernel has none. */
static const struct kbackend *backend(const char *name)
{
    const struct kbackend *const *row;
    for (ROWS_EACH(kbackend, row))
        if (!name || strcmp((*row)->name, name) == 0)
            return *row;
    return NULL;
}

static int choose_backend(char *error, size_t error_size)
{
    uint32_t cpu, other;
    const char *refusal = hw_refusal(&cpu);
    const char *can = kopt_pebs() ? state.hw_caps[0].reason : state.hw_caps[0].bts_reason;

    state.pebs = kopt_pebs();
    switch (kopt.ds) {
    case KOPT_DS_OFF:
        state.backend = "off";
        snprintf(state.reason, sizeof state.reason, "asked for with ds=off");
        return 0;
    case KOPT_DS_SOFT:
        state.other = backend("soft");
        state.backend = state.other->name; /* else the option would have been refused */
        snprintf(state.reason, sizeof state.reason, "asked for with ds=soft");
        return 0;
    case KOPT_DS_HW:
        if (refusal && kopt_pebs() && kopt.beside && !beside_refusal(state.hw_caps, &other)) {
            state.backend = "hw";
            state.pebs = false;
            snprintf(state.reason, sizeof state.reason, "asked for with ds=hw; BTS alone: CPU %u: %s", cpu, refusal);
            return 0;
        }
        if (refusal) {
            snprintf(error, error_size, "ds=hw: CPU %u: %s; use ds=soft (or ds=auto) to run on the model instead", cpu,
                     refusal);
            return -ENODEV;
        }
        state.backend = "hw";
        snprintf(state.reason, sizeof state.reason, "asked for with ds=hw; %s", can);
        return 0;
    default:
        state.other = refusal ? backend(NULL) : NULL;
        state.backend = state.other ? state.other->name : "hw";
        if (refusal && !state.other) {
            snprintf(error, error_size,
                     "CPU %u: %s; this kernel is built without another backend (make nucleus "
                     "WITH=soft): use ds=off to record switches alone",
                     cpu, refusal);
            return -ENODEV;
        }
        if (refusal && cpu) /* cores of several kinds: CPU 0 could */
            snprintf(state.reason, sizeof state.reason, "CPU %u: %s", cpu, refusal);
        else
            snprintf(state.reason, sizeof state.reason, "%s", refusal ? refusal : can);
        return 0;
    }
}

/* Who was stepped, from the stack it was stepped on; in ring 3, from the one its next interrupt will use. */
static uint32_t tid_of_frame(const struct arch_trap_frame *frame)
{
    bool user = frame->cs & 3 || frame->rip == (uint64_t)arch_syscall_entry;
    const struct kthread *thread = kthread_of_stack(user ? arch_this_cpu()->kernel_stack : frame->rsp);
    return thread ? thread->tid : 0;
}

/* What errata take away from the configuration is said once. */
static void say_what_fits(void)
{
    for (uint32_t i = 0; i < kcpu_count; i++) {
        struct ds_config fitted = *state.config[i];
        if (!fitted.events)
            continue;
        ds_fit_config(&state.caps[i], &fitted);
        if (fitted.records != state.ds.records) {
            kprintf("ds: CPU %u: pebs.records=%u and pebs.threshold=%u are lowered to %u and %u: the buffer has to "
                    "stay within a page\n",
                    i, state.ds.records, state.ds.threshold, fitted.records, fitted.threshold);
            return;
        }
    }
}

/* Driver state of one CPU. */
static int init_driver(struct kcpu *cpu, struct ds_cpu *ds, const struct ds_hooks *hooks, char *error,
                       size_t error_size)
{
    const uint32_t i = cpu->arch.index;
    const struct ds_config **config = &state.config[i];
    for (;;) {
        int e = ds_cpu_init(ds, i, cpu->machine, &state.caps[i], *config, hooks, cpu->ds_area, cpu->pebs_buffer, error,
                            error_size);
        if (!e && *config == &state.ds)
            e = kopt_check_plan(ds, error, error_size);
        if (e != -EINVAL || !&khybrid || !(*config)->events)
            return e;
        khybrid.give_up(i, config, error, error_size);
    }
}

/* Memory and driver state of one CPU, from the boot processor. */
static int prepare_cpu(struct kcpu *cpu, char *error, size_t error_size)
{
    uint32_t i = cpu->arch.index;
    const struct ds_machine *machine = cpu->machine;
    struct ds_cpu *ds = pages(ds_cpu_bytes());
    struct ds_hooks hooks = kdrain_hooks;
    hooks.overflowed = kpmi_overflowed;
    cpu->ds_area = pages(ARCH_PAGE_SIZE);
    cpu->pebs_buffer = kds_buffer_alloc(i, state.buffer_bytes);
    if (!ds || !cpu->ds_area || !cpu->pebs_buffer) {
        snprintf(error, error_size, "no memory for the PEBS buffer of CPU %u: lower pebs.records", i);
        return -ENOMEM;
    }
    int e = init_driver(cpu, ds, &hooks, error, error_size);
    if (e)
        return e;
    if (machine->stepping) {
        machine->stepping->attach(machine->context, ds, tid_of_frame);
        cpu->stepped = machine;
    }
    cpu->ds = cpu->active_ds = ds;
    cpu->pebs_index = ds_pebs_index(ds);
    return state.beside ? state.beside->prepare(cpu, error, error_size) : 0;
}

/* On every CPU, or on none: then why, and PEBS runs without it. */
static void choose_beside(void)
{
    uint32_t cpu;
    const char *refusal = beside_refusal(state.caps, &cpu);
    if (refusal) {
        snprintf(state.beside_refusal, sizeof state.beside_refusal, "CPU %u: %s", cpu, refusal);
        return;
    }
    state.beside = asked_beside();
}

/* A machine for each CPU, and what it says of itself, if it is not the processor. */
static int make_machines(void)
{
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (!(kcpu_table[i]->machine = kds_machine_make(true)))
            return -ENOMEM;
    state.caps = state.hw_caps;
    if (!state.other)
        return 0;
    state.caps = pages(kcpu_count * sizeof *state.caps);
    if (!state.caps)
        return -ENOMEM;
    arch_debug_set(kstepping_debug);
    kcross_call_all(detect_other, NULL);
    return 0;
}

/* What the options ask for, and how much memory that takes on the CPU that needs most: cores of several kinds may have
 * several record formats. */
static void configure(void)
{
    state.ds = kopt_ds_config;
    kds_limit(&state.ds);
    for (uint32_t i = 0; i < kcpu_count; i++)
        state.config[i] = state.pebs ? &state.ds : &no_events;
    if (state.pebs && &khybrid)
        khybrid.choose(state.config);
    kphase_run(KPHASE_PLANNED, NULL);
    for (uint32_t i = 0; i < kcpu_count; i++) {
        const struct ds_config *config = kds_planned(i); /* architectural PEBS: of more events, larger records */
        size_t bytes = ds_buffer_bytes(&state.caps[i], config);
        if (bytes > state.buffer_bytes)
            state.buffer_bytes = bytes;
    }
    say_what_fits();
}

int kds_init(char *error, size_t error_size)
{
    int e = -ENOMEM;
    snprintf(error, error_size, "no memory for the Debug Store of %u CPUs", kcpu_count);
    /* 1. What the processors themselves answer. */
    state.hw_caps = pages(kcpu_count * sizeof *state.hw_caps);
    if (!state.hw_caps)
        return e;
    kcross_call_all(detect_hw, NULL);
    /* 2. Whose Debug Store it will be, */
    if ((e = choose_backend(error, error_size)) != 0 || kopt.ds == KOPT_DS_OFF)
        return e;
    /* 3. that of machines which are made now, or theirs. */
    if ((e = make_machines()) != 0)
        return e;
    kpmi_init();
    if (kopt.beside)
        choose_beside();
    /* 4. What it shall do. */
    configure();
    /* 5. Memory and driver of each CPU. */
    for (uint32_t i = 0; i < kcpu_count && !e; i++)
        e = prepare_cpu(kcpu_table[i], error, error_size);
    return e || !state.pebs || !&khybrid ? e : khybrid.settle(error, error_size);
}

void kds_remark(const char *text)
{
    const size_t length = strlen(state.reason);
    snprintf(state.reason + length, sizeof state.reason - length, "%s", text);
}

void kds_explain(const struct ds_refusal *r, uint32_t cpu, char *text, size_t size)
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

void kds_refused(bool pebs, const struct ds_refusal *refusal, uint32_t cpu)
{
    if (pebs)
        kds_explain(refusal, cpu, state.pebs_refusal, sizeof state.pebs_refusal);
    else
        kds_explain(refusal, cpu, state.beside_refusal, sizeof state.beside_refusal);
}
