/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/frames.h"

/* What workload probe has found out so far: lines of the machine stream. Usable in a panic. */
void kprobe_dump(struct trace_dump *dump);
