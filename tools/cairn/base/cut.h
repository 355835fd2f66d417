/* SPDX-License-Identifier: MIT */
/* Text for a column. */
#pragma once

#include <stddef.h>

#include "tools/cairn/base/slice.h"

/* `text` in at most `width` columns, and in `size` bytes (16 and more). Where that cuts it, the last column is a mark:
 * an ellipsis on a terminal that shows UTF-8, else a plus. */
const char *cairn_cut(char *out, size_t size, struct cairn_slice text, int width);
/* The same as an argument of printf. */
#define CAIRN_CUT(text, width) cairn_cut((char[128]){0}, 128, text, width)
/* What printf takes as the width that fills so many columns: it counts bytes. */
int cairn_fill(const char *text, int columns);
