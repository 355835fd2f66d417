/* SPDX-License-Identifier: MIT */
/* Proofs about the frame reader (tools/cairn/frame/frame.h). */
#include "tools/cairn/frame/frame.h"

static char text[19];
static uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];

/* A log that ends so early behind a mark that no frame fits. */
void frame_cut(void)
{
    size_t size = Frama_C_size_t_interval(1, 19);
    struct cairn_line line;
    PROVE_ANY(text);
    //@ split size;
    const char *mark = PROVE_LAST(text, size);
    const int flaw = cairn_frame_read(&line, mark, mark + size, payload);
    //@ check flaw: flaw == 1 + CAIRN_FLAW_CUT || flaw == 1 + CAIRN_FLAW_TEXT;
    PROVE_END();
}
