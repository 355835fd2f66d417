/* SPDX-License-Identifier: MIT */
/* Options ds.policy.NAME, one for each question. */
#include "kernel/soft/options.h"
#include "ds/policy/table/table.h"
#include "kernel/lib/string.h"
#include "kernel/options/row.h"

static struct {
    struct kopt_option option;
    char name[32], words[160];
} rows[DS_MODEL_POLICIES];

static void add(void)
{
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++) {
        const struct ds_model_policy_row *p = &ds_model_policies[i];
        for (size_t v = 0; p->values[v]; v++)
            kopt_add_word(rows[i].words, sizeof rows[i].words, p->values[v]);
        snprintf(rows[i].name, sizeof rows[i].name, "ds.policy.%s", p->name);
        rows[i].option = (struct kopt_option){.name = rows[i].name,
                                              .standard = p->values[0],
                                              .text = p->question,
                                              .field = (char *)&ksoft_options.policy + p->field,
                                              .kind = WORD8,
                                              .words = rows[i].words,
                                              .needs = "ds=auto|soft"};
        kopt_add(&rows[i].option);
    }
}

static const struct kopt_rows made = {add};
ROWS_ADD(kopt_rows, made);
