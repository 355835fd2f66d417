/* SPDX-License-Identifier: MIT */
/* For the checks on the host: the logs of a lab's boots, which tools/cairn reads. */
#pragma once

#include "tools/cairn/log/log.h"

/* Reads a whole, undamaged log that has truth (truth=1). It may take a log from nowhere else: otherwise the program
 * ends with status 3 and one line that says why. */
void lab_log_open(struct cairn_log *log, const char *path);
void lab_log_close(struct cairn_log *log);

/* "model of skylake, record format 3" or "processor's Debug Store, record format 3" */
const char *lab_log_name(const struct cairn_log *log, char *out, size_t size);

/* The check's own mistake, or a log of another kernel: not the student's. Ends the program with status 3. */
_Noreturn void lab_broken(const char *what);
