/* SPDX-License-Identifier: MIT */
/* Makes the sessions that the options ask for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "kernel/recording/sessions.h"

/* A session of the options is about to be made. Weak: another part of the kernel may define it. The switch events that
 * 'auto' stands for are added after it, unless it sets *automatic to false. 0, or negative with one line in `error`. */
int ksession_prepare(struct ksession_params *params, bool *automatic, char *error, size_t error_size);
