/* SPDX-License-Identifier: MIT */
/* workload.h - deterministic synthetic context-switch stream (no libc rand, no libm, integers only).
 *
 * 4 CPUs are simulated together, events come out in global time order; a thread never runs on two CPUs
 * at once.  Knobs (all -D overridable):
 *   WL_CPUS 4            number of CPUs
 *   WL_THREADS 12        user threads, Zipf(1)-like popularity
 *   WL_CLOCK_MUL 1       clock units per 100 ns (1 = 10 MHz clock, 250 = raw 2.5 GHz TSC)
 *   WL_AFFINITY 0        percent chance to refuse a thread whose last CPU was another one (0 = free migration)
 *   WL_SEED
 * Per switch: timestamp, cpu, old tid/state/wait reason/prio/base prio, new tid/prio/wait ticks.
 * old_idx/new_idx are dense thread numbers (0 = idle) so that a peer can keep per-thread state,
 * as a kernel would in its thread object. */
#ifndef WORKLOAD_H
#define WORKLOAD_H
#include <stdint.h>
#include <string.h>
#ifndef WL_CPUS
#define WL_CPUS 4
#endif
#ifndef WL_THREADS
#define WL_THREADS 12
#endif
#ifndef WL_CLOCK_MUL
#define WL_CLOCK_MUL 1
#endif
#ifndef WL_AFFINITY
#define WL_AFFINITY 0
#endif
#ifndef WL_SEED
#define WL_SEED 0x9E3779B97F4A7C15ull
#endif

struct wl_switch {             /* 32 bytes */
    uint64_t ts;               /* clock units, see WL_CLOCK_MUL */
    uint32_t old_tid, new_tid; /* 0 = idle */
    uint32_t new_wait;         /* ticks the incoming thread waited */
    uint8_t cpu;
    uint8_t old_state; /* KTHREAD_STATE: 1 ready, 2 running, 4 terminated, 5 waiting */
    uint8_t old_wr;    /* KWAIT_REASON, meaningful when old_state == 5 */
    uint8_t old_prio, old_base, new_prio;
    uint8_t old_idx, new_idx; /* dense thread numbers, 0 = idle */
    uint32_t pad;             /* compound state/wait reason (wr, or state + 0x27), for peers that want it ready */
};
_Static_assert(sizeof(struct wl_switch) == 32, "wl_switch");

struct wl {
    uint64_t s;          /* xorshift64* state */
    uint64_t t[WL_CPUS]; /* when the current stint on each CPU ends, 100 ns units */
    uint8_t cur[WL_CPUS];
    uint8_t busy[WL_THREADS + 1];
    uint8_t home[WL_THREADS + 1];
    uint32_t tid[WL_THREADS + 1];
    uint8_t base[WL_THREADS + 1];
    uint8_t prio[WL_THREADS + 1];
    uint32_t cdf[WL_THREADS + 1]; /* scaled to 2^32-1 */
};

static inline uint64_t wl_rnd(struct wl *w)
{
    uint64_t x = w->s;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    w->s = x;
    return x * 0x2545F4914F6CDD1Dull;
}
static inline uint32_t wl_r32(struct wl *w)
{
    return (uint32_t)(wl_rnd(w) >> 32);
}
/* uniform 0..n-1 */
static inline uint32_t wl_u(struct wl *w, uint32_t n)
{
    return (uint32_t)(((uint64_t)wl_r32(w) * n) >> 32);
}

/* log-normal-ish: median * 2^(g*1.6), g ~ N(0,1) from 12 uniforms, all fixed point; clamp 1..20000 (100 ns..2 ms) */
static inline uint32_t wl_delta(struct wl *w, uint32_t median)
{
    int32_t g = 0; /* 16.16, sum of 12 uniforms - 6 */
    for (int i = 0; i < 6; i++) {
        uint32_t r = wl_r32(w);
        g += (int32_t)(r & 0xffff) + (int32_t)(r >> 16);
    }
    g -= 6 << 16;
    int32_t e = (int32_t)(((int64_t)g * 8) / 5);
    int32_t ip = e >> 16;
    uint32_t fp = (uint32_t)e & 0xffff;
    uint64_t v = (uint64_t)median * (65536u + fp); /* 2^frac ~ 1+frac */
    v = ip >= 0 ? v << ip : v >> -ip;
    v >>= 16;
    return v < 1 ? 1 : v > 20000 ? 20000 : (uint32_t)v;
}

static inline void wl_init(struct wl *w)
{
    static const uint8_t bp[12] = {8, 8, 9, 8, 13, 8, 10, 15, 8, 6, 8, 11};
    memset(w, 0, sizeof *w);
    w->s = WL_SEED;
    uint64_t sum = 0, acc = 0;
    for (int i = 1; i <= WL_THREADS; i++)
        sum += 0x10000000u / (uint32_t)i;
    for (int i = 1; i <= WL_THREADS; i++) {
        acc += 0x10000000u / (uint32_t)i;
        w->cdf[i] = i == WL_THREADS ? 0xffffffffu : (uint32_t)(acc * 0xffffffffull / sum);
        w->tid[i] = 4u * (30u + wl_u(w, 200) + 210u * (uint32_t)(i - 1)); /* distinct multiples of 4, 0x78.. */
        w->base[i] = bp[(i - 1) % 12];
        w->prio[i] = w->base[i];
        w->home[i] = (uint8_t)(i % WL_CPUS);
    }
    for (int c = 0; c < WL_CPUS; c++)
        w->t[c] = 0x1234567890ull + wl_delta(w, 400);
}

static inline uint32_t wl_wait(struct wl *w)
{
    uint32_t r = wl_u(w, 1000);
    if (r < 700)
        return 0;
    if (r < 940)
        return 1;
    if (r < 990)
        return 2 + wl_u(w, 7);
    return 9 + wl_u(w, 2000);
}

static inline uint8_t wl_reason(struct wl *w)
{
    uint32_t r = wl_u(w, 1000);
    return r < 420   ? 6  /*UserRequest*/
           : r < 640 ? 15 /*WrQueue*/
           : r < 770 ? 4  /*DelayExecution*/
           : r < 860 ? 0  /*Executive*/
           : r < 920 ? 17 /*WrLpcReply*/
           : r < 960 ? 13 /*WrUserRequest*/
           : r < 985 ? 22 /*WrResource*/
                     : 37 /*WrAlertByThreadId*/;
}

static inline void wl_next(struct wl *w, struct wl_switch *e)
{
    int c = 0;
    for (int i = 1; i < WL_CPUS; i++)
        if (w->t[i] < w->t[c])
            c = i;
    uint8_t old = w->cur[c], nu;
    memset(e, 0, sizeof *e);
    e->ts = w->t[c] * WL_CLOCK_MUL;
#if WL_CLOCK_MUL > 1
    e->ts += wl_u(w, WL_CLOCK_MUL);
#endif
    e->cpu = (uint8_t)c;
    /* p(next idle | old thread) = 0.35/0.65 makes 35% of the switches leave idle */
    if (old && wl_u(w, 1000000) < 538462)
        nu = 0;
    else
        do {
            uint32_t r = wl_r32(w);
            nu = 1;
            while (w->cdf[nu] < r)
                nu++;
        } while (w->busy[nu]
#if WL_AFFINITY > 0
                 || (w->home[nu] != c && wl_u(w, 100) < WL_AFFINITY)
#endif
        );
    w->home[nu] = (uint8_t)c;
    e->old_idx = old;
    e->new_idx = nu;
    e->old_tid = w->tid[old];
    e->new_tid = w->tid[nu];
    if (old) {
        uint32_t r = wl_u(w, 10000);
        if (nu && r < 3000)
            e->old_state = 1; /* preempted: ready */
        else {
            e->old_state = 5;
            e->old_wr = wl_reason(w);
        }
        e->old_prio = w->prio[old];
        e->old_base = w->base[old];
        w->busy[old] = 0;
    } else
        e->old_state = 2;
    e->pad = e->old_state == 5 ? e->old_wr : e->old_state + 0x27u;
    if (nu) {
        uint32_t r = wl_u(w, 100);
        w->prio[nu] = (uint8_t)(w->base[nu] + (r < 70 ? 0 : r < 85 ? 1 : r < 95 ? 2 : 3));
        e->new_prio = w->prio[nu];
        e->new_wait = wl_wait(w);
        w->busy[nu] = 1;
    }
    w->cur[c] = nu;
    w->t[c] += wl_delta(w, nu ? 250 : 600); /* medians 25 us running, 60 us idle */
}
#endif
