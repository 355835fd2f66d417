/* SPDX-License-Identifier: MIT */
/* A faster serial line, agreed on with `cairn capture`: kernel/lib/line_rate.h. */
#pragma once

#include <stdint.h>

struct boot_info;

extern uint32_t kfaster_most; /* option serial.fast=: baud; 0: no faster than serial= */

/* Asks for a higher rate than the port's, up to the option serial.fast=; says in one line what came of it. Waits a
 * bounded time: LINE_RATE_ANSWER_MS where nobody answers, LINE_RATE_BACK_MS in all. The TSC's frequency is known; boot
 * processor, before the others run. */
void kfaster_agree(const struct boot_info *info);
