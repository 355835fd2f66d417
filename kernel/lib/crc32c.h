/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli; reflected polynomial 82F63B78H), slice-by-8, for the kernel's frames and the host's deframer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The CRC of `size` bytes appended to those that gave `crc`; 0 to start with. Initial and final complement included. */
uint32_t kcrc32c(uint32_t crc, const void *data, size_t size);
