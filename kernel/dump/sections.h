/* SPDX-License-Identifier: MIT */
/* The parts of a dump (kernel/dump/dump.h) that this folder writes; other folders write their own. All are usable in a
 * panic. */
#pragma once

struct trace_dump;

/* Stream M: the state of the Debug Store, and the reason; why BTS did not start, known only after a live dump began. */
void kdump_debug_store(struct trace_dump *d);
void kdump_late_refusal(struct trace_dump *d);
/* Stream N: every thread that existed. */
void kdump_threads(struct trace_dump *d);
/* Stream S: functions and variables of the kernel. */
void kdump_symbols(struct trace_dump *d);
/* Stream L: sessions that the dump does not name yet; when they ran. */
void kdump_sessions(struct trace_dump *d);
void kdump_lives(struct trace_dump *d);
/* Stream T: the contents of the sessions' buffers. */
void kdump_buffers(struct trace_dump *d);
/* Stream E: all counts, and the verdict. */
void kdump_end(struct trace_dump *d);
