/* SPDX-License-Identifier: MIT */
/* Takes out of a text what is no part of it: signs of a terminal, of a pager, and between bytes. */
#pragma once

#include <stddef.h>

#define CAIRN_BEYOND '\x1A' /* ASCII's SUB: what is in its place cannot be shown */

/* Copies the text to `copy` without a terminal's escape sequences, and with one CAIRN_BEYOND or blank for a character
 * beyond ASCII. Lines and columns stay as they are seen. Returns the characters. */
size_t cairn_in_ascii(char *copy, const char *text, size_t size);
/* Makes blanks of gdb's pager's lines, of colons and dashes between bytes (%*phC), and of quotes around a number with
 * 0x. */
void cairn_clean(char *text, const char *end);
