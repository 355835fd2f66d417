/* SPDX-License-Identifier: MIT */
/* What an instruction costs and causes with `memory=model`, whatever it finds in the caches. */
#pragma once

#include "ds/soft/insn.h"
#include "tools/qemu-ds/modelled/access_decode.h"
#include "tools/qemu-ds/modelled/memory_system.h"

/* At the plugin's start: memory=model. */
void qds_costs_begin(const struct qds_memory_config *config, const struct ds_model_preset *preset);
bool qds_costs_modelled(void);
/* Units of an instruction; with a memory system. */
unsigned qds_costs_cpi(void);
/* Slots of a cycle. */
uint32_t qds_costs_slots(void);
/* Slots that the instruction's own cycles lose to the back end: DS_MODEL_BACKEND. */
uint32_t qds_costs_backend(const struct ds_insn *insn);

/* How many of each of enum ds_model_event the instruction can cause, but for what counting.h says; cycles in units. */
const uint32_t *qds_costs_most(const struct qds_access_decoded *access);
