/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t kicount_align; /* option tsc.align= */
