/* SPDX-License-Identifier: MIT */
/* Events that describe others: what they are called, and which they describe. */
#pragma once

#include "tools/cairn/event/event.h"
#include "tools/cairn/log/etl/provider.h"

/* TRACE_EVENT_INFO, EVENT_MAP_INFO, a chunk of an EventSource's manifest. */
enum cairn_about { CAIRN_ABOUT_NOTHING, CAIRN_ABOUT_EVENT, CAIRN_ABOUT_MAP, CAIRN_ABOUT_SOURCE };

/* Whether the event is such a one, by what its header says. */
enum cairn_about cairn_about_of(const struct cairn_provider *provider, const struct cairn_event *event);
const char *cairn_about_name(enum cairn_about about); /* as Microsoft's reader calls it */
/* Tells which it describes. False: it is too short. */
bool cairn_about_fields(enum cairn_about about, struct cairn_bytes payload, cairn_tell_field *tell, void *to);
