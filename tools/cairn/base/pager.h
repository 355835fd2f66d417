/* SPDX-License-Identifier: MIT */
/* Output that is longer than the screen goes through a pager. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

extern bool cairn_no_pager; /* --no-pager */

/* Sends standard output, and standard error if that is the terminal too, through $CAIRN_PAGER, $PAGER or less. Nothing
 * changes where standard output is no terminal, --no-pager is given, the pager's name is empty or "cat", the terminal
 * is dumb, or there is no less. If the person leaves the pager before the end, cairn ends at once, with status 0. */
void cairn_pager_start(void);
/* Waits until the person has read all of it. */
void cairn_pager_end(void);
/* Whether a person reads what goes there: it is a terminal, or the pager. */
bool cairn_pager_or_terminal(FILE *to);
