/* SPDX-License-Identifier: MIT */
/*
 * The known program: a loop that a process of cairn-grab runs while the processor makes records of it, and the same
 * loop on paper. A state of the program is a record's RIP, the instruction that comes next, and RCX.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Its instructions: K0 to K8 in their order, and a function that K5 calls. */
enum grab_label {
    GRAB_K0, /* a load */
    GRAB_K1,
    GRAB_K2,
    GRAB_K3, /* a branch to K5, taken in each second iteration */
    GRAB_K4, /* only in the other ones */
    GRAB_K5, /* CALL F0 */
    GRAB_K6,
    GRAB_K7, /* DEC RCX */
    GRAB_K8, /* a branch to K0 */
    GRAB_F0, /* a store */
    GRAB_F1, /* RET to K6 */
    GRAB_LABELS,
    GRAB_ELSEWHERE = GRAB_LABELS
};
extern const uint64_t grab_known_at[GRAB_LABELS]; /* addresses */

/* `iterations`: even. */
void grab_known(uint64_t iterations, uint64_t buffer[2]);

enum grab_label grab_known_label(uint64_t address);
static inline bool grab_known_is_branch(enum grab_label label)
{
    return label == GRAB_K3 || label == GRAB_K5 || label == GRAB_K8 || label == GRAB_F1;
}

struct grab_state {
    enum grab_label next;
    uint64_t left; /* iterations, that of `next` included */
};
/* False: it is not in the loop. */
bool grab_known_state(struct grab_state *state, uint64_t rip, uint64_t rcx, uint64_t iterations);
/* How many instructions of the loop, or branches, have retired before this state. */
uint64_t grab_known_count(const struct grab_state *state, uint64_t iterations, bool branches);
/* Goes back by one instruction, and returns it. GRAB_ELSEWHERE: the loop begins here. */
enum grab_label grab_known_back(struct grab_state *state, uint64_t iterations);
/* Whether `label`, as grab_known_back has returned it for a state `before` it, is a branch that is taken there. */
bool grab_known_taken(enum grab_label label, const struct grab_state *before, enum grab_label *to);
