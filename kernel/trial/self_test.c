/* SPDX-License-Identifier: MIT */
#include "kernel/trial/self_test.h"

#include "arch/arch.h"
#include "kernel/console/report.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/ds.h"
#include "kernel/sched/cross_call.h"

#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

struct trial {
    struct ds_caps *caps; /* of all CPUs */
    const struct ds_config *const *each, *config;
    const struct ds_event *event;
    struct {
        uint8_t *pages; /* the driver, behind it the area and the buffer */
        const struct ds_machine *machine;
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
    const struct ds_machine *machine = t->cpu[i].machine;
    cpu->stepped = machine->stepping ? machine : NULL;
    t->cpu[i].tried = ds_self_test((struct ds_cpu *)(void *)t->cpu[i].pages, machine, &t->caps[i], t->event, area,
                                   area + ARCH_PAGE_SIZE);
    cpu->stepped = NULL;
}

/* Where the set-up itself fails, that of the session fails, too, and says why. */
static bool is_worth_sampling(enum ds_tried tried)
{
    return tried != DS_TRIED_NO_RECORD && tried != DS_TRIED_STILL;
}

static void try_all(struct trial *t, char *said, size_t size)
{
    uint32_t cpu = 0;
    kcross_call_all(try, t);
    while (cpu < kcpu_count && (t->each[cpu] != t->config || is_worth_sampling(t->cpu[cpu].tried)))
        cpu++;
    if (cpu == kcpu_count)
        return;
    snprintf(said, size,
             "; self-test: CPU %u %s %s:%lu%s: sample another event, such as "
             "pebs=BR_INST_RETIRED.ALL_BRANCHES:1009",
             cpu, t->cpu[cpu].tried == DS_TRIED_STILL ? "does not count" : "makes no record of", t->event->name,
             (unsigned long)t->event->period, t->cpu[cpu].tried == DS_TRIED_STILL ? " with PEBS" : "");
    kreport(KREPORT_SKIP, "records", "%s", said + 2);
}

int kself_test(struct ds_caps *caps, const struct ds_config *const *each, const struct ds_config *config, char *said,
               size_t size)
{
    static struct trial trial;
    bool memory = true;
    said[0] = '\0';
    trial.event = ds_sampled_instructions(config);
    if (!trial.event)
        return 0;
    trial.caps = caps;
    trial.each = each;
    trial.config = config;
    for (uint32_t i = 0; i < kcpu_count; i++)
        memory &= (trial.cpu[i].pages = kmem_pages_alloc(TRIAL_PAGES)) != NULL &&
                  (trial.cpu[i].machine = kds_machine_make(true)) != NULL;
    if (memory)
        try_all(&trial, said, size);
    for (uint32_t i = 0; i < kcpu_count; i++) {
        if (trial.cpu[i].pages)
            kmem_pages_free(trial.cpu[i].pages, TRIAL_PAGES);
        kds_machine_free(trial.cpu[i].machine);
    }
    return memory ? 0 : -ENOMEM;
}
