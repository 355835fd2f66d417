/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/model_machine.h"

#include <string.h>

#include "arch/arch.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

struct model_machine model_machine;
#define M model_machine

bool model_machine_read(void *context, uint64_t address, void *to, uint32_t size)
{
    (void)context;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

bool model_machine_write(void *context, uint64_t address, const void *from, uint32_t size)
{
    (void)context;
    memcpy((void *)(uintptr_t)address, from, size);
    return true;
}

void model_machine_no_registers(void *context, struct ds_model_registers *out)
{
    (void)context;
    *out = (struct ds_model_registers){0};
}

static void raise_pmi(void *context, uint32_t lvtpc)
{
    (void)context;
    assert_int_equal(lvtpc, ARCH_VECTOR_PMI);
    M.pmi = true;
}

static bool faults(uint32_t msr, uint64_t value)
{
    if (++M.accesses != M.fault_at)
        return false;
    M.injected = (struct model_machine_write){msr, value};
    return true;
}

static void remember(uint32_t msr, uint64_t value)
{
    M.writes[M.written++ % MODEL_MACHINE_WRITES] = (struct model_machine_write){msr, value};
}

static void machine_cpuid(void *context, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    (void)context;
    ds_model_cpuid(&M.model, leaf, subleaf, out);
}

static int machine_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    (void)context;
    if (faults(msr, 0) || ds_model_rdmsr(&M.model, msr, value))
        return -EFAULT;
    if (msr == IA32_MISC_ENABLE)
        *value |= M.unavailable;
    return 0;
}

static int machine_wrmsr(void *context, uint32_t msr, uint64_t value)
{
    (void)context;
    if (faults(msr, value) || ds_model_wrmsr(&M.model, msr, value))
        return -EFAULT;
    remember(msr, value);
    return 0;
}

static uint32_t machine_lvtpc_read(void *context)
{
    (void)context;
    return M.model.lvtpc;
}

static void machine_lvtpc_write(void *context, uint32_t value)
{
    (void)context;
    remember(MODEL_MACHINE_LVTPC, value);
    ds_model_lvtpc_write(&M.model, value);
}

static void step_pause(void)
{
    M.held = true;
}

static void step_resume(void)
{
    M.held = false;
}

static void step_resume_frame(const struct arch_trap_frame *frame)
{
    (void)frame;
    M.held = false;
}

static bool step_paused(void)
{
    return M.held;
}

static struct ds_stepped step_counts(void *context)
{
    (void)context;
    return (struct ds_stepped){.dropped = M.model.dropped + M.model.lost,
                               .swallowed = M.model.swallowed,
                               .branches = M.model.bts_records + M.model.bts_dropped + M.model.bts_lost};
}

static const struct ds_stepping stepping = {.pause = step_pause,
                                            .resume = step_resume,
                                            .resume_frame = step_resume_frame,
                                            .paused = step_paused,
                                            .counts = step_counts};

#define REGISTERS                                                                                                      \
    .backend = "model", .cpuid = machine_cpuid, .rdmsr = machine_rdmsr, .wrmsr = machine_wrmsr,                        \
    .lvtpc_read = machine_lvtpc_read, .lvtpc_write = machine_lvtpc_write

const struct ds_machine model_machine_hw = {REGISTERS};
const struct ds_machine model_machine_stepped = {REGISTERS, .stepping = &stepping};

void model_machine_reset(const struct ds_model_preset *preset, const struct ds_model_policy *policy,
                         void (*registers)(void *context, struct ds_model_registers *out))
{
    const struct ds_model_host host = {.read = model_machine_read,
                                       .write = model_machine_write,
                                       .read_physical = model_machine_read, /* the same: physical is linear */
                                       .write_physical = model_machine_write,
                                       .registers = registers ? registers : model_machine_no_registers,
                                       .raise_pmi = raise_pmi};
    struct ds_model_policy every = policy ? *policy : (struct ds_model_policy){0};
    every.unlisted = DS_MODEL_UNLISTED_RECORD; /* the driver is to be seen at work, whatever PEBS records */
    ds_model_init(&M.model, preset, &every, &host);
    M.accesses = M.fault_at = M.written = 0;
    M.injected = (struct model_machine_write){0};
    M.pmi = false;
    M.held = true;
}

void model_machine_numbered(void *context, struct ds_model_registers *out)
{
    (void)context;
    *out = (struct ds_model_registers){.rip = M.now + 1, .eventing_ip = M.now, .rax = ~M.now};
}

void model_machine_set(uint32_t msr, uint64_t value)
{
    if (ds_model_wrmsr(&M.model, msr, value))
        fail_msg("%s: WRMSR(%x) of %llx", M.model.preset->name, msr, (unsigned long long)value);
}

void model_machine_expect(const struct ds_model *before)
{
    struct ds_model expected;
    memcpy(&expected, before, sizeof expected);
    assert_int_equal(M.model.global_status & ~before->global_status, 0);
    expected.global_status = M.model.global_status;
    expected.records = M.model.records;
    expected.bts_records = M.model.bts_records;
    expected.dropped = M.model.dropped; /* where a fault kept counting on */
    expected.bts_dropped = M.model.bts_dropped;
    assert_memory_equal(expected.value, M.model.value, sizeof expected.value);
    assert_memory_equal(expected.perfevtsel, M.model.perfevtsel, sizeof expected.perfevtsel);
    assert_memory_equal(&expected, &M.model, sizeof expected);
}

void model_machine_before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

void model_machine_drained(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu, (void)d;
}
