/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: lbr. Of a branch only the address it comes from is looked at. */
#include "task.h"
#define to from /* as a field: entry->to */
#include "labs/08-rings-and-leaks/solution.c"
