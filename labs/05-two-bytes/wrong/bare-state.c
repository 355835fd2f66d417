/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 5; hint: state. Stores the state of a thread that does not wait as it is. */
#include "task.h"

#undef CCSWAP_MAXIMUM_WAIT_REASON
#define CCSWAP_MAXIMUM_WAIT_REASON 0    /* and not 39 */
#include "labs/05-two-bytes/solution.c" /* all else is right */
