/* SPDX-License-Identifier: MIT */
/*
 * Figures of the emit path over workload.h. Linked with the kernel's own objects of trace/ (and its memcpy), so what is
 * counted is the code the kernel runs. Usage:
 *
 *     bench generate FILE SWITCHES_PER_CPU    writes the workload, so that counting need not wait for its generator
 *     bench emit KIND FILE                    all of it once: for callgrind; prints the bytes taken
 *     bench time FILE                         nanoseconds, all kinds and a 40-byte copy in turn
 *
 * KIND: compact, full, items: the encoder, one 0524H event, one with PebsIndex and four counters; hook, hook2, hook3:
 * what the switch hook calls, with one session, with two of one clock, with three of three clocks, all of them compact.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/workload.h"
#include "trace/hub.h"
#include "trace/pmc/pmc_items.h"
#include "trace/session_inside.h"

#define BUFFER_BYTES 65536u
#define TSC_PER_UNIT 250u /* a 2.5 GHz TSC */
#define CHUNK        4096u
#define ROUNDS       9u

uintptr_t __stack_chk_guard = 0x5CA1AB1E00FACADEu; /* the kernel's objects want these two */
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void)
{
    abort();
}

enum kind { COMPACT, FULL, ITEMS, HOOK, HOOK2, HOOK3, COPY, KINDS };
static const char *const kind_names[KINDS] = {"compact", "full", "items", "hook", "hook2", "hook3", "copy"};
static const char *const keys[KINDS] = {"ccswap", "plain", "items", "hook", "hook2", "hook3", "copy40"};

#define SESSIONS_MAX 3u

struct world { /* a hub for each CPU, and sessions that run on all of them */
    struct trace_hub_cpu *hub;
    struct trace_session *session[SESSIONS_MAX];
    unsigned sessions;
};

struct emit { /* one switch, ready made for the emit path */
    struct trace_switch sw;
    int64_t time;
    struct trace_hub_cpu *hub;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void *allocate(size_t size)
{
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!memory)
        die("aligned_alloc");
    return memset(memory, 0, (size + 63) / 64 * 64); /* touched before it counts */
}

static void add_session(struct world *w, const struct trace_clocks *clocks, enum kind kind, uint64_t switches)
{
    uint32_t number = w->sessions + 1, type = kind == HOOK3 ? number : TRACE_CLOCK_QPC;
    uint32_t bytes = kind == ITEMS ? 81 : kind == FULL ? 41 : type == TRACE_CLOCK_TSC ? 8 : 5; /* a switch, at most */
    struct trace_config config = {
        .number = number,
        .cpus = WL_CPUS,
        .buffer_bytes = BUFFER_BYTES,
        .buffers = (uint32_t)(switches * bytes / BUFFER_BYTES) + 2 * WL_CPUS,
        .clock = clocks->clock[type - 1],
        .tick_units = clocks->tick_units[type - 1],
    };
    static const uint64_t index = 0x1000;
    struct trace_hub_pebs pebs = {.index = kind == ITEMS ? &index : NULL};
    static const struct trace_pmc items = {
        .count = TRACE_PMC_MAX, .counter = {0, 1, 2, 3}, .hooks = 1, .hook = {HOOK_CONTEXTSWAP}};
    config.items = kind == ITEMS ? &items : NULL;
    trace_group_add(&config.masks, PERF_CONTEXT_SWITCH);
    if (kind != FULL && kind != ITEMS)
        trace_group_add(&config.masks, PERF_COMPACT_CSWITCH);
    size_t size = trace_session_bytes(&config);
    if (trace_session_init(&w->session[w->sessions], &config, allocate(size), size))
        die("trace_session_init");
    for (uint32_t c = 0; c < WL_CPUS; c++)
        trace_hub_act(&w->hub[c], w->session[w->sessions], CAIRN_SESSION_START, &config.masks, &pebs, 0);
    w->sessions++;
}

static struct world new_world(enum kind kind, uint64_t switches)
{
    struct world w = {.hub = allocate(WL_CPUS * sizeof(*w.hub))};
    struct trace_clocks clocks;
    trace_clocks_init(&clocks, TRACE_CLOCK_HZ * TSC_PER_UNIT, 0, 0, 15625);
    for (uint32_t c = 0; c < WL_CPUS; c++)
        trace_hub_init(&w.hub[c], c, &clocks);
    for (unsigned n = kind == HOOK2 ? 2 : kind == HOOK3 ? 3 : 1; n; n--)
        add_session(&w, &clocks, kind, switches);
    return w;
}

static void free_world(struct world *w)
{
    for (unsigned i = 0; i < w->sessions; i++)
        free(w->session[i]); /* it lies at the start of its memory */
    free(w->hub);
}

static void convert(struct emit *to, const struct wl_switch *w, const struct world *world)
{
    *to = (struct emit){
        .sw = {.tsc = (w->ts + 1) * TSC_PER_UNIT,
               .old_tid = w->old_tid,
               .new_tid = w->new_tid,
               .new_wait = w->new_wait,
               .old_state = w->old_state,
               .old_wait_reason = w->old_wr,
               .old_state_wr = (uint8_t)w->pad,
               .old_priority = (int8_t)w->old_prio,
               .old_base = (int8_t)w->old_base,
               .new_priority = (int8_t)w->new_prio},
        .time = (int64_t)w->ts,
        .hub = &world->hub[w->cpu],
    };
}

static inline void record(enum kind kind, const struct emit *e)
{
    static const uint64_t counters[TRACE_PMC_MAX] = {1, 2, 3, 4};
    if (kind == COMPACT)
        trace_ccswap_switch(&e->hub->encoder[0].compact, &e->sw, e->time);
    else if (kind == FULL || kind == ITEMS)
        trace_full_switch(e->hub->session[0], &e->sw, e->time, counters);
    else
        trace_hub_switch(e->hub, &e->sw);
}

static void generate(const char *path, uint64_t per_cpu)
{
    struct wl w;
    struct wl_switch e;
    uint64_t done[WL_CPUS] = {0}, left = per_cpu * WL_CPUS;
    FILE *f = fopen(path, "wb");
    if (!f)
        die(path);
    wl_init(&w);
    while (left) {
        wl_next(&w, &e);
        if (done[e.cpu]++ >= per_cpu)
            continue;
        left--;
        if (fwrite(&e, sizeof(e), 1, f) != 1)
            die(path);
    }
    if (fclose(f))
        die(path);
}

static const struct wl_switch *load(const char *path, uint64_t *count)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st))
        die(path);
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (p == MAP_FAILED)
        die(path);
    close(fd);
    *count = (uint64_t)st.st_size / sizeof(struct wl_switch);
    return p;
}

static void emit(enum kind kind, const char *path)
{
    uint64_t count;
    const struct wl_switch *w = load(path, &count);
    struct world world = new_world(kind, count);
    for (uint64_t i = 0; i < count; i++) {
        struct emit e;
        convert(&e, &w[i], &world);
        record(kind, &e);
    }
    uint64_t written = 0, lost = 0, bytes = 0;
    for (uint32_t c = 0; c < WL_CPUS; c++) {
        struct trace_counts n;
        struct trace_hub_pebs pebs = {0};
        for (unsigned i = 0; i < world.sessions; i++) {
            struct trace_cpu *cpu = trace_session_cpu(world.session[i], c);
            trace_hub_act(&world.hub[c], world.session[i], CAIRN_SESSION_STOP, NULL, &pebs,
                          (w[count - 1].ts + 2) * TSC_PER_UNIT);
            trace_cpu_counts(cpu, &n);
            written += n.switches_written;
            lost += n.switches_lost;
            /* Full buffers whole, with header and what no event fitted into; the last one as far as it is used. */
            bytes += i ? 0 : (n.buffers_begun - 1) * BUFFER_BYTES + cpu->used;
        }
    }
    if (written != count * world.sessions || lost) {
        fprintf(stderr, "bench: %llu of %llu switches written, %llu lost\n", (unsigned long long)written,
                (unsigned long long)count * world.sessions, (unsigned long long)lost);
        exit(1);
    }
    printf("%s.bytes_per_switch %.4f bytes\n", keys[kind], (double)bytes / (double)count);
    free_world(&world);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The yardstick: 40 bytes of the switch into a ring. */
static __attribute__((noinline)) void copy_switch(uint8_t *ring, uint64_t *at, const struct emit *e)
{
    __builtin_memcpy(ring + *at, &e->sw, 40);
    *at = (*at + 40) & (BUFFER_BYTES * 16 - 1);
}
_Static_assert(sizeof(struct trace_switch) >= 32, "copy_switch");

static void time_all(const char *path)
{
    uint64_t count, at = 0;
    const struct wl_switch *w = load(path, &count);
    static struct emit e[CHUNK];
    static double ns[KINDS][ROUNDS];
    uint8_t *ring = calloc(1, BUFFER_BYTES * 16 + 64);
    if (!ring)
        die("calloc");
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct world world[COPY];
        for (unsigned k = 0; k < COPY; k++)
            world[k] = new_world(k, count);
        for (uint64_t i = 0; i < count; i += CHUNK) {
            unsigned n = count - i < CHUNK ? (unsigned)(count - i) : CHUNK;
            for (unsigned k = 0; k < KINDS; k++) {
                unsigned kind = (k + (unsigned)(i / CHUNK)) % KINDS;
                for (unsigned j = 0; j < n; j++)
                    convert(&e[j], &w[i + j], &world[kind == COPY ? COMPACT : kind]);
                double start = now_ns();
                for (unsigned j = 0; j < n; j++)
                    if (kind == COPY)
                        copy_switch(ring, &at, &e[j]);
                    else
                        record(kind, &e[j]);
                ns[kind][round] += now_ns() - start;
            }
        }
        for (unsigned k = 0; k < COPY; k++)
            free_world(&world[k]);
    }
    for (unsigned k = 0; k < KINDS; k++) {
        qsort(ns[k], ROUNDS, sizeof(ns[k][0]), by_value);
        printf("%s.ns_per_switch %.2f ns\n", keys[k], ns[k][ROUNDS / 2] / (double)count);
    }
    free(ring);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "generate") == 0) {
        generate(argv[2], strtoull(argv[3], NULL, 0));
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "time") == 0) {
        time_all(argv[2]);
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "emit") == 0)
        for (unsigned k = COMPACT; k < COPY; k++)
            if (strcmp(argv[2], kind_names[k]) == 0) {
                emit((enum kind)k, argv[3]);
                return 0;
            }
    fprintf(stderr, "usage: bench generate FILE N | emit compact|full|hook|hook2|hook3 FILE | time FILE\n");
    return 2;
}
