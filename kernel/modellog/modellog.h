/* SPDX-License-Identifier: MIT */
/* The model's own log as events of the trace. */
#pragma once

#include <stdint.h>

#include "trace/wire/model_log.h"

extern uint32_t kmodellog_on; /* option ds.log */

/* What the model did at one instruction becomes an event CA03H: struct ds_hooks.logged. */
void kmodellog_write(void *context, uint32_t index, const struct cairn_model_entry *entry,
                     const struct cairn_model_action *actions);
