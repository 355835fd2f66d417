/* SPDX-License-Identifier: MIT */
/* Output of the console: text from kprintf (kernel/lib/print.h) goes to all sinks of kernel/console/sinks.h, the bytes
 * of a dump only to those that take them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The serial port as one of the console's sinks. */
extern const struct console_sink kprint_serial;
/* Writes text with CR LF at the end of each line, as serial terminals want it. */
void kprint_lines(void (*write)(const char *data, size_t size), const char *text, size_t size);

/* Bytes of a dump to the sinks that take them; serialised with kprintf. */
void kprint_bytes(const char *data, size_t size);
/* For a terminal at the serial port alone: echo and prompts of the monitor, which belong into no log. */
void kprint_terminal(const char *text, size_t size);
/* From now on nothing waits for the console's lock: the CPU that held it may be stopped. */
void kprint_panic(void);

/* Shows in one line what goes on now; false: nowhere. Weak: by default so, as a serial port could only repeat it. */
bool kprint_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Likewise, how far the run is. Thread context. */
void kprint_run(uint64_t seconds, uint64_t switches);
/* Likewise, how far a dump is: `done` of `bytes`, beside those that went out `before`. */
void kprint_progress(uint64_t done, uint64_t bytes, uint64_t before);
/* More text for the line of kprint_run. Weak, beside it: by default there is none. Thread context. */
void kprint_status_more(char *text, size_t size);

/* ---- for who has to do with the serial port, or the other CPUs, by itself */
/* Nobody prints meanwhile, but in a panic. Interrupts are off; kprint_lock returns whether they were on. */
bool kprint_lock(void);
void kprint_unlock(bool on);
extern bool kprint_locked, kprint_lock_ignored; /* atomic */
/* NULL, or called before text, under the lock: ends a line of which a part is out. */
extern void (*kprint_break_line)(void);
