/* SPDX-License-Identifier: MIT */
/* Memory for the student's code, between bytes that nobody may change. */
#pragma once

#include <stddef.h>

/* Zeroed memory, as of lab_memory, and bytes of a known value before and behind it. Fails the lab if there is none. */
void *lab_fenced(size_t bytes);
/* Fails the lab if a byte beside memory of lab_fenced has changed. */
void lab_check_fences(void);
