/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Leaves the machine as the option end= says. With end=exit the code tells `good`; no code QEMU itself uses. Where the
 * log is kept in memory (save=esp): by a reset, whatever end= says; wrong options have told nothing. */
_Noreturn void kend(bool good);
/* One line why the run cannot go on, the verdict, the end. */
_Noreturn void kend_failed(const char *name, const char *line);
