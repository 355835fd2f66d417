/* SPDX-License-Identifier: MIT */
/* Ways to end QEMU, with one line that says why. */
#pragma once

/* What was asked for cannot be had. For callbacks and the plugin's start: QEMU ends in order, with status 1. */
__attribute__((noreturn, format(printf, 1, 2))) void qds_refuse(const char *format, ...);
/* Aborts. With any locks held. */
__attribute__((noreturn)) void qds_out_of_memory(void);
