/* SPDX-License-Identifier: MIT */
/*
 * What a reader does with every byte of a log, by the instructions this processor has: the same answers as trace/'s,
 * which have none but those of every processor.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* trace_crc32c(0, ...) */
uint32_t cairn_crc32c(const void *data, size_t size);
/* trace_base64_decode */
long cairn_base64_decode(uint8_t *to, const char *from, size_t size);
