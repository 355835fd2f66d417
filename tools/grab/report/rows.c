/* SPDX-License-Identifier: MIT */
#include "tools/grab/report/rows.h"

#include <string.h>

#include "ds/probe/probe.h"
#include "tools/grab/report/ask.h"

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
    {"tsc_switches", "between", grab_ask_tsc_switches},
    {"latency", "l1", grab_ask_latency},
    {"retire_latency", "sums_up", grab_ask_retire_latency},
    {"bts_path", "exact", grab_ask_bts_path},
    {"skid", "none", grab_ask_skid},
    {"residual", NULL, grab_ask_residual},
};

const char *grab_row_model(const struct grab_row *row)
{
    for (unsigned i = 0; !row->model && i < DS_PROBE_ROWS; i++)
        if (strcmp(ds_probe_rows[i].name, row->name) == 0)
            return ds_probe_model(&ds_probe_rows[i]);
    return row->model;
}
