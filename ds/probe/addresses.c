/* SPDX-License-Identifier: MIT */
/*
 * Which addresses a record contains, and what GLOBAL_STATUS holds before there is a record.
 *
 * Addresses: a counter of branches makes a record for each of several jumps in a row. After the last jump there are
 * only NOPs, which are no branches. So a record with the address of the first NOP belongs to the last jump, and that
 * address is the address of the instruction after it. The meaning of the record's other address follows. A record that
 * has only the last jump's address says nothing: it may belong to the jump before and have the next jump's address.
 * (SDM vol. 3B, "PEBS Record Format".)
 */
#include "ds/probe/internal.h"

#define BEFORE 8u /* runs with shorter periods than that with which the last jump arms: which jump it is may differ */

static uint64_t behind(const struct ds_probe *p) /* the last jump */
{
    const struct ds_probe_sled *jumps = &p->bench->sled[DS_PROBE_JUMPS];
    return jumps->start + (uint64_t)jumps->count * jumps->bytes;
}

static bool among(const struct ds_probe *p, uint64_t address) /* the jumps, or just behind */
{
    const uint64_t start = p->bench->sled[DS_PROBE_JUMPS].start;
    return address - start <= behind(p) - start;
}

/* The first record's; 0: it has none. */
static uint64_t eventing_ip(const struct ds_probe *p)
{
    return p->caps->format >= 2 ? ds_probe_ip(p, 0, 0) : 0;
}

/* Whether there is a group of registers to ask for. */
static bool has_registers(const struct ds_probe *p)
{
    return ds_probe_arch(p) ? p->caps->arch_groups & IA32_PMC_CFG_C_GPR : p->caps->baseline;
}

static uint64_t rip(const struct ds_probe *p)
{
    const uint8_t *record = p->bench->buffer;
    if (ds_probe_arch(p)) {
        const struct ds_arch_gpr *gpr = ds_probe_arch_group(p, 0, IA32_PMC_CFG_C_GPR);
        return gpr ? gpr->registers.rip : 0;
    }
    if (p->caps->format < 4)
        return ((const struct ds_pebs_fmt0 *)record)->rip;
    return p->caps->baseline ? ((const struct ds_pebs_gpr *)(record + sizeof(struct ds_pebs_basic)))->rip : 0;
}

/* Sets p->eventing and p->rip to those of a record of the last jump, and p->of_last; or without one to those of the
 * last record there was, 0: of none. */
static bool look(struct ds_probe *p, struct ds_probe_result *r)
{
    if (!ds_probe_arm_at_last_jump(p, r))
        return false;
    for (uint64_t period = p->arming - BEFORE; period <= p->arming + 1 && !p->looked && !p->of_last; period++) {
        ds_probe_run_branches(p, period, has_registers(p) ? MSR_PEBS_DATA_CFG_GPR : 0);
        if (ds_probe_records(p) != 1 || (!among(p, eventing_ip(p)) && !among(p, rip(p))))
            continue;
        p->eventing = eventing_ip(p);
        p->rip = rip(p);
        p->of_last = p->eventing == behind(p) || p->rip == behind(p);
    }
    p->looked = !p->refused;
    return true;
}

static void tell(const struct ds_probe *p, struct ds_probe_result *r, uint64_t found, const char *name,
                 const char *itself)
{
    const uint64_t last = behind(p) - p->bench->sled[DS_PROBE_JUMPS].bytes;
    if (!p->of_last)
        ds_probe_unknown(r,
                         "no record has the address of the NOP behind the last jump, 0x%lx; %s of the last one: 0x%lx",
                         (unsigned long)last, name, (unsigned long)found);
    else
        ds_probe_answer(r,
                        found == behind(p) ? "next"
                        : found == last    ? itself
                                           : "other",
                        "a record of the last jump, 0x%lx, the NOP behind it 0x%lx: %s 0x%lx", (unsigned long)last,
                        (unsigned long)behind(p), name, (unsigned long)found);
}

void ds_probe_eventing_ip(struct ds_probe *p, struct ds_probe_result *r)
{
    if (p->caps->format < 2)
        ds_probe_unknown(r, "records of this format have no EventingIP");
    else if (look(p, r))
        tell(p, r, p->eventing, "EventingIP", "yes");
}

void ds_probe_rip(struct ds_probe *p, struct ds_probe_result *r)
{
    if (p->caps->format >= 4 && !has_registers(p))
        ds_probe_unknown(r, "RIP is in the group of registers, which is not there");
    else if (look(p, r))
        tell(p, r, p->rip, "RIP", "eventing");
}

/* ---- the overflow before the record ------------------------------------------------------------------------------ */

#define AROUND 4u /* events: as many may come or not with each run */

static void run_nops(struct ds_probe *p, uint64_t first)
{
    ds_probe_reset(p);
    ds_probe_pebs_buffer(p, DS_PROBE_BUFFER / 2, DS_PROBE_NEVER);
    ds_probe_count(p, &p->instructions, first, DS_PROBE_FAR);
    ds_probe_run(p, DS_PROBE_NOPS, 0);
}

/* How many instructions a run counts is found out first; then one overflows with the last of them, so that none is left
 * for the record. *before, *after: the status then, and with a record. False: `r` says why not. */
static bool overflow_without_record(struct ds_probe *p, struct ds_probe_result *r, uint64_t *before, uint64_t *after)
{
    run_nops(p, DS_PROBE_FAR);
    const uint64_t all =
        ds_probe_value(p, &p->instructions) - ds_initial(p->caps, p->instructions.number, DS_PROBE_FAR);
    run_nops(p, DS_PROBE_NOPS_COUNT / 2);
    *after = ds_probe_status(p);
    if (!ds_probe_records(p)) {
        ds_probe_unknown(r, "an overflow in the middle of the NOPs had no record");
        return false;
    }
    for (uint64_t first = all + AROUND; first + AROUND >= all && first; first--) {
        run_nops(p, first);
        if (ds_probe_records(p))
            break;
        if (ds_probe_value(p, &p->instructions) >= DS_PROBE_FAR)
            continue; /* not yet */
        *before = ds_probe_status(p);
        return true;
    }
    ds_probe_unknown(r, "of runs of about %lu instructions none ended between overflow and record", (unsigned long)all);
    return false;
}

static void tell_bit(const struct ds_probe *p, struct ds_probe_result *r, const char *answer, uint64_t before,
                     uint64_t after)
{
    ds_probe_answer(r, answer,
                    "counter %u behind its overflow, no record: GLOBAL_STATUS 0x%lx; behind its record: 0x%lx",
                    p->instructions.number, (unsigned long)before, (unsigned long)after);
}

void ds_probe_overflow_bit(struct ds_probe *p, struct ds_probe_result *r)
{
    uint64_t before, after;
    if (!ds_probe_needs_multiples(p, r) && overflow_without_record(p, r, &before, &after))
        tell_bit(p, r, before & DS_BIT(p->instructions.number) ? "set" : "clear", before, after);
}

void ds_probe_arch_overflow(struct ds_probe *p, struct ds_probe_result *r)
{
    static const char *const answers[2][2] = {{"never", "other"}, {"cleared", "stays"}}; /* set before; after */
    const uint64_t bit = DS_BIT(p->instructions.number);
    uint64_t before, after;
    if (overflow_without_record(p, r, &before, &after))
        tell_bit(p, r, answers[(before & bit) != 0][(after & bit) != 0], before, after);
}
