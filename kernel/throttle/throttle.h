/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t kthrottle_limit; /* option ds.throttle */
