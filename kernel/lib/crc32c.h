/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli; reflected polynomial 82F63B78H). tools/cairn/base/crc_base64.h has a faster one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The CRC of `size` bytes appended to those that gave `crc`; 0 to start with. Initial and final complement included. */
uint32_t kcrc32c(uint32_t crc, const void *data, size_t size);
