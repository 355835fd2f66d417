/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 4; hint: entries. Takes the field of the head for the number of entries. */
#include "task.h"

#define msr_pebs_data_cfg_lbr_entries(cfg) ((unsigned)((cfg) >> 24) & 0xFF) /* and not plus 1 */
#include "labs/04-records/solution.c"                                       /* all else is right */
