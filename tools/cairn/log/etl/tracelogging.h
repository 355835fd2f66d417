/* SPDX-License-Identifier: MIT */
/* TraceLogging: events that carry their own name and the names and types of their fields. */
#pragma once

#include "tools/cairn/log/etl/values.h"

/* The event's name, "" where the schema has none. */
void cairn_tracelogging_name(char out[CAIRN_VALUE_TEXT_MOST], struct cairn_bytes schema);
/* Tells each field; of a structure `outer.inner`, of an array of them `outer[0].inner`. False: the payload does not
 * fit the schema, and those up to there have been told. */
bool cairn_tracelogging_fields(struct cairn_bytes schema, struct cairn_bytes payload, cairn_tell_field *tell, void *to);
