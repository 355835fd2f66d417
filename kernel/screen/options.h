/* SPDX-License-Identifier: MIT */
/* The value of the screen's option. */
#pragma once

#include <stdint.h>

struct kscreen_options {
    uint32_t on;
};

extern struct kscreen_options kscreen_options;
