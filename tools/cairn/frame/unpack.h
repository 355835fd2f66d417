/* SPDX-License-Identifier: MIT */
/* Unpacks frames of the trace and of the truth (trace/packed/packed.h), each once. */
#pragma once

#include "tools/cairn/frame/deframe.h"

/* Puts what the packed frames hold into frames->store, as frames that were never packed have it, and makes chains of
 * it in place of theirs; numbers stay those of the lines. Frames behind a missing one of their unit are left out and
 * counted. Where there is no room for the store, that is noted in the input. */
void cairn_unpack(struct cairn_frames *frames);
