/* SPDX-License-Identifier: MIT */
/* The commands that can show something of a log, most useful first. */
#pragma once

#include "tools/cairn/log/log.h"

/* The command number `number`, from 0, with its options, into `out`. False: there are no more. */
bool cairn_next(const struct cairn_log *log, unsigned number, char *out, size_t size);
