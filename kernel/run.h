/* SPDX-License-Identifier: MIT */
/* The run: Debug Store and sessions are brought up, the workload runs, everything is stopped, judged and dumped. */
#pragma once

/* First code of the thread that controls the run. `boot`: const struct boot_info. Does not return. */
void krun(void *boot);
