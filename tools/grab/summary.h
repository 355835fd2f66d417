/* SPDX-License-Identifier: MIT */
/* What a recording came to, on standard error. */
#pragma once

#include "tools/grab/log.h"

/* `output`: the log; `period`: of the events that cairn grab itself has counted; 0: it has counted none. GRAB_GOOD, or
 * GRAB_BAD: there is no record. */
int grab_summary(const char *output, const struct grab_log *log, const struct grab_written *written, uint64_t period);
