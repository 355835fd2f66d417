/* SPDX-License-Identifier: MIT */
/* Between the files of the model. */
#pragma once

#include "ds/model/model.h"

/* Delivers a PMI unless LVTPC is masked, and masks it, as the processor does. */
void ds_model_raise_pmi(struct ds_model *model);

/* Writes the image of the record that the counters `set` cause into `image` (DS_PEBS_RECORD_MAX bytes); returns its
 * size in bytes, a multiple of 8. */
uint32_t ds_model_build_record(const struct ds_model *model, uint64_t set, const struct ds_model_registers *registers,
                               uint64_t *image);
