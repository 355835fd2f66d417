/* SPDX-License-Identifier: MIT */
/* Frames of the truth (trace/wire/truth.h) in a dump (trace/frames.h). */
#pragma once

#include <stdint.h>

struct trace_dump;

/* Writes `count` truth records of `cpu`, of which the first has the number `first` on this CPU. */
void trace_dump_truth(struct trace_dump *dump, uint16_t cpu, uint32_t first, const void *records, uint32_t count);
