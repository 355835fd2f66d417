/* SPDX-License-Identifier: MIT */
#include "kernel/soft/options.h"

#include "kernel/lib/string.h"
#include "kernel/options/row.h"

struct ksoft_options ksoft_options;

static const struct kopt_option log_option = {.name = "ds.log",
                                              .standard = "0",
                                              .text =
                                                  "1: the soft backend's model logs each of its steps, for 'cairn ds "
                                                  "--life' (hw cannot: the steps are invisible)",
                                              .field = &ksoft_options.log,
                                              .kind = NUMBER32,
                                              .max = 1,
                                              .needs = "ds=auto|soft,pebs!=none"};
ROWS_ADD(kopt, log_option);

static const char model[] = "ds=auto|soft";

static const struct kopt_option *preset(struct kopt_row *row)
{
    for (const struct ds_model_preset *p = ds_model_preset_after(NULL); p; p = ds_model_preset_after(p))
        kopt_add_word(row, p->name);
    row->option = (struct kopt_option){.name = "ds.preset",
                                       .standard = "icelake",
                                       .text = "processor that the soft backend's model emulates",
                                       .field = ksoft_options.preset,
                                       .size = sizeof ksoft_options.preset,
                                       .kind = TEXT,
                                       .words = row->words,
                                       .needs = model};
    return &row->option;
}

static const struct kopt_option *policy(const struct ds_model_policy_row *p, struct kopt_row *row)
{
    for (size_t v = 0; p->values[v]; v++)
        kopt_add_word(row, p->values[v]);
    snprintf(row->name, sizeof row->name, "ds.policy.%s", p->name);
    row->option = (struct kopt_option){.name = row->name,
                                       .standard = p->values[0],
                                       .text = p->question,
                                       .field = (char *)&ksoft_options.policy + p->field,
                                       .kind = WORD8,
                                       .words = row->words,
                                       .needs = model};
    return &row->option;
}

static const struct kopt_option *get(size_t *i, struct kopt_row *row)
{
    if (*i == 0)
        return preset(row);
    if (*i <= DS_MODEL_POLICIES)
        return policy(&ds_model_policies[*i - 1], row);
    *i -= 1 + DS_MODEL_POLICIES;
    return NULL;
}

static const struct kopt_rows made = {.get = get};
ROWS_ADD(kopt_rows, made);
