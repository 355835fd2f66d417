/* SPDX-License-Identifier: MIT */
/* Logs for fuzzers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/cairn/log/log.h"

extern FILE *fuzz_nowhere; /* for what nobody looks at; open before the first log is looked at */

/* Reads `size` bytes as a log, and has each of its sessions looked at, in turn. */
void fuzz_sessions(const char *data, size_t size, void (*look)(const struct cairn_log *log, void *context),
                   void *context);

/*
 * A log for the caller to free, of *log_size bytes: the input is cut into payloads, each of which becomes an intact
 * frame. Every payload is two bytes: stream (letter by its low bits, from 18 on in an 8-bit line), number to skip (high
 * bits); two bytes: size; then itself.
 */
char *fuzz_frames(const uint8_t *data, size_t size, size_t *log_size);
