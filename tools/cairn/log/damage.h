/* SPDX-License-Identifier: MIT */
/* Describes in words what is wrong with a log. */
#pragma once

#include <stdio.h>

#include "tools/cairn/log/log.h"

/* Names what is missing or malformed, each once, up to `most` of them and how many more there are; says nothing of an
 * intact log. Returns whether the log is damaged. */
bool cairn_report_damage(FILE *to, const struct cairn_log *log, size_t most);
