/* SPDX-License-Identifier: MIT */
/* The silicon judge: records a known program in a series of settings, and compares what was seen with the model. */
#pragma once

#include "tools/grab/base/kernel.h"
#include "tools/grab/base/rings.h"

/* Writes the report to standard output: text, without anything personal. `rings`: open on `store`, not started. An exit
 * status; it has said why. */
int grab_judge(const struct grab_kernel *kernel, struct grab_rings *rings, struct grab_store *store);
