/* SPDX-License-Identifier: MIT */
/* The options pebs.atom and pebs.cpus. */
#include "kernel/hybrids/hybrids.h"

#include "ds/ds.h"
#include "kernel/lib/string.h"
#include "kernel/options/row.h"

struct khybrid_options khybrid_options;

static const char sampling[] = "ds!=off,pebs!=none";

static const struct kopt_option atom = {
    .name = "pebs.atom",
    .standard = "same",
    .text = "what the efficient cores of a hybrid sample: same (the events of pebs=), events as in pebs=, or none",
    .field = khybrid_options.events,
    .size = sizeof khybrid_options.events,
    .kind = TEXT,
    .needs = sampling};
ROWS_ADD(kopt, atom);

static const struct kopt_option cpus = {
    .name = "pebs.cpus",
    .standard = "all",
    .text = "which CPUs of a hybrid use PEBS: all, core (performance cores) or atom (efficient cores); threads run on "
            "all CPUs",
    .field = &khybrid_options.cpus,
    .kind = WORD,
    .words = "all|core|atom",
    .needs = sampling};
ROWS_ADD(kopt, cpus);

bool khybrid_own_events(void)
{
    return strcmp(khybrid_options.events, "same") != 0;
}

void khybrid_name_option(char *error, size_t error_size)
{
    static const char pebs[] = "option 'pebs'", name[] = "option 'pebs.atom'";
    const size_t rest = sizeof pebs - 1;
    char line[KOPT_TEXT];
    if (memcmp(error, pebs, rest) != 0)
        return;
    snprintf(line, sizeof line, "%s%s", name, error + rest);
    snprintf(error, error_size, "%s", line);
}

int khybrid_config(struct ds_config *config, char *error, size_t error_size)
{
    *config = kopt_ds_config;
    if (!khybrid_own_events())
        return 0;
    const int e = kopt_events(config, khybrid_options.events, error, error_size);
    if (e)
        khybrid_name_option(error, error_size);
    return e;
}

static bool is_wrong(char *error, size_t error_size)
{
    struct ds_config config;
    return khybrid_config(&config, error, error_size) != 0;
}
KOPT_CHECK(is_wrong);
