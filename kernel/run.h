/* SPDX-License-Identifier: MIT */
/* The run: sets up Debug Store and sessions, runs the workload, then stops, judges and dumps. */
#pragma once

/* First code of the thread that controls the run. `boot`: const struct boot_info. Does not return. */
void krun(void *boot);
