/* SPDX-License-Identifier: MIT */
/*
 * Which accesses of the first vCPU to MSRs shall raise #GP although the processor has them: option refuse=. They count
 * from the first on that reads IA32_PERF_CAPABILITIES: what firmware does comes before.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct qds_refused {
    unsigned number; /* of one access to the model's, from 1 on; 0: not by number */
    bool read, write;
    uint32_t msr; /* with `read` or `write`: each such access to this one, whether it is the model's or QEMU's */
};

/* At the plugin's start. */
void qds_refused_set(const struct qds_refused *refused);
/* An access is about to be made. Whether it shall fail; stderr is told of the first one. `ours`: it is the model's. */
bool qds_refused_access(unsigned vcpu, bool write, uint32_t msr, bool ours);
/* At the end: if none was refused, stderr is told so, and which registers of the model there was RDMSR and WRMSR of. */
void qds_refused_print(void);
