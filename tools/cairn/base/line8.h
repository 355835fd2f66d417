/* SPDX-License-Identifier: MIT */
/* 8-bit lines (kernel/line8/line8.h), decoded with this processor's special instructions. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* kline8_decode */
long cairn_line8_decode(uint8_t *to, size_t room, const char *from, size_t size);
