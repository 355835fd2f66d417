/* SPDX-License-Identifier: MIT */
/* Options of spin locks' events, and the workload of all kinds of spin locks. */
#include "kernel/locks/options.h"

#include "kernel/lib/string.h"
#include "kernel/options/row.h"
#include "kernel/sessions/options.h"

struct trace_spinlock_sampling klock_sampling;

static const char by_rules[] = "spinlock.every=0";

static const struct kopt_option spin_threshold = {
    .name = "spinlock.spin_threshold",
    .standard = "1",
    .text = "a contended acquisition may become an event if it took at least this many spins",
    .field = &klock_sampling.spin_threshold,
    .kind = NUMBER32,
    .min = TRACE_SPINLOCK_SPIN_THRESHOLD,
    .max = UINT32_MAX,
    .needs = by_rules};
ROWS_ADD(kopt, spin_threshold);

static const struct kopt_option contention_sample_rate = {
    .name = "spinlock.contention_sample_rate",
    .standard = "1",
    .text = "one in this many contended acquisitions becomes an event, on each CPU",
    .field = &klock_sampling.contention_sample_rate,
    .kind = NUMBER32,
    .min = TRACE_SPINLOCK_CONTENTION_SAMPLE_RATE,
    .max = UINT32_MAX,
    .needs = by_rules};
ROWS_ADD(kopt, contention_sample_rate);

static const struct kopt_option acquire_sample_rate = {
    .name = "spinlock.acquire_sample_rate",
    .standard = "1000",
    .text = "one in this many uncontended acquisitions becomes an event, on each CPU",
    .field = &klock_sampling.acquire_sample_rate,
    .kind = NUMBER32,
    .min = TRACE_SPINLOCK_ACQUIRE_SAMPLE_RATE,
    .max = UINT32_MAX,
    .needs = by_rules};
ROWS_ADD(kopt, acquire_sample_rate);

static const struct kopt_option hold_threshold = {
    .name = "spinlock.hold_threshold",
    .standard = "1000000",
    .text = "each lock held for more than this many TSC cycles becomes an event: 0 (off) or at least 1000000",
    .field = &klock_sampling.hold_threshold,
    .kind = NUMBER32,
    .max = UINT32_MAX,
    .needs = by_rules};
ROWS_ADD(kopt, hold_threshold);

static const struct kopt_option every = {
    .name = "spinlock.every",
    .standard = "0",
    .text = "1: every release is an event, whatever the other spinlock options say; Windows has no such option",
    .field = &klock_sampling.every,
    .kind = WORD8,
    .words = "0|1"};
ROWS_ADD(kopt, every);

static bool is_refused(char *error, size_t error_size)
{
    if (trace_spinlock_sampling_valid(&klock_sampling))
        return false;
    snprintf(error, error_size, "option 'spinlock.hold_threshold=%u': must be 0 or at least %u",
             klock_sampling.hold_threshold, TRACE_SPINLOCK_HOLD_THRESHOLD);
    return true;
}
KOPT_CHECK(is_refused);

/* Whether one of them is not at its default, but no session wants spin locks. */
static bool is_idle(char *error, size_t error_size)
{
    static const struct kopt_option *const all[] = {&spin_threshold, &contention_sample_rate, &acquire_sample_rate,
                                                    &hold_threshold, &every};
    for (size_t i = 0; i < sizeof all / sizeof *all && !ksession_wants(PERF_SPINLOCK); i++) {
        char value[KOPT_TEXT];
        kopt_option_show(all[i], value, sizeof value);
        if (strcmp(value, all[i]->standard) == 0)
            continue;
        snprintf(error, error_size,
                 "option '%s=%s': has no effect, no session has the group spinlock, as in "
                 "session.1=auto+spinlock:qpc:sequential",
                 all[i]->name, value);
        return true;
    }
    return false;
}
KOPT_CHECK(is_idle);

KOPT_WORKLOAD(locks, NULL);
