/* SPDX-License-Identifier: MIT */
#include "kernel/monitor/machine.h"

#include "arch/arch.h"
#include "ds/pebs23_layout.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/lib/symbols.h"
#include "kernel/recording/ds.h"
#include "kernel/sched/cross_call.h"
#include "kernel/symbols/symbols.h"

static bool held; /* the other CPUs are */
static uint32_t here;
static struct {
    uint32_t cpu;
    const struct ds_config *config; /* NULL: none but the session's */
} own;

/* ---- registers --------------------------------------------------------------------------------------------------- */

struct access {
    enum { READ, WRITE, LVTPC } what;
    uint32_t cpu, msr;
    uint64_t value;
    bool model;
    int result;
};

/* On backend soft the Debug Store's registers are the model's, all others the processor's. */
static void access_here(struct access *a)
{
    const struct ds_machine *stepped = kcpu_table[a->cpu]->stepped;
    a->model = stepped && (a->what == LVTPC || kmonitor_msr(a->msr));
    const struct ds_machine *machine = a->model ? stepped : ds_hw_machine();
    if (a->what == READ)
        a->result = machine->rdmsr(machine->context, a->msr, &a->value);
    else if (a->what == WRITE)
        a->result = machine->wrmsr(machine->context, a->msr, a->value);
    else
        a->value = machine->lvtpc_read(machine->context);
}

static void access_if_asked(void *argument)
{
    struct access *a = argument;
    if (arch_cpu_index() == a->cpu)
        access_here(a);
}

/* A model is memory: it answers wherever its CPU stands. */
static int run_access(struct access *a)
{
    const bool memory = held && kcpu_table[a->cpu]->stepped && (a->what == LVTPC || kmonitor_msr(a->msr));
    if (a->cpu == here || memory) {
        bool on = arch_irq_save();
        access_here(a);
        arch_irq_restore(on);
    } else if (held) {
        return -EBUSY;
    } else {
        kcross_call_all(access_if_asked, a);
    }
    return a->result;
}

static int rdmsr_of(uint32_t cpu, uint32_t msr, uint64_t *value, bool *model)
{
    struct access a = {.what = READ, .cpu = cpu, .msr = msr};
    const int e = run_access(&a);
    *value = a.value;
    *model = a.model;
    return e;
}

static int wrmsr_of(uint32_t cpu, uint32_t msr, uint64_t value, bool *model)
{
    struct access a = {.what = WRITE, .cpu = cpu, .msr = msr, .value = value};
    const int e = run_access(&a);
    *model = a.model;
    return e;
}

static int lvtpc_of(uint32_t cpu, uint32_t *value, bool *model)
{
    struct access a = {.what = LVTPC, .cpu = cpu};
    const int e = run_access(&a);
    *value = (uint32_t)a.value;
    *model = a.model;
    return e;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static int read(uint64_t at, void *to, size_t size)
{
    if (!arch_readable((const void *)at, size))
        return -EFAULT;
    memcpy(to, (const void *)at, size);
    return 0;
}

static int write(uint64_t at, const void *from, size_t size)
{
    if (!arch_readable((const void *)at, size))
        return -EFAULT;
    if (!arch_writable((const void *)at, size))
        return -EPERM;
    memcpy((void *)at, from, size);
    return 0;
}

/* ---- the Debug Store --------------------------------------------------------------------------------------------- */

/* Its registers; on a CPU that is held what the driver knows of them. */
static void arch_pebs_of(uint32_t cpu, struct kmonitor_ds *ds)
{
    bool model;
    if (rdmsr_of(cpu, IA32_PEBS_BASE, &ds->base, &model) == -EBUSY) {
        const struct ds_arch_registers *known = (const void *)ds_known_area(kcpu_table[cpu]->ds);
        ds->base = known->base;
        ds->index = known->index;
    } else {
        (void)rdmsr_of(cpu, IA32_PEBS_INDEX, &ds->index, &model);
    }
    ds->buffer = ds->base & IA32_PEBS_BASE_ADDRESS ? (uint64_t)arch_phys_to_virt(ds->base & IA32_PEBS_BASE_ADDRESS) : 0;
}

static int ds_of(uint32_t cpu, struct kmonitor_ds *ds)
{
    bool model;
    if (!kds->caps || !kcpu_table[cpu]->ds)
        return -ENODEV;
    const struct ds_caps *caps = &kds->caps[cpu];
    const struct ds_config *config = own.config && own.cpu == cpu ? own.config : kds->config[cpu];
    *ds = (struct kmonitor_ds){
        .area_bytes = caps->area_bytes,
        .record_bytes = config && config->events ? ds_record_size(caps, config) : 0,
        .format = caps->format,
        .gp_counters = caps->gp_counters,
        .gp_width = caps->gp_width,
        .fixed_counters = caps->fixed_counters,
        .fixed_width = caps->fixed_width,
    };
    if (rdmsr_of(cpu, IA32_DS_AREA, &ds->area, &model) == -EBUSY)
        ds->area = (uint64_t)kcpu_table[cpu]->ds_area; /* what the driver has written there */
    if (caps->instead)
        arch_pebs_of(cpu, ds);
    return 0;
}

void kmonitor_machine_counts(uint32_t cpu, const struct ds_config *config)
{
    own.cpu = cpu;
    own.config = config;
}

/* ---- symbols ----------------------------------------------------------------------------------------------------- */

static int find(const char *name, uint64_t *at)
{
    return ksymbols_find(name, at) ? 0 : -ENOENT;
}

static bool name_of(uint64_t at, const char **name, uint64_t *offset)
{
    return (*name = ksymbols_name(at, offset)) != NULL;
}

static void print(const char *text)
{
    kprintf("%s", text);
}

const struct kmonitor_machine *kmonitor_machine(enum kmonitor_place place, uint32_t cpu)
{
    static struct kmonitor_machine machine = {.rdmsr = rdmsr_of,
                                              .wrmsr = wrmsr_of,
                                              .lvtpc = lvtpc_of,
                                              .read = read,
                                              .write = write,
                                              .ds = ds_of,
                                              .find = find,
                                              .name = name_of,
                                              .print = print};
    held = place != KMONITOR_BEFORE_RUN;
    here = cpu;
    machine.cpus = kcpu_count;
    machine.backend = kds->backend ? kds->backend : "none yet";
    return &machine;
}
