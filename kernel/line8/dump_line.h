/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

extern uint32_t kline8_on; /* option dump.line=: 0: base64, 1: 8bit */
