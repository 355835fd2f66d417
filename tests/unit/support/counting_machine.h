/* SPDX-License-Identifier: MIT */
/*
 * Machines for the driver's self-test: their registers are the model's, and their counters count while they are on. A
 * test says what becomes of the event of instructions when PEBS samples by it.
 */
#pragma once

#include "ds/model/model.h"
#include "ds/trial/trial.h"

extern struct counting_machine {
    struct ds_model_preset preset; /* the model's */
    struct ds_model model;
    enum ds_tried instructions; /* event select C0H; DS_TRIED_RECORDS: as the model has it */
    uint32_t forbidden;         /* MSR that raises #GP */
} * counting;                   /* the CPU that runs */

extern const struct ds_machine counting_machine_hw;

/* Becomes the CPU that runs, as after RESET. `signature`: 0: the preset's. */
void counting_machine_reset(struct counting_machine *m, const char *preset, uint32_t signature);
