/* SPDX-License-Identifier: MIT */
/* What a machine is, as text and without a trace: the file of cairn-report.efi, whose lines are keys of a log's machine
 * stream and others, or a run's card (kernel/card/card.h), from wherever somebody has copied it. */
#pragma once

#include "tools/cairn/log/log.h"

#define CAIRN_MACHINE_TEXT_MOST (UINT64_C(1) << 20) /* bytes: a longer file is neither */

/* Reads it as a log that has keys and no frames; log->report says which of the two it is, log->flaw what is wrong with
 * it, of a card also where and what to do. 0; -ENOENT: it is neither; or another negative errno. `input` is to be
 * closed behind the log. */
int cairn_machine_text_read(struct cairn_log *log, const struct cairn_input *input);
