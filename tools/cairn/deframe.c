/* SPDX-License-Identifier: MIT */
#include "tools/cairn/deframe.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/bytes.h"
#include "tools/cairn/map.h"
#include "trace/base64.h"
#include "trace/crc32c.h"
#include "trace/format.h"

#define PROGRESS_STEP (UINT64_C(4) << 20)

/* ---- one line --------------------------------------------------------------------------------------------------- */

bool cairn_is_stream(char c)
{
    return c != '\0' && strchr("HMNSLTEUZ", c) != NULL;
}

const char *cairn_flaw_text(enum cairn_flaw flaw)
{
    static const char *const text[] = {"cut short", "characters that no frame has", "wrong checksum"};
    return text[flaw];
}

/* Exactly eight lower-case hex digits. */
static bool hex8(const char *p, const char *end, uint32_t *value)
{
    if (end - p < 8)
        return false;
    uint32_t v = 0;
    for (int i = 0; i < 8; i++) {
        char c = p[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                                                : 16;
        if (digit > 15)
            return false;
        v = v << 4 | digit;
    }
    *value = v;
    return true;
}

/* The flaw of a frame that goes wrong at `at`: where the line (or the log) has ended by then, that is what it is. */
static int flawed(const char *mark, const char *at, const char *end, enum cairn_flaw flaw)
{
    size_t size = (size_t)(at - mark);
    if (at >= end || memchr(mark, '\r', size) || memchr(mark, '\n', size))
        flaw = CAIRN_FLAW_CUT;
    return 1 + (int)flaw;
}

int cairn_frame_read(struct cairn_line *l, const char *mark, const char *end, uint8_t *to)
{
    const size_t longest = TRACE_BASE64_SIZE(CAIRN_FRAME_PAYLOAD_MAX);
    *l = (struct cairn_line){0};
    if (end - mark >= 2 && cairn_is_stream(mark[1]))
        l->frame.stream = (uint8_t)mark[1];
    l->numbered = end - mark >= 10 && hex8(mark + 2, end, &l->frame.number);
    if (end - mark < 11 || !l->frame.stream || !l->numbered || mark[10] != CAIRN_FRAME_SEPARATOR)
        return flawed(mark, end - mark < 11 ? end : mark + 11, end, CAIRN_FLAW_TEXT);
    const char *text = mark + 11;
    size_t left = (size_t)(end - text);
    const char *separator = memchr(text, CAIRN_FRAME_SEPARATOR, left < longest + 1 ? left : longest + 1);
    if (!separator)
        return flawed(mark, left > longest ? text + longest : end, end, CAIRN_FLAW_TEXT);
    uint32_t crc;
    if (!hex8(separator + 1, end, &crc))
        return flawed(mark, end - separator < 9 ? end : separator + 9, end, CAIRN_FLAW_TEXT);
    if (crc != trace_crc32c(0, mark + 1, (size_t)(separator - mark) - 1))
        return flawed(mark, separator, end, CAIRN_FLAW_CRC);
    long size = trace_base64_decode(to, text, (size_t)(separator - text));
    if (size < 0)
        return flawed(mark, separator, end, CAIRN_FLAW_TEXT);
    l->frame.size = (uint32_t)size;
    l->end = separator + 9;
    return 0;
}

/* ---- the log ---------------------------------------------------------------------------------------------------- */

struct reader {
    struct cairn_frames *f;
    struct cairn_map have; /* frames of this dump by number */
    uint32_t which;
    uint32_t highest;
    bool trailer;               /* of this dump has come */
    uint64_t newlines, counted; /* line numbers: newlines before offset `counted` */
    const char *data;
};

static void begin_dump(struct reader *r)
{
    struct cairn_frames *f = r->f;
    f->frames.count = 0;
    if (f->dumps) /* what was damaged before the first good frame belongs to the first dump */
        f->suspects.count = 0;
    f->repeated = f->misplaced = f->again = 0;
    f->arena_used = 0;
    f->dumps++;
    r->trailer = false;
    r->highest = 0;
    cairn_map_free(&r->have);
}

static uint64_t line_number(struct reader *r, uint64_t at)
{
    for (; r->counted < at; r->counted++)
        r->newlines += r->data[r->counted] == '\n';
    return r->newlines + 1;
}

/* False: the dump asked for has ended before this frame. */
static bool take(struct reader *r, const struct cairn_frame *frame)
{
    struct cairn_frames *f = r->f;
    bool begins = f->dumps == 0 || (frame->stream == CAIRN_STREAM_HEADER && r->trailer);
    if (!begins) {
        uint32_t have = cairn_map_find(&r->have, frame->number);
        if (have) {
            const struct cairn_frame *other = &f->frames.items[have - 1];
            if (other->stream == frame->stream && other->size == frame->size &&
                memcmp(f->arena + other->payload, f->arena + frame->payload, frame->size) == 0) {
                f->repeated++;
                return true;
            }
            begins = true;
        }
    }
    struct cairn_frame taken = *frame;
    if (begins) {
        if (r->which && f->dumps == r->which)
            return false;
        begin_dump(r);
        memmove(f->arena, f->arena + frame->payload, frame->size);
        taken.payload = 0;
    }
    if (f->frames.count && frame->number < r->highest)
        f->misplaced++;
    else
        r->highest = frame->number;
    r->trailer |= frame->stream == CAIRN_STREAM_LAST;
    cairn_map_add(&r->have, taken.number, (uint32_t)f->frames.count);
    *CAIRN_ADD(f->frames) = taken;
    f->arena_used = taken.payload + taken.size;
    return true;
}

bool cairn_frame_suspect(const struct cairn_line *l, const char *data, const char *mark, const char *end)
{
    if (l->frame.stream && l->numbered)
        return true;
    if (mark != data && mark[-1] != '\n')
        return false;
    size_t left = (size_t)(end - mark);
    const char *eol = memchr(mark, '\n', left);
    size_t length = eol ? (size_t)(eol - mark) : left;
    return length >= CAIRN_FRAME_OVERHEAD && memchr(mark, CAIRN_FRAME_SEPARATOR, length) && !memchr(mark, ' ', length);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct cairn_frame *)a)->number, y = ((const struct cairn_frame *)b)->number;
    return (x > y) - (x < y);
}

bool cairn_payload_number(const uint8_t *payload, size_t size, const char *key, uint64_t *value)
{
    size_t length = strlen(key);
    const char *p = (const char *)payload, *end = p + size;
    while (p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol)
            eol = end;
        if ((size_t)(eol - p) > length + 1 && memcmp(p, key, length) == 0 && p[length] == '=') {
            uint64_t v = 0;
            for (p += length + 1; p < eol; p++) {
                if (*p < '0' || *p > '9' || v > (UINT64_MAX - 9) / 10)
                    return false;
                v = v * 10 + (uint64_t)(*p - '0');
            }
            *value = v;
            return true;
        }
        p = eol + 1;
    }
    return false;
}

static void add_missing(struct cairn_frames *f, uint64_t first, uint64_t last, uint8_t before, uint8_t after)
{
    *CAIRN_ADD(f->missing) = (struct cairn_run){(uint32_t)first, (uint32_t)last, before, after};
    f->missing_frames += last - first + 1;
}

/* The number of frames by a header: the first frame, or in a live dump the one in front of what came at the end. */
static bool header_total(const struct cairn_frames *f, uint64_t *total)
{
    for (size_t i = 0; i < f->frames.count; i++) {
        const struct cairn_frame *frame = &f->frames.items[i];
        if (frame->stream == CAIRN_STREAM_HEADER &&
            cairn_payload_number(f->arena + frame->payload, frame->size, "dump.frames", total))
            return true;
    }
    return false;
}

static void find_missing(struct cairn_frames *f)
{
    size_t n = f->frames.count;
    const struct cairn_frame *frames = f->frames.items;
    uint64_t header = 0, trailer = 0;
    bool has_header = header_total(f, &header);
    bool has_trailer =
        n && frames[n - 1].stream == CAIRN_STREAM_LAST &&
        cairn_payload_number(f->arena + frames[n - 1].payload, frames[n - 1].size, "dump.frames", &trailer);
    f->total_known = has_header || has_trailer;
    f->totals_differ = (has_header && has_trailer && header != trailer);
    f->total = has_header ? header : trailer;
    if (n && f->total <= frames[n - 1].number) {
        f->totals_differ |= f->total_known;
        f->total = (uint64_t)frames[n - 1].number + 1;
    }
    uint64_t next = 0;
    for (size_t i = 0; i < n; i++) {
        if (frames[i].number > next)
            add_missing(f, next, frames[i].number - 1, i ? frames[i - 1].stream : 0, frames[i].stream);
        next = (uint64_t)frames[i].number + 1;
    }
    if (f->total > next && next <= UINT32_MAX)
        add_missing(f, next, f->total - 1 > UINT32_MAX ? UINT32_MAX : f->total - 1, n ? frames[n - 1].stream : 0, 0);
}

/* Lines that were broken off and sent again are no damage. */
static void pass_over_again(struct cairn_frames *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->suspects.count; i++) {
        const struct cairn_suspect *s = &f->suspects.items[i];
        const struct cairn_frame wanted = {.number = s->number};
        const struct cairn_frame *whole = NULL;
        if (s->flaw == CAIRN_FLAW_CUT && s->numbered && f->frames.count)
            whole = bsearch(&wanted, f->frames.items, f->frames.count, sizeof(wanted), by_number);
        if (whole && whole->stream == s->stream && whole->at > s->at)
            f->again++;
        else
            f->suspects.items[kept++] = *s;
    }
    f->suspects.count = kept;
}

void cairn_deframe(struct cairn_frames *f, const char *data, size_t size, uint32_t which,
                   void (*progress)(uint64_t done, uint64_t all))
{
    struct reader r = {.f = f, .which = which, .data = data};
    const char *p = data, *end = data + size;
    uint64_t next_progress = PROGRESS_STEP;
    memset(f, 0, sizeof(*f));
    f->arena = cairn_alloc(size / 4 * 3 + CAIRN_FRAME_PAYLOAD_MAX);
    while (p < end && (p = memchr(p, CAIRN_FRAME_MARK, (size_t)(end - p))) != NULL) {
        struct cairn_line l;
        int flaw = cairn_frame_read(&l, p, end, f->arena + f->arena_used);
        if (flaw == 0) {
            l.frame.at = (uint64_t)(p - data);
            l.frame.payload = f->arena_used;
            if (!take(&r, &l.frame))
                break;
            p = l.end;
        } else {
            if (cairn_frame_suspect(&l, data, p, end))
                *CAIRN_ADD(f->suspects) = (struct cairn_suspect){
                    .at = (uint64_t)(p - data),
                    .line = line_number(&r, (uint64_t)(p - data)),
                    .number = l.frame.number,
                    .numbered = l.numbered,
                    .stream = l.frame.stream,
                    .flaw = (uint8_t)(flaw - 1),
                };
            p++;
        }
        if (progress && (uint64_t)(p - data) >= next_progress) {
            progress((uint64_t)(p - data), size);
            next_progress += PROGRESS_STEP;
        }
    }
    cairn_map_free(&r.have);
    f->dump = f->dumps;
    if (f->misplaced)
        qsort(f->frames.items, f->frames.count, sizeof(*f->frames.items), by_number);
    pass_over_again(f);
    find_missing(f);
}

void cairn_frames_free(struct cairn_frames *f)
{
    free(f->frames.items);
    free(f->suspects.items);
    free(f->missing.items);
    free(f->arena);
    memset(f, 0, sizeof(*f));
}
