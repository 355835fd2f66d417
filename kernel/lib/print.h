/* SPDX-License-Identifier: MIT */
/* Prints a formatted line, or a part of one, on the console (kernel/console/print.c). Any context but NMI. */
#pragma once

void kprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
