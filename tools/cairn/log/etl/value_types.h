/* SPDX-License-Identifier: MIT */
/* The types that a description of fields may name: TraceLogging and TDH number them alike. */
#pragma once

#include <stddef.h>

#include "tools/cairn/log/etl/values.h"

/* How the bytes of type `in` (enum etl_tl_in) are read. `look`: how the provider wants them to be shown,
 * CAIRN_VALUE_NOTHING: as they are; it counts where the type allows it. `pointer`: bytes of one, 0: such a type is not
 * known. False: no such type. */
bool cairn_value_type_of(struct cairn_value_type *type, uint16_t in, unsigned pointer, enum cairn_value look);

/* The values of an array, as "[1, 2, ...]". */
struct cairn_value_list {
    char text[CAIRN_VALUE_TEXT_MOST];
    size_t used;
    bool any, cut;
};
void cairn_value_list_add(struct cairn_value_list *list, const char *value); /* zeroed: empty */
const char *cairn_value_list_text(struct cairn_value_list *list);
