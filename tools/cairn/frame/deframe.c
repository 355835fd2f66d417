/* SPDX-License-Identifier: MIT */
#include "tools/cairn/frame/deframe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/frame/scan.h"
#include "tools/cairn/frame/unpack.h"

#define PROGRESS_STEP (UINT64_C(4) << 20)
#define RUNS_MOST     40u /* of chains: see begin_run() */
#define SCANS_MOST    15u
#define SCAN_BLOCKS   4u /* of each */

struct reader {
    struct cairn_frames *f;
    uint32_t which;
    uint32_t highest;
    uint64_t end;               /* of what has come */
    bool trailer;               /* of this dump has come, */
    uint64_t trailer_at;        /* there */
    uint64_t unlisted_own;      /* of the frames' `unlisted`: up to the trailer, or where none has come yet, all */
    size_t run[RUNS_MOST];      /* where runs of chains in order begin; */
    unsigned runs;              /* so many */
    uint64_t newlines, counted; /* line numbers: newlines before offset `counted` */
    struct cairn_window lines;
    struct cairn_links links;
    uint8_t other[CAIRN_FRAME_PAYLOAD_MAX];
};

/* How many of the damaged lines are of the dump that ends here: those behind its trailer are of the next one, and those
 * in front of the first good frame of all are of the first. */
static size_t own_suspects(const struct reader *r)
{
    size_t own = r->f->dumps ? r->f->suspects.count : 0;
    while (r->trailer && own && r->f->suspects.items[own - 1].at > r->trailer_at)
        own--;
    return own;
}

static void begin_dump(struct reader *r)
{
    struct cairn_frames *f = r->f;
    const size_t own = own_suspects(r);
    f->chains.count = f->crcs.count = f->count = r->runs = 0;
    memset(f->of, 0, sizeof(f->of));
    if (f->dumps) { /* those that it has of its own are forgotten */
        f->unlisted -= r->unlisted_own;
        r->unlisted_own = f->unlisted;
    }
    f->suspects.count -= own;
    if (own && f->suspects.count)
        memmove(f->suspects.items, f->suspects.items + own, f->suspects.count * sizeof(*f->suspects.items));
    f->repeated = f->misplaced = f->again = 0;
    f->dumps++;
    r->trailer = false;
    r->highest = 0;
}

static uint64_t line_number(struct reader *r, uint64_t at)
{
    while (r->counted < at) {
        size_t have;
        const char *p = cairn_window(&r->lines, r->counted, 1, &have);
        if (!have)
            break;
        have = have < at - r->counted ? have : (size_t)(at - r->counted);
        for (size_t i = 0; i < have; i++)
            r->newlines += p[i] == '\n';
        r->counted += have;
    }
    return r->newlines + 1;
}

/* The first chain of `count` in order that does not end before frame `number`; their count where none is. */
static size_t find_chain(const struct cairn_chain *chains, size_t count, uint32_t number)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (chains[middle].number + (chains[middle].count - 1) < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The chain that has the frame of that number; NULL: there is none yet. */
static const struct cairn_chain *find_frame(const struct reader *r, uint32_t number)
{
    size_t end = r->f->chains.count;
    for (unsigned run = r->runs; run--; end = r->run[run]) {
        const struct cairn_chain *chains = &r->f->chains.items[r->run[run]];
        const size_t count = end - r->run[run], i = find_chain(chains, count, number);
        if (i < count && chains[i].number <= number)
            return &chains[i];
    }
    return NULL;
}

/* Makes one run of the last two. */
static void merge_runs(struct reader *r)
{
    const size_t begin = r->run[r->runs - 2], middle = r->run[r->runs - 1], end = r->f->chains.count;
    struct cairn_chain *chains = r->f->chains.items, *last = cairn_alloc((end - middle) * sizeof(*last));
    memcpy(last, chains + middle, (end - middle) * sizeof(*last));
    size_t i = middle, j = end - middle;
    for (size_t to = end; j; to--) /* from the back */
        chains[to - 1] = i > begin && chains[i - 1].number > last[j - 1].number ? chains[--i] : last[--j];
    free(last);
    r->runs--;
}

/* Chains come in order but in a damaged or a hostile log: then another run begins. Each is at most half as long as the
 * one before it, or they become one, so that there are few (log2 of all chains, and those are fewer than 2^32 frames)
 * and each chain is moved a few times. */
static void begin_run(struct reader *r)
{
    const size_t end = r->f->chains.count;
    while (r->runs > 1 && r->run[r->runs - 1] - r->run[r->runs - 2] < 2 * (end - r->run[r->runs - 1]))
        merge_runs(r);
    assert(r->runs < RUNS_MOST);
    r->run[r->runs++] = end;
}

static void add_frame(struct reader *r, const struct cairn_found *found)
{
    struct cairn_frames *f = r->f;
    struct cairn_chain chain = found->chain;
    struct cairn_chain *last = f->chains.count ? &f->chains.items[f->chains.count - 1] : NULL;
    const unsigned stream = cairn_stream_index(chain.stream);
    f->count++;
    f->of[stream].frames++;
    f->of[stream].bytes += found->size;
    f->of[stream].characters += found->end - chain.at + 2; /* with the line end */
    chain.crc = (uint32_t)f->crcs.count;
    *CAIRN_ADD(f->crcs) = found->crc;
    if (last && cairn_chain_join(last, &chain))
        return;
    if (!last || chain.number < last->number)
        begin_run(r);
    *CAIRN_ADD(f->chains) = chain;
}

/* False: the dump asked for has ended before this frame. */
static bool take(struct reader *r, const struct cairn_found *found)
{
    const struct cairn_chain *frame = &found->chain;
    struct cairn_frames *f = r->f;
    bool begins = f->dumps == 0 || (frame->stream == CAIRN_STREAM_HEADER && r->trailer);
    if (!begins && f->count && frame->number <= r->highest) {
        const struct cairn_chain *chain = find_frame(r, frame->number);
        if (chain && chain->stream == frame->stream &&
            f->crcs.items[chain->crc + (frame->number - chain->number)] == found->crc) {
            f->repeated++;
            return true;
        }
        begins = chain;
    }
    if (begins) {
        if (r->which && f->dumps == r->which) {
            f->suspects.count = own_suspects(r);
            f->unlisted = r->unlisted_own;
            return false;
        }
        begin_dump(r);
    }
    if (f->count && frame->number < r->highest)
        f->misplaced++;
    else
        r->highest = frame->number;
    if (frame->stream == CAIRN_STREAM_LAST && !r->trailer) {
        r->trailer = true;
        r->trailer_at = frame->at;
    }
    add_frame(r, found);
    return true;
}

static void add_missing(struct cairn_frames *f, uint64_t first, uint64_t last, uint8_t before, uint8_t after)
{
    *CAIRN_ADD(f->missing) = (struct cairn_run){(uint32_t)first, (uint32_t)last, before, after};
    f->missing_frames += last - first + 1;
}

/* The frame of that number, of the chain that has it. */
static bool read_frame(struct reader *r, const struct cairn_chain *chain, uint32_t number, struct cairn_frame *frame)
{
    cairn_links_begin(&r->links, chain);
    while (cairn_links_next(&r->links, frame, r->other))
        if (frame->number == number)
            return true;
    return false;
}

/* The number of frames by a header: the first frame, or in a live dump the one in front of what came at the end. */
static bool header_total(struct reader *r, uint64_t *total)
{
    const struct cairn_frames *f = r->f;
    struct cairn_frame frame;
    for (size_t i = 0; i < f->chains.count; i++) {
        if (f->chains.items[i].stream != CAIRN_STREAM_HEADER)
            continue;
        cairn_links_begin(&r->links, &f->chains.items[i]);
        while (cairn_links_next(&r->links, &frame, r->other))
            if (cairn_payload_number(frame.payload, frame.size, "dump.frames", total))
                return true;
    }
    return false;
}

/* By the trailer, where that is the last frame. */
static bool trailer_total(struct reader *r, uint64_t *total)
{
    const struct cairn_frames *f = r->f;
    const struct cairn_chain *last = f->chains.count ? &f->chains.items[f->chains.count - 1] : NULL;
    struct cairn_frame frame;
    return last && last->stream == CAIRN_STREAM_LAST && read_frame(r, last, last->number + (last->count - 1), &frame) &&
           cairn_payload_number(frame.payload, frame.size, "dump.frames", total);
}

static void find_missing(struct reader *r)
{
    struct cairn_frames *f = r->f;
    const size_t n = f->chains.count;
    const struct cairn_chain *chains = f->chains.items, *last = n ? &chains[n - 1] : NULL;
    uint64_t header = 0, trailer = 0, next = 0;
    bool has_header = header_total(r, &header), has_trailer = trailer_total(r, &trailer);
    f->total_known = has_header || has_trailer;
    f->totals_differ = (has_header && has_trailer && header != trailer);
    f->total = has_header ? header : trailer;
    if (n && f->total <= last->number + (last->count - 1)) {
        f->totals_differ |= f->total_known;
        f->total = (uint64_t)last->number + last->count;
    }
    for (size_t i = 0; i < n; i++) {
        if (chains[i].number > next)
            add_missing(f, next, chains[i].number - 1, i ? chains[i - 1].stream : 0, chains[i].stream);
        next = (uint64_t)chains[i].number + chains[i].count;
    }
    if (f->total > next && next <= UINT32_MAX)
        add_missing(f, next, f->total - 1 > UINT32_MAX ? UINT32_MAX : f->total - 1, n ? last->stream : 0, 0);
}

static int by_number(const void *a, const void *b)
{
    const struct cairn_suspect *x = *(struct cairn_suspect *const *)a, *y = *(struct cairn_suspect *const *)b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Lines that were broken off and sent again are no damage. By their numbers, so that each frame is read once. */
static void pass_over_again(struct reader *r)
{
    struct cairn_frames *f = r->f;
    struct cairn_suspect **cut = cairn_alloc(f->suspects.count * sizeof(struct cairn_suspect *));
    const struct cairn_chain *chain = NULL;
    struct cairn_frame whole = {0};
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < f->suspects.count; i++)
        if (f->suspects.items[i].flaw == CAIRN_FLAW_CUT && f->suspects.items[i].numbered)
            cut[count++] = &f->suspects.items[i];
    qsort(cut, count, sizeof(struct cairn_suspect *), by_number);
    for (size_t i = 0; i < count; i++) {
        const struct cairn_chain *next = find_frame(r, cut[i]->number);
        bool there = next && next == chain && whole.number == cut[i]->number;
        if (next && next != chain)
            cairn_links_begin(&r->links, next);
        while (next && !there && cairn_links_next(&r->links, &whole, r->other))
            there = whole.number == cut[i]->number;
        if (next)
            chain = next;
        if (there && whole.stream == cut[i]->stream && whole.at > cut[i]->at)
            cut[i]->again = true;
    }
    for (size_t i = 0; i < f->suspects.count; i++) {
        f->again += f->suspects.items[i].again;
        if (!f->suspects.items[i].again)
            f->suspects.items[kept++] = f->suspects.items[i];
    }
    f->suspects.count = kept;
    free(cut);
}

static void add_suspect(struct reader *r, const struct cairn_found *found)
{
    struct cairn_frames *f = r->f;
    if (f->suspects.count == CAIRN_SUSPECTS_MOST) {
        f->unlisted++;
        r->unlisted_own += !r->trailer;
        return;
    }
    *CAIRN_ADD(f->suspects) = (struct cairn_suspect){
        .at = found->chain.at,
        .line = line_number(r, found->chain.at),
        .number = found->chain.number,
        .numbered = found->numbered,
        .stream = found->chain.stream,
        .flaw = found->flaw,
    };
}

/* What has been found, but what lies in a frame that began in the part before. False: the dump asked for has ended. */
static bool take_all(struct reader *r, const struct cairn_scanned *scanned)
{
    for (uint32_t i = 0; i < scanned->count; i++) {
        const struct cairn_found *found = &scanned->found[i];
        if (found->chain.at < r->end)
            continue;
        r->end = found->end;
        if (!found->good)
            add_suspect(r, found);
        else if (!take(r, found))
            return false;
    }
    return true;
}

/* Reads the log from its beginning to its end, or that of the dump asked for. */
static void read_log(struct reader *r, uint32_t helpers, void (*progress)(uint64_t done, uint64_t all))
{
    const uint32_t scans = helpers < SCANS_MOST / 2 ? 2 * helpers + 1 : SCANS_MOST;
    struct cairn_scan *scan = cairn_alloc(scans * sizeof(*scan));
    struct cairn_scanned *blocks = cairn_alloc((size_t)scans * SCAN_BLOCKS * sizeof(*blocks)), *scanned;
    struct cairn_source *source[SCANS_MOST];
    struct cairn_ahead *ahead;
    uint64_t next_progress = PROGRESS_STEP;
    uint32_t turn = 0;
    for (uint32_t i = 0; i < scans; i++) {
        cairn_scan_init(&scan[i], r->f->input, i, scans, &blocks[i * SCAN_BLOCKS], SCAN_BLOCKS);
        source[i] = &scan[i].source;
    }
    ahead = cairn_ahead_new(source, scans, helpers);
    while ((scanned = cairn_ahead_next(ahead, source[turn])) != NULL && take_all(r, scanned) && !scanned->failed) {
        if (scanned->ends)
            turn = (turn + 1) % scans;
        if (progress && scanned->done >= next_progress) {
            progress(scanned->done, r->f->input->size);
            next_progress += PROGRESS_STEP;
        }
    }
    cairn_ahead_free(ahead);
    free(blocks);
    free(scan);
}

void cairn_deframe(struct cairn_frames *f, struct cairn_input *input, uint32_t which, uint32_t helpers,
                   void (*progress)(uint64_t done, uint64_t all))
{
    struct reader *r = cairn_alloc(sizeof(*r)); /* too large for every stack */
    memset(f, 0, sizeof(*f));
    f->input = input;
    cairn_window_init(&r->lines, input);
    cairn_links_init(&r->links, f);
    r->f = f;
    r->which = which;
    read_log(r, helpers, progress);
    f->dump = f->dumps;
    while (r->runs > 1)
        merge_runs(r);
    pass_over_again(r);
    find_missing(r);
    free(r);
    cairn_unpack(f);
}

uint64_t cairn_frames_damaged(const struct cairn_frames *f)
{
    return f->suspects.count + f->unlisted;
}

uint64_t cairn_frames_bytes(const struct cairn_frames *f)
{
    uint64_t bytes = f->arena_used;
    for (unsigned i = 0; i < CAIRN_STREAM_COUNT; i++)
        bytes += f->of[i].bytes;
    return bytes;
}

void cairn_frames_free(struct cairn_frames *f)
{
    free(f->chains.items);
    free(f->crcs.items);
    free(f->suspects.items);
    free(f->missing.items);
    free(f->arena);
    free(f->kept);
    if (f->store)
        cairn_input_close(f->store);
    free(f->store);
    memset(f, 0, sizeof(*f));
}
