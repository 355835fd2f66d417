/* SPDX-License-Identifier: MIT */
/*
 * The compact context-switch encoder: packs switches of one CPU into PERFINFO_CCSWAP_BUFFER batches. This is the switch
 * path: see docs/format.md for the records and tests/bench for its instruction budget.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

/* Why a batch was closed; the first five are Windows' own (build 10240). */
enum ccswap_close {
    CCSWAP_CLOSE_TIDS,  /* a 17th thread */
    CCSWAP_CLOSE_AGE,   /* more than 500 timer ticks since it began */
    CCSWAP_CLOSE_SPACE, /* fewer than 8 bytes left of 0x400 */
    CCSWAP_CLOSE_DELTA, /* 30 bits do not hold the time since the previous switch */
    CCSWAP_CLOSE_STOP,  /* recording stopped */
    CCSWAP_CLOSE_DRAIN, /* Cairn: the PEBS buffer is about to be drained: no batch spans it */
    CCSWAP_CLOSE_PANIC, /* Cairn: frozen by a panic */
    CCSWAP_CLOSE_REASONS,
};
