/* SPDX-License-Identifier: MIT */
/* The values of the monitor's options. */
#pragma once

#include <stdint.h>

struct kmonitor_options {
    uint32_t on;
    char script[64]; /* for the loader, which reads the file */
};

extern struct kmonitor_options kmonitor_options;
