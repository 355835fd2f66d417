/* SPDX-License-Identifier: MIT */
/* The model's log (option ds.log) as events of the trace. */
#pragma once

#include <stdint.h>

#include "trace/wire/model_log.h"

/* What the model did at one instruction becomes an event CA03H: struct ds_hooks.logged. */
void ksoft_logged(void *context, uint32_t index, const struct cairn_model_entry *entry,
                  const struct cairn_model_action *actions);
