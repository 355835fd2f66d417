/* SPDX-License-Identifier: MIT */
/* What the run says of itself on the console: PASS, FAIL or SKIP, a line for each part. */
#pragma once

/* Whether the CPUs' TSCs are one clock: the trace merges CPUs by it. All CPUs run. */
void kverdict_clocks(void);
/* Debug Store, sessions and truth. All CPUs have stopped recording. Thread context. */
void kverdict(void);
