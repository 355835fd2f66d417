/* SPDX-License-Identifier: MIT */
/* Describes any event in words, and its fields one by one, except switches and events of the Debug Store. */
#pragma once

#include "tools/cairn/log/activity.h"
#include "tools/cairn/log/etl/kernel_events.h"
#include "tools/cairn/log/etl/provider.h"

#define CAIRN_EVENT_TEXT 8192u

/* What it says, in one line; one that would be longer ends in "...". `live`: what the event is as one of
 * log/activity.h; NULL: it is none. */
const char *cairn_event_text(char out[CAIRN_EVENT_TEXT], const struct cairn_log *log, const struct cairn_event *event,
                             const struct cairn_live *live);

/* The name that a provider gave its event (TraceLogging), "" where it gave none. */
void cairn_event_name(char out[CAIRN_VALUE_TEXT_MOST], const struct cairn_provider *provider);
/* Tells each field, of the kernel logger's events and of those that bring their own names; the stack that a provider's
 * event may have comes last. */
enum cairn_fit cairn_event_fields(const struct cairn_log *log, const struct cairn_event *event, cairn_tell_field *tell,
                                  void *to);
