/* SPDX-License-Identifier: MIT */
/* Prints text in lines of a terminal's width. Also part of build/cairn-options. */
#pragma once

#include <stdio.h>

#include "tools/cairn/base/slice.h"

#define CAIRN_COLUMNS 80u /* of a line */

/* Prints text and a newline in lines of at most 80 columns; only a word that no line could hold is cut. The first goes
 * on where the line is (column `at`), the others begin with `prefix`, padded to `indent` columns. */
void cairn_wrap(FILE *to, unsigned at, const char *prefix, unsigned indent, struct cairn_slice text);
/* The same, and no word is cut: the name of a file may be copied. */
void cairn_wrap_words(FILE *to, unsigned at, unsigned indent, struct cairn_slice text);
/* Whether lines that go there are to be of a terminal's width: it is one, or the environment has COLUMNS. */
bool cairn_wraps(FILE *to);
/* As cairn_wrap, or as one line where the width is not wanted; the latter to standard output. */
void cairn_wrap_for(FILE *to, unsigned at, const char *prefix, unsigned indent, struct cairn_slice text);
void cairn_print_wrapped(unsigned at, const char *prefix, unsigned indent, struct cairn_slice text);
