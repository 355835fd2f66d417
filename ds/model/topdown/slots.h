/* SPDX-License-Identifier: MIT */
#pragma once

#include "ds/model/model.h"

/* Slots of an instruction's own cycles, but for the one that it retires in. */
uint32_t ds_model_slots_left(const struct ds_model_preset *preset);
