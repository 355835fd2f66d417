/* SPDX-License-Identifier: MIT */
/* Which thread runs here, by the stack in use. Unit tests have their own (tests/unit/fake). */
#pragma once

#include "kernel/thread.h"

static inline struct kthread *kthread_from_stack(void)
{
    uint64_t sp;
    __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
    return kthread_of_stack(sp);
}
