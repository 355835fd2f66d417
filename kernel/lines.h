/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/frames.h"

/* One formatted line of a text stream of the dump. Usable in a panic. */
void kline(struct trace_dump *dump, enum cairn_stream stream, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
