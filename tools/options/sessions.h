/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Whether each session that kopt asks for can be made on `cpus` CPUs, memory aside; after kopt_check. 0, or -EINVAL
 * with one line in `error`. */
int options_check_sessions(uint32_t cpus, char *error, size_t size);
