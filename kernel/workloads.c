/* SPDX-License-Identifier: MIT */
#include "kernel/workloads.h"

#include <stddef.h>

#include "kernel/lib/string.h"
#include "kernel/workload/workload.h"

static const struct {
    const char *name;
    const struct kworkload *workload;
} workloads[] = {
#define WORKLOAD(name) {#name, &kworkload_##name},
#include "kernel/options/workloads.h"
};

const struct kworkload *kworkloads_find(const char *name)
{
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++)
        if (strcmp(workloads[i].name, name) == 0)
            return workloads[i].workload;
    return NULL;
}
