/* SPDX-License-Identifier: MIT */
/* The run's verdicts on the console. Any context but NMI. */
#pragma once

#include <stdint.h>

/* Verdict lines, as tests/boot reads them: "PASS|FAIL|SKIP: name: text". */
enum kreport { KREPORT_PASS, KREPORT_FAIL, KREPORT_SKIP };
void kreport(enum kreport verdict, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
void kreport_counts(uint32_t counts[3]); /* indexed by enum kreport */
/* "SUMMARY: N passed, N failed, N skipped" */
void kreport_summary(void);
