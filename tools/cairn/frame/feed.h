/* SPDX-License-Identifier: MIT */
/* Reads frames out of a log that is still coming, line by line. */
#pragma once

#include "tools/cairn/frame/frame.h"

#define CAIRN_FEED_LINE 8192u /* longer ones are cut */

struct cairn_feed {
    void *context;
    /* A frame that is right; `text` is all of it. */
    void (*frame)(void *context, const struct cairn_line *line, const char *text, size_t size);
    /* Each line without its end, behind its frames. `console`: so many characters of it are in front of the first
     * frame, or of what was one. NULL: nobody asks. */
    void (*line)(void *context, const char *text, size_t size, size_t console);
    uint64_t damaged; /* frames; one that comes whole behind a line cut short is none */
    uint32_t cut;     /* number of the frame whose line was cut last, */
    uint64_t cuts;    /* and how many times it was */
    char text[CAIRN_FEED_LINE];
    size_t used;
};

void cairn_feed_bytes(struct cairn_feed *feed, const char *data, size_t size);
/* Nothing comes any more: what is there of a line is one. */
void cairn_feed_end(struct cairn_feed *feed);
