/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/stepping.h"

#include "ds/ds.h"
#include "kernel/cpu.h"
#include "kernel/lib/panic.h"

bool kstepping_debug(struct arch_trap_frame *frame)
{
    struct kcpu *cpu = kcpu_this();
    if (!cpu->active_model)
        return false;
    kpanic_hold();
    bool ours = ds_soft_step(cpu->active_model, frame);
    kpanic_release();
    return ours;
}

void kstepping_interrupted(struct arch_trap_frame *frame)
{
    struct kcpu *cpu = kcpu_this();
    if (!cpu->active_model)
        return;
    kpanic_hold();
    ds_soft_interrupted(cpu->active_model, frame);
    kpanic_release();
}

void kstepping_system_call(struct arch_trap_frame *frame)
{
    struct kcpu *cpu = kcpu_this();
    if (!cpu->active_model)
        return;
    kpanic_hold();
    ds_soft_system_call(cpu->active_model, frame);
    kpanic_release();
}
