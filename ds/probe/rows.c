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
    {"reserved", NULL, "#GP", NULL, "a reserved bit written to each of some MSRs, counters off", DS_PROBE_COUNTERS,
     ds_probe_reserved},
    {"unmapped", NULL, "always to be mapped", NULL, "PebsIndex on a page that is not there, then in the buffer again",
     PEBS, ds_probe_unmapped},
    {"spacing", "how many events apart are the records of an ordinary counter with a period of N?",
     "armed by the Nth, written with the next: N + 1", "n_plus_1", "records among divisions, slow instructions", PEBS,
     ds_probe_spacing},
    {"pdist_spacing", "and those of a counter with precise distribution?", "N", "n", "the same", PEBS,
     ds_probe_pdist_spacing},
    {"shadow", "are records of fast instructions behind a slow one as many as of that?", "not always", "even",
     "records of a division and seven NOPs, again and again", PEBS, ds_probe_shadow},
    {"full_signal", "does a record that is dropped at the maximum set OVF_BUF, or raise a PMI?", "no", "no",
     "a full buffer, above its threshold", PEBS, ds_probe_full_signal},
    {"self_mask", "does LVTPC mask itself with a PMI?", "yes", "yes", "LVTPC after a PMI", PEBS, ds_probe_self_mask},
    {"threshold_again", "does a record above the threshold raise a PMI though the first one did not rewind the index?",
     "yes", "yes", "more records after a PMI, PebsIndex left alone", PEBS, ds_probe_threshold_again},
    {"bts_circular", "what does a full BTS buffer with BTINT clear do?", "goes on at its base", "wrap",
     "64 branches into 32 records, threshold out of reach", BTS, ds_probe_bts_circular},
    {"bts_circular_pmi", "does a BTS threshold raise a PMI with BTINT clear?", "may: to be put out of reach", "yes",
     "branches up to the threshold", BTS, ds_probe_bts_circular_pmi},
    {"ds_area", "what does an address that is not canonical do in IA32_DS_AREA?", "nothing; Linux' KVM: #GP", "fault",
     "written and read", 0, ds_probe_ds_area},
    {"pmc_write", "which bits does a write of IA32_PMCx take?", "32, sign-extended", "sign_extended",
     "written and read", DS_PROBE_COUNTERS, ds_probe_pmc_write},
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
