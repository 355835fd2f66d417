/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/cpuid/tsc.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#define TRIES    8
#define LEAST_NS UINT64_C(100000000) /* of the measurement: an error of a microsecond is one of 10 ppm then */

struct moment {
    uint64_t ticks, ns;
};

static struct moment began;
static uint64_t tsc_hz;
static pthread_once_t once = PTHREAD_ONCE_INIT;

uint64_t qds_tsc_now(void)
{
#ifdef __x86_64__
    return __rdtsc();
#else
    return 0;
#endif
}

/* Both clocks at once: of several tries the one that took least, or a busy host comes in between. */
static struct moment now(void)
{
    struct moment best = {0};
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < TRIES; i++) {
        struct timespec t;
        const uint64_t before = qds_tsc_now();
        clock_gettime(CLOCK_MONOTONIC, &t);
        const uint64_t took = qds_tsc_now() - before;
        if (took >= least)
            continue;
        least = took;
        best = (struct moment){before + took / 2, (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec};
    }
    return best;
}

void qds_tsc_begin(void)
{
    began = now();
}

static void measure(void)
{
    struct moment then = now();
    while (then.ns < began.ns + LEAST_NS) {
        const struct timespec rest = {.tv_nsec = (long)(began.ns + LEAST_NS - then.ns)};
        nanosleep(&rest, NULL);
        then = now();
    }
    tsc_hz = (uint64_t)((double)(then.ticks - began.ticks) * 1e9 / (double)(then.ns - began.ns));
}

uint64_t qds_tsc_hz(void)
{
    pthread_once(&once, measure);
    return tsc_hz;
}

bool qds_tsc_tells(uint32_t leaf)
{
    return leaf == QDS_CPUID_TSC || leaf == QDS_CPUID_FREQUENCY || (leaf >= QDS_BRAND_FIRST && leaf <= QDS_BRAND_LAST);
}

/* The fraction EBX / EAX that comes closest, of those that Linux can multiply by. */
static void ratio(uint64_t hz, uint32_t out[4])
{
    double least = 0;
    for (uint32_t numerator = 1; numerator <= QDS_RATIO_MAX; numerator++) {
        const uint64_t denominator = ((uint64_t)numerator * QDS_CRYSTAL_HZ + hz / 2) / hz;
        if (!denominator)
            continue;
        const double off = (double)numerator * QDS_CRYSTAL_HZ / (double)denominator - (double)hz;
        if (out[1] && off * off >= least)
            continue;
        least = off * off;
        out[0] = (uint32_t)denominator;
        out[1] = numerator;
    }
    out[2] = QDS_CRYSTAL_HZ;
}

void qds_tsc_cpuid(const char *preset, uint64_t hz, uint32_t leaf, uint32_t out[4])
{
    memset(out, 0, 4 * sizeof out[0]);
    if (leaf == QDS_CPUID_TSC) {
        ratio(hz, out);
        return;
    }
    if (leaf == QDS_CPUID_FREQUENCY) {
        out[0] = out[1] = (uint32_t)((hz + 500000) / 1000000);
        out[2] = 100;
        return;
    }
    char text[3 * 16] = {0};
    const uint64_t hundredths = (hz + 5000000) / 10000000; /* of a GHz */
    snprintf(text, sizeof text, "QEMU qemu-ds %.20s @ %u.%02uGHz", preset, (unsigned)(hundredths / 100),
             (unsigned)(hundredths % 100));
    memcpy(out, text + 16 * (leaf - QDS_BRAND_FIRST), 16);
}
