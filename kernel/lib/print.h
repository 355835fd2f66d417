/* SPDX-License-Identifier: MIT */
/* Everybody may speak: a formatted line, or a part of one, on the console (kernel/console/print.c). Any context; not in
 * an NMI. */
#pragma once

void kprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
