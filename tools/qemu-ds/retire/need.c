/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/retire/need.h"

#include "ds/model/lbr/lbr.h"

#define ALL_BRANCHES (UINT32_MAX << DS_INSN_CONDITIONAL) /* bits of enum ds_insn_kind */
#define FAR_BRANCHES (UINT32_MAX << DS_INSN_FAR)

/* Branches of a ring that are remembered or stored, as bits of enum ds_insn_kind. */
static uint32_t kept(const struct ds_model *m, unsigned ring)
{
    static const uint8_t kind[] = {
        [DS_MODEL_CONDITIONAL] = DS_INSN_CONDITIONAL, [DS_MODEL_DIRECT_JUMP] = DS_INSN_JUMP,
        [DS_MODEL_INDIRECT_JUMP] = DS_INSN_JUMP,      [DS_MODEL_DIRECT_CALL] = DS_INSN_CALL,
        [DS_MODEL_INDIRECT_CALL] = DS_INSN_CALL,      [DS_MODEL_RETURN] = DS_INSN_RETURN,
    };
    const uint64_t bts = IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS;
    const unsigned cpl = ring ? 3 : 0;
    uint32_t kinds = 0;
    if ((m->debugctl & bts) == bts && !(m->debugctl & (ring ? IA32_DEBUGCTL_BTS_OFF_USR : IA32_DEBUGCTL_BTS_OFF_OS)))
        return ALL_BRANCHES;
    for (unsigned type = DS_MODEL_CONDITIONAL; type < DS_MODEL_OTHER_BRANCH; type++)
        kinds |= ds_model_remembers(m, type, cpl) ? 1u << kind[type] : 0;
    if (ds_model_remembers(m, DS_MODEL_OTHER_BRANCH, 0) || ds_model_remembers(m, DS_MODEL_OTHER_BRANCH, 3))
        kinds |= FAR_BRANCHES;
    return kinds;
}

uint32_t qds_need_branches(const struct ds_model *m, unsigned ring)
{
    const uint64_t wanted =
        qds_counting_wanted(m, ring ? QDS_OTHER_RINGS : QDS_RING_0) | qds_counting_wanted(m, QDS_ALL_RINGS);
    if (wanted & QDS_OUTCOMES & ~QDS_CONDITIONAL_OUTCOMES)
        return ALL_BRANCHES;
    return kept(m, ring) | (wanted & QDS_CONDITIONAL_OUTCOMES ? 1u << DS_INSN_CONDITIONAL : 0);
}

/* Whether taken branches matter to branch history alone, and that needs no more of them than where they lead. */
static bool history_alone(const struct ds_model *m)
{
    for (unsigned g = 0; g < QDS_GROUPS; g++)
        if (qds_counting_wanted(m, g) & (QDS_OUTCOMES | DS_BIT(DS_MODEL_LBR_INSERT)))
            return false;
    return !ds_model_call_stack(m) && !ds_model_logs(m) && !(m->debugctl & IA32_DEBUGCTL_BTS) && !m->conditional[0] &&
           !m->conditional[1];
}

enum qds_through qds_need_through(const struct ds_model *m, unsigned ring)
{
    return m->conditional[ring]          ? QDS_THROUGH_ALL
           : !qds_need_branches(m, ring) ? QDS_THROUGH_EVENTS
           : history_alone(m)            ? QDS_THROUGH_HISTORY
                                         : QDS_THROUGH_BRANCHES;
}

struct qds_instruments qds_need(const struct ds_model *m)
{
    struct qds_instruments need;
    for (unsigned g = 0; g < QDS_GROUPS; g++) {
        need.wanted[g] = qds_counting_wanted(m, g) & (QDS_BLOCK_EVENTS | QDS_ACCESS_EVENTS);
        need.near[g] = qds_counting_near(m, g);
    }
    need.history = 0;
    for (unsigned ring = 0; ring < 2; ring++) {
        const enum qds_through through = qds_need_through(m, ring);
        need.wanted[ring] |= through ? DS_BIT(DS_MODEL_INSTRUCTION) : 0;
        need.history |= through == QDS_THROUGH_HISTORY;
    }
    if (ds_model_pmi_waits(m)) /* blocks look at LVTPC, also when nothing counts any more */
        need.wanted[QDS_RING_0] |= DS_BIT(DS_MODEL_INSTRUCTION);
    return need;
}

void qds_need_follow(struct qds_vcpu *v)
{
    for (unsigned ring = 0; ring < 2; ring++) {
        v->through[ring] = (uint8_t)qds_need_through(&v->model, ring);
        v->branches[ring] = qds_need_branches(&v->model, ring);
        if (v->through[ring] == QDS_THROUGH_HISTORY && !v->env)
            v->through[ring] = QDS_THROUGH_BRANCHES; /* RIP must be at hand */
        v->noted[ring] = 0;
        for (unsigned type = 0; v->env && type <= DS_MODEL_OTHER_BRANCH && history_alone(&v->model); type++)
            v->noted[ring] |= (uint8_t)(ds_model_remembers(&v->model, type, ring ? 3 : 0) << type);
    }
}
