/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 5; hint: space. Closes the batch only when a record of 4 bytes does not fit any more. */
#include "task.h"

#undef CCSWAP_BATCH_SPARE
#define CCSWAP_BATCH_SPARE 4u           /* and not 8 */
#include "labs/05-two-bytes/solution.c" /* all else is right */
