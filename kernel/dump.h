/* SPDX-License-Identifier: MIT */
/* The serial dump: everything the run left behind, in the order of docs/format.md. */
#pragma once

/* Writes the whole dump to the console. `cause`: "end" or "panic"; `line`: the panic's line, else NULL. All CPUs have
 * stopped recording (or are stopped altogether). Any context. */
void kdump(const char *cause, const char *line);
