/* SPDX-License-Identifier: MIT */
/* Semaphores: one of the dispatcher objects of kernel/sched/wait.h. */
#pragma once

#include "kernel/sched/wait.h"

struct ksem {
    struct kobject object;
    int32_t limit;
};
void ksem_init(struct ksem *sem, int32_t count, int32_t limit);
/* 0 or -ETIMEDOUT. */
int ksem_wait(struct ksem *sem, enum kwait_reason reason, uint64_t ticks);
/* 0, or -EOVERFLOW where the count would pass the limit (nothing is added). */
int ksem_post(struct ksem *sem, int32_t count, int increment);
