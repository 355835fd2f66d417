/* SPDX-License-Identifier: MIT */
/* Random programs: the same ones from the same seed. */
#pragma once

#include "tests/unit/support/ds_naive.h"

enum { PROPERTY_PROGRAM = DS_NAIVE_HISTORY / 2 }; /* instructions */

void random_seed(uint64_t seed); /* not 0 */
uint32_t random_below(uint32_t n);
bool random_one_in(uint32_t n);
/* An instruction: what it is, at which ring, with which branch. */
void random_step(struct ds_naive_step *step);

/* The model's part of that; or the branch alone, as an interrupt. Returns what the model does. */
int property_model_step(struct ds_model *model, const struct ds_naive_step *step, bool interrupt);
/* How many programs are to be run: CAIRN_STEPS instructions, a million by default. */
unsigned property_programs(void);
