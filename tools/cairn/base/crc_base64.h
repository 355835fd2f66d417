/* SPDX-License-Identifier: MIT */
/* CRC-32C and base64, which a reader needs for every byte of a log, with this processor's special instructions. The
 * results are those of the functions in kernel/lib, which use only instructions that every processor has. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* kcrc32c(0, ...) */
uint32_t cairn_crc32c(const void *data, size_t size);
/* kbase64_decode */
long cairn_base64_decode(uint8_t *to, const char *from, size_t size);
