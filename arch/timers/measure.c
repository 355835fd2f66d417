/* SPDX-License-Identifier: MIT */
#include "arch/instructions.h"
#include "arch/timers/timers.h"

#define MEASURE_MS    40u
#define MEASURE_TRIES 8u
#define EDGE_TRIES    8u
#define STUCK_POLLS   1000000u /* reads without a change after which a clock is dead; 0.3 s and more on hardware */
#define MEASURE_POLLS 4000000u /* reads within MEASURE_MS: a device answers none in 10 ns */

/* A moment: count `value` of the timer began between these two TSC values. */
struct edge {
    uint64_t before, after;
    uint32_t value;
};

/* Waits for the timer's next edge: it lies between the begin of the last reading that gave the old value and the
 * end of the first that gave the new one. False where the timer stands still. */
static bool next_edge(const struct arch_timer *timer, struct edge *edge)
{
    uint64_t begin = arch_ordered_tsc();
    uint32_t last = timer->read() & timer->mask;

    for (uint32_t poll = 0; poll < STUCK_POLLS; poll++) {
        uint64_t next_begin = arch_ordered_tsc();
        uint32_t now = timer->read() & timer->mask;
        if (now != last) {
            *edge = (struct edge){.before = begin, .after = arch_ordered_tsc(), .value = now};
            return true;
        }
        begin = next_begin;
        last = now;
    }
    return false;
}

/* The sharpest of several edges: an emulator's thread may lose its CPU in the midst of one. */
static bool sharp_edge(const struct arch_timer *timer, struct edge *best)
{
    struct edge edge;

    for (unsigned i = 0; i < EDGE_TRIES; i++) {
        if (!next_edge(timer, &edge))
            return false;
        if (i == 0 || edge.after - edge.before < best->after - best->before)
            *best = edge;
    }
    return true;
}

static bool measure_once(const struct arch_timer *timer, struct arch_interval *interval)
{
    struct edge from, to;

    if (!sharp_edge(timer, &from))
        return false;
    uint64_t wait = timer->hz * MEASURE_MS / 1000;
    if (wait > timer->mask / 4 * 3)
        return false; /* between two reads it could wrap */
    for (uint32_t poll = 0; ((timer->read() - from.value) & timer->mask) < wait; poll++)
        if (poll == MEASURE_POLLS)
            return false; /* it has stopped, or jumps */
    if (!sharp_edge(timer, &to))
        return false;
    uint64_t ticks = (to.value - from.value) & timer->mask;
    if (!ticks)
        return false;
    interval->low = (to.before - from.after) * timer->hz / ticks;
    interval->high = (to.after - from.before) * timer->hz / ticks;
    return true;
}

/* Until two measurements in a row agree: a virtual machine may not be run for a while. */
bool arch_timer_measure(const struct arch_timer *timer, struct arch_interval *interval)
{
    struct arch_interval last;

    if (!measure_once(timer, &last))
        return false;
    for (unsigned i = 0; i < MEASURE_TRIES; i++) {
        if (!measure_once(timer, interval))
            return false;
        uint64_t slack = last.low / 1000000 * ARCH_CLOCK_PPM;
        if (interval->low <= last.high + slack && last.low <= interval->high + slack)
            return true;
        last = *interval;
    }
    return false;
}
