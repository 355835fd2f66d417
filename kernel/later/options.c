/* SPDX-License-Identifier: MIT */
/* The option pebs.later. */
#include "ds/later/later.h"

#include "kernel/later/later.h"
#include "kernel/options/row.h"

char klater_text[KOPT_TEXT];

static const struct kopt_option later = {
    .name = "pebs.later",
    .standard = "none",
    .text = "PERIOD[,...]: new periods for the events of pebs=, in their order, from the middle of the run on (half of "
            "switches=), but not for pebs.atom= or with a workload that uses the counters itself; none: no change",
    .field = klater_text,
    .size = sizeof klater_text,
    .kind = TEXT,
    .needs = "ds!=off,pebs!=none"};
ROWS_ADD(kopt, later);

int klater_periods(uint64_t *period, char *error, size_t error_size)
{
    return ds_parse_periods(klater_text, kopt_ds_config.events, period, error, error_size);
}

static bool are_wrong(char *error, size_t error_size)
{
    uint64_t period[DS_MAX_COUNTERS];
    return klater_periods(period, error, error_size) != 0;
}
KOPT_CHECK(are_wrong);

int kopt_check_plan(struct ds_cpu *ds, char *error, size_t error_size)
{
    uint64_t period[DS_MAX_COUNTERS];
    const int e = klater_periods(period, error, error_size);
    return e || !period[0] ? e : ds_reconfigure(ds, period, error, error_size);
}
