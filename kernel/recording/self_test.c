/* SPDX-License-Identifier: MIT */
#include "kernel/recording/self_test.h"

#include "arch/arch.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/options/options.h"
#include "kernel/sched/cross_call.h"

#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

struct trial {
    struct ds_caps *caps; /* of all CPUs */
    const struct ds_config *const *each, *config;
    const struct ds_event *event;
    struct {
        uint8_t *pages; /* the driver, behind it the area and the buffer */
        enum ds_tried tried;
    } cpu[MAX_CPUS];
};

#define DRIVER_PAGES PAGES(ds_cpu_bytes())
#define TRIAL_PAGES  (DRIVER_PAGES + 1 + PAGES(DS_SELF_TEST_BUFFER))

static void try(void *argument)
{
    struct trial *t = argument;
    struct kcpu *cpu = kcpu_this();
    const uint32_t i = cpu->arch.index;
    t->cpu[i].tried = DS_TRIED_NOT;
    if (t->each[i] != t->config)
        return;
    uint8_t *area = t->cpu[i].pages + DRIVER_PAGES * ARCH_PAGE_SIZE;
    cpu->active_model = cpu->ds_soft;
    t->cpu[i].tried = ds_self_test((struct ds_cpu *)(void *)t->cpu[i].pages,
                                   cpu->ds_soft ? ds_soft_machine(cpu->ds_soft) : ds_hw_machine(), &t->caps[i],
                                   t->event, area, area + ARCH_PAGE_SIZE);
    cpu->active_model = NULL;
    if (cpu->ds_soft) /* as new: nothing has been counted */
        ds_soft_init(cpu->ds_soft, kopt.ds_preset, &kopt.ds_policy);
}

static bool has_records(enum ds_tried tried)
{
    return tried == DS_TRIED_RECORDS;
}

/* Where the set-up itself fails, that of the session fails, too, and says why. */
static bool is_worth_sampling(enum ds_tried tried)
{
    return tried != DS_TRIED_NO_RECORD && tried != DS_TRIED_STILL;
}

/* On every CPU. The first of those that sample it where what came of it is not good; kcpu_count: there is none. */
static uint32_t try_all(struct trial *t, const struct ds_event *event, bool (*good)(enum ds_tried tried))
{
    uint32_t cpu = 0;
    t->event = event;
    kcall_all(try, t);
    while (cpu < kcpu_count && (t->each[cpu] != t->config || good(t->cpu[cpu].tried)))
        cpu++;
    return cpu;
}

/* Instructions have no records on this CPU, or PEBS does not even count them. */
static void replace(struct trial *t, uint32_t cpu, struct ds_config *config, uint64_t *later, char *said, size_t size)
{
    struct ds_config other = *config;
    uint64_t other_later[DS_MAX_COUNTERS];
    const struct ds_event *was = ds_sampled_instructions(config), *now = &other.event[was - config->event];
    const char *why;
    uint32_t first;
    char fault[96];
    snprintf(fault, sizeof fault,
             t->cpu[cpu].tried == DS_TRIED_STILL ? "CPU %u does not count %s:%lu with PEBS"
                                                 : "CPU %u makes no record of %s:%lu",
             cpu, was->name, (unsigned long)was->period);
    memcpy(other_later, later, sizeof other_later);
    switch (ds_take_prec_dist(&t->caps[cpu], &other, other_later)) {
    case 0:
        first = try_all(t, now, has_records);
        if (first == kcpu_count) {
            snprintf(said, size, "; self-test: %s, so %s:%lu takes its place", fault, now->name,
                     (unsigned long)now->period);
            *config = other;
            memcpy(later, other_later, sizeof other_later);
            return;
        }
        why = t->cpu[first].tried == DS_TRIED_STILL
                  ? "nor INST_RETIRED.PREC_DIST: perhaps no counter counts with PEBS here"
                  : "and INST_RETIRED.PREC_DIST is no better";
        break;
    case -EBUSY:
        why = "and INST_RETIRED.PREC_DIST cannot take its place beside the other events";
        break;
    default:
        why = "and this processor has no other event of instructions";
    }
    snprintf(said, size, "; self-test: %s, %s: sample another event, such as pebs=BR_INST_RETIRED.ALL_BRANCHES:1009",
             fault, why);
    kreport(KREPORT_SKIP, "records", "%s", said + 2);
}

static void try_instructions(struct trial *t, struct ds_config *config, uint64_t *later, char *said, size_t size)
{
    const uint32_t cpu = try_all(t, ds_sampled_instructions(config), is_worth_sampling);
    if (cpu < kcpu_count)
        replace(t, cpu, config, later, said, size);
}

int kself_test(struct ds_caps *caps, const struct ds_config *const *each, struct ds_config *config, uint64_t *later,
               char *said, size_t size)
{
    static struct trial trial;
    bool memory = true;
    said[0] = '\0';
    if (!ds_sampled_instructions(config))
        return 0;
    trial.caps = caps;
    trial.each = each;
    trial.config = config;
    for (uint32_t i = 0; i < kcpu_count; i++)
        memory &= (trial.cpu[i].pages = kmem_pages_alloc(TRIAL_PAGES)) != NULL;
    if (memory)
        try_instructions(&trial, config, later, said, size);
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (trial.cpu[i].pages)
            kmem_pages_free(trial.cpu[i].pages, TRIAL_PAGES);
    return memory ? 0 : -ENOMEM;
}
