/* SPDX-License-Identifier: MIT */
#include "kernel/soft/options.h"

#include "kernel/options/row.h"

struct ksoft_options ksoft_options;

static char presets[160];

static const struct kopt_option preset = {.name = "ds.preset",
                                          .standard = "icelake",
                                          .text = "processor that the soft backend's model emulates",
                                          .field = ksoft_options.preset,
                                          .size = sizeof ksoft_options.preset,
                                          .kind = TEXT,
                                          .words = presets,
                                          .needs = "ds=auto|soft"};

static void add(void)
{
    for (const struct ds_model_preset *p = ds_model_preset_after(NULL); p; p = ds_model_preset_after(p))
        kopt_add_word(presets, sizeof presets, p->name);
    kopt_add(&preset);
}

static const struct kopt_rows made = {add};
ROWS_ADD(kopt_rows, made);
