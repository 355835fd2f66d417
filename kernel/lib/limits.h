/* SPDX-License-Identifier: MIT */
/* Limits that kernel, trace and tools share. */
#pragma once

#define MAX_CPUS 256u /* an ideal processor has one byte in switch events */
