/* SPDX-License-Identifier: MIT */
/* `cairn ds`: a CPU's DS area, or registers, its buffers to scale, and PEBS records word by word. */
#pragma once

#include "tools/cairn/model/ds_words.h"
#include "tools/cairn/model/timeline.h"

/* Every field of the area, or of the registers, as this epoch's drain found it, then the buffers it points to. */
void cairn_draw_area(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch);

/* Parts of these. Of architectural PEBS (ds_registers.c). */
void cairn_draw_registers(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch);
/* A line, or more; `at`: its number. */
void cairn_print_area_row(unsigned at, const struct cairn_area_row *row);
/* A buffer to scale; `end`: of the memory, where that is known. False: there is none to draw. */
bool cairn_draw_buffer(const struct cairn_buffer *buffer, const char *name, const char *maximum, uint64_t record_bytes,
                       uint64_t end);

/* Every word of a record; those that differ from `before` (NULL: none), where that has the same groups, are marked. */
void cairn_draw_record(const struct cairn_log *log, uint32_t cpu, const struct cairn_record *record,
                       const struct cairn_record *before);
/* Its bytes as they lay in memory. */
void cairn_draw_bytes(const struct cairn_record *record);
