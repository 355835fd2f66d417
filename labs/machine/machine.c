/* SPDX-License-Identifier: MIT */
/* labs/lab.h in the kernel, on the Debug Store of the processor or on the model. The driver of ds/ is not in use. */
#include "labs/machine/machine.h"

#include "arch/arch.h"
#include "ds/ds.h"
#include "ds/soft/soft.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/soft/options.h"
#include "kernel/tracepoint/stepping.h"
#include "labs/check.h"
#include "labs/lab.h"

_Static_assert(LAB_PMI_VECTOR == ARCH_VECTOR_PMI, "what the model's PMI and LVTPC lead to");

static const struct ds_machine *hw; /* NULL: each processor has a model */
static uint64_t unmapped;           /* where the model looked for DS memory */
static struct {                     /* the last write of a register that was refused */
    uint32_t msr;
    uint64_t value;
} refused;
static volatile bool in_handler, unmasked_early;
static void (*pmi_handler)(const struct arch_trap_frame *frame);
static struct { /* what the check is told of them */
    volatile uint32_t count;
    volatile uint64_t address;
} pmis;

static const struct ds_machine *machine(void)
{
    return hw ? hw : kcpu_this()->stepped;
}

static void *pages(size_t bytes)
{
    return kmem_pages_alloc((bytes + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE);
}

static bool mapped(const void *address, size_t size)
{
    const bool there = arch_readable(address, size);
    if (!there && !unmapped)
        unmapped = (uintptr_t)address;
    return there;
}

static int make_models(char *error, size_t size)
{
    for (uint32_t cpu = 0; cpu < kcpu_count; cpu++) {
        struct ds_soft *model = pages(ds_soft_bytes());
        if (!model || ds_soft_init(model, ksoft_options.preset, &ksoft_options.policy) != 0) {
            snprintf(error, size, "there is no model of ds.preset=%s, or no memory for it", ksoft_options.preset);
            return -EINVAL;
        }
        ds_soft_check_memory(model, mapped);
        kcpu_table[cpu]->stepped = ds_soft_machine(model);
    }
    arch_debug_set(kstepping_debug);
    return 0;
}

static void pmi(struct arch_trap_frame *frame)
{
    pmis.count++;
    pmis.address = frame->rip;
    in_handler = true;
    if (pmi_handler)
        pmi_handler(frame);
    in_handler = false;
}

int lab_machine_init(char *error, size_t size)
{
    static struct ds_caps caps;
    (void)pages((1 + lab_seed() % 97) * ARCH_PAGE_SIZE); /* no address of lab_memory is that of another boot */
    if (kopt.ds == KOPT_DS_SOFT) {
        int e = make_models(error, size);
        if (e)
            return e;
    } else if (ds_detect(ds_hw_machine(), &caps) != 0) {
        snprintf(error, size, "%s; without DS=hw the lab runs on the model", caps.reason);
        return -ENODEV;
    } else if (caps.instead) {
        snprintf(error, size,
                 "the processor has architectural PEBS, and the labs are about that of the Debug Store; without DS=hw "
                 "the lab runs on the model");
        return -ENODEV;
    } else {
        hw = ds_hw_machine();
    }
    arch_irq_set(ARCH_VECTOR_PMI, pmi);
    (void)lab_wrmsr(IA32_PERF_GLOBAL_CTRL, 0); /* RESET, or the firmware, may leave counters on */
    return 0;
}

bool lab_is_model(void)
{
    return !hw;
}

uint64_t lab_model_dropped(void)
{
    return hw ? 0 : machine()->stepping->counts(machine()->context).dropped;
}

uint64_t lab_model_fault(void)
{
    return unmapped;
}

uint32_t lab_pmis(void)
{
    return pmis.count;
}

uint64_t lab_pmi_address(void)
{
    return pmis.address;
}

void *lab_need_memory(size_t bytes)
{
    void *there = lab_memory(bytes);
    if (!there)
        lab_fail("memory", "Give the machine more memory.", "./run-qemu.sh --help", "no memory for the check");
    return there;
}

uint64_t lab_msr(uint32_t msr)
{
    uint64_t value = 0;
    (void)lab_rdmsr(msr, &value);
    return value;
}

bool lab_refused(uint32_t msr, uint64_t *value)
{
    *value = refused.value;
    return refused.msr == msr;
}

bool lab_unmasked_early(void)
{
    return unmasked_early;
}

uint64_t lab_seed(void)
{
    return kopt.seed;
}

/* ---- labs/lab.h -------------------------------------------------------------------------------------------------- */

int lab_rdmsr(uint32_t msr, uint64_t *value)
{
    return machine()->rdmsr(machine()->context, msr, value);
}

int lab_wrmsr(uint32_t msr, uint64_t value)
{
    const int e = machine()->wrmsr(machine()->context, msr, value);
    if (e) {
        refused.msr = msr;
        refused.value = value;
    }
    return e;
}

void lab_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    machine()->cpuid(machine()->context, leaf, subleaf, out);
}

uint64_t lab_rdtsc(void)
{
    return arch_rdtsc();
}

uint32_t lab_lvtpc_read(void)
{
    return machine()->lvtpc_read(machine()->context);
}

void lab_lvtpc_write(uint32_t value)
{
    uint64_t status = 0;
    if (in_handler && !(value & LVTPC_MASKED) && lab_rdmsr(IA32_PERF_GLOBAL_STATUS, &status) == 0 &&
        status & IA32_PERF_GLOBAL_STATUS_OVF_BUF)
        unmasked_early = true;
    machine()->lvtpc_write(machine()->context, value);
}

void *lab_memory(size_t bytes)
{
    const size_t data = (bytes + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE * ARCH_PAGE_SIZE;
    uint8_t *at = pages(data + 2 * ARCH_PAGE_SIZE);
    return at ? at + ARCH_PAGE_SIZE : NULL;
}

void lab_on_pmi(void (*handler)(const struct arch_trap_frame *frame))
{
    pmi_handler = handler;
}

bool lab_machine_counters(uint64_t counters)
{
    uint32_t leaf[4];
    lab_cpuid(0x0A, 0, leaf);
    const uint64_t gp = DS_BIT(cpuid_0ah_eax_gp_counters(leaf[0])) - 1;
    const uint64_t fixed = DS_BIT(cpuid_0ah_edx_fixed_counters(leaf[3])) - 1;
    return !(counters & ~(gp | fixed << DS_COUNTER_FIXED));
}

/* `call` is how the processor is to do it. The value is legal. */
static void run(lab_program *program, uint64_t argument, uint32_t msr, uint64_t value,
                void call(lab_program *program, uint64_t argument, uint64_t value))
{
    arch_timer_stop();
    if (lab_is_model()) {
        (void)lab_wrmsr(msr, value);
        lab_call_stepped(program, argument);
        (void)lab_wrmsr(msr, 0);
    } else {
        call(program, argument, value);
    }
    arch_timer_start(kopt.tick_us);
}

int lab_run(lab_program *program, uint64_t argument, uint64_t counters)
{
    if (!lab_machine_counters(counters)) /* lab_call_counted cannot survive a #GP */
        return -EFAULT;
    run(program, argument, IA32_PERF_GLOBAL_CTRL, counters, lab_call_counted);
    return 0;
}

int lab_run_traced(lab_program *program, uint64_t argument, uint64_t debugctl)
{
    if (lab_wrmsr(IA32_DEBUGCTL, debugctl & ~IA32_DEBUGCTL_TR) != 0) /* TR alone is legal everywhere */
        return -EFAULT;
    run(program, argument, IA32_DEBUGCTL, debugctl, lab_call_traced);
    return 0;
}

void lab_log(const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    kprintf("%s\n", line);
}
