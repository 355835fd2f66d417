/* SPDX-License-Identifier: MIT */
/* What the options mean for the Debug Store and the trace. */
#include "kernel/options/row.h"

#include "ds/ds.h"
#include "kernel/lib/string.h"
#include "trace/session.h"

bool kopt_pebs(void)
{
    return kopt.ds != KOPT_DS_OFF && strcmp(kopt.pebs, "none") != 0;
}

__attribute__((weak)) int kopt_add_counting(struct ds_config *config, char *error, size_t error_size)
{
    (void)config, (void)error, (void)error_size;
    return 0;
}

__attribute__((weak)) int kopt_check_plan(struct ds_cpu *ds, char *error, size_t error_size)
{
    (void)ds, (void)error, (void)error_size;
    return 0;
}

int kopt_events(struct ds_config *config, const char *events, char *error, size_t error_size)
{
    *config = (struct ds_config){.records = kopt.pebs_records, .threshold = kopt.pebs_threshold};
    int e = ds_parse_events(events, config, error, error_size);
    e = !e && config->events ? kopt_add_counting(config, error, error_size) : e;
    return e ? e : ds_parse_groups(kopt.pebs_groups, config, error, error_size);
}

int kopt_ds_config(struct ds_config *config, char *error, size_t error_size)
{
    return kopt_events(config, kopt.pebs, error, error_size);
}

bool kopt_wants(uint32_t group)
{
    bool wants = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        wants |= kopt.session[n].on && trace_group_on(&kopt.session[n].masks, group);
    return wants;
}
