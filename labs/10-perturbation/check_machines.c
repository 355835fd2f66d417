/* SPDX-License-Identifier: MIT */
/* Lab 10: machines of which the truth is known, because they are made up. */
#include "labs/check.h"

#include "labs/machine/random.h"
#include "machines.h"

#define NOISE 100u /* ticks, up and down */

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    return lab_draw(&state, limit);
}

void machine_make(struct lab_machine *m, enum kind kind, uint32_t number)
{
    state = (lab_seed() * 1000 + kind * 200 + number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    *m = (struct lab_machine){.kind = kind, .base = 20000 + below(20000), .cost = 250 + below(500)};
    m->slope = kind == WARMING ? 15 + below(15) : 0;
    m->alternate = kind == ALTERNATING ? 300 + below(300) : 0;
    if (kind == FREE)
        m->cost = 0;
    if (kind == HELPING)
        m->cost = -m->cost;
    if (kind == STILL)
        m->cost = (int64_t)(number % 3) - 1;
    m->result = below(5);
    m->loss_unknown = below(2);
}

static struct lab_trial made_up_trial(struct lab_machine *m, bool traced)
{
    int64_t ticks = m->base + (traced ? m->cost : 0);
    if (m->kind != STILL)
        ticks += (int64_t)below(2 * NOISE + 1) - NOISE;
    ticks += m->slope * m->trials + (m->trials % 2 ? m->alternate : 0);
    if (m->kind == WARMING && m->trials < 5)
        ticks += 30000 >> m->trials;
    if (m->kind == INTERRUPTED && below(30) == 0)
        ticks += 5000 + below(40000);
    if (m->kind == STILL && below(16) == 0)
        ticks += 200 + below(200);
    uint64_t result = (uint64_t)m->base * 3;
    if (m->result == VARIES || (traced && m->result == SELDOM && below(8) == 0))
        result += 1 + below(3);
    if (m->result == TURNS && m->trials >= LAB_TRIALS / 2)
        result++;
    if (traced && m->result == MOVED)
        result += 7;
    struct lab_trial t = {.ticks = (uint64_t)ticks, .result = result};
    if (traced) {
        t.samples = 90 + below(20);
        t.lost = m->loss_unknown && below(4) == 0 ? LAB_UNKNOWN : below(10);
    }
    return t;
}

static void remember(struct lab_machine *m, const struct lab_trial *t, bool traced)
{
    if (!traced) {
        if (!m->plain)
            m->first_plain = *t;
        m->plain_differs |= t->result != m->first_plain.result;
        m->plain_ticks[m->plain++] = t->ticks;
        return;
    }
    m->traced_result[m->traced++] = t->result;
    m->samples += t->samples;
    m->lost = t->lost == LAB_UNKNOWN || m->lost == LAB_UNKNOWN ? LAB_UNKNOWN : m->lost + t->lost;
}

struct lab_trial lab_run_trial(struct lab_machine *m, bool traced)
{
    if (m->trials == LAB_TRIALS)
        lab_fail("budget", "Trials cost time. Plan your measurement so that it makes at most LAB_TRIALS of them.",
                 "labs/10-perturbation/task.h", "lab_measure wants trial number %u on one machine", LAB_TRIALS + 1);
    const struct lab_trial t = m->real ? real_trial(traced) : made_up_trial(m, traced);
    remember(m, &t, traced);
    m->trials++;
    return t;
}
