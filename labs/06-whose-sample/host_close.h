/* SPDX-License-Identifier: MIT */
/* Lab 6: the kernel's side again, with another rule for closing batches. */
#pragma once

#include "host_lane.h"

struct closing {
    uint64_t ambiguous;                /* records, by the rule of the index */
    uint64_t switches, batches, bytes; /* bytes: of the events, headers and padding included */
};

typedef bool close_rule(uint64_t own[OWN_WORDS], const struct moment *m);

/* Gives the switches of the truth to Cairn's encoder, closes batches where `rule` says so, and adds to *sum. */
void close_lane(struct closing *sum, const struct lane *lane, close_rule *rule);
