/* SPDX-License-Identifier: MIT */
/* TRACE_EVENT_INFO: what a file says of an event that a manifest describes. Each offset, index and count in it is
 * checked where it is used, and the time it takes is bounded by the bytes of description and payload. */
#pragma once

#include "tools/cairn/event/event_info_layout.h"
#include "tools/cairn/log/etl/described/event_maps.h"
#include "tools/cairn/log/etl/values.h"

/* Whether the bytes can be one: those before the properties are there. */
bool cairn_event_info_is(struct cairn_bytes info);

/* The text whose offset is at `field` (offsetof(struct event_info, ...)), without blanks at its end; "": none. */
const char *cairn_event_info_text(char *out, uint32_t room, struct cairn_bytes info, size_t field);
/* What the event is called: its own name; or its task, and behind a slash its opcode. "": it has neither. */
void cairn_event_info_name(char out[CAIRN_VALUE_TEXT_MOST], struct cairn_bytes info);
/* Calls `tell` with the name of each keyword. */
void cairn_event_info_keywords(struct cairn_bytes info, void (*tell)(void *to, const char *name), void *to);

/* Tells each field, as cairn_tracelogging_fields does. `pointer`: bytes of one. False: the payload does not fit the
 * description, or that is wrong; the fields up to there have been told. */
bool cairn_event_info_fields(struct cairn_bytes info, const struct cairn_event_maps *maps, struct cairn_bytes payload,
                             unsigned pointer, cairn_tell_field *tell, void *to);
