/* SPDX-License-Identifier: MIT */
/* The run's verdicts on the console: a line with PASS, FAIL or SKIP for each part. */
#pragma once

/* Debug Store and sessions, and what else was recorded. All CPUs have stopped recording. Thread context. */
void kverdict(void);
