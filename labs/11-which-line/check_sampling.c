/* SPDX-License-Identifier: MIT */
/* Lab 11: lab_sample on both processors, for loads and then for stores; what it leaves in the registers. */
#include "labs/check.h"

#include "check_parts.h"
#include "labs/machine/sample.h"

#define SECTION  "SDM vol. 3B, \"Load Latency Performance Monitoring Facility\""
#define PEBS     "SDM vol. 3B, \"Processor Event Based Sampling (PEBS)\""
#define ADAPTIVE "SDM vol. 3B, \"Adaptive PEBS\""

static struct lab_sampling loads, stores;
static struct registers {
    int loads_error, stores_error;
    uint64_t global, select[2], value[2], threshold, groups, enable; /* [0]: of loads */
} now[WHICH_CPUS];

static void sample(uint32_t cpu)
{
    struct registers *r = &now[cpu];
    const unsigned counters[] = {loads.counter, stores.counter};
    if (loads.format >= 4)
        (void)lab_wrmsr(MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR); /* somebody else wants it */
    r->loads_error = lab_sample(&loads);
    r->stores_error = lab_sample(&stores);
    r->global = lab_msr(IA32_PERF_GLOBAL_CTRL);
    for (unsigned i = 0; i < 2; i++) {
        r->select[i] = lab_msr(IA32_PERFEVTSEL0 + counters[i]);
        r->value[i] = lab_msr(IA32_PMC0 + counters[i]);
        (void)lab_wrmsr(IA32_PERFEVTSEL0 + counters[i], 0);
    }
    r->threshold = lab_msr(MSR_PEBS_LD_LAT);
    r->groups = lab_msr(MSR_PEBS_DATA_CFG);
    r->enable = lab_msr(IA32_PEBS_ENABLE);
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    (void)lab_wrmsr(MSR_PEBS_LD_LAT, 0);
}

static void judge_counter(const struct lab_sampling *s, uint64_t select, uint64_t value)
{
    const uint64_t right = s->event | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN;
    const uint64_t start = -s->period & (DS_BIT(s->width) - 1);
    if ((select & ~IA32_PERFEVTSEL_ADAPTIVE) != right)
        lab_fail("select",
                 "IA32_PERFEVTSELx has the event in its low 16 bits, OS to count in ring 0, and EN. PEBS needs no INT.",
                 PEBS, "IA32_PERFEVTSEL%u is 0x%lx; expected 0x%lx", s->counter, (unsigned long)select,
                 (unsigned long)right);
    if (s->format >= 4 && !(select & IA32_PERFEVTSEL_ADAPTIVE))
        lab_fail("adaptive",
                 "A counter without the bit ADAPTIVE (34) writes records of the basic group alone, whatever "
                 "MSR_PEBS_DATA_CFG says.",
                 ADAPTIVE, "IA32_PERFEVTSEL%u is 0x%lx: bit 34 is 0", s->counter, (unsigned long)select);
    if (value != start)
        lab_fail("period", "The counter counts up, and overflows where it becomes 0.", PEBS,
                 "counter %u is at 0x%lx; expected 0x%lx, -%lu in %u bits", s->counter, (unsigned long)value,
                 (unsigned long)start, (unsigned long)s->period, s->width);
}

static void judge_threshold(const struct registers *r)
{
    if (r->threshold == loads.threshold)
        return;
    if (!r->threshold)
        lab_fail("threshold",
                 "MSR_PEBS_LD_LAT has the threshold. All counters of a processor share it, so a counter of stores "
                 "leaves it alone.",
                 SECTION, "MSR_PEBS_LD_LAT is 0; expected %u", loads.threshold);
    lab_fail("threshold", "MSR_PEBS_LD_LAT has the number of cycles that a load must exceed.", SECTION,
             "MSR_PEBS_LD_LAT is %lu; expected %u", (unsigned long)r->threshold, loads.threshold);
}

static void judge_groups(const struct registers *r)
{
    if (!(r->groups & MSR_PEBS_DATA_CFG_MEMINFO))
        lab_fail("groups", "Address, data source and latency are in the memory group of a record.", ADAPTIVE,
                 "MSR_PEBS_DATA_CFG is 0x%lx: MEMINFO is 0", (unsigned long)r->groups);
    if (r->groups != (MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_GPR))
        lab_fail("neighbour", "All counters share this register. Add your group, and leave the others as they are.",
                 ADAPTIVE, "MSR_PEBS_DATA_CFG was 0x%lx, and is 0x%lx; expected 0x%lx",
                 (unsigned long)MSR_PEBS_DATA_CFG_GPR, (unsigned long)r->groups,
                 (unsigned long)(MSR_PEBS_DATA_CFG_MEMINFO | MSR_PEBS_DATA_CFG_GPR));
}

static void judge_enable(const struct registers *r)
{
    const uint64_t both = DS_BIT(loads.counter) | DS_BIT(stores.counter), load_latency = DS_BIT(32 + loads.counter);
    const uint64_t right = both | (loads.format < 4 ? load_latency : 0);
    if (r->enable == right)
        return;
    if ((r->enable & both) == DS_BIT(stores.counter))
        lab_fail("neighbour", "All counters share this register. Add your bits, and leave the others as they are.",
                 PEBS, "IA32_PEBS_ENABLE is 0x%lx after two calls; expected 0x%lx", (unsigned long)r->enable,
                 (unsigned long)right);
    if (loads.format < 4 && !(r->enable & load_latency))
        lab_fail("load-latency",
                 "Before PEBS_BASELINE, bits 35:32 of IA32_PEBS_ENABLE turn load latency on, one for each of the "
                 "counters 0 to 3. Without it a record of this event has no latency.",
                 SECTION, "IA32_PEBS_ENABLE is 0x%lx; expected 0x%lx", (unsigned long)r->enable, (unsigned long)right);
    if (loads.format >= 4 && r->enable >> 32)
        lab_fail("baseline",
                 "With PEBS_BASELINE, bits 32 and up of IA32_PEBS_ENABLE are the fixed counters. Load latency needs no "
                 "bit of its own there.",
                 ADAPTIVE, "IA32_PEBS_ENABLE is 0x%lx; expected 0x%lx", (unsigned long)r->enable, (unsigned long)right);
    lab_fail("enable",
             "Bit i of IA32_PEBS_ENABLE is counter i. A counter of stores has no threshold, and so no bit of load "
             "latency.",
             PEBS, "IA32_PEBS_ENABLE is 0x%lx; expected 0x%lx", (unsigned long)r->enable, (unsigned long)right);
}

static void judge(const struct registers *r)
{
    if (r->loads_error || r->stores_error)
        lab_fail("gp",
                 "WRMSR raises #GP where a register does not exist, or a reserved bit is set. MSR_PEBS_DATA_CFG exists "
                 "from format 4 on.",
                 SECTION, "lab_sample returns an error for the counter of %s", r->loads_error ? "loads" : "stores");
    judge_counter(&loads, r->select[0], r->value[0]);
    judge_counter(&stores, r->select[1], r->value[1]);
    judge_threshold(r);
    if (loads.format >= 4)
        judge_groups(r);
    judge_enable(r);
    if (r->global)
        lab_fail("global",
                 "The check turns the counters on when a program begins, and off when it ends. Leave "
                 "IA32_PERF_GLOBAL_CTRL at 0.",
                 PEBS, "IA32_PERF_GLOBAL_CTRL is 0x%lx after lab_sample; expected 0", (unsigned long)r->global);
}

void which_check_sampling(void)
{
    loads = (struct lab_sampling){.counter = which_below(4), .event = WHICH_LOAD_LATENCY, .width = 48};
    loads.period = 100 + which_below(900);
    loads.threshold = 20 + which_below(100);
    loads.format = lab_format();
    stores = loads;
    stores.counter = (loads.counter + 1 + which_below(3)) % 4;
    stores.event = WHICH_ALL_STORES;
    stores.threshold = 0;
    if (lab_on_each_cpu(sample) != WHICH_CPUS)
        lab_fail("processors", "Say --smp 2 in the lab's file `boots`.", "./run-qemu.sh --help",
                 "this lab needs two processors");
    for (uint32_t cpu = 0; cpu < WHICH_CPUS; cpu++)
        judge(&now[cpu]);
    lab_pass("sampling", "counter %u for loads of more than %u cycles and counter %u for stores, on both processors",
             loads.counter, loads.threshold, stores.counter);
}
