/* SPDX-License-Identifier: MIT */
/* base64 with RFC 4648's standard alphabet, padded, on one line. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define KBASE64_SIZE(bytes) (((bytes) + 2u) / 3u * 4u)

/* Writes KBASE64_SIZE(size) characters, no NUL. Returns their number. */
size_t kbase64_encode(char *to, const void *from, size_t size);

/* Decodes `size` characters into at most size / 4 * 3 bytes. Returns the number of bytes, or -EINVAL for anything an
 * encoder would not have written: a length that is no multiple of 4, a character outside the alphabet, padding
 * elsewhere than at the end, unused bits that are not 0. */
long kbase64_decode(uint8_t *to, const char *from, size_t size);
