/* SPDX-License-Identifier: MIT */
/*
 * The log of the run in memory, from which the loader makes a file at the next start (save=esp;
 * boot/save/save_format.h). The console gives it the same bytes as the serial port, text and frames, under its lock. If
 * the area becomes full, the log is cut at a frame, and what is missing is counted: room is kept for the text that
 * ends a run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/info.h"

extern uint32_t ksave_asked; /* option save=: 1: esp */

/* Takes the loader's area, where there is one, and writes its header, which says that the run has begun, out of the
 * caches. Boot processor; needs nothing set up. */
void ksave_begin(const struct boot_info *info);

/* Whether the log is kept. */
bool ksave_on(void);

/* More of the serial port's bytes; nothing where no log is kept. Console's lock held, no other needed; never waits. */
void ksave_write(const char *data, size_t size);

/* Says, before `bytes` of frames, where they do not all have room. */
void ksave_announce(uint64_t bytes);

/* A FAIL line where something is missing. */
void ksave_report(void);

/* The end: from here on nothing is kept. Counts, CRCs, and all of it out of the caches into memory, so that a reset
 * leaves it there. Console's lock held (but in a panic). */
void ksave_finish(void);
