/* SPDX-License-Identifier: MIT */
#include "ds/soft/retired.h"

#define EVENT(e) DS_BIT(DS_MODEL_##e)

/* INT n is a far branch by what Intel's lists of events say of BR_INST_RETIRED.FAR_BRANCH on Atom cores, "interrupt
 * call and return"; those of others do not say. */
uint64_t ds_retired_events(const struct ds_insn *insn)
{
    static const uint64_t events_of[DS_INSN_KINDS] = {
        [DS_INSN_CONDITIONAL] = EVENT(BRANCH) | EVENT(BRANCH_CONDITIONAL),
        [DS_INSN_JUMP] = EVENT(BRANCH) | EVENT(NEAR_JUMP),
        [DS_INSN_CALL] = EVENT(BRANCH) | EVENT(NEAR_CALL),
        [DS_INSN_RETURN] = EVENT(BRANCH) | EVENT(NEAR_RETURN) | EVENT(NEAR_INDIRECT_OR_RETURN),
        [DS_INSN_FAR] = EVENT(BRANCH) | EVENT(FAR_BRANCH),
        [DS_INSN_IRET] = EVENT(BRANCH) | EVENT(FAR_BRANCH),
        [DS_INSN_INTERRUPT] = EVENT(BRANCH) | EVENT(FAR_BRANCH),
        [DS_INSN_SYSTEM] = EVENT(BRANCH) | EVENT(FAR_BRANCH),
    };
    static const uint64_t indirect = EVENT(NEAR_INDIRECT) | EVENT(NEAR_INDIRECT_OR_RETURN);
    uint64_t events = EVENT(INSTRUCTION) | events_of[insn->kind];
    if (insn->kind == DS_INSN_JUMP)
        events |= insn->direct ? EVENT(NEAR_DIRECT_JUMP) : EVENT(NEAR_INDIRECT_JUMP) | indirect;
    else if (insn->kind == DS_INSN_CALL)
        events |= insn->direct ? EVENT(NEAR_DIRECT_CALL) : EVENT(NEAR_INDIRECT_CALL) | indirect;
    if (!(events & EVENT(BRANCH)))
        events |= EVENT(NOT_BRANCH);
    else if (insn->kind != DS_INSN_CONDITIONAL)
        events |= EVENT(BRANCH_UNCONDITIONAL);
    return events;
}

/* What a branch did. */
static uint64_t outcome(const struct ds_insn *insn, const struct ds_model_branch *taken)
{
    const bool conditional = insn->kind == DS_INSN_CONDITIONAL;
    if (!taken)
        return conditional ? EVENT(CONDITIONAL_NOT_TAKEN) : 0;
    if (ds_insn_is_far(insn))
        return EVENT(ANY_TAKEN);
    return EVENT(BRANCH_TAKEN) | EVENT(ANY_TAKEN) |
           (!conditional ? 0
                         : EVENT(CONDITIONAL_TAKEN) |
                               (taken->to > taken->from ? EVENT(CONDITIONAL_FORWARD) : EVENT(CONDITIONAL_BACKWARD)));
}

enum ds_model_branch_type ds_retired_branch_type(const struct ds_insn *insn)
{
    switch (insn->kind) {
    case DS_INSN_CONDITIONAL:
        return DS_MODEL_CONDITIONAL;
    case DS_INSN_JUMP:
        return insn->direct ? DS_MODEL_DIRECT_JUMP : DS_MODEL_INDIRECT_JUMP;
    case DS_INSN_CALL:
        return insn->direct ? DS_MODEL_DIRECT_CALL : DS_MODEL_INDIRECT_CALL;
    case DS_INSN_RETURN:
        return DS_MODEL_RETURN;
    default:
        return DS_MODEL_OTHER_BRANCH;
    }
}

/* Whether a branch went on to `next`. *taken: to its target, which may be its successor: no branch but LOOP changes
 * anything that it tests, and that one tests what it has changed. */
static bool branched(const struct ds_insn *insn, uint64_t successor, uint64_t next, uint64_t rflags, uint64_t rcx,
                     bool *taken)
{
    uint64_t target = successor + (uint64_t)(int64_t)insn->displacement;
    *taken = true;
    if (insn->kind == DS_INSN_CONDITIONAL && next == successor) {
        *taken = next == target && ds_insn_taken(insn, rflags, rcx);
        return true;
    }
    return !insn->direct || next == target;
}

bool ds_retired(struct ds_model_retired *retired, struct ds_model_branch *branch, const struct ds_insn *insn,
                uint64_t ip, uint64_t next, uint64_t rflags, uint64_t rcx)
{
    uint64_t successor = ip + insn->length;
    bool taken = false;
    if (ds_insn_is_branch(insn) ? !branched(insn, successor, next, rflags, rcx, &taken) : next != successor)
        return false;
    *branch = (struct ds_model_branch){
        .from = ip,
        .to = next,
        .type = ds_retired_branch_type(insn),
        .to_next = insn->kind == DS_INSN_CALL && insn->direct && !insn->displacement,
    };
    *retired = (struct ds_model_retired){.events = ds_retired_events(insn), .branch = taken ? branch : NULL};
    if (ds_insn_is_branch(insn))
        retired->events |= outcome(insn, retired->branch);
    return true;
}
