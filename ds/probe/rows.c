/* SPDX-License-Identifier: MIT */
/* The questions, in the order they are asked. Those of the model's policies have their names. */
#include "ds/model/model.h"
#include "ds/probe/internal.h"
#include "kernel/string.h"

#define PEBS DS_PROBE_PEBS
#define BTS  DS_PROBE_BTS

const struct ds_probe_row ds_probe_rows[DS_PROBE_ROWS] = {
    {"fit", NULL, "both of the last two; Linux relies on the first", NULL, "records stored of many, under three maxima",
     PEBS, ds_probe_fit},
    {"drop_reload", NULL, "nothing", NULL, "a full buffer: counter and status behind an overflow", PEBS,
     ds_probe_drop_reload},
    {"bts_full", NULL, "nothing", NULL, "64 branches into 32 records: which are there", BTS, ds_probe_bts_full},
    {"bts_ovf_buf", NULL, "nothing; Linux does not trust it", NULL, "status after branches up to the threshold", BTS,
     ds_probe_bts_ovf_buf},
    {"masked_pmi", NULL, "nothing", NULL, "PEBS threshold while masked, then unmasked: PMIs counted", PEBS,
     ds_probe_masked_pmi},
    {"bystander", NULL, "formats 0 to 2: reloaded; later ones: nothing", NULL,
     "a counter armed by a branch; another's record before the next branch", PEBS, ds_probe_bystander},
    {"pdist_minimum", NULL, "nothing; Linux keeps 128", NULL, "distance of records with a period of 50", PEBS,
     ds_probe_pdist_minimum},
    {"reserved", NULL, "#GP", NULL, "a reserved bit written to each of some MSRs, counters off", PEBS,
     ds_probe_reserved},
    {"unmapped", NULL, "always to be mapped", NULL, "PebsIndex on a page that is not there, then in the buffer again",
     PEBS, ds_probe_unmapped},
};

static const struct ds_model_policy_row *policy(const struct ds_probe_row *row)
{
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++)
        if (strcmp(ds_model_policies[i].name, row->name) == 0)
            return &ds_model_policies[i];
    return NULL;
}

const char *ds_probe_question(const struct ds_probe_row *row)
{
    return row->question ? row->question : policy(row)->question;
}

const char *ds_probe_model(const struct ds_probe_row *row)
{
    return row->model ? row->model : policy(row)->values[0];
}
