/* SPDX-License-Identifier: MIT */
/* Dumps in 8-bit lines. */
#include "kernel/line8/dump_line.h"

#include "kernel/dump_section.h"
#include "kernel/lib/base64.h"
#include "kernel/line8/line8.h"
#include "trace/frames.h"

_Static_assert(KLINE8_RUN == CAIRN_FRAME_8BIT, "the first run's mark is the frame's");
_Static_assert(KLINE8_MOST(CAIRN_FRAME_PAYLOAD_MAX) <= KBASE64_SIZE(CAIRN_FRAME_PAYLOAD_MAX), "it has room");

static void form(struct trace_dump *dump)
{
    if (kline8_on)
        dump->encode = kline8_encode;
    trace_dump_print(dump, CAIRN_STREAM_HEADER, "dump.line=%s", kline8_on ? "8bit" : "base64");
}
KDUMP_SECTION(KDUMP_CHARACTERS, KDUMP_FORM, form);
