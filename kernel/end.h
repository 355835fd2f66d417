/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Leaves the machine as the option end= says. With end=exit the code tells `good`; no code QEMU itself uses. */
_Noreturn void kend(bool good);
