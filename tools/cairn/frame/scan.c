/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/scan.h"

#include <string.h>

#define PART_BYTES (UINT64_C(256) << 10)

/* Frames whose marks lie in `size` bytes at `p`, offset `at` of the log; up to `end` may be looked at. Returns how far
 * it came: less where there is no room for more. */
static size_t scan_window(struct cairn_scan *s, struct cairn_scanned *to, const char *p, size_t size, const char *end,
                          uint64_t at)
{
    const char *mark = p + (at != 0), *limit = p + size; /* the byte before the first mark is there, too */
    while (mark < limit && (mark = memchr(mark, CAIRN_FRAME_MARK, (size_t)(limit - mark))) != NULL) {
        const char *look = (size_t)(end - mark) > CAIRN_FRAME_AHEAD ? mark + CAIRN_FRAME_AHEAD : end;
        struct cairn_line l;
        if (to->count == CAIRN_SCAN_FOUND)
            return (size_t)(mark - p);
        const int flaw = cairn_frame_read(&l, mark, look, s->payload);
        l.frame.at = at + (uint64_t)(mark - p);
        if (flaw && !cairn_frame_suspect(&l, p, mark, look)) {
            mark++;
            continue;
        }
        const char *next = flaw ? mark + 1 : l.end;
        to->found[to->count++] = (struct cairn_found){
            .chain = flaw ? (struct cairn_chain){.at = l.frame.at, .number = l.frame.number, .stream = l.frame.stream}
                          : cairn_chain_of(&l.frame),
            .end = at + (uint64_t)(next - p),
            .size = l.frame.size,
            .crc = l.frame.crc,
            .good = !flaw,
            .numbered = l.numbered,
            .flaw = (uint8_t)(flaw - 1),
        };
        mark = next;
    }
    return mark > limit ? (size_t)(mark - p) : size;
}

/* As much of a part as there is room for. */
static bool scan_part(void *scan, void *block)
{
    struct cairn_scan *s = scan;
    struct cairn_scanned *to = block;
    const uint64_t all = s->window.input->size;
    if (s->at >= s->stop) {
        s->at = s->next;
        s->stop = s->at + PART_BYTES < all ? s->at + PART_BYTES : all;
        s->next += s->scans * PART_BYTES;
    }
    if (s->at >= all)
        return false;
    to->count = 0;
    to->failed = false;
    while (s->at < s->stop && to->count < CAIRN_SCAN_FOUND && !to->failed) {
        const unsigned before = s->at != 0; /* a mark at the start of a line is told by the byte before it */
        size_t have;
        const char *p = cairn_window(&s->window, s->at - before, CAIRN_FRAME_AHEAD + 2, &have);
        const bool last = s->at - before + have >= all || have < CAIRN_FRAME_AHEAD + 2;
        const uint64_t left = s->stop - s->at + before;
        size_t size = last ? have : have - CAIRN_FRAME_AHEAD;
        size = size < left ? size : (size_t)left;
        to->failed = have <= before;
        if (!to->failed)
            s->at += scan_window(s, to, p, size, p + have, s->at - before) - before;
    }
    to->done = s->at;
    to->ends = s->at >= s->stop;
    return true;
}

void cairn_scan_init(struct cairn_scan *s, struct cairn_input *input, uint32_t which, uint32_t scans,
                     struct cairn_scanned *blocks, uint32_t room)
{
    memset(s, 0, sizeof(*s));
    s->source = (struct cairn_source){
        .make = scan_part, .context = s, .blocks = (char *)blocks, .bytes = sizeof(*blocks), .room = room};
    s->next = which * PART_BYTES;
    s->scans = scans;
    cairn_window_init(&s->window, input);
}
