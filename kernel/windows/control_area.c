/* SPDX-License-Identifier: MIT */
#include "kernel/windows/control_area.h"

#include "kernel/control/session.h"
#include "kernel/cpu.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/recording/ds.h"

/* What Windows asks of a processor, of the one the backend shows. So with architectural PEBS it is not supported, for
 * all that BTS has an area there. */
static bool supported(const struct kcpu *cpu)
{
    if (!cpu->ds)
        return false;
    const struct ds_machine *machine = cpu->machine;
    const uint64_t want = IA32_MISC_ENABLE_PERFMON, all = want | IA32_MISC_ENABLE_PEBS_UNAVAIL;
    uint32_t vendor[4];
    uint64_t enable;
    machine->cpuid(machine->context, 0, 0, vendor);
    return memcmp(&vendor[1], "Genu", 4) == 0 && memcmp(&vendor[3], "ineI", 4) == 0 &&
           memcmp(&vendor[2], "ntel", 4) == 0 && machine->rdmsr(machine->context, IA32_MISC_ENABLE, &enable) == 0 &&
           (enable & all) == want;
}

/* ---- on this CPU, interrupts off, counting paused ---------------------------------------------------------------- */

struct request {
    void *page; /* allocate: the new area; free: the old one */
    uint64_t address;
    struct ds_refusal refusal;
    uint32_t cpu;
    int result;
};

static bool allocate_here(void *argument)
{
    struct request *r = argument;
    struct kcpu *cpu = kcpu_this();
    if (!supported(cpu)) {
        r->result = -ENOTSUP;
        return false;
    }
    void **area = &cpu->ds_area;
    r->result = *area ? -EEXIST : 0;
    if (!*area) {
        *area = r->page;
        ds_set_area(cpu->ds, r->page);
    }
    r->address = (uint64_t)(uintptr_t)*area;
    return false; /* PEBS does not run yet */
}

static bool free_here(void *argument)
{
    struct request *r = argument;
    struct kcpu *cpu = kcpu_this();
    if (!supported(cpu)) {
        r->result = -ENOTSUP;
        return false;
    }
    void **area = &cpu->ds_area;
    bool moved = cpu->pebs_stamp != NULL;
    r->result = *area ? 0 : -ENOENT;
    r->page = *area;
    if (!*area)
        return false;
    ds_stop(cpu->ds);
    cpu->pebs_index = cpu->pebs_stamp = NULL;
    ds_set_area(cpu->ds, NULL);
    *area = NULL;
    return moved;
}

static bool start_here(void *argument)
{
    struct request *r = argument;
    struct kcpu *cpu = kcpu_this();
    r->cpu = cpu->arch.index;
    r->result = !cpu->ds || !cpu->ds_area ? -ENOENT : ds_started(cpu->ds) ? -EBUSY : 0;
    if (r->result)
        return false;
    r->result = ds_start(cpu->ds, &r->refusal);
    if (!r->result && kds->beside)
        r->result = kds->beside->start(cpu->ds, &r->refusal);
    if (r->result) {
        ds_stop(cpu->ds);
        return false;
    }
    cpu->pebs_index = ds_pebs_index(cpu->ds);
    cpu->pebs_stamp = kds_samples(r->cpu) ? cpu->pebs_index : NULL;
    return cpu->pebs_stamp != NULL;
}

/* ---- in a thread ------------------------------------------------------------------------------------------------- */

int kcontrol_area_allocate(uint64_t *address)
{
    struct request r = {.page = kmem_pages_alloc(1)};
    if (!r.page)
        return -ENOMEM;
    ksession_move_pebs(allocate_here, &r);
    if (r.result)
        kmem_pages_free(r.page, 1);
    *address = r.address;
    return r.result;
}

int kcontrol_area_free(void)
{
    struct request r = {0};
    ksession_move_pebs(free_here, &r);
    if (!r.result)
        kmem_pages_free(r.page, 1);
    return r.result;
}

int kcontrol_area_start(char *error, size_t size)
{
    struct request r = {0};
    ksession_move_pebs(start_here, &r);
    if (r.result == -EFAULT)
        kds_explain(&r.refusal, r.cpu, error, size);
    return r.result;
}
