/* SPDX-License-Identifier: MIT */
/* Reads the arguments of a command by the table of its options. */
#pragma once

#include "tools/cairn/command/command.h"

/* Sets what the options say and *operands. False: that is all, with *status; --help, or what is wrong, is printed. */
bool cairn_arguments_read(const struct cairn_command *command, int argc, char **argv, char ***operands, int *status);
