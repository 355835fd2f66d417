/* SPDX-License-Identifier: MIT */
/* What is counted of a batch, against a count that goes from record to record, by the layout alone. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/batch_counts.h"
#include "tools/cairn/log/log.h"

#define RECORDS_MOST 1000u

static uint64_t seed = 1;

static uint32_t at_random(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % below;
}

static bool count_plainly(struct cairn_batch_counts *to, const uint8_t *batch, uint32_t size)
{
    uint32_t at = sizeof(struct ccswap_buffer), slot, states;
    struct cairn_batch_counts all = {.count = 1};
    while (at < size) {
        const unsigned type = batch[at] & 3, bytes = type == 0 ? 2 : type == 3 ? 8 : 4;
        if (size - at < bytes)
            return false;
        all.forms += UINT64_C(1) << 16 * type;
        const uint32_t told = type >= 2 ? cairn_get32(batch + at + (type == 3 ? 4 : 0)) : 0;
        slot = type == 3 ? told & 0xF : told >> 2 & 0xF;
        states = (type == 3 ? told >> 4 & 0x3F : told >> 9 & 0x3F) + 1;
        if (type >= 2 && cairn_get32(batch + 8 + 4 * slot) == 0)
            return false;
        if (type >= 2 && states > all.states)
            all.states = (uint8_t)states;
        at += bytes;
    }
    cairn_batch_counts_add(to, &all);
    return true;
}

/* Any bytes behind any table: of threads in front, or with gaps, or of all. `low`: most state fields are small. */
static uint32_t make_batch(uint8_t *batch)
{
    const uint32_t threads = at_random(CCSWAP_TIDS + 1), gaps = at_random(4), low = at_random(2);
    uint8_t *p = batch + sizeof(struct ccswap_buffer);
    memset(batch, 0, sizeof(struct ccswap_buffer));
    for (uint32_t i = 0; i < CCSWAP_TIDS; i++)
        batch[8 + 4 * i + at_random(4)] = i < threads && !(gaps == 0 && at_random(4) == 0);
    for (uint32_t n = at_random(at_random(4) ? 20 : RECORDS_MOST); n; n--) {
        const unsigned type = at_random(4), bytes = type == 0 ? 2 : type == 3 ? 8 : 4;
        for (unsigned i = 0; i < 8; i++)
            p[i] = (uint8_t)at_random(256);
        p[0] = (uint8_t)((p[0] & ~3u) | type);
        const uint32_t slot = threads && at_random(50) ? at_random(threads) : at_random(16);
        if (type == 2)
            p[0] = (uint8_t)(slot << 2 | type);
        if (type == 3)
            p[4] = (uint8_t)((p[4] & 0xF0u) | slot);
        if (low)
            p[type == 3 ? 5 : 1] &= type == 3 ? 0xFC : 0xC1;
        p += bytes;
    }
    const uint32_t size = (uint32_t)(p - batch), cut = at_random(8) ? 0 : at_random(10);
    return size - (cut < size - sizeof(struct ccswap_buffer) ? cut : 0);
}

static void any_batch(void **state)
{
    (void)state;
    static uint8_t batch[sizeof(struct ccswap_buffer) + 8 * RECORDS_MOST + 8];
    unsigned right = 0, wrong = 0;
    for (unsigned round = 0; round < 40000; round++) {
        const uint32_t size = make_batch(batch);
        struct cairn_batch_counts ours = {.states = (uint8_t)at_random(65)}, theirs = ours;
        uint8_t *copy = malloc(size); /* nothing behind it is read */
        memcpy(copy, batch, size);
        const struct cairn_event e = {.hook = HOOK_CONTEXTSWAP_BATCH, .payload = copy, .size = size};
        const bool is = count_plainly(&theirs, batch, size);
        assert_int_equal(cairn_batch_count(&ours, &e), is);
        assert_int_equal(ours.forms, theirs.forms);
        assert_int_equal(ours.count, theirs.count);
        assert_int_equal(ours.states, theirs.states);
        right += is;
        wrong += !is;
        free(copy);
    }
    assert_true(right > 5000 && wrong > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_batch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
