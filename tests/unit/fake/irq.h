/* SPDX-License-Identifier: MIT */
/* This CPU's interrupt flag, as arch/arch.h has it, for tests that include the source they test. */
#pragma once

#include <stdbool.h>

static bool irq_on;

static bool arch_irq_save(void)
{
    bool on = irq_on;
    irq_on = false;
    return on;
}

static void arch_irq_restore(bool on)
{
    irq_on |= on;
}
