/* SPDX-License-Identifier: MIT */
/* What the options say of the model, where no manual says what a processor does. */
#include "ds/policy/table/table.h"
#include "kernel/dump_section.h"
#include "kernel/recording/ds.h"
#include "kernel/soft/options.h"
#include "trace/frames.h"

static void dump(struct trace_dump *d)
{
    for (size_t i = 0; kds->other && kds->caps && i < DS_MODEL_POLICIES; i++)
        trace_dump_print(d, CAIRN_STREAM_MACHINE, "ds.policy.%s=%s|%s", ds_model_policies[i].name,
                         ds_model_policy_value(&ksoft_options.policy, &ds_model_policies[i]),
                         ds_model_policies[i].question);
}
KDUMP_SECTION(KDUMP_DEBUG_STORE, KDUMP_HEAD, dump);
