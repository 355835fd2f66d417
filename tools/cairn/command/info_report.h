/* SPDX-License-Identifier: MIT */
/* Parts of cairn info: of a report without a trace (tools/cairn/log/machine_text.h), and what they print with. */
#pragma once

#include "tools/cairn/log/log.h"

/* Behind the machine: the verdict, what came of the steps, and the probe's answers in short. */
void cairn_info_report(const struct cairn_log *log);
/* Behind the lines about the Debug Store: what a report has of it. */
void cairn_info_report_store(const struct cairn_log *log);
/* At the end: ACPI's tables and screens; with `all` their modes, too. */
void cairn_info_report_lists(const struct cairn_log *log, bool all);
/* Whether a key is one of these. */
bool cairn_info_report_knows(struct cairn_slice key);

/* Prints a key's value behind its label, nothing where it is missing. */
void cairn_info_value(const struct cairn_log *log, const char *label, const char *key);
/* Prints all keys that begin with `prefix`, without it, below a title; nothing where there are none. */
void cairn_info_section(const struct cairn_log *log, const char *title, const char *prefix);
