/* SPDX-License-Identifier: MIT */
#include "tools/grab/report/attributes.h"

#include <asm/perf_regs.h>
#include <stdio.h>

#include "ds/pebs23_layout.h"
#include "tools/grab/base/events.h"

#define REGISTERS  0xFFu        /* EAX to SP of perf's registers: any of them has the processor record all */
#define FAR        (1ull << 40) /* a period without a record */
#define PREC_DIST  0x1C0u       /* INST_RETIRED.PREC_DIST, before there was a fixed counter for it */
#define FIRST_BASE 4u           /* format with fixed counters in PEBS */

#define BRANCHES     PERF_COUNT_HW_BRANCH_INSTRUCTIONS
#define INSTRUCTIONS PERF_COUNT_HW_INSTRUCTIONS

struct asked { /* what all events of a setting have in common */
    const struct grab_core *core;
    unsigned format;
    uint64_t period;
};

static struct perf_event_attr event(const struct asked *asked, uint64_t config, unsigned precise, uint64_t period)
{
    struct perf_event_attr a = {.size = sizeof a,
                                .type = PERF_TYPE_HARDWARE,
                                .config = config | (uint64_t)asked->core->type << 32,
                                .sample_period = period,
                                .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
                                .precise_ip = precise,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};
    if (precise == 3 && config == INSTRUCTIONS && asked->format < FIRST_BASE) {
        a.type = PERF_TYPE_RAW;
        a.config = PREC_DIST;
    }
    if (precise && asked->format >= FIRST_BASE) { /* records of older formats always have them */
        a.sample_type |= PERF_SAMPLE_REGS_INTR;
        a.sample_regs_intr = REGISTERS;
    }
    return a;
}

static struct perf_event_attr plain(const struct asked *asked, uint64_t config, uint64_t type)
{
    struct perf_event_attr a = event(asked, config, 0, asked->period);
    a.sample_type = PERF_SAMPLE_IP | type;
    a.sample_regs_intr = type & PERF_SAMPLE_REGS_INTR ? 1u << PERF_REG_X86_CX : 0;
    return a;
}

/* Linux' own event of that name. */
static bool named(struct perf_event_attr *a, const struct asked *asked, const char *name)
{
    char terms[96], text[128];
    struct grab_event e;
    if (!grab_core_event(terms, asked->core, name))
        return false;
    snprintf(text, sizeof text, "%s/%s/u", asked->core->pmu, terms);
    if (grab_event_parse(&e, text))
        return false;
    *a = event(asked, e.config, 0, 0);
    a->type = e.type;
    a->config = e.config;
    a->config1 = e.config1;
    return true;
}

/* From Sapphire Rapids on Linux wants another event before it, in one group. */
static void loads(struct grab_attributes *to, const struct asked *asked)
{
    const unsigned before = named(&to->a[0], asked, "mem-loads-aux");
    struct perf_event_attr *a = &to->a[before];
    const struct perf_event_attr like = event(asked, BRANCHES, 2, asked->period);
    if (!named(a, asked, "mem-loads"))
        return;
    a->sample_period = asked->period;
    a->precise_ip = 2;
    a->sample_type = like.sample_type | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
    a->sample_regs_intr = like.sample_regs_intr;
    to->group = true;
    to->count = to->needed = before + 1;
}

/* Counters with precise distribution are taken by other events, as many as Linux can schedule together with those that
 * are there: those shall be on others. Linux puts such branches of Cougar Cove on counter 0 alone. Its stores can be on
 * 1, too, where they are then. */
static void keep_off_precise(struct grab_attributes *to, const struct asked *asked)
{
    to->group = true;
    while (asked->format >= FIRST_BASE && to->count < GRAB_ATTRIBUTES - 1)
        to->a[to->count++] = event(asked, BRANCHES, 3, FAR);
    struct perf_event_attr *a = &to->a[to->count];
    if (asked->format != DS_FORMAT_ARCH || !named(a, asked, "mem-stores"))
        return;
    a->sample_period = FAR;
    a->precise_ip = 2;
    to->count++;
}

void grab_attributes(struct grab_attributes *to, enum grab_setting_number number, const struct grab_core *core,
                     unsigned format)
{
    const struct grab_setting *s = &grab_settings[number];
    const struct asked asked = {core, format, s->period};
    const unsigned precise = format >= 2 ? 2 : 1; /* earlier records are not of the instruction; :p does not ask that */
    *to = (struct grab_attributes){.count = 1, .needed = 1};
    switch (number) {
    case GRAB_PRECISE:
        to->a[0] = event(&asked, INSTRUCTIONS, 3, s->period);
        to->a[to->count++] = event(&asked, PERF_COUNT_HW_CPU_CYCLES, 0, 0);
        break;
    case GRAB_SHORT:
        to->a[0] = event(&asked, INSTRUCTIONS, 3, s->period);
        break;
    case GRAB_PRECISE_FIRST:
        to->a[0] = event(&asked, BRANCHES, 3, s->period);
        break;
    case GRAB_HISTORY:
        to->a[0] = event(&asked, BRANCHES, precise, s->period);
        to->a[0].sample_type |= PERF_SAMPLE_BRANCH_STACK;
        to->a[0].branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
        break;
    case GRAB_INTERRUPTS:
        to->a[0] = plain(&asked, INSTRUCTIONS, PERF_SAMPLE_READ | PERF_SAMPLE_REGS_INTR);
        break;
    case GRAB_TRACE:
        to->a[0] = plain(&asked, BRANCHES, PERF_SAMPLE_ADDR);
        break;
    case GRAB_LOADS:
        to->count = 0;
        loads(to, &asked);
        break;
    case GRAB_TWO:
        to->a[to->count++] = event(&asked, INSTRUCTIONS, precise, s->other);
        to->needed = 2; /* and the first one as below */
        /* fall through */
    default:
        to->a[0] = event(&asked, BRANCHES, precise, s->period);
        keep_off_precise(to, &asked);
    }
}
