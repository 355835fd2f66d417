/* SPDX-License-Identifier: MIT */
/* Output of the console: text from kprintf (kernel/lib/print.h) goes to all sinks of kernel/console/sinks.h, the bytes
 * of a dump only to those that take them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The serial port as one of the console's sinks. Text ends a line of kprint_line that is not wholly out. */
extern const struct console_sink kprint_serial;
/* Writes text with CR LF at the end of each line, as serial terminals want it. */
void kprint_lines(void (*write)(const char *data, size_t size), const char *text, size_t size);

/* Bytes of a dump to the sinks that take them; serialised with kprintf. */
void kprint_bytes(const char *data, size_t size);
/* Likewise, goes on with a line of which `done` characters are out, with as many as the port takes now: perhaps none;
 * the lock is not waited for either, nor held for longer than these take. `wait`: with all that are left. Returns how
 * many are out. Other text may come in between: it ends the line, which then begins again, and fewer are out than
 * before. One line at a time; at least one character. */
size_t kprint_line(const char *line, size_t size, size_t done, bool wait);
/* Runs `function` while nobody prints; it may not print itself. */
void kprint_locked(void (*function)(void));
/* For a terminal at the serial port alone: echo and prompts of the monitor, which belong into no log. */
void kprint_terminal(const char *text, size_t size);
/* What goes on now, in one line, where the console can show that by itself (a screen can, a serial line not). */
void kprint_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* More text for the status line while a workload runs. Weak: another part of the kernel may define it; by default it
 * adds nothing. Thread context. */
void kprint_status_more(char *text, size_t size);
/* Takes the console's lock for a CPU that is about to hold all others, and lets it print without: nobody else does now.
 * It waits a bounded time, then goes on without. Interrupts off, before they are held; and before they go on. */
void kprint_hold(void);
void kprint_release(void);
/* From now on nothing waits for the console's lock: the CPU that held it may be stopped. */
void kprint_panic(void);
