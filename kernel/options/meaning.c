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

bool kopt_pebs_atom(void)
{
    return strcmp(kopt.pebs_atom, "same") != 0;
}

void kopt_name_pebs_atom(char *error, size_t error_size)
{
    static const char pebs[] = "option 'pebs'", atom[] = "option 'pebs.atom'";
    const size_t rest = sizeof pebs - 1;
    char line[KOPT_TEXT];
    if (memcmp(error, pebs, rest) != 0)
        return;
    snprintf(line, sizeof line, "%s%s", atom, error + rest);
    snprintf(error, error_size, "%s", line);
}

/* What an option of events says, and what shall be counted beside it. */
static int add_events(struct ds_config *config, const char *events, char *error, size_t error_size)
{
    *config = (struct ds_config){
        .records = kopt.pebs_records, .threshold = kopt.pebs_threshold, .throttle = kopt.ds_throttle};
    int e = ds_parse_events(events, config, error, error_size);
    e = !e && config->events ? kopt_add_counting(config, error, error_size) : e;
    return e ? e : ds_parse_groups(kopt.pebs_groups, config, error, error_size);
}

int kopt_ds_config(struct ds_config *config, struct ds_config *atom, uint64_t *later, char *error, size_t error_size)
{
    int e = add_events(config, kopt.pebs, error, error_size);
    e = e ? e : ds_parse_periods(kopt.pebs_later, config->events, later, error, error_size);
    if (e || !kopt_pebs_atom()) {
        *atom = *config;
        return e;
    }
    e = add_events(atom, kopt.pebs_atom, error, error_size);
    if (e)
        kopt_name_pebs_atom(error, error_size);
    return e;
}

bool kopt_wants(uint32_t group)
{
    bool wants = false;
    for (uint32_t n = 0; n < TRACE_MAX_SESSIONS; n++)
        wants |= kopt.session[n].on && trace_group_on(&kopt.session[n].masks, group);
    return wants;
}
