/* SPDX-License-Identifier: MIT */
#include "kernel/tracepoint/stepping.h"

#include "ds/machine.h"
#include "kernel/cpu.h"
#include "kernel/lib/panic.h"

bool kstepping_debug(struct arch_trap_frame *frame)
{
    const struct ds_machine *machine = kcpu_this()->stepped;
    if (!machine)
        return false;
    kpanic_hold();
    bool ours = machine->stepping->step(machine->context, frame);
    kpanic_release();
    return ours;
}

void kstepping_interrupted(struct arch_trap_frame *frame)
{
    const struct ds_machine *machine = kcpu_this()->stepped;
    if (!machine)
        return;
    kpanic_hold();
    machine->stepping->interrupted(machine->context, frame);
    kpanic_release();
}
