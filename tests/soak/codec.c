/* SPDX-License-Identifier: MIT */
/*
 * Random switches through the kernel's encoder, buffers and frames, and back through `cairn`'s reader: each switch is
 * compared. A piece is one dump of random switches; its number is the seed of all that it is made of.
 *
 *     codec SWITCHES [PIECE]      at least so many, from this piece on (0)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/line8/line8.h"
#include "tests/golden/make/streams.h"
#include "tools/cairn/base/ahead.h"
#include "tools/cairn/model/switches.h"
#include "trace/hub.h"
#include "trace/packed/pack.h"
#include "trace/postmortem/freeze.h"
#include "trace/session_inside.h"

#define PIECE_SWITCHES 100000u
#define CPUS           8u
#define TSC_HZ         UINT64_C(2500000000)
#define TICK_US        15625u
#define THREADS        40u
/* A batch of a single switch, with its event: more than any other switch takes. */
#define BYTES_MOST (sizeof(struct ccswap_buffer) + 8 + sizeof(struct perfinfo_trace_header) + 8)

struct expected {
    int64_t time;
    uint32_t tid, wait;
    uint8_t state, reason;
    int8_t priority, base;
};

struct tally { /* of one process; shared with the others */
    uint64_t pieces, switches, bytes, packed, eight_bit, panics, clocks[TRACE_CLOCK_TYPES];
    uint64_t forms[CCSWAP_FULL + 1], closed[CCSWAP_CLOSE_REASONS];
    bool failed;
};

struct piece {
    uint64_t number, random;
    uint32_t cpus, switches, threads, drains; /* drains: a drain for about so many switches */
    unsigned idle, fast, calm;                /* percent of switches: */
    unsigned long_shift;                      /* the largest time between two switches */
    bool packed, eight_bit, panic;
    struct trace_clocks clocks;
    struct trace_config config;
    struct trace_session *session;
    uint64_t start_tsc, stop_tsc;
    uint32_t running[CPUS], count[CPUS];
    struct expected *expected[CPUS];
};

static struct trace_hub_cpu hub[CPUS];
static struct { /* the dump's text */
    char *data;
    size_t size, room;
} text;

static void *allocate(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory) {
        perror("codec");
        exit(2);
    }
    return memory;
}

static uint64_t draw(struct piece *p) /* splitmix64 */
{
    uint64_t z = p->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Below `n`, by some bits of a number drawn. */
static uint32_t below(uint64_t bits, uint32_t n)
{
    return (uint32_t)((bits & UINT32_MAX) * n >> 32);
}

/* ---- what goes in ------------------------------------------------------------------------------------------------ */

static void choose(struct piece *p, uint64_t number)
{
    static const uint32_t buffer_bytes[] = {4096, 16384, 65536};
    *p = (struct piece){.number = number, .random = number * UINT64_C(0xD1B54A32D192ED03)};
    p->cpus = 1 + below(draw(p), CPUS);
    p->switches = PIECE_SWITCHES / 2 + below(draw(p), PIECE_SWITCHES);
    p->threads = 1 + below(draw(p), below(draw(p), 2) ? THREADS : 12);
    p->drains = 10u << below(draw(p), 16);
    p->idle = below(draw(p), 101);
    p->fast = below(draw(p), 101);
    p->calm = below(draw(p), 101);
    p->long_shift = 8 + below(draw(p), 27);
    p->packed = below(draw(p), 4) == 0;
    p->eight_bit = below(draw(p), 4) == 0;
    p->panic = below(draw(p), 4) == 0;
    p->start_tsc = draw(p) >> 8;
    const unsigned clock = below(draw(p), TRACE_CLOCK_TYPES);
    if (trace_clocks_init(&p->clocks, TSC_HZ, p->start_tsc - below(draw(p), 1000), INT64_C(133800000000000000),
                          TICK_US))
        abort();
    p->config = (struct trace_config){
        .number = 1,
        .cpus = p->cpus,
        .buffer_bytes = buffer_bytes[below(draw(p), 3)],
        .clock = p->clocks.clock[clock],
        .tick_units = p->clocks.tick_units[clock],
    };
    p->config.buffers = (uint32_t)(p->switches * BYTES_MOST / (p->config.buffer_bytes - 1024)) + 2 * p->cpus;
    trace_group_add(&p->config.masks, PERF_CONTEXT_SWITCH);
    trace_group_add(&p->config.masks, PERF_COMPACT_CSWITCH);
}

/* Now and then it is a number at which a record takes another form. */
static uint64_t near_limit(uint64_t bits)
{
    static const unsigned limit[] = {CCSWAP_IDLE_SHORT_DELTA_BITS, CCSWAP_LITE_DELTA_BITS, CCSWAP_FULL_DELTA_BITS};
    return (UINT64_C(1) << limit[bits % 3]) + (bits >> 8) % 3 - 1;
}

/* TSC cycles to the next switch of any CPU. */
static uint64_t gap(const struct piece *p, uint64_t bits)
{
    if (bits % 256 == 0)
        return near_limit(bits >> 8) * (p->config.clock.type == TRACE_CLOCK_TSC ? 1 : TSC_HZ / TRACE_CLOCK_HZ);
    const bool fast = below(bits, 100) < p->fast;
    return (bits >> 32) >> (fast ? 20 : 32 - (bits >> 20 & 63) % p->long_shift % 32);
}

static void switch_once(struct piece *p, uint64_t tsc)
{
    const uint64_t a = draw(p), b = draw(p);
    const uint32_t cpu = below(a, p->cpus), old = p->running[cpu];
    const bool idles = below(a >> 32, 100) < p->idle, calm = below(b, 100) < p->calm;
    const uint32_t next = idles ? 0 : 4 + 4 * below(a >> 16, p->threads);
    struct trace_switch sw = {.tsc = tsc, .old_tid = old, .new_tid = next, .old_state = KTHREAD_RUNNING};
    if (old) {
        sw.old_base = (int8_t)(calm ? old / 4 % 24 : b >> 8 & 31);
        sw.old_priority = (int8_t)(calm ? sw.old_base + (b >> 16 & 7) : b >> 16 & 31);
        sw.old_state = (uint8_t)(b >> 24 & 1 ? KTHREAD_WAITING : (b >> 25 & 127) % KTHREAD_STATES);
        sw.old_wait_reason = sw.old_state == KTHREAD_WAITING ? (b >> 32 & 255) % CCSWAP_MAXIMUM_WAIT_REASON : 0;
    }
    sw.old_state_wr = ccswap_state_wr(sw.old_state, sw.old_wait_reason);
    sw.new_wait = (uint32_t)(b >> 40 & 0xFFFFF) >> (calm ? 19 : (b >> 60) + 1);
    if (b >> 20 & 1 && a % 64 == 0)
        sw.new_wait = CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS) - 1 + (uint32_t)(a >> 6) % 3;
    p->expected[cpu][p->count[cpu]++] = (struct expected){
        .time = trace_clock_units(&p->config.clock, tsc),
        .tid = old,
        .wait = sw.new_wait,
        .state = sw.old_state,
        .reason = sw.old_wait_reason,
        .priority = sw.old_priority,
        .base = sw.old_base,
    };
    p->running[cpu] = next;
    trace_hub_switch(&hub[cpu], &sw);
}

static void record(struct piece *p)
{
    struct trace_hub_pebs pebs = {0};
    uint64_t tsc = p->start_tsc;
    const size_t size = trace_session_bytes(&p->config);
    if (!size || trace_session_init(&p->session, &p->config, allocate(size), size)) {
        fprintf(stderr, "codec: piece %" PRIu64 ": no such session\n", p->number);
        exit(2);
    }
    for (uint32_t c = 0; c < p->cpus; c++) {
        trace_hub_init(&hub[c], c, &p->clocks);
        trace_hub_act(&hub[c], p->session, CAIRN_SESSION_START, &p->config.masks, &pebs, tsc);
    }
    for (uint32_t i = 0; i < p->switches; i++) {
        const uint64_t bits = draw(p);
        tsc += gap(p, bits);
        switch_once(p, tsc);
        if (below(bits * UINT64_C(0x9E3779B97F4A7C15) >> 32, p->drains) == 0)
            trace_hub_close_batches(&hub[bits % p->cpus], tsc, CCSWAP_CLOSE_DRAIN);
    }
    p->stop_tsc = ++tsc;
    for (uint32_t c = 0; c < p->cpus && p->panic; c++) {
        trace_hub_settle(&hub[c]);
        trace_hub_freeze(&hub[c], tsc);
    }
    for (uint32_t c = 0; c < p->cpus && !p->panic; c++)
        trace_hub_act(&hub[c], p->session, CAIRN_SESSION_STOP, NULL, &pebs, tsc);
}

static void take_line(void *context, const char *data, size_t size)
{
    (void)context;
    if (text.size + size > text.room) {
        text.room = 2 * text.room + size;
        text.data = realloc(text.data, text.room);
        if (!text.data) {
            perror("codec");
            exit(2);
        }
    }
    memcpy(text.data + text.size, data, size);
    text.size += size;
}

static struct stream_totals pass(struct trace_dump *d, const struct trace_sink *sink, struct stream_totals told,
                                 const struct piece *p)
{
    static struct trace_pack pack;
    trace_dump_init(d, sink);
    d->encode = p->eight_bit ? kline8_encode : NULL;
    if (p->packed)
        trace_dump_pack(d, &pack);
    stream_header(d, &told, false, p->panic ? "panic" : "end");
    stream_text(d, CAIRN_STREAM_MACHINE, "machine.cpus=%u", p->cpus);
    stream_text(d, CAIRN_STREAM_MACHINE, "machine.tsc_hz=%llu", U(TSC_HZ));
    stream_session(d, &p->config, false, false, TICK_US);
    stream_lives(d, &p->config, p->start_tsc, p->stop_tsc);
    trace_dump_session(d, p->session, 1);
    stream_counts(d, p->session);
    stream_text(d, CAIRN_STREAM_END, "end.verdict=%s", p->panic ? "panic" : "pass");
    trace_dump_flush(d);
    stream_text(d, CAIRN_STREAM_LAST, "dump.frames=%u", d->frames + 1);
    trace_dump_flush(d);
    return (struct stream_totals){d->frames, d->bytes, d->raw_bytes};
}

/* ---- what comes out ---------------------------------------------------------------------------------------------- */

#define DIFFERS(what, is, should)                                                                                      \
    do {                                                                                                               \
        if ((is) != (should)) {                                                                                        \
            printf("codec: piece %" PRIu64 ": switch %u of CPU %u: %s is %lld, not %lld\n", p->number, i, cpu, what,   \
                   (long long)(is), (long long)(should));                                                              \
            return false;                                                                                              \
        }                                                                                                              \
    } while (0)

/* Who comes is known by who leaves next: not after the last one. */
static bool same(const struct piece *p, uint32_t cpu, uint32_t i, const struct cairn_switch *is)
{
    const struct expected *e = &p->expected[cpu][i];
    const uint32_t most = CCSWAP_MASK(CCSWAP_FULL_WAIT_BITS);
    DIFFERS("the time", is->time, e->time);
    DIFFERS("the outgoing thread", is->old_tid, e->tid);
    DIFFERS("whether the incoming one is known", is->new_known, i + 1 < p->count[cpu]);
    if (is->new_known)
        DIFFERS("the incoming thread", is->new_tid, e[1].tid);
    DIFFERS("whether state and priority are told", is->detailed, e->tid != 0);
    if (is->detailed) {
        DIFFERS("the state", is->state, e->state);
        DIFFERS("the reason", is->reason, e->reason);
        DIFFERS("the priority", is->priority, e->priority);
    }
    if (is->base_told)
        DIFFERS("the base priority", is->base, e->base);
    if (is->form == CCSWAP_FULL)
        DIFFERS("the wait", is->wait, e->wait < most ? e->wait : most);
    if (is->form == CCSWAP_LITE && e->wait > 1)
        DIFFERS("the wait of LITE", 1, e->wait);
    DIFFERS("a hole in front", is->hole, CAIRN_NO_HOLE);
    return true;
}

static bool compare(const struct piece *p, struct tally *tally)
{
    static struct cairn_log log;
    static struct cairn_cursor cursor;
    const struct cairn_input input = {.data = text.data, .size = text.size};
    char refusal[CAIRN_REFUSAL] = "";
    struct cairn_switch is;
    bool all = true;
    const int r = cairn_log_read(&log, &input, &(struct cairn_choice){.threads = 1}, refusal);
    if (r || cairn_log_damaged(&log) || log.cpus != p->cpus) {
        printf("codec: piece %" PRIu64 ": %s\n", p->number, r ? "cannot be read" : "reads as damaged");
        return false;
    }
    for (uint32_t cpu = 0; cpu < p->cpus && all; cpu++) {
        uint32_t i = 0;
        cairn_cursor_init(&cursor, &log, cpu, true);
        for (; all && cairn_cursor_next(&cursor, &is) && i < p->count[cpu]; i++) {
            all = same(p, cpu, i, &is);
            tally->forms[is.form & CCSWAP_TYPE_MASK]++;
        }
        if (all && (i != p->count[cpu] || cairn_cursor_peek(&cursor))) {
            printf("codec: piece %" PRIu64 ": CPU %u has other than %u switches\n", p->number, cpu, p->count[cpu]);
            all = false;
        }
    }
    cairn_log_free(&log);
    return all;
}

static bool run_piece(uint64_t number, struct tally *tally)
{
    static struct trace_dump dump;
    struct piece piece, *p = &piece;
    struct trace_counts counts;
    const struct trace_sink sink = {take_line, NULL};
    choose(p, number);
    for (uint32_t c = 0; c < p->cpus; c++)
        p->expected[c] = allocate(p->switches * sizeof(struct expected));
    record(p);
    text.size = 0;
    pass(&dump, &sink, pass(&dump, NULL, (struct stream_totals){0}, p), p);
    const bool right = compare(p, tally);
    for (uint32_t c = 0; c < p->cpus; c++) {
        trace_cpu_counts(trace_session_cpu(p->session, c), &counts);
        for (unsigned i = 0; i < CCSWAP_CLOSE_REASONS; i++)
            tally->closed[i] += counts.batches[i];
        free(p->expected[c]);
    }
    free(p->session);
    tally->pieces++;
    tally->switches += p->switches;
    tally->bytes += text.size;
    tally->packed += p->packed;
    tally->eight_bit += p->eight_bit;
    tally->panics += p->panic;
    tally->clocks[p->config.clock.type - 1]++;
    return right;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static void add(struct tally *to, const struct tally *more)
{
    uint64_t *sum = (uint64_t *)to;
    for (size_t i = 0; i < offsetof(struct tally, failed) / sizeof(uint64_t); i++)
        sum[i] += ((const uint64_t *)more)[i];
    to->failed |= more->failed;
}

/* False: something that a dump may have, none had. */
static bool is_all(const struct tally *t)
{
    bool all = t->packed && t->eight_bit && t->panics && t->packed < t->pieces && t->eight_bit < t->pieces;
    for (unsigned i = 0; i <= CCSWAP_FULL; i++)
        all = all && t->forms[i];
    for (unsigned i = 0; i < CCSWAP_CLOSE_REASONS; i++)
        all = all && t->closed[i];
    for (unsigned i = 0; i < TRACE_CLOCK_TYPES; i++)
        all = all && t->clocks[i];
    return all;
}

static void print_row(const char *what, const char *const *name, const uint64_t *n, unsigned count)
{
    printf("  %s:", what);
    for (unsigned i = 0; i < count; i++)
        printf("%s %s %" PRIu64, i ? "," : "", name[i], n[i]);
    printf("\n");
}

static bool report(const struct tally *t)
{
    static const char *const form[] = {"IDLE_SHORT", "IDLE", "LITE", "FULL"}, *const clock[] = {"QPC", "SYSTEM", "TSC"};
    static const char *const reason[] = {"TIDS", "AGE", "SPACE", "DELTA", "STOP", "DRAIN", "PANIC"};
    static const char *const kind[] = {"packed", "8-bit", "of a panic"};
    const bool right = !t->failed && is_all(t);
    printf("%s: codec: %" PRIu64 " switches in %" PRIu64 " dumps, %" PRIu64 " MB: %s\n", right ? "PASS" : "FAIL",
           t->switches, t->pieces, t->bytes / 1000000,
           t->failed    ? "differences"
           : !is_all(t) ? "too few: not every kind has come"
                        : "0 differences");
    print_row("records", form, t->forms, CCSWAP_FULL + 1);
    print_row("batches closed", reason, t->closed, CCSWAP_CLOSE_REASONS);
    print_row("dumps", kind, (const uint64_t[]){t->packed, t->eight_bit, t->panics}, 3);
    print_row("dumps by clock", clock, t->clocks, TRACE_CLOCK_TYPES);
    return right;
}

int main(int argc, char **argv)
{
    const uint64_t switches = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    const uint32_t processes = cairn_helpers() + 1;
    struct tally *tally =
        mmap(NULL, processes * sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct tally sum = {0};
    if (!switches || tally == MAP_FAILED) {
        fprintf(stderr, "usage: codec SWITCHES [PIECE]\n");
        return 2;
    }
    for (uint32_t n = 0; n < processes; n++)
        if (fork() == 0) {
            tally[n].failed = true; /* until it ends */
            for (uint64_t i = n; tally[n].switches * processes < switches; i += processes)
                if (!run_piece(first + i, &tally[n]))
                    exit(1);
            tally[n].failed = false;
            exit(0);
        }
    for (int status; wait(&status) > 0;)
        sum.failed |= status != 0;
    for (uint32_t n = 0; n < processes; n++)
        add(&sum, &tally[n]);
    return report(&sum) ? 0 : 1;
}
