/* SPDX-License-Identifier: MIT */
/*
 * Option dump=live: a thread of the lowest priority sends full buffers of live sessions over the serial port while the
 * run goes on (trace/live/live_buffers.h). It is a thread like any other: its switches are in the trace. No thread
 * waits for it: events that find no free buffer are lost and counted.
 *
 * A line is sent in pieces that the port takes at once. The console's lock is held for one piece at a time. Console
 * text, also that of a panic, may come between two pieces. It ends the line, which is then sent again from its
 * beginning. So each frame arrives whole in the end, and at every instruction it is known how much of a buffer has been
 * sent.
 */
#pragma once

#include <stdint.h>

extern uint32_t klive_pace; /* option dump.pace= */
