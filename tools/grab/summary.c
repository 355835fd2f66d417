/* SPDX-License-Identifier: MIT */
#include "tools/grab/summary.h"

#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/slice.h"
#include "tools/cairn/base/wrap.h"
#include "tools/grab/advice.h"
#include "tools/grab/base/error.h"

#define N(n) (unsigned long)(n)

/* A kind of which there is none is left out; if all is lost, the line says that there are 0 records. */
static void print_counts(const char *output, const struct grab_written *w)
{
    char line[256], branches[80] = "", records[96] = "";
    if (w->branches)
        snprintf(branches, sizeof branches, "%lu %s in %lu %s, ", N(w->branches),
                 cairn_plural(w->branches, "branch", "branches"), N(w->bts_drains),
                 cairn_plural(w->bts_drains, "drain", "drains"));
    if (w->records || !w->branches)
        snprintf(records, sizeof records, "%lu %s of PEBS format %u in %lu %s, ", N(w->records),
                 cairn_plural(w->records, "record", "records"), w->format, N(w->drains),
                 cairn_plural(w->drains, "drain", "drains"));
    snprintf(line, sizeof line, "%s%s%lu %s", branches, records, N(w->switches),
             cairn_plural(w->switches, "switch", "switches"));
    cairn_wrap_for(stderr, (unsigned)fprintf(stderr, "%s: ", output), "", 2, cairn_slice_of(line));
}

static void tell_throttled(uint64_t times)
{
    if (times == UINT64_MAX)
        grab_note(
            "it is unknown whether Linux throttled events and samples are missing; this kernel has no x86_pmu_stop");
    else if (times)
        grab_note("Linux throttled events with PEBS %lu %s, each time until the next tick, so samples are missing; "
                  "'sysctl " GRAB_UNTHROTTLE "' reduces this",
                  N(times), cairn_plural(times, "time", "times"));
}

int grab_summary(const char *output, const struct grab_log *log, const struct grab_written *w, uint64_t period)
{
    if (!w->nothing) {
        print_counts(output, w);
        cairn_wrap_for(stderr, (unsigned)fprintf(stderr, "  from "), "", 2, cairn_slice_of(log->source->text));
    }
    if (w->lost_bytes || w->lost_switches)
        grab_note("%lu bytes of records and %lu switches are lost because the rings were full; use a larger --ring",
                  N(w->lost_bytes), N(w->lost_switches));
    grab_rings_tell_skipped(log->rings);
    tell_throttled(grab_rings_throttled(log->rings));
    if (w->nothing && period)
        grab_error("no event occurred %lu times (-c), so there is no record and %s is not written; use a smaller -c, "
                   "or a longer run",
                   N(period), output);
    else if (w->nothing)
        grab_error("no event used PEBS or BTS, so %s is not written; let cairn grab count an event, as with -e "
                   "instructions:u, or let perf record use PEBS, as with -e instructions:up",
                   output);
    return w->records || w->branches ? GRAB_GOOD : GRAB_BAD;
}
