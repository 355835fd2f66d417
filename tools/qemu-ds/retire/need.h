/* SPDX-License-Identifier: MIT */
/* What a model needs from translated blocks: which events they add up, and which of them it must see itself. */
#pragma once

#include "tools/qemu-ds/vcpu/vcpu.h"

struct qds_instruments {         /* what blocks are translated with */
    uint64_t wanted[QDS_GROUPS]; /* bits of enum ds_model_event that are counted for a group of counters */
    uint64_t near[QDS_GROUPS];   /* of these, those of qds_counting_near() */
    uint64_t history;            /* 1: branches that are only remembered are noted at the start of the next block */
};

static inline bool qds_need_nothing(const struct qds_instruments *i)
{
    return !(i->wanted[QDS_RING_0] | i->wanted[QDS_OTHER_RINGS] | i->wanted[QDS_ALL_RINGS]);
}

struct qds_instruments qds_need(const struct ds_model *model);
/* Sets what of the vCPU's rings goes through its model, which has changed. */
void qds_need_follow(struct qds_vcpu *v);
/* What of a ring (0: CPL 0, 1: others) goes through the model. */
enum qds_through qds_need_through(const struct ds_model *model, unsigned ring);
/* Branches of a ring that do, as bits of enum ds_insn_kind. */
uint32_t qds_need_branches(const struct ds_model *model, unsigned ring);
