/* SPDX-License-Identifier: MIT */
/* Sections of a dump (kernel/dump/dump.h) that this room writes; others write their own. All are usable in a panic. */
#pragma once

struct trace_dump;

/* Stream M: what the Debug Store is, and why; and why BTS did not start, known only after a live dump has begun. */
void kdump_debug_store(struct trace_dump *d);
void kdump_late_refusal(struct trace_dump *d);
/* Stream N: every thread there was. */
void kdump_threads(struct trace_dump *d);
/* Stream Y: functions and variables of the kernel. */
void kdump_symbols(struct trace_dump *d);
/* Stream S: sessions that no dump has told of yet; when they ran. */
void kdump_sessions(struct trace_dump *d);
void kdump_lives(struct trace_dump *d);
/* Stream T: what is in the sessions' buffers. */
void kdump_buffers(struct trace_dump *d);
/* Stream E: all counts, and the verdict. */
void kdump_end(struct trace_dump *d);
