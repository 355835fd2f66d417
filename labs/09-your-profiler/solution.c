/* SPDX-License-Identifier: MIT */
/* Lab 9: a solution. Read it after yours has passed. */
#include "task.h"

int lab_symbol_of(const struct lab_symbol *table, uint32_t symbols, uint64_t address)
{
    uint32_t first = 0, end = symbols; /* the last symbol that begins at or below the address is before `end` */
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (table[middle].address <= address)
            first = middle + 1;
        else
            end = middle;
    }
    return end && address - table[end - 1].address < table[end - 1].bytes ? (int)end - 1 : -1;
}

/* Whether records so far apart meet every instruction of each loop of up to 64: no number from 2 to 64 divides it. */
static bool meets_all(uint64_t apart)
{
    for (uint64_t n = 2; n <= 64; n++)
        if (apart % n == 0)
            return false;
    return true;
}

uint64_t lab_period(uint64_t about, bool precise)
{
    uint64_t period = about;
    while (!meets_all(period + !precise))
        period++;
    return period;
}

/* Two standard deviations of the binomial distribution. Where none was seen it has no width: then the rule of three. */
struct lab_interval lab_error_bars(uint32_t seen, uint32_t all)
{
    const uint64_t variance = all ? (uint64_t)seen * (all - seen) * 4 / all : 0;
    uint32_t half = lab_square_root(variance) + 1; /* rounded up */
    if (seen == 0 || seen == all)
        half = 3;
    return (struct lab_interval){seen > half ? seen - half : 0, all - seen > half ? seen + half : all};
}

uint32_t lab_stack(uint64_t ip, uint64_t rbp, uint64_t low, uint64_t high, uint64_t out[LAB_DEPTH])
{
    uint32_t n = 0;
    out[n++] = ip;
    while (n < LAB_DEPTH && rbp % 8 == 0 && rbp >= low && rbp < high && high - rbp >= 16) {
        const uint64_t *frame = (const uint64_t *)rbp;
        out[n++] = frame[1];
        if (frame[0] <= rbp)
            break;
        rbp = frame[0];
    }
    return n;
}

static bool same(const struct lab_calls *a, const struct lab_calls *b)
{
    if (a->depth != b->depth)
        return false;
    for (uint32_t i = 0; i < a->depth; i++)
        if (a->symbol[i] != b->symbol[i])
            return false;
    return true;
}

void lab_fold(const struct lab_calls *stacks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct lab_calls turned = {.depth = stacks[i].depth};
        uint32_t samples = 0;
        bool before = false;
        for (uint32_t j = 0; j < count; j++) {
            samples += same(&stacks[j], &stacks[i]);
            before |= j < i && same(&stacks[j], &stacks[i]);
        }
        for (uint32_t k = 0; k < turned.depth; k++)
            turned.symbol[k] = stacks[i].symbol[turned.depth - 1 - k];
        if (!before)
            lab_line(&turned, samples);
    }
}
