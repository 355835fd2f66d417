/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/feed.h"

#include <string.h>

static void note_damage(struct cairn_feed *feed, const struct cairn_line *l, enum cairn_flaw flaw)
{
    feed->damaged++;
    if (flaw != CAIRN_FLAW_CUT || !l->numbered)
        return;
    feed->cuts = feed->cuts && feed->cut == l->frame.number ? feed->cuts + 1 : 1;
    feed->cut = l->frame.number;
}

static void note_frame(struct cairn_feed *feed, const struct cairn_line *l)
{
    if (!feed->cuts || feed->cut != l->frame.number)
        return;
    feed->damaged -= feed->cuts;
    feed->cuts = 0;
}

/* Where the ends of lines were damaged, there are several frames in one. */
static void take_line(struct cairn_feed *feed)
{
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    while (feed->used && feed->text[feed->used - 1] == '\r')
        feed->used--;
    const char *p = feed->text, *end = p + feed->used, *first = NULL;
    struct cairn_line l;
    for (const char *mark = p; (mark = memchr(mark, CAIRN_FRAME_MARK, (size_t)(end - mark))) != NULL;) {
        const int flaw = cairn_frame_read(&l, mark, end, payload);
        const bool damaged = flaw && cairn_frame_suspect(&l, p, mark, end);
        if (damaged)
            note_damage(feed, &l, (enum cairn_flaw)(flaw - 1));
        if (!first && (!flaw || damaged))
            first = mark;
        if (!flaw) {
            note_frame(feed, &l);
            feed->frame(feed->context, &l, mark, (size_t)(l.end - mark));
        }
        mark = flaw ? mark + 1 : l.end;
    }
    if (feed->line)
        feed->line(feed->context, p, feed->used, first ? (size_t)(first - p) : feed->used);
    feed->used = 0;
}

void cairn_feed_bytes(struct cairn_feed *feed, const char *data, size_t size)
{
    for (const char *end = data + size; data < end;) {
        const char *eol = memchr(data, '\n', (size_t)(end - data));
        const size_t left = (size_t)((eol ? eol : end) - data), room = sizeof(feed->text) - feed->used;
        const size_t n = left < room ? left : room;
        memcpy(feed->text + feed->used, data, n);
        feed->used += n;
        data += n;
        if (feed->used == sizeof(feed->text) || (eol && data == eol))
            take_line(feed);
        if (eol && data == eol)
            data++;
    }
}

void cairn_feed_end(struct cairn_feed *feed)
{
    if (feed->used)
        take_line(feed);
}
