/* SPDX-License-Identifier: MIT */
/* What is wrong with a log, in words. */
#pragma once

#include <stdio.h>

#include "tools/cairn/log.h"

/* Names everything that is missing or malformed, one line each, and says nothing about an intact log. Returns whether
 * the log is damaged. */
bool cairn_report_damage(FILE *to, const struct cairn_log *log);
