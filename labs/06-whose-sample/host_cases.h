/* SPDX-License-Identifier: MIT */
/* Lab 6: small traces that the check makes, each for one property of a rule. */
#pragma once

void check_index_cases(void);
void check_time_cases(void);

/* "thread 24", "AMBIGUOUS", "UNKNOWN" */
const char *answer_text(char out[32], unsigned answer);
