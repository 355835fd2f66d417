/* SPDX-License-Identifier: MIT */
/* tools/report/instructions.h in unit tests: functions of the test. */
#pragma once

#include <stdint.h>

struct report_table {
    uint16_t limit;
    uint64_t base;
} __attribute__((packed));

void report_sidt(struct report_table *to);
void report_lidt(const struct report_table *from);
uint64_t report_read_cr8(void);
void report_write_cr8(uint64_t v);
uint16_t report_read_cs(void);
