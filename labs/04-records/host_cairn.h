/* SPDX-License-Identifier: MIT */
/* Lab 4: a record of a log as tools/cairn reads it. `cairn check` compares the same words with what really happened. */
#pragma once

#include "task.h"
#include "tools/cairn/log/log.h"

void as_cairn_reads(struct record *is, const struct cairn_record *record);
