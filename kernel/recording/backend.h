/* SPDX-License-Identifier: MIT */
/* Debug Stores that are not the processors' own. Where the processors have none, option ds=auto takes such a one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ds/machine.h"
#include "kernel/lib/rows.h"

struct trace_dump;

struct kbackend {
    const char *name; /* the value of option ds= */
    /* A new machine, as after RESET, whose counters count by single-stepping. Where no manual says what a processor
     * does, it does what the options say, or, without `policies`, the default. For any CPU. NULL: no memory. */
    const struct ds_machine *(*make)(bool policies);
    void (*free)(const struct ds_machine *machine);
    /* Lines of the machine stream: what the options say of it. */
    void (*dump)(struct trace_dump *dump);
};
ROWS(kbackend, const struct kbackend);
