/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/etl/described/manifests.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"
#include "tools/cairn/event/event_info_layout.h"
#include "tools/cairn/log/etl/described/manifest.h"

#define CHUNKS_MOST    (1u << 20)
#define XML_MOST       (2u << 20) /* bytes of a manifest: .NET's own has some 100,000 */
#define DIFFERENT_MOST 64u        /* manifests of one provider: one for each version of its program */
#define BYTES_MOST     (8u << 20) /* of what all come to */

void cairn_manifests_note(struct cairn_manifests *m, const struct cairn_event *e, struct cairn_bytes payload)
{
    struct event_source_envelope envelope = {0};
    if (payload.size >= sizeof(envelope))
        memcpy(&envelope, payload.at, sizeof(envelope));
    if (envelope.magic != EVENT_SOURCE_MAGIC || envelope.chunk >= envelope.chunks || m->chunks.count >= CHUNKS_MOST) {
        m->unread += !envelope.chunk; /* once for each */
        return;
    }
    const uint32_t size = payload.size - (uint32_t)sizeof(envelope), order = (uint32_t)m->chunks.count;
    *CAIRN_ADD(m->chunks) = (struct cairn_manifest_chunk){e->payload - e->head, payload.at, size, order};
}

/* ---- put together ------------------------------------------------------------------------------------------------ */

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Those of one thread about one provider. */
static int by_writer(const void *a, const void *b)
{
    const struct cairn_manifest_chunk *x = a, *y = b;
    const int c = memcmp(x->event + ETL_CLASSIC_PROVIDER, y->event + ETL_CLASSIC_PROVIDER, EVENT_GUID_BYTES);
    return c ? c : by_number(cairn_get64(x->event + ETL_CLASSIC_THREAD), cairn_get64(y->event + ETL_CLASSIC_THREAD));
}

static int in_time(const void *a, const void *b)
{
    const struct cairn_manifest_chunk *x = a, *y = b;
    int c = by_writer(x, y);
    c = c ? c : by_number(cairn_get64(x->event + ETL_CLASSIC_TIME), cairn_get64(y->event + ETL_CLASSIC_TIME));
    return c ? c : by_number(x->order, y->order);
}

static uint16_t number_of(const struct cairn_manifest_chunk *c)
{
    return cairn_get16(c->envelope + offsetof(struct event_source_envelope, chunk));
}

/* Whether a chunk that cannot be read is of another manifest than the one before it, which cannot either; NULL: that
 * can, or there is none. */
static bool is_next(const struct cairn_manifest_chunk *c, const struct cairn_manifest_chunk *before)
{
    return !before || by_writer(c, before) != 0 || number_of(c) <= number_of(before);
}

/* How many chunks from the first one on are a whole manifest, whose `bytes` are counted; 0: they are none. */
static size_t whole(const struct cairn_manifest_chunk *first, size_t left, size_t *bytes)
{
    struct event_source_envelope head, next;
    memcpy(&head, first->envelope, sizeof(head));
    *bytes = 0;
    if (head.format != EVENT_SOURCE_XML || head.chunk || head.chunks > left)
        return 0;
    for (size_t i = 0; i < head.chunks; i++) {
        memcpy(&next, first[i].envelope, sizeof(next));
        if (next.chunk != i || next.chunks != head.chunks || by_writer(first, &first[i]) != 0)
            return 0;
        *bytes += first[i].size;
    }
    return head.chunks;
}

static char *join(const struct cairn_manifest_chunk *first, size_t chunks, size_t bytes)
{
    char *xml = cairn_alloc(bytes ? bytes : 1);
    size_t at = 0;
    for (size_t i = 0; i < chunks; i++) {
        memcpy(xml + at, first[i].envelope + sizeof(struct event_source_envelope), first[i].size);
        at += first[i].size;
    }
    return xml;
}

/* ---- what they come to ------------------------------------------------------------------------------------------- */

struct known { /* manifests of one provider */
    const uint8_t *provider;
    uint64_t hashes[DIFFERENT_MOST];
    unsigned count;
    bool full; /* the one asked for last had no room */
};

/* Whether it has been read before; else it counts as read from now on, as long as there is room. */
static bool is_known(struct known *k, const struct cairn_manifest_chunk *first, const char *xml, size_t bytes)
{
    const uint8_t *provider = first->event + ETL_CLASSIC_PROVIDER;
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)xml[i]) * UINT64_C(0x100000001B3);
    if (!k->provider || memcmp(k->provider, provider, EVENT_GUID_BYTES) != 0)
        *k = (struct known){.provider = provider};
    for (unsigned i = 0; i < k->count; i++)
        if (k->hashes[i] == hash)
            return true;
    k->full = k->count == DIFFERENT_MOST;
    if (!k->full)
        k->hashes[k->count++] = hash;
    return false;
}

struct receiver {
    void (*event)(void *to, struct cairn_bytes info), (*map)(void *to, struct cairn_bytes map);
    void *to;
};

static void hand_over(struct cairn_manifests *m, const struct cairn_manifest_parts *parts, const struct receiver *r)
{
    for (size_t i = 0; i < parts->list.count; i++) {
        const struct cairn_manifest_part *p = &parts->list.items[i];
        (p->map ? r->map : r->event)(r->to, (struct cairn_bytes){parts->bytes.items + p->at, p->size});
    }
    free(parts->list.items);
    *CAIRN_ADD(m->blocks) = parts->bytes.items;
    m->bytes += parts->bytes.count;
}

static void read_one(struct cairn_manifests *m, const uint8_t *provider, const char *xml, size_t bytes,
                     const struct receiver *r)
{
    struct cairn_manifest manifest = {.text = NULL};
    struct cairn_manifest_parts parts = {.most = BYTES_MOST - m->bytes};
    if (cairn_manifest_parse(&manifest, xml, bytes)) {
        m->read++;
        cairn_manifest_write(&manifest, provider, &parts);
        m->unread += parts.full;
        hand_over(m, &parts, r);
    } else {
        m->unread++;
    }
    cairn_manifest_free(&manifest);
}

void cairn_manifests_read(struct cairn_manifests *m, void (*event)(void *to, struct cairn_bytes info),
                          void (*map)(void *to, struct cairn_bytes map), void *to)
{
    const struct receiver r = {event, map, to};
    struct known known = {.count = 0};
    const struct cairn_manifest_chunk *chunks = m->chunks.items, *unread = NULL;
    size_t bytes, n;
    if (m->chunks.count)
        qsort(m->chunks.items, m->chunks.count, sizeof(*m->chunks.items), in_time);
    for (size_t i = 0; i < m->chunks.count; i += n ? n : 1) {
        n = whole(&chunks[i], m->chunks.count - i, &bytes);
        if (!n || bytes > XML_MOST || m->bytes >= BYTES_MOST) {
            m->unread += n || is_next(&chunks[i], unread);
            unread = n ? NULL : &chunks[i];
            continue;
        }
        unread = NULL;
        char *xml = join(&chunks[i], n, bytes);
        if (!is_known(&known, &chunks[i], xml, bytes)) {
            if (known.full)
                m->unread++;
            else
                read_one(m, chunks[i].event + ETL_CLASSIC_PROVIDER, xml, bytes, &r);
        }
        free(xml);
    }
}

void cairn_manifests_free(struct cairn_manifests *m)
{
    for (size_t i = 0; i < m->blocks.count; i++)
        free(m->blocks.items[i]);
    free(m->blocks.items);
    free(m->chunks.items);
}
