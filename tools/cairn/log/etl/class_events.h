/* SPDX-License-Identifier: MIT */
/* Events that Microsoft's tools add to a trace when they merge it, of classes without a hook ID: which PDB file belongs
 * to an image (ImageID), and where volumes and folders are (SysConfig). By Microsoft's open reader, TraceEvent. */
#pragma once

#include "tools/cairn/log/etl/kernel_events.h"

/* What the class calls its events of a type, "DbgID_RSDS"; NULL: it is none of these. */
const char *cairn_class_event_name(const struct cairn_event *event);
/* Tells each field. */
enum cairn_fit cairn_class_event_fields(const struct cairn_log *log, const struct cairn_event *event,
                                        cairn_tell_field *tell, void *to);
