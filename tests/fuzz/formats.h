/* SPDX-License-Identifier: MIT */
/* Whether what `cairn export` has written can be read by those it is for: apart from the writers. Aborts where not. */
#pragma once

#include <stddef.h>

/* Of the format `name` a file, whole or cut short where the log could not be read to its end. Formats that are not
 * known here pass. */
void fuzz_format(const char *name, const char *text, size_t size, int whole);
