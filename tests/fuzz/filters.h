/* SPDX-License-Identifier: MIT */
/* --cpu, --thread, --from, --until and --reason with values that mean something in a log; --clock and --zone. */
#pragma once

#include "tools/cairn/command/command.h"

/* Sets some, which and to what is `choice`. False: this log has nothing to choose from, and none is set. */
bool fuzz_filter(const struct cairn_log *log, uint32_t choice);
void fuzz_filter_clear(void);
/* Whether a command has the options that are set. */
bool fuzz_filter_taken(const struct cairn_command *command);
/* What passes up to a time and what passes from then on is all there is. Leaves none set. Aborts where not. */
void fuzz_filter_parts(const struct cairn_log *log, uint32_t choice);
