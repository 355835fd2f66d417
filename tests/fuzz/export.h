/* SPDX-License-Identifier: MIT */
/* Exports to files, for fuzzers. */
#pragma once

#include <stdint.h>

#include "tools/cairn/export/writer.h"

#define FUZZ_FOLDER 4000u

/* Exports the session into a new folder, whose path is in `folder` then, or into the file `name` there; NULL: into the
 * folder itself. False: the log could not be read, and the folder, in which nothing is left, is removed. */
bool fuzz_export(const struct cairn_log *log, const struct cairn_writer *writer, const char *name,
                 char folder[FUZZ_FOLDER]);
/* The bytes of the file `name` there, to be freed, and their number. The file is removed. */
uint8_t *fuzz_take_file(const char *folder, const char *name, size_t *size);
