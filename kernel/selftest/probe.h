/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/frames.h"

/* Writes what workload probe has found out so far, as lines of the machine stream. Usable in a panic. */
void kprobe_dump(struct trace_dump *dump);
