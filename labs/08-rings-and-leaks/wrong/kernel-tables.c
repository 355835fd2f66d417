/* SPDX-License-Identifier: MIT */
/* A wrong solution of lab 8; hint: exposed. Only the kernel's page tables are looked at. */
#include "task.h"
#define lab_page(space, address) lab_page(LAB_SPACE_KERNEL, address)
#include "labs/08-rings-and-leaks/solution.c"
