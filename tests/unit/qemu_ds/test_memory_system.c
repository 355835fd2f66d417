/* SPDX-License-Identifier: MIT */
/*
 * The memory system of memory=model: the same random accesses on it and on a second one, which keeps lists in the order
 * of use and one state for each core and line. Each access has to be the same on both, and MESI's rules have to hold in
 * between. Then cores on threads of their own, and what a few accesses are on paper.
 *
 * Longer than 500 lines: half of it is the second memory system.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tools/qemu-ds/modelled/memory_system.h"

#define CORES 4u
#define PAGES 12u
#define LINES (PAGES * 64u)

static const uint16_t latencies[DS_MODEL_SOURCES] = {
    [DS_MODEL_SOURCE_L1] = 4,          [DS_MODEL_SOURCE_L2] = 14,        [DS_MODEL_SOURCE_L3] = 40,
    [DS_MODEL_SOURCE_SNOOP_MISS] = 45, [DS_MODEL_SOURCE_SNOOP_HIT] = 50, [DS_MODEL_SOURCE_SNOOP_HITM] = 70,
    [DS_MODEL_SOURCE_MEMORY] = 200,
};
enum { STLB = 7, WALK = 30 };

/* Small, so that everything is full soon; the efficient cores' are smaller. */
static struct qds_memory_config small(void)
{
    struct qds_memory_config c = {
        .caches = {.kind = {{{4, 2}, {8, 3}}, {{4, 1}, {4, 2}}}, .efficient = 3, .l3 = {16, 8}},
        .kind = {{{2, 2}, {4, 2}}, {{1, 2}, {2, 2}}},
        .stlb_latency = STLB,
        .walk_latency = WALK,
        .line_shift = 6,
    };
    memcpy(c.caches.latency, latencies, sizeof latencies);
    return c;
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

static uint64_t seed;
static uint32_t random_below(uint32_t n)
{
    return next_random(&seed) % n;
}

/* ---- the second one ---------------------------------------------------------------------------------------------- */

struct list { /* of one set: what is used last comes first */
    unsigned room, length;
    uint64_t of[16];
};

/* Puts it first. Returns whether it was there; *gone: what had to go for it, UINT64_MAX: nothing. */
static bool use(struct list *l, uint64_t what, uint64_t *gone)
{
    unsigned at = 0;
    while (at < l->length && l->of[at] != what)
        at++;
    const bool there = at < l->length;
    *gone = UINT64_MAX;
    if (!there && l->length == l->room) {
        *gone = l->of[--l->length];
        at = l->length;
    }
    l->length += !there;
    memmove(&l->of[1], &l->of[0], at * sizeof l->of[0]);
    l->of[0] = what;
    return there;
}

static bool has(const struct list *l, uint64_t what)
{
    for (unsigned i = 0; i < l->length; i++)
        if (l->of[i] == what)
            return true;
    return false;
}

static void drop(struct list *l, uint64_t what)
{
    unsigned to = 0;
    for (unsigned i = 0; i < l->length; i++)
        if (l->of[i] != what)
            l->of[to++] = l->of[i];
    l->length = to;
}

enum mesi { I, S, E, M };

static struct naive {
    struct qds_memory_config config;
    struct list l1[CORES][16], l2[CORES][16], l3[16], dtlb[CORES][16], stlb[CORES][16];
    enum mesi state[CORES][LINES];
    bool asked[CORES][LINES]; /* as the L3 knows */
    bool alone[LINES];        /* likewise: given exclusively */
    bool coming[CORES][LINES];
    uint64_t ready[CORES][LINES], now[CORES];
    uint64_t frame[CORES][PAGES]; /* where pages lie now, */
    uint64_t known[CORES][PAGES]; /* and as the TLBs have it */
} naive;

static unsigned kind(unsigned core)
{
    return core >= naive.config.caches.efficient;
}

static void room(struct list *lists, uint32_t sets, uint32_t ways)
{
    for (unsigned i = 0; i < sets; i++)
        lists[i].room = ways;
}

/* Pages lie elsewhere, sometimes two of them at the same place. */
static void remap(unsigned c, uint64_t from, uint64_t pages)
{
    for (uint64_t page = from; page < from + pages; page++)
        naive.frame[c][page] = random_below(PAGES);
}

static void naive_begin(const struct qds_memory_config *config)
{
    memset(&naive, 0, sizeof naive);
    naive.config = *config;
    room(naive.l3, config->caches.l3.sets, config->caches.l3.ways);
    for (unsigned c = 0; c < CORES; c++) {
        const unsigned k = kind(c);
        remap(c, 0, PAGES);
        room(naive.l1[c], config->caches.kind[k].l1.sets, config->caches.kind[k].l1.ways);
        room(naive.l2[c], config->caches.kind[k].l2.sets, config->caches.kind[k].l2.ways);
        room(naive.dtlb[c], config->kind[k].dtlb.sets, config->kind[k].dtlb.ways);
        room(naive.stlb[c], config->kind[k].stlb.sets, config->kind[k].stlb.ways);
    }
}

static struct list *l1(unsigned c, uint64_t line)
{
    return &naive.l1[c][line % naive.config.caches.kind[kind(c)].l1.sets];
}

static struct list *l2(unsigned c, uint64_t line)
{
    return &naive.l2[c][line % naive.config.caches.kind[kind(c)].l2.sets];
}

static void lose(unsigned c, uint64_t line)
{
    drop(l1(c, line), line);
    drop(l2(c, line), line);
    naive.state[c][line] = I;
}

static enum ds_model_source naive_l3(unsigned c, uint64_t line, bool write)
{
    uint64_t gone;
    bool others = false, had = false, dirty = false, keep = true;
    const bool there = use(&naive.l3[line % naive.config.caches.l3.sets], line, &gone);
    for (unsigned o = 0; o < CORES && gone != UINT64_MAX; o++) {
        lose(o, gone);
        naive.asked[o][gone] = false;
    }
    if (gone != UINT64_MAX)
        naive.alone[gone] = false;
    for (unsigned o = 0; o < CORES; o++)
        others |= o != c && naive.asked[o][line];
    const bool snoop = others && (write || naive.alone[line]);
    for (unsigned o = 0; o < CORES && snoop; o++) {
        if (o == c)
            continue;
        had |= naive.state[o][line] != I;
        dirty |= naive.state[o][line] == M;
        if (write)
            lose(o, line);
        else if (naive.state[o][line] != I)
            naive.state[o][line] = S;
    }
    keep = !write && (!snoop || had);
    for (unsigned o = 0; o < CORES && !keep; o++)
        naive.asked[o][line] = false;
    naive.asked[c][line] = true;
    const bool alone = write || !others || (snoop && !had);
    naive.alone[line] = alone;
    naive.state[c][line] = alone ? E : S;
    return !there   ? DS_MODEL_SOURCE_MEMORY
           : !snoop ? DS_MODEL_SOURCE_L3
           : dirty  ? DS_MODEL_SOURCE_SNOOP_HITM
           : had    ? DS_MODEL_SOURCE_SNOOP_HIT
                    : DS_MODEL_SOURCE_SNOOP_MISS;
}

static uint32_t naive_line(unsigned c, uint64_t line, bool write, struct qds_access *out, enum ds_model_source *source)
{
    enum mesi *state = &naive.state[c][line];
    uint64_t gone;
    const bool in_l1 = has(l1(c, line), line), in_l2 = has(l2(c, line), line), allowed = *state >= (write ? E : S);
    *source = DS_MODEL_SOURCE_L1;
    uint32_t latency = latencies[DS_MODEL_SOURCE_L1];
    if (!in_l1 || !allowed) {
        *source = DS_MODEL_SOURCE_L2;
        if (!in_l2 || !allowed) {
            *source = naive_l3(c, line, write);
            out->l3_asked++;
            out->l3_missed += *source == DS_MODEL_SOURCE_MEMORY;
        }
        use(l2(c, line), line, &gone);
        if (gone != UINT64_MAX) {
            if (naive.state[c][gone] == M)
                naive.asked[c][gone] = naive.alone[gone] = false;
            lose(c, gone);
        }
        latency = latencies[*source];
        out->l1_filled += !in_l1;
        naive.coming[c][line] = write;
        naive.ready[c][line] = naive.now[c] + latency;
    } else if (naive.coming[c][line]) {
        if (naive.now[c] < naive.ready[c][line]) {
            const uint64_t left = naive.ready[c][line] - naive.now[c];
            *source = DS_MODEL_SOURCE_FILL_BUFFER;
            latency = left > latency ? (uint32_t)left : latency;
        }
        naive.coming[c][line] = write && *source == DS_MODEL_SOURCE_FILL_BUFFER;
    }
    use(l1(c, line), line, &gone);
    *state = write ? M : *state;
    return latency;
}

/* A page of the TLBs. It is one of a larger page of the guest's, perhaps: INVLPG of another part of that leaves it in
 * the STLB. */
static bool naive_stlb(unsigned c, uint64_t page)
{
    uint64_t gone;
    const bool there = use(&naive.stlb[c][page % naive.config.kind[kind(c)].stlb.sets], page, &gone);
    const bool same = naive.known[c][page] == naive.frame[c][page];
    naive.known[c][page] = naive.frame[c][page];
    return there && same;
}

static void naive_access(unsigned c, uint64_t address, bool write, bool locked, struct qds_access *out)
{
    const unsigned k = kind(c);
    const uint64_t page = address >> 12;
    uint64_t gone;
    uint32_t beyond = 0;
    enum ds_model_source source;
    naive.now[c]++;
    if (!use(&naive.dtlb[c][page % naive.config.kind[k].dtlb.sets], page, &gone)) {
        beyond = STLB;
        if (!naive_stlb(c, page)) {
            beyond = WALK;
            out->walks++;
            out->said.stlb_miss = true;
        }
    }
    const uint64_t line = naive.known[c][page] * 64 + address % 4096 / 64;
    const uint32_t latency = naive_line(c, line, write || locked, out, &source) + beyond;
    if (source >= out->said.source) {
        out->said.source = (uint8_t)source;
        out->said.latency = (uint16_t)latency;
    }
    if (!write) {
        out->stall += latency - latencies[DS_MODEL_SOURCE_L1];
        naive.now[c] += latency - latencies[DS_MODEL_SOURCE_L1];
    }
}

/* ---- the same on both -------------------------------------------------------------------------------------------- */

static bool walk(void *context, uint64_t address, uint64_t *physical)
{
    const uint64_t *frames = context;
    *physical = frames ? frames[address >> 12] << 12 : address;
    return true;
}

static unsigned quick, coming; /* accesses, and writes to lines on their way */

static void one(struct qds_memory *m)
{
    const unsigned c = random_below(CORES), size = 1u << random_below(5);
    static uint64_t last[CORES];
    const uint64_t somewhere = random_below(2)   ? last[c] ^ random_below(64)
                               : random_below(4) ? random_below(3) * 4096 + random_below(512)
                                                 : random_below(PAGES * 4096);
    const uint64_t address = last[c] = somewhere + size > PAGES * 4096 ? 0 : somewhere;
    const bool write = random_below(3) == 0, locked = random_below(16) == 0;
    const bool split = (address ^ (address + size - 1)) & ~UINT64_C(63);
    struct qds_core *core = qds_memory_core(m, c);
    struct qds_access expected = {.said = {.locked = locked, .split = split}}, is = {0};
    naive_access(c, address, write, locked, &expected);
    if (split)
        naive_access(c, (address + size - 1) & ~UINT64_C(63), write, locked, &expected);
    if (!locked && random_below(3) == 0 && qds_memory_passes(core, address, 64 - size, write)) {
        coming += expected.said.source == DS_MODEL_SOURCE_FILL_BUFFER;
        assert_true(expected.said.source == DS_MODEL_SOURCE_L1 ||
                    (write && expected.said.source == DS_MODEL_SOURCE_FILL_BUFFER));
        assert_false(expected.l1_filled || expected.l3_asked || expected.walks || expected.stall);
    } else if (!locked && qds_memory_quick(core, address, 64 - size, write)) {
        quick++;
        assert_int_equal(expected.said.source, DS_MODEL_SOURCE_L1);
        assert_int_equal(expected.said.latency, latencies[DS_MODEL_SOURCE_L1]);
        assert_false(expected.l1_filled || expected.l3_asked || expected.walks || expected.stall);
    } else {
        qds_memory_access(core, address, size, write, locked, walk, naive.frame[c], &is);
        assert_int_equal(is.said.source, expected.said.source);
        assert_int_equal(is.said.latency, expected.said.latency);
        assert_int_equal(is.said.stlb_miss, expected.said.stlb_miss);
        assert_int_equal(is.said.split, split);
        assert_int_equal(is.said.locked, locked);
        assert_int_equal(is.stall, expected.stall);
        assert_int_equal(is.walks, expected.walks);
        assert_int_equal(is.l1_filled, expected.l1_filled);
        assert_int_equal(is.l3_asked, expected.l3_asked);
        assert_int_equal(is.l3_missed, expected.l3_missed);
    }
    assert_int_equal(core->now, naive.now[c]);
    if (random_below(200) == 0) { /* as for MOV to CR3 */
        qds_tlb_flush(&core->tlb);
        remap(c, 0, PAGES);
        for (unsigned i = 0; i < 16; i++)
            naive.dtlb[c][i].length = naive.stlb[c][i].length = 0;
    }
    if (random_below(200) == 0) { /* as for INVLPG */
        const uint64_t first = random_below(PAGES), pages = 1 + random_below(PAGES - (uint32_t)first);
        const uint64_t page = first + random_below((uint32_t)pages);
        qds_tlb_flush_page(&core->tlb, page << 12);
        remap(c, first, pages);
        for (unsigned i = 0; i < 16; i++)
            naive.dtlb[c][i].length = 0;
        drop(&naive.stlb[c][page % naive.config.kind[kind(c)].stlb.sets], page);
    }
}

/* No two cores have a line that one of them has exclusively; what a level has, the next one has, and a line that is
 * changed is exclusive. */
static void mesi_holds(struct qds_caches *caches, uint64_t lines)
{
    for (uint64_t line = 0; line < lines; line++) {
        unsigned have = 0, exclusive = 0;
        for (unsigned c = 0; c < CORES; c++) {
            const struct qds_line_state s = qds_caches_state(caches, c, line);
            const unsigned all = s.l1 | s.l2;
            have += s.l2 != 0;
            exclusive += (all & QDS_EXCLUSIVE) != 0;
            assert_true(!s.l1 || s.l2);
            assert_true(!s.l2 || s.l3);
            assert_true(!s.l1 || (s.l1 & QDS_EXCLUSIVE) == (s.l2 & QDS_EXCLUSIVE));
            assert_true(!(all & QDS_DIRTY) || all & QDS_EXCLUSIVE);
        }
        assert_true(!exclusive || have == 1);
    }
}

static void same_states(struct qds_caches *caches)
{
    for (uint64_t line = 0; line < LINES; line++)
        for (unsigned c = 0; c < CORES; c++) {
            const struct qds_line_state s = qds_caches_state(caches, c, line);
            const unsigned all = s.l1 | s.l2;
            const enum mesi is = all & QDS_DIRTY ? M : all & QDS_EXCLUSIVE ? E : all ? S : I;
            assert_int_equal(is, naive.state[c][line]);
            assert_int_equal(s.l1 != 0, has(l1(c, line), line));
            assert_int_equal(s.l2 != 0, has(l2(c, line), line));
        }
}

static void accesses_are_those_of_a_second_one(void **state)
{
    (void)state;
    for (unsigned run = 1; run < 6; run++) {
        seed = run;
        const struct qds_memory_config config = small();
        struct qds_memory *m = qds_memory_new(&config, CORES);
        assert_non_null(m);
        naive_begin(&config);
        quick = coming = 0;
        for (unsigned i = 0; i < 40000; i++) {
            one(m);
            if (i % 1000 == 0) {
                same_states(qds_memory_caches(m));
                mesi_holds(qds_memory_caches(m), LINES);
            }
        }
        assert_true(quick > 3000 && coming > 30); /* or it tests less than it seems to */
        qds_memory_free(m);
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

struct worker {
    pthread_t thread;
    struct qds_core *core;
    uint64_t seed;
};

static void *work(void *argument)
{
    struct worker *w = argument;
    struct qds_access a;
    for (unsigned i = 0; i < 40000; i++) {
        const uint64_t r = next_random(&w->seed), address = r % (PAGES * 4096) & ~UINT64_C(7);
        if (r >> 21 & 1 ? !qds_memory_quick(w->core, address, 64 - 8, r >> 20 & 1)
                        : !qds_memory_passes(w->core, address, 64 - 8, r >> 20 & 1))
            qds_memory_access(w->core, address, 8, r >> 20 & 1, false, walk, NULL, &a);
    }
    return NULL;
}

static void cores_run_at_the_same_time(void **state)
{
    (void)state;
    const struct qds_memory_config config = small();
    struct qds_memory *m = qds_memory_new(&config, CORES);
    struct worker worker[CORES];
    for (unsigned c = 0; c < CORES; c++) {
        worker[c] = (struct worker){.core = qds_memory_core(m, c), .seed = c + 1};
        assert_int_equal(pthread_create(&worker[c].thread, NULL, work, &worker[c]), 0);
    }
    for (unsigned c = 0; c < CORES; c++)
        pthread_join(worker[c].thread, NULL);
    mesi_holds(qds_memory_caches(m), LINES);
    qds_memory_free(m);
}

/* ---- on paper ---------------------------------------------------------------------------------------------------- */

static struct ds_model_access said(struct qds_memory *m, unsigned c, uint64_t address, bool write)
{
    struct qds_access a;
    qds_memory_access(qds_memory_core(m, c), address, 8, write, false, walk, NULL, &a);
    return a.said;
}

/* Two cores write to two words of a line in turn, and each finds that the other one has changed it. */
static void false_sharing(void **state)
{
    (void)state;
    const struct qds_memory_config config = small();
    struct qds_memory *m = qds_memory_new(&config, CORES);
    assert_int_equal(said(m, 0, 0, true).source, DS_MODEL_SOURCE_MEMORY);
    for (unsigned i = 0; i < 4; i++) {
        const struct ds_model_access a = said(m, 1, 8, false);
        assert_int_equal(a.source, DS_MODEL_SOURCE_SNOOP_HITM);
        assert_int_equal(a.latency, latencies[DS_MODEL_SOURCE_SNOOP_HITM] + (i ? 0 : WALK));
        assert_int_equal(said(m, 1, 8, true).source, DS_MODEL_SOURCE_SNOOP_HIT); /* both share it: it asks again */
        assert_int_equal(said(m, 0, 0, true).source, DS_MODEL_SOURCE_SNOOP_HITM);
    }
    qds_memory_free(m);
}

/* A line that only one core has, and drops without a word; one that both read; one that is on its way. */
static void snoops_and_fill_buffers(void **state)
{
    (void)state;
    const struct qds_memory_config config = small();
    struct qds_memory *m = qds_memory_new(&config, CORES);
    said(m, 0, 0, false);
    for (unsigned i = 1; i <= 3; i++)
        said(m, 0, i * 8 * 64, false); /* the same set of its L2, of three ways */
    assert_int_equal(said(m, 1, 0, false).source, DS_MODEL_SOURCE_SNOOP_MISS);
    assert_int_equal(said(m, 2, 0, false).source, DS_MODEL_SOURCE_SNOOP_HIT);
    assert_int_equal(said(m, 3, 0, false).source, DS_MODEL_SOURCE_L3);
    assert_int_equal(said(m, 2, 0, false).source, DS_MODEL_SOURCE_L1);
    said(m, 2, 64, true);
    const struct ds_model_access a = said(m, 2, 64 + 8, false);
    assert_int_equal(a.source, DS_MODEL_SOURCE_FILL_BUFFER);
    assert_int_equal(a.latency, latencies[DS_MODEL_SOURCE_MEMORY] - 1);
    assert_int_equal(said(m, 2, 64, false).source, DS_MODEL_SOURCE_L1); /* it has waited for it */
    qds_memory_free(m);
}

static bool moves(void *context, uint64_t address, uint64_t *physical)
{
    *physical = address + *(const uint64_t *)context;
    return true;
}

/* INVLPG: of a page of 2 MiB other parts have moved, too; what lies elsewhere, or has not moved, is where it was. */
static void pages_that_move_at_invlpg(void **state)
{
    (void)state;
    const uint64_t mib = 1 << 20, gib = 1 << 30, page = gib, part = page + 4096, other = page + 4 * mib + 2 * 4096;
    struct qds_memory_config config = small();
    config.kind[0].dtlb.sets = config.kind[0].stlb.sets = 16; /* none has to go */
    config.caches.kind[0].l1.ways = config.caches.kind[0].l2.ways = 8;
    struct qds_memory *m = qds_memory_new(&config, CORES);
    struct qds_core *k = qds_memory_core(m, 0);
    struct qds_access a;
    uint64_t moved = 0;
    const uint64_t all[] = {page, part, other, 3 * 4096};
    for (unsigned i = 0; i < 4; i++)
        qds_memory_access(k, all[i], 8, true, false, moves, &moved, &a);
    for (unsigned i = 0; i < 4; i++)
        qds_memory_access(k, all[i], 8, false, false, moves, &moved, &a); /* waits */
    moved = 8 * gib;
    qds_tlb_flush_page(&k->tlb, page);
    for (unsigned i = 0; i < 3; i++)
        assert_false(qds_memory_quick(k, all[i], 64 - 8, false));
    assert_true(qds_memory_quick(k, 3 * 4096, 64 - 8, false));
    for (unsigned i = 0; i < 2; i++) {
        qds_memory_access(k, all[i], 8, false, false, moves, &moved, &a);
        assert_int_equal(a.walks, 1);
        assert_int_equal(a.said.source, DS_MODEL_SOURCE_MEMORY);
    }
    qds_memory_access(k, other, 8, false, false, walk, NULL, &a);
    assert_int_equal(a.walks, 0);
    assert_int_equal(a.said.source, DS_MODEL_SOURCE_L1);
    assert_int_equal(a.stall, STLB);
    qds_memory_free(m);
}

static bool no_walk(void *context, uint64_t address, uint64_t *physical)
{
    (void)context, (void)address, (void)physical;
    return false;
}

static void devices_are_not_cached(void **state)
{
    (void)state;
    const struct qds_memory_config config = small();
    struct qds_memory *m = qds_memory_new(&config, CORES);
    for (unsigned i = 0; i < 2; i++) {
        struct qds_access a;
        assert_false(qds_memory_quick(qds_memory_core(m, 0), 0, 64 - 4, false));
        qds_memory_access(qds_memory_core(m, 0), 0, 4, false, false, no_walk, NULL, &a);
        assert_int_equal(a.said.source, DS_MODEL_SOURCE_UNCACHED);
        assert_int_equal(a.l1_filled + a.l3_asked, 0);
    }
    qds_memory_free(m);
}

/* Loads and stores of two lines, of two pages, and of one, where nothing has been before or another core has changed
 * it: none takes more than qds_memory_most() says, and the worst one takes as much. */
static void no_access_is_more_than_the_most(void **state)
{
    (void)state;
    static const struct {
        enum ds_model_source slowest; /* 0: as usual, memory */
        uint16_t latency, stlb, walk;
    } machines[] = {{0, 0, STLB, WALK},
                    {0, 0, WALK, STLB},
                    {DS_MODEL_SOURCE_SNOOP_HITM, 300, STLB, WALK},
                    {DS_MODEL_SOURCE_L3, 300, STLB, WALK},
                    {DS_MODEL_SOURCE_L1, 300, WALK, STLB}};
    for (unsigned i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct qds_memory_config config = small();
        struct qds_access worst = {0}, a;
        if (machines[i].latency)
            config.caches.latency[machines[i].slowest] = machines[i].latency;
        config.stlb_latency = machines[i].stlb;
        config.walk_latency = machines[i].walk;
        const struct qds_access most = qds_memory_most(&config);
        struct qds_memory *m = qds_memory_new(&config, CORES);
        assert_non_null(m);
        seed = 1;
        for (unsigned turn = 0; turn < 20000; turn++) {
            const uint64_t page = random_below(PAGES - 1), odd = random_below(2) ? 4096 - 4 : random_below(4096);
            qds_memory_access(qds_memory_core(m, random_below(CORES)), page * 4096 + odd, 8, random_below(2), false,
                              walk, NULL, &a);
            assert_true(a.stall <= most.stall && a.walks <= most.walks && a.l1_filled <= most.l1_filled &&
                        a.l3_asked <= most.l3_asked && a.l3_missed <= most.l3_missed);
            worst.stall = a.stall > worst.stall ? a.stall : worst.stall;
        }
        assert_int_equal(worst.stall, most.stall);
        qds_memory_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_those_of_a_second_one),
        cmocka_unit_test(cores_run_at_the_same_time),
        cmocka_unit_test(false_sharing),
        cmocka_unit_test(snoops_and_fill_buffers),
        cmocka_unit_test(devices_are_not_cached),
        cmocka_unit_test(pages_that_move_at_invlpg),
        cmocka_unit_test(no_access_is_more_than_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
