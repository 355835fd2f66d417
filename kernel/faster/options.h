/* SPDX-License-Identifier: MIT */
/* The value of the option of the faster line. */
#pragma once

#include <stdint.h>

struct kfaster_options {
    uint32_t most; /* baud; 0: no faster than option serial= says */
};

extern struct kfaster_options kfaster_options;
