/* SPDX-License-Identifier: MIT */
/* Lab 5: series of switches that the check makes. */
#pragma once

#include "host_pair.h"

/* One property of the encoder after another. */
void check_encoder(struct pair *p);
/* `count` random switches: every form, every reason to close. The pair has begun; its tick is RANDOM_TICK. */
#define RANDOM_TICK 3000000
void feed_random(struct pair *p, uint32_t count);
