/* SPDX-License-Identifier: MIT */
/* Lab 8: the parts of the check. */
#pragma once

#include "task.h"

void lab_check_rings(void);
void lab_check_records(void);
void lab_check_memory(void);
