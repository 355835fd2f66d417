/* SPDX-License-Identifier: MIT */
/* The fields of the kernel logger's events about disk, memory, files, network, configuration and stacks, by Microsoft's
 * classes of these events and with their names. */
#pragma once

#include "tools/cairn/log/etl/values.h"
#include "tools/cairn/log/log.h"

enum cairn_fit {
    CAIRN_FIT_UNKNOWN, /* nobody here knows the fields of this event, or of its version */
    CAIRN_FIT_WHOLE,
    CAIRN_FIT_SHORT, /* the payload ends before the last of them: those before have been told */
};

/* Tells each field of an event with a hook ID. */
enum cairn_fit cairn_kernel_fields(const struct cairn_log *log, const struct cairn_event *event, cairn_tell_field *tell,
                                   void *to);
/* The same of any event, whose `fields` are as kernel_events.c writes them. */
enum cairn_fit cairn_fields_tell(const struct cairn_log *log, const struct cairn_event *event, const char *fields,
                                 uint8_t pointer, cairn_tell_field *tell, void *to);
