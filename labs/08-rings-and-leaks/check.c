/* SPDX-License-Identifier: MIT */
/* Lab 8: the check: who is counted, what a record tells, and who can reach the memory that records go to. */
#include "labs/check.h"

#include "check_parts.h"

const char lab_title[] = "8 Rings and leaks";

void lab_check(void)
{
    lab_check_rings();
    lab_check_records();
    lab_check_memory();
}
