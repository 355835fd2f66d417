/* SPDX-License-Identifier: MIT */
#include "tools/grab/advice.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/grab/base/events.h"
#include "tools/grab/base/names.h"

/* Where Linux counts BTS as an event: INTEL_PMC_IDX_FIXED_BTS, before 5.10 one more. */
#define BTS_COUNTERS (UINT64_C(3) << 47)

/* PEBS_GP_REGS of Linux: PERF_REG_X86_AX to FLAGS, and R8 to R15; without segments and XMM. */
#define GENERAL UINT64_C(0xFF03FF)

static void say(char text[GRAB_ADVICE], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds it. */
static void say(char text[GRAB_ADVICE], const char *format, ...)
{
    const size_t at = strlen(text);
    va_list args;
    va_start(args, format);
    if (at)
        strncat(text, " ", GRAB_ADVICE - at - 1);
    vsnprintf(text + strlen(text), GRAB_ADVICE - strlen(text), format, args);
    va_end(args);
}

/* ---- not by PEBS ------------------------------------------------------------------------------------------------- */

static void advise_plain(struct grab_advice *a, const struct grab_use *u, const char *name)
{
    const int error = grab_event_try(&u->attr);
    say(a->pebs, "no: without :p its samples come by interrupts");
    if (error)
        say(a->change, "Linux has no PEBS for this event here (%s); sample another event", strerror(error));
    else
        say(a->change, "add a p after %s%s", name, strchr(name, ':') || strchr(name, '/') ? "" : ":");
}

/* ---- by PEBS ----------------------------------------------------------------------------------------------------- */

/* Why Linux wants an interrupt at each record of this event: intel_pmu_hw_config(). */
static void advise_single(char change[GRAB_ADVICE], const struct grab_use *u)
{
    static const struct {
        uint64_t types;
        const char *words;
    } parts[] = {
        {PERF_SAMPLE_CALLCHAIN, "the call graph out (-g)"},
        {PERF_SAMPLE_BRANCH_STACK, "branch history out (-b, --call-graph lbr)"},
        {PERF_SAMPLE_STACK_USER, "the stack out (--call-graph dwarf)"},
        {PERF_SAMPLE_TIME, "the time out (perf record --no-timestamp does; cairn grab -e cannot)"},
        {PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER, "registers out (--intr-regs, --user-regs)"},
        {PERF_SAMPLE_READ, "values of a group out (:S)"},
    };
    uint64_t rest = u->large ? u->attr.sample_type & ~u->large : 0;
    if (u->attr.freq)
        say(change, "give a fixed period (perf record -c N): with a frequency (-F, perf's default) Linux sets the "
                    "counter itself at each record.");
    if (u->attr.wakeup_events && !u->attr.watermark)
        say(change, "do not ask for a wakeup at each sample.");
    if (u->attr.use_clockid && u->attr.sample_type & PERF_SAMPLE_TIME)
        say(change, "leave perf's clock alone (-k): records have the TSC.");
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (rest & parts[i].types) {
            say(change, "leave %s: records of this processor do not have that.", parts[i].words);
            rest &= ~parts[i].types;
        }
    if (rest)
        say(change, "ask for fewer things in a sample: a record does not have PERF_SAMPLE_... 0x%llx.",
            (unsigned long long)rest);
    if (u->large & u->attr.sample_type & PERF_SAMPLE_REGS_USER && !u->attr.exclude_kernel)
        say(change, "count in programs only (:u): in the kernel a record does not have a program's registers.");
    if (!change[0] && u->attr.sample_type & PERF_SAMPLE_REGS_INTR && u->attr.sample_regs_intr & ~GENERAL)
        say(change, "name general-purpose registers (--intr-regs=ax,cx): with XMM, or all registers (-I), this Linux "
                    "wants an interrupt at each record."); /* others do not */
    if (!change[0])
        say(change,
            "unknown: Linux wants an interrupt at each record of this event for a reason that cairn does not know.");
}

static void advise_precise(struct grab_advice *a, const struct grab_use *u)
{
    const char *how = !u->drains               ? ""
                      : u->single == u->drains ? "single: an interrupt at each record"
                      : u->single              ? "single in a part of the drains, else large"
                                               : "large: Linux collects records";
    if (!u->records) {
        say(a->pebs, "yes, but it wrote no record");
        say(a->change,
            "nothing, if it is meant to occur less often than the period; else a shorter period, or a longer run");
        return;
    }
    say(a->pebs, "yes, %s", how);
    if (u->single && !u->collects)
        advise_single(a->change, u);
    else if (u->single)
        say(a->change, "nothing in this event: another PEBS event on the same CPU wants an interrupt at each record, "
                       "and both share one threshold.");
    if (u->full)
        say(a->change, "a buffer was full: use a longer period, or smaller records (no --intr-regs, -b, -d).");
    if (!a->change[0])
        say(a->change, "nothing");
}

void grab_advise(struct grab_advice *a, const struct grab_use *u, const char *name)
{
    *a = (struct grab_advice){0};
    if (!u->known) {
        say(a->pebs, "yes");
        say(a->change, "unknown: Linux did not say what its counter counts");
    } else if (u->of_kernel) {
        say(a->pebs, "no: the kernel itself counts it, as the NMI watchdog does");
        say(a->change, "nothing, unless you need its counter: 'sysctl kernel.nmi_watchdog=0' frees it");
    } else if (u->counters & BTS_COUNTERS && !u->records) {
        say(a->pebs, "no: Linux records these branches by BTS");
        say(a->change, "a period other than 1, for PEBS");
    } else if (!u->attr.precise_ip) {
        advise_plain(a, u, name);
    } else {
        advise_precise(a, u);
    }
}
