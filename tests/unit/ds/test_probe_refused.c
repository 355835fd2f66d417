/* SPDX-License-Identifier: MIT */
/* The experiments with one access to an MSR refused: what they answer then is what they answer otherwise, or nothing,
 * and why. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/lib/errno.h"
#include "tests/unit/ds/probe/probe_machine.h"
#include "tests/unit/support/cmocka.h"
#include "tests/unit/support/presets.h"

static const struct ds_machine *real;
static unsigned accesses, refused_at;

static int rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    return ++accesses == refused_at ? -EFAULT : real->rdmsr(context, msr, value);
}

static int wrmsr(void *context, uint32_t msr, uint64_t value)
{
    return ++accesses == refused_at ? -EFAULT : real->wrmsr(context, msr, value);
}

static void one_access_refused(void **state)
{
    const struct ds_model_preset *p = *state;
    static struct ds_probe_result right[DS_PROBE_ROWS];
    const unsigned every = getenv("CAIRN_STEPS") ? 499 : 97; /* set: not `make test-all` */
    static struct ds_machine machine;
    if (!real)
        real = bench.machine;
    machine = *real;
    machine.rdmsr = rdmsr;
    machine.wrmsr = wrmsr;
    bench.machine = &machine;
    unsigned all = 1;
    for (refused_at = 0; refused_at <= all; refused_at += refused_at ? every : 1) {
        char error[160] = "";
        set_up(p, NULL);
        accesses = 0;
        const int e = ds_probe_all(&bench, results, costs, error, sizeof error);
        if (e && !error[0])
            fail_msg("%s: access %u refused: it ends with %d and no reason", p->name, refused_at, e);
        if (!refused_at) {
            assert_int_equal(e, 0);
            memcpy(right, results, sizeof right);
            all = accesses;
            continue;
        }
        unsigned spoilt = 0;
        for (unsigned i = 0; !e && i < DS_PROBE_ROWS; i++) {
            const bool none = !results[i].answer[0];
            spoilt += none && right[i].answer[0];
            if (strstr(results[i].evidence, "#GP")) /* whether there is one may be the question itself */
                continue;
            if (none ? !results[i].evidence[0] : strcmp(results[i].answer, right[i].answer) != 0)
                fail_msg("%s: access %u refused: %s is answered '%s', not '%s': %s", p->name, refused_at,
                         ds_probe_rows[i].name, results[i].answer, right[i].answer, results[i].evidence);
        }
        if (spoilt > 1)
            fail_msg("%s: access %u refused: %u questions have no answer", p->name, refused_at, spoilt);
    }
}

int main(void)
{
    struct CMUnitTest tests[PRESETS];
    for (size_t i = 0; i < PRESETS; i++)
        tests[i] =
            (struct CMUnitTest){preset_at(i)->name, one_access_refused, NULL, NULL, (void *)(uintptr_t)preset_at(i)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
