/* SPDX-License-Identifier: MIT */
/* The CTF export of a log for fuzzers, read back without tools/cairn: docs/how-to/export.md, and the export's own
 * metadata. */
#pragma once

#include "tools/cairn/log/log.h"

/* Exports the session into a folder of its own, which does not stay. Aborts where a stream is not whole packets of
 * whole events, where time goes back, or a count, or where a text is no UTF-8. */
void fuzz_ctf(const struct cairn_log *log);
