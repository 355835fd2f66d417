/* SPDX-License-Identifier: MIT */
/* The option session.restarts. */
#pragma once

#include <stdint.h>

extern uint32_t krestart_count;
