/* SPDX-License-Identifier: MIT */
/* The value of the screen's option. */
#pragma once

#include <stdint.h>

struct kdisplay_options {
    uint32_t on;
};

extern struct kdisplay_options kdisplay_options;
