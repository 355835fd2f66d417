/* SPDX-License-Identifier: MIT */
#include "kernel/soft/options.h"

#include "kernel/options/row.h"

struct ksoft_options ksoft_options;

static const struct kopt_option *get(size_t *i, struct kopt_row *row)
{
    if (*i > 0) {
        *i -= 1;
        return NULL;
    }
    for (const struct ds_model_preset *p = ds_model_preset_after(NULL); p; p = ds_model_preset_after(p))
        kopt_add_word(row, p->name);
    row->option = (struct kopt_option){.name = "ds.preset",
                                       .standard = "icelake",
                                       .text = "processor that the soft backend's model emulates",
                                       .field = ksoft_options.preset,
                                       .size = sizeof ksoft_options.preset,
                                       .kind = TEXT,
                                       .words = row->words,
                                       .needs = "ds=auto|soft"};
    return &row->option;
}

static const struct kopt_rows made = {.get = get};
ROWS_ADD(kopt_rows, made);
