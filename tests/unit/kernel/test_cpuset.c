/* SPDX-License-Identifier: MIT */
/* Sets of CPUs against a plain array, at the borders of words, too. */
#include <stdbool.h>
#include <stdlib.h>

#include "kernel/lib/cpuset.h"
#include "tests/unit/support/cmocka.h"

static void expect(const struct kcpuset *set, const bool there[MAX_CPUS])
{
    uint32_t next = MAX_CPUS;
    for (uint32_t i = MAX_CPUS; i-- > 0;) {
        next = there[i] ? i : next;
        assert_int_equal(kcpuset_has(set, i), there[i]);
        assert_int_equal(kcpuset_has_atomic(set, i), there[i]);
        assert_int_equal(kcpuset_next(set, i), next);
    }
    assert_int_equal(kcpuset_next(set, MAX_CPUS), MAX_CPUS);
    assert_int_equal(kcpuset_empty(set), next == MAX_CPUS);
}

static void one(void **state)
{
    (void)state;
    static const struct kcpuset none;
    const bool nobody[MAX_CPUS] = {false};
    expect(&none, nobody);
    for (uint32_t i = 0; i < MAX_CPUS; i++) {
        bool there[MAX_CPUS] = {false};
        there[i] = true;
        const struct kcpuset set = kcpuset_of(i);
        expect(&set, there);
    }
}

static void many(void **state)
{
    (void)state;
    struct kcpuset a = {{0}}, b = {{0}};
    bool in_a[MAX_CPUS] = {false}, in_b[MAX_CPUS] = {false}, in_both[MAX_CPUS];
    srand(1);
    for (int step = 0; step < 2000; step++) {
        const uint32_t i = (uint32_t)rand() % MAX_CPUS, k = (uint32_t)rand() % MAX_CPUS;
        in_a[i] = rand() % 2;
        (in_a[i] ? kcpuset_add : kcpuset_remove)(&a, i);
        in_b[k] = true;
        kcpuset_add_atomic(&b, k);
        if (step % 20)
            continue;
        for (uint32_t c = 0; c < MAX_CPUS; c++)
            in_both[c] = in_a[c] && in_b[c];
        const struct kcpuset both = kcpuset_common(&a, &b);
        expect(&a, in_a);
        expect(&b, in_b);
        expect(&both, in_both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one), cmocka_unit_test(many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
