/* SPDX-License-Identifier: MIT */
/* Decodes Plain LZ77, with which Windows compresses trace buffers: MS-XCA, section 2.4 (COMPRESSION_FORMAT_XPRESS). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Decodes up to `room` bytes into `out`; returns how many. Fewer than there should be: the input ended there, or what
 * comes next cannot be decoded. */
size_t cairn_lz77_decode(const uint8_t *in, size_t size, uint8_t *out, size_t room);
