/* SPDX-License-Identifier: MIT */
/* Numbers in text: values of options, words of monitor commands, answers of `cairn capture`. Pure: loader, kernel and
 * host compile it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number of decimal digits, or of hexadecimal ones behind 0x, and nothing else. */
bool knumber_parse(const char *s, size_t n, uint64_t *out);
