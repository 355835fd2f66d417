/* SPDX-License-Identifier: MIT */
/* Reads the arguments of a command by the table of its options. */
#pragma once

#include "tools/cairn/command/command.h"

/* All commands, up to a NULL, for hints which of them has an option; main sets it. NULL: no such hint. */
extern const struct cairn_command *const *cairn_arguments_all;

/* Sets what the options say and *operands. False: that is all, with *status; --help, or what is wrong, is printed. */
bool cairn_arguments_read(const struct cairn_command *command, int argc, char **argv, char ***operands, int *status);
