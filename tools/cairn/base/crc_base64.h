/* SPDX-License-Identifier: MIT */
/* CRC-32C and base64, which a reader needs for every byte of a log, with this processor's special instructions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* kcrc32c(0, ...) */
uint32_t cairn_crc32c(const void *data, size_t size);
/* Decodes `size` characters into at most size / 4 * 3 bytes. Returns the number of bytes, or -EINVAL for anything an
 * encoder would not have written: a length that is no multiple of 4, a character outside the alphabet, padding
 * elsewhere than at the end, unused bits that are not 0. */
long cairn_base64_decode(uint8_t *to, const char *from, size_t size);
/* The same, with no special instructions. */
long cairn_base64_plain(uint8_t *to, const char *from, size_t size);
