/* SPDX-License-Identifier: MIT */
/* The real machine for the monitor's commands. */
#pragma once

#include "ds/ds.h"
#include "kernel/monitor/inside.h"

/* Before the run, `here` is the CPU the caller is bound to, and other CPUs answer calls. Else they are held. */
const struct kmonitor_machine *kmonitor_machine(enum kmonitor_place place, uint32_t here);
/* `config` is what counts on CPU `cpu` instead of the session's configuration; NULL: that again. */
void kmonitor_machine_counts(uint32_t cpu, const struct ds_config *config);
