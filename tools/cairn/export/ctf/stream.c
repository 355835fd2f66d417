/* SPDX-License-Identifier: MIT */
/* Writes one CPU's stream, packet by packet. */
#include <errno.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/export/ctf/ctf.h"
#include "tools/cairn/export/json.h"

#define MAGIC UINT32_C(0xC1FC1FC1)
#define FULL  32768u /* a packet of so many bytes is closed */

/* As the metadata describes it. */
struct packet {
    uint32_t magic, stream;
    uint64_t begin, end; /* clock */
    uint64_t content_bits, packet_bits;
    uint64_t number, discarded; /* discarded: up to the packet's end */
    uint32_t cpu;
} __attribute__((packed));
_Static_assert(sizeof(struct packet) == 60, "as in the metadata");

void cairn_ctf_number(struct cairn_ctf_stream *s, uint64_t value, unsigned bytes)
{
    for (; bytes; bytes--, value >>= 8)
        *CAIRN_ADD(*s) = (uint8_t)value;
}

void cairn_ctf_slice(struct cairn_ctf_stream *s, struct cairn_slice text)
{
    static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */
    if (!text.size) /* babeltrace2 2.0 shows the text of the event before in the place of an empty one */
        text = (struct cairn_slice){"[unknown]", 9};
    const uint8_t *p = (const void *)text.at, *end = p + text.size;
    while (p < end) {
        const unsigned n = *p ? cairn_utf8(p, (size_t)(end - p)) : 0;
        const uint8_t *from = n ? p : (const void *)replacement;
        for (unsigned i = 0; i < (n ? n : sizeof(replacement) - 1); i++)
            *CAIRN_ADD(*s) = from[i];
        p += n ? n : 1;
    }
    *CAIRN_ADD(*s) = '\0';
}

void cairn_ctf_text(struct cairn_ctf_stream *s, const char *text)
{
    cairn_ctf_slice(s, text ? cairn_slice_of(text) : (struct cairn_slice){0});
}

/* The packet begins, where there is none. */
static void begin_packet(struct cairn_ctf_stream *s)
{
    if (s->count)
        return;
    s->first = s->last;
    for (size_t i = 0; i < sizeof(struct packet); i++) /* filled in when it is written */
        *CAIRN_ADD(*s) = 0;
}

static void end_packet(struct cairn_ctf_stream *s)
{
    const struct packet packet = {
        .magic = MAGIC,
        .begin = s->first,
        .end = s->last,
        .content_bits = 8 * s->count,
        .packet_bits = 8 * s->count,
        .number = s->packets,
        .discarded = s->discarded,
        .cpu = s->cpu,
    };
    memcpy(s->items, &packet, sizeof(packet));
    if (!s->error && (fwrite(s->items, 1, s->count, s->file) != s->count || fflush(s->file)))
        s->error = errno ? -errno : -EIO;
    s->count = 0;
    s->packets++;
}

/* The first packet is empty: its readers know how many events were discarded only from what a packet counts beyond the
 * one before it. `at`: clock of the first event, 0: there is none yet. */
static void begin_stream(struct cairn_ctf_stream *s, uint64_t at)
{
    const uint64_t begins = s->begins ? s->begins : at ? at : CAIRN_CTF_ORIGIN;
    if (s->packets)
        return;
    s->last = at && at < begins ? at : begins;
    begin_packet(s);
    end_packet(s);
}

static void head(struct cairn_ctf_stream *s, enum cairn_ctf_event event)
{
    begin_packet(s);
    cairn_ctf_number(s, event, 1);
    cairn_ctf_number(s, s->last, 8);
}

void cairn_ctf_open(struct cairn_ctf_stream *s, enum cairn_ctf_event event, int64_t ns)
{
    const bool told = ns != CAIRN_CTF_NOT_TOLD;
    const uint64_t at = cairn_ctf_clock(ns);
    begin_stream(s, at);
    if (at && at >= s->last) {
        s->last = at;
    } else if (told) {
        head(s, CAIRN_CTF_OUT_OF_ORDER);
        cairn_ctf_number(s, (uint64_t)ns, 8);
    }
    head(s, event);
}

void cairn_ctf_close(struct cairn_ctf_stream *s)
{
    if (s->count >= FULL)
        end_packet(s);
}

void cairn_ctf_discarded(struct cairn_ctf_stream *s, uint64_t count)
{
    if (!count)
        return;
    begin_stream(s, 0);
    begin_packet(s);
    if (__builtin_add_overflow(s->discarded, count, &s->discarded))
        s->discarded = UINT64_MAX; /* a log that lies */
    end_packet(s);
}

int cairn_ctf_end(struct cairn_ctf_stream *s, uint64_t ends)
{
    begin_stream(s, 0);
    if (ends > s->last) {
        begin_packet(s);
        s->last = ends;
    }
    if (s->count)
        end_packet(s);
    if (s->file && fclose(s->file) && !s->error)
        s->error = -errno;
    s->file = NULL;
    return s->error;
}
