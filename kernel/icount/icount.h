/* SPDX-License-Identifier: MIT */
/* Equal runs under QEMU's -icount (option tsc.align). */
#pragma once

#include <stdint.h>

extern uint32_t kicount_align; /* option tsc.align= */
