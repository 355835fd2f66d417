/* SPDX-License-Identifier: MIT */
/* What the page and the native program call. There is one machine, and one state to look at. */
#pragma once

#include "tools/playground/state.h"

#if defined(__wasm__)
#define PLAY_EXPORT(name) __attribute__((export_name(#name)))
#else
#define PLAY_EXPORT(name)
#endif

/* Where the caller puts the text for play_open: play_input_size bytes, of which the rest is 0. */
PLAY_EXPORT(play_input) char *play_input(void);
PLAY_EXPORT(play_input_size) uint32_t play_input_size(void);
/* Begins with these settings, and goes to their step. 0; -EINVAL: play_error has one line, and the machine stays as it
 * was. */
PLAY_EXPORT(play_open) int play_open(void);
PLAY_EXPORT(play_error) const char *play_error(void);
/* Goes to a step, back or forth; no further than the last. */
PLAY_EXPORT(play_to) void play_to(uint32_t step);
/* Runs to the next step with one of these marks (enum play_mark). False: there was none up to the last step, and the
 * machine stays where it was. */
PLAY_EXPORT(play_run) bool play_run(uint32_t marks);
PLAY_EXPORT(play_state) const struct play_state *play_state(void);
/* Digest of the states of all steps up to this one, one after another. It changes nothing that is shown. */
PLAY_EXPORT(play_digest) uint64_t play_digest(void);
/* JSON texts: of the state's fields, and of what can be chosen. */
PLAY_EXPORT(play_layout) const char *play_layout(void);
PLAY_EXPORT(play_catalog) const char *play_catalog(void);
