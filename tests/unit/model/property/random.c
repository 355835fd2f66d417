/* SPDX-License-Identifier: MIT */
#include "tests/unit/model/property/random.h"

#include <stdlib.h>

static uint64_t state;

void random_seed(uint64_t seed)
{
    state = seed;
}

uint32_t random_below(uint32_t n) /* xorshift64* */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * UINT64_C(2685821657736338717)) >> 33) % n;
}

bool random_one_in(uint32_t n)
{
    return random_below(n) == 0;
}

void random_step(struct ds_naive_step *step)
{
    *step = (struct ds_naive_step){.ring = random_one_in(4), .branches = random_one_in(3)};
    for (int e = 0; e < DS_MODEL_EVENTS; e++)
        step->is[e] = e == DS_MODEL_INSTRUCTION || random_one_in(3);
    step->load = random_below(1000000);
    step->store = random_below(1000000);
    step->branch = (struct ds_naive_branch){1 + random_below(1000000), random_below(1000000), random_below(3)};
}

int property_model_step(struct ds_model *model, const struct ds_naive_step *step, bool interrupt)
{
    const struct ds_model_branch branch = {
        .from = step->branch.from, .to = step->branch.to, .prediction = step->branch.prediction};
    unsigned cpl = step->ring ? 1 + random_below(3) : 0;
    if (interrupt)
        return ds_model_interrupt(model, &branch, cpl);
    struct ds_model_retired retired = {.cpl = cpl, .load_address = step->load, .store_address = step->store};
    for (unsigned e = 0; e < DS_MODEL_EVENTS; e++)
        retired.events |= step->is[e] ? DS_BIT(e) : 0;
    retired.branch = step->branches ? &branch : NULL;
    return ds_model_retire(model, &retired);
}

unsigned property_programs(void)
{
    const char *wanted = getenv("CAIRN_STEPS");
    return (wanted ? (unsigned)strtoul(wanted, NULL, 10) : 1000000) / PROPERTY_PROGRAM;
}
