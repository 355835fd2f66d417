/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/modelled/costs.h"

#include "ds/model/topdown/slots.h"
#include "tools/qemu-ds/counting/counting.h"

static bool modelled;
static unsigned instruction_units;
static uint32_t slots, slots_left;        /* of a cycle; of an instruction, but for the one that it retires in */
static uint32_t most[2][DS_MODEL_EVENTS]; /* of an instruction that does not access memory, and that does */

void qds_costs_begin(const struct qds_memory_config *config, const struct ds_model_preset *preset)
{
    const struct qds_access access = qds_memory_most(config);
    modelled = true;
    instruction_units = preset->cpi;
    slots = preset->slots;
    slots_left = ds_model_slots_left(preset);
    for (unsigned e = 0; e < DS_MODEL_EVENTS; e++) {
        most[0][e] = !(QDS_ACCESS_EVENTS >> e & 1);
        most[1][e] = 1;
    }
    most[0][DS_MODEL_CYCLES] = instruction_units;
    most[0][DS_MODEL_BACKEND] = slots_left;
    most[1][DS_MODEL_L1_FILLED] = 2u * access.l1_filled; /* a load's and a store's */
    most[1][DS_MODEL_L3_ASKED] = 2u * access.l3_asked;
    most[1][DS_MODEL_L3_MISSED] = 2u * access.l3_missed;
    most[1][DS_MODEL_LOAD_WALK] = most[1][DS_MODEL_STORE_WALK] = access.walks;
    most[1][DS_MODEL_CYCLES] = instruction_units + access.stall * QDS_UNITS_OF_A_CYCLE;
    most[1][DS_MODEL_BACKEND] = slots_left + access.stall * slots;
}

bool qds_costs_modelled(void)
{
    return modelled;
}

unsigned qds_costs_cpi(void)
{
    return instruction_units;
}

uint32_t qds_costs_slots(void)
{
    return slots;
}

uint32_t qds_costs_backend(const struct ds_insn *insn)
{
    return ds_insn_is_branch(insn) ? 0 : slots_left;
}

const uint32_t *qds_costs_most(const struct qds_access_decoded *access)
{
    static const uint32_t ones[DS_MODEL_EVENTS] = {[0 ... DS_MODEL_EVENTS - 1] = 1};
    return modelled ? most[access->accesses || access->prefetch] : ones;
}
