/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Ends the run as the option end= says. With end=exit the exit code says whether it was `good`; QEMU itself uses
 * neither code. If the log is kept in memory (save=esp), it resets the machine, whatever end= says. */
_Noreturn void kend(bool good);
/* Reports in one line why the run cannot go on, prints the summary, and ends the run. */
_Noreturn void kend_failed(const char *name, const char *line);
/* end=reboot and end=poweroff; returns where neither is asked for, or the machine does not do it. Weak: by default it
 * does nothing. */
void kend_by_power(void);
