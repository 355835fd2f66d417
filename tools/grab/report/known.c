/* SPDX-License-Identifier: MIT */
#include "tools/grab/report/known.h"

#define EVEN_LENGTH 10u
#define ODD_LENGTH  11u
#define BRANCHES    4u /* of an iteration */

/* What an iteration executes, by RCX: even, odd. */
static const uint8_t path[2][ODD_LENGTH] = {
    {GRAB_K0, GRAB_K1, GRAB_K2, GRAB_K3, GRAB_K5, GRAB_F0, GRAB_F1, GRAB_K6, GRAB_K7, GRAB_K8},
    {GRAB_K0, GRAB_K1, GRAB_K2, GRAB_K3, GRAB_K4, GRAB_K5, GRAB_F0, GRAB_F1, GRAB_K6, GRAB_K7, GRAB_K8},
};

enum grab_label grab_known_label(uint64_t address)
{
    unsigned i = 0;
    while (i < GRAB_LABELS && grab_known_at[i] != address)
        i++;
    return (enum grab_label)i;
}

bool grab_known_state(struct grab_state *s, uint64_t rip, uint64_t rcx, uint64_t iterations)
{
    const enum grab_label next = grab_known_label(rip);
    *s = (struct grab_state){next, rcx + (next == GRAB_K8)};
    return next != GRAB_ELSEWHERE && s->left && s->left <= iterations && !(next == GRAB_K4 && s->left % 2 == 0);
}

/* Of the next instruction in its iteration's path. */
static unsigned place(const struct grab_state *s)
{
    unsigned at = 0;
    while (path[s->left & 1][at] != s->next)
        at++;
    return at;
}

uint64_t grab_known_count(const struct grab_state *s, uint64_t iterations, bool branches)
{
    const uint64_t done = iterations - s->left;
    const unsigned at = place(s);
    if (!branches)
        return done / 2 * (EVEN_LENGTH + ODD_LENGTH) + (done & 1) * EVEN_LENGTH + at;
    uint64_t count = done * BRANCHES;
    for (unsigned i = 0; i < at; i++)
        count += grab_known_is_branch((enum grab_label)path[s->left & 1][i]);
    return count;
}

enum grab_label grab_known_back(struct grab_state *s, uint64_t iterations)
{
    const unsigned at = place(s);
    if (at)
        s->next = (enum grab_label)path[s->left & 1][at - 1];
    else if (s->left < iterations)
        *s = (struct grab_state){GRAB_K8, s->left + 1};
    else
        return GRAB_ELSEWHERE;
    return s->next;
}

bool grab_known_taken(enum grab_label label, const struct grab_state *before, enum grab_label *to)
{
    switch (label) {
    case GRAB_K3:
        *to = GRAB_K5;
        return before->left % 2 == 0;
    case GRAB_K5:
        *to = GRAB_F0;
        return true;
    case GRAB_F1:
        *to = GRAB_K6;
        return true;
    case GRAB_K8:
        *to = GRAB_K0;
        return before->left > 1;
    default:
        return false;
    }
}
