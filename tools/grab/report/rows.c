/* SPDX-License-Identifier: MIT */
#include "tools/grab/report/rows.h"

#include <string.h>

#include "ds/probe/probe.h"
#include "tools/grab/report/ask.h"

static void ask_bts(const struct grab_judged *j, struct grab_answer *a)
{
    (void)j;
    GRAB_NOT_ASKED(a, "cairn grab records no branches by BTS");
}

static void ask_later(const struct grab_judged *j, struct grab_answer *a)
{
    (void)j;
    GRAB_NOT_ASKED(a, "this version of cairn grab has no measurement of it");
}

const struct grab_row grab_rows[GRAB_ROWS] = {
    {"record_size", "as_told", grab_ask_record_size},
    {"groups", "as_asked", grab_ask_groups},
    {"spacing", NULL, grab_ask_spacing},
    {"pdist_spacing", NULL, grab_ask_pdist_spacing},
    {"pdist_minimum", NULL, grab_ask_pdist_minimum},
    {"eventing_ip", NULL, grab_ask_eventing_ip},
    {"rip", NULL, grab_ask_rip},
    {"bystander", NULL, grab_ask_bystander},
    {"lbr_order", "newest_first", grab_ask_lbr_order},
    {"lbr_depth", "all_used", grab_ask_lbr_depth},
    {"tsc_order", "rising", grab_ask_tsc_order},
    {"bts_path", "exact", ask_bts},
    {"skid", "none", ask_later},
    {"residual", NULL, ask_later},
};

const char *grab_row_model(const struct grab_row *row)
{
    for (unsigned i = 0; !row->model && i < DS_PROBE_ROWS; i++)
        if (strcmp(ds_probe_rows[i].name, row->name) == 0)
            return ds_probe_model(&ds_probe_rows[i]);
    return row->model;
}
