/* SPDX-License-Identifier: MIT */
#include "tools/options/describe.h"

#include <stdio.h>

#include "kernel/options/row.h"

bool options_describe(size_t i, struct options_help *help)
{
    static char values[48];
    const struct kopt_option *o = kopt_row_get(i);
    if (!o)
        return false;
    if (o->kind == NUMBER32 || o->kind == NUMBER64)
        snprintf(values, sizeof values, "%lu..%lu", (unsigned long)o->min, (unsigned long)o->max);
    help->name = o->name;
    help->standard = o->standard;
    help->text = o->text;
    help->needs = o->needs;
    help->values = o->words ? o->words : o->form ? o->form->values : o->kind == TEXT ? "TEXT" : values;
    return true;
}
