/* SPDX-License-Identifier: MIT */
/*
 * Does something else already use what the driver needs? The firmware of some machines leaves counters on and reads
 * them in System Management Mode, where software cannot see it; this would break if the driver took them. So what is in
 * use stays as it is, unless ds.force=1 says otherwise.
 *
 * It only reads. A register that raises #GP counts as not in use, and its row says so: set-up will notice it, too.
 */
#include "ds/in_use/in_use.h"
#include "ds/driver/detect.h"
#include "ds/driver/mechanism.h"
#include "kernel/lib/string.h"

struct reader {
    const struct ds_machine *machine;
    bool refused; /* a register that the next row is of */
};

static uint64_t read(struct reader *r, uint32_t msr)
{
    uint64_t value;
    if (r->machine->rdmsr(r->machine->context, msr, &value) == 0)
        return value;
    r->refused = true;
    return 0;
}

static void users_row(struct ds_caps *caps, const struct ds_users *u)
{
    const char *verdict = u->used ? u->yes : u->refused ? "some of it cannot be read, and counts as unused" : u->no;
    ds_caps_row(caps, u->name, u->value, !u->used && !u->refused, verdict)->faulted = u->refused;
}

/* The row of what has been read since the last one. */
static void row(struct reader *r, struct ds_caps *caps, const char *name, uint64_t value, bool used, const char *yes,
                const char *no)
{
    users_row(caps, &(struct ds_users){name, value, used, r->refused, yes, no, ""});
    r->refused = false;
}

/* Performance cores of hybrids have two general-purpose counters and a fixed one that CPUID.0AH does not tell of: there
 * it has what all cores have. Software can see and use them, and so can firmware. A register that is not there is not
 * in use. */
static uint64_t hidden_counters(const struct ds_machine *machine, const struct ds_caps *caps, uint64_t control)
{
    enum { GP = 6, FIXED = 3 }; /* common ones */
    uint64_t counters = 0, value;
    if (caps->core_type != CPUID_1AH_EAX_CORE || caps->gp_counters != GP || caps->fixed_counters != FIXED)
        return 0;
    for (unsigned i = GP; i < GP + 2; i++)
        if (machine->rdmsr(machine->context, IA32_PERFEVTSEL0 + i, &value) == 0 && value & IA32_PERFEVTSEL_EN)
            counters |= DS_BIT(i);
    if (control & (ia32_fixed_ctr_ctrl_os(FIXED) | ia32_fixed_ctr_ctrl_usr(FIXED)))
        counters |= DS_BIT(ds_counter_fixed(FIXED));
    return counters;
}

/* Counters that are enabled, numbered as in GLOBAL_STATUS. GLOBAL_CTRL says nothing: RESET sets it. */
static uint64_t enabled_counters(struct reader *r, const struct ds_caps *caps)
{
    uint64_t counters = 0, control = caps->fixed_counters ? read(r, IA32_FIXED_CTR_CTRL) : 0;
    for (unsigned i = 0; i < caps->gp_counters; i++)
        if (read(r, IA32_PERFEVTSEL0 + i) & IA32_PERFEVTSEL_EN)
            counters |= DS_BIT(i);
    for (unsigned i = 0; i < caps->fixed_counters; i++)
        if (control & (ia32_fixed_ctr_ctrl_os(i) | ia32_fixed_ctr_ctrl_usr(i)))
            counters |= DS_BIT(ds_counter_fixed(i));
    return counters | hidden_counters(r->machine, caps, control);
}

/* Where the sentence goes on, and how much room is left. */
static char *end(struct ds_caps *caps, size_t *left)
{
    size_t used = strlen(caps->in_use);
    *left = sizeof caps->in_use - used;
    return caps->in_use + used;
}

static void name_them(struct ds_caps *caps, uint64_t area, const char *other)
{
    size_t left;
    char *at;
    for (uint64_t counters = caps->counters_in_use; counters; counters &= counters - 1) {
        unsigned c = (unsigned)__builtin_ctzll(counters);
        bool fixed = c >= DS_COUNTER_FIXED;
        at = end(caps, &left);
        snprintf(at, left, "%s%u ", fixed ? "FIXED_CTR" : "PMC", fixed ? c - DS_COUNTER_FIXED : c);
    }
    at = end(caps, &left);
    if (caps->area_in_use)
        snprintf(at, left, "IA32_DS_AREA=0x%lx ", (unsigned long)area);
    at = end(caps, &left);
    snprintf(at, left, "%sin use, perhaps by firmware: ds.force=1 takes it anyway", other);
}

static void find(struct ds_detection *d)
{
    const struct ds_machine *machine = d->machine;
    struct ds_caps *caps = d->caps;
    struct reader reader = {.machine = machine}, *r = &reader;
    if (!(d->leaf1[3] & CPUID_01H_EDX_DS) && !caps->instead)
        return;
    if (d->possible) { /* else PEBS takes none, and there may be senseless numbers of them */
        caps->counters_in_use = enabled_counters(r, caps);
        row(r, caps, "counters in use", caps->counters_in_use, caps->counters_in_use,
            "enabled before us: PEBS leaves them alone without ds.force=1", "none is enabled");
    }
    const struct ds_mechanism *pebs = ds_mechanism_of(caps->format);
    struct ds_users other = {0};
    const uint64_t area = read(r, IA32_DS_AREA);
    caps->area_in_use = area || (!caps->instead && read(r, pebs->on_msr)) || read(r, IA32_DEBUGCTL) & IA32_DEBUGCTL_BTS;
    row(r, caps, "IA32_DS_AREA in use", area, caps->area_in_use,
        "already set, or PEBS or BTS is on: left alone without ds.force=1", "free: it is 0, PEBS and BTS are off");
    if (pebs->find_users && d->possible) {
        pebs->find_users(machine, caps, &other);
        users_row(caps, &other);
    }
    if (caps->counters_in_use || caps->area_in_use || other.used)
        name_them(caps, area, other.word);
}
DS_DETECT(find);

void ds_leave_alone(struct ds_caps *caps)
{
    if (caps->pebs && caps->in_use[0]) {
        caps->pebs = false;
        caps->reason = caps->in_use;
    }
    if (caps->bts && caps->area_in_use) {
        caps->bts = false;
        caps->bts_reason = caps->in_use;
    }
}
