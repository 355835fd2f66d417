/* SPDX-License-Identifier: MIT */
/* The option of 8-bit lines. */
#include "kernel/line8/dump_line.h"

#include "kernel/options/row.h"

uint32_t kline8_on;

static const struct kopt_option on = {
    .name = "dump.line",
    .standard = "base64",
    .text = "form of the dump's frames: base64 (printable ASCII) or 8bit (a quarter fewer characters; line and "
            "receiver must pass on all of them, as 'cairn capture' does)",
    .field = &kline8_on,
    .kind = WORD,
    .words = "base64|8bit"};
ROWS_ADD(kopt, on);
