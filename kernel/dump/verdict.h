/* SPDX-License-Identifier: MIT */
/* The run's verdicts on the console: a line with PASS, FAIL or SKIP for each part. */
#pragma once

/* Whether the CPUs' TSCs are one clock: the trace merges CPUs by it. All CPUs run. */
void kverdict_clocks(void);
/* Debug Store and sessions, and what else was recorded. All CPUs have stopped recording. Thread context. */
void kverdict(void);
