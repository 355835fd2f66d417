/* SPDX-License-Identifier: MIT */
/* What the model has stored, and what the driver hands over of it: hooks of both. Whatever is not right is a lie. */
#pragma once

#include "ds/bts/bts.h"
#include "ds/model/model.h"

/* The caller's: a variant has failed, and how. */
__attribute__((format(printf, 1, 2))) void lie(const char *format, ...);

void handed_begin(void);
void handed_recorded(void *context, const struct ds_model_record *record);
/* Each record is one that was stored, and comes once; they lie in the buffer. */
void handed_drained(const struct ds_drain *d, const uint8_t *buffer, size_t size);
/* Likewise branches, from addresses that grow, each to 64 bytes further. */
void handed_branches(void *context, uint32_t cpu, const struct ds_bts_drain *d);
/* At the end: nothing that the driver claims is wrong, and what is missing it knows. Without stepping it cannot know of
 * records whose memory was gone. `branches`: all that were taken are to be accounted for, too. */
void handed_judge(const struct ds_counts *counts, const struct ds_model *model, bool stepped, bool branches);
