/* SPDX-License-Identifier: MIT */
/* The logs of a lab's boots, for its check on the host: tools/cairn reads them. */
#pragma once

#include "tools/cairn/log/log.h"

/* Reads a whole, undamaged log that has truth (truth=1). It may take a log from nowhere else: otherwise the program
 * ends with status 3 and one line that says why. */
void lab_log_open(struct cairn_log *log, const char *path);
void lab_log_close(struct cairn_log *log);

/* "skylake, the model" or "the processor's Debug Store, record format 3" */
const char *lab_log_name(const struct cairn_log *log, char *out, size_t size);
