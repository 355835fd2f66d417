/* SPDX-License-Identifier: MIT */
/* Options ds.policy.NAME, one for each question. */
#include "kernel/soft/options.h"
#include "ds/policy/table/table.h"
#include "kernel/lib/string.h"
#include "kernel/options/row.h"

static const struct kopt_option *get(size_t *i, struct kopt_row *row)
{
    if (*i >= DS_MODEL_POLICIES) {
        *i -= DS_MODEL_POLICIES;
        return NULL;
    }
    const struct ds_model_policy_row *p = &ds_model_policies[*i];
    for (size_t v = 0; p->values[v]; v++)
        kopt_add_word(row, p->values[v]);
    snprintf(row->name, sizeof row->name, "ds.policy.%s", p->name);
    row->option = (struct kopt_option){.name = row->name,
                                       .standard = p->values[0],
                                       .text = p->question,
                                       .field = (char *)&ksoft_options.policy + p->field,
                                       .kind = WORD8,
                                       .words = row->words,
                                       .needs = "ds=auto|soft"};
    return &row->option;
}

static const struct kopt_rows made = {.get = get};
ROWS_ADD(kopt_rows, made);
