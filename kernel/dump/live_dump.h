/* SPDX-License-Identifier: MIT */
/*
 * Option dump=live: a thread of the lowest priority sends full buffers of live sessions (trace/live_buffers.h) over the
 * serial port while the run goes on. It is a thread like any other: its switches are in the trace. No thread waits for
 * it: events that find no free buffer are lost and counted.
 *
 * A line is sent in pieces that the port takes at once. The console's lock is held for one piece at a time. Console
 * text, also that of a panic, may come between two pieces. It ends the line, which is then sent again from its
 * beginning. So each frame arrives whole in the end, and at every instruction it is known how much of a buffer has been
 * sent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/frames.h"

/* Sends what is known of machine and sessions, and starts the thread, if the option asks for it. Sessions are made,
 * none of them runs. `console`: there is a serial port. Thread context. */
void klive_begin(bool console);
/* Ends the thread, wherever it is. What it leaves is for klive_settle and the dump at the end. Thread context. */
void klive_stop(void);
/* Sends the rest of the frame it was at, if it was. Recording has ended. Once more does no harm; usable in a panic. */
void klive_settle(void);
/* How far it is, to go on behind other words: for who looks on. "" where nothing goes out. Thread context. */
void klive_words(char *text, size_t size);
/* One verdict. After klive_settle. */
void klive_report(void);

/* ---- for kernel/dump/dump.c; usable in a panic */

/* Whether a dump has begun that way, and the one at the end goes on with it. */
bool klive_on(void);
/* Numbers of frames, characters and bytes go on where it ended. */
void klive_go_on(struct trace_dump *dump);
/* Whether session `number` was told of when it began. */
bool klive_told(uint32_t number);
/* Frames of the trace that went out, and lines that were begun again because something came between. */
void klive_counts(uint32_t *frames, uint32_t *again);
