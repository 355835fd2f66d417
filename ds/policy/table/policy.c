/* SPDX-License-Identifier: MIT */
/* The policies by name. Each is a question to which no source has an answer. */
#include "ds/policy/table/table.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

#define FIELD(name) offsetof(struct ds_model_policy, name)

_Static_assert(sizeof(struct ds_model_policy) == DS_MODEL_POLICIES, "each policy is one byte and has a row");

/* clang-format off */
const struct ds_model_policy_row ds_model_policies[DS_MODEL_POLICIES] = {
    {"fit", {"end_le", "end_lt", "start_lt"},
     "which records fit: those that end at or below the absolute maximum, end below it, or start below it?",
     FIELD(fit)},
    {"drop_reload", {"yes", "no"},
     "is a counter reloaded if its record was dropped?", FIELD(drop_keeps_overflow)},
    {"bts_full", {"stop", "wrap"},
     "what does a full BTS buffer with BTINT set do?", FIELD(bts_full_wraps)},
    {"bts_ovf_buf", {"no", "yes"},
     "does the BTS threshold set IA32_PERF_GLOBAL_STATUS.OVF_BUF?", FIELD(bts_sets_ovf_buf)},
    {"masked_pmi", {"latched", "lost"},
     "what happens to a PMI that is raised while LVTPC is masked? latched: it comes when LVTPC is unmasked",
     FIELD(masked_pmi_lost)},
    {"bystander", {"by_format", "swapped"},
     "does another counter's record reload an armed counter? by_format: in formats 0 to 2; swapped: in later ones",
     FIELD(bystander_swapped)},
    {"pdist_minimum", {"none", "128"},
     "how short may the period of a counter with precise distribution be?", FIELD(pdist_minimum)},
    {"reserved", {"fault", "ignore"},
     "what does a write of reserved bits do?", FIELD(reserved_ignored)},
    {"residual", {"0", "1", "2", "3"},
     "how many PEBS records are stored after counters have been turned off?", FIELD(residual)},
    {"unmapped", {"error", "page_fault"},
     "what happens if DS memory is not mapped?", FIELD(unmapped_page_fault)},
    {"unlisted", {"by_generation", "none", "record"},
     "does PEBS record events that Intel's lists do not name for PEBS? by_generation: from Sandy Bridge on; "
     "none: before Ice Lake only those that Linux names; record: also listed events on other counters than listed",
     FIELD(unlisted)},
    {"arch_threshold", {"ge", "gt"},
     "architectural PEBS: is the PMI raised when the write position reaches the threshold, or when it passes it?",
     FIELD(arch_threshold_gt)},
    {"arch_full", {"drop", "disable"},
     "architectural PEBS: does a record that finds no room only set FULL, or clear IA32_PEBS_INDEX.EN, too?",
     FIELD(arch_full_disables)},
    {"arch_base", {"page", "size"},
     "architectural PEBS: what must the address in IA32_PEBS_BASE be a multiple of?", FIELD(arch_base_aligned)},
    {"arch_size", {"4_bits", "12_bits"},
     "architectural PEBS: how wide is IA32_PEBS_BASE.SIZE?", FIELD(arch_size_wide)},
    {"arch_padding", {"in_size", "apart"},
     "architectural PEBS: does the size in a record's header count its padding?", FIELD(arch_padding_apart)},
    {"arch_overflow", {"cleared", "never", "stays"},
     "architectural PEBS: what happens to a counter's own bit of GLOBAL_STATUS? cleared: its record clears it",
     FIELD(arch_overflow)},
    {"arch_ovf_buf", {"no", "yes"},
     "architectural PEBS: does the threshold set OVF_BUF (bit 62) beside bit 54?", FIELD(arch_sets_ovf_buf)},
    {"arch_fragments", {"none", "cont", "null"},
     "architectural PEBS: do records come in fragments? null: behind a null header", FIELD(arch_fragments)},
    {"arch_together", {"one", "each"},
     "architectural PEBS: counters that cause a record at one instruction: one for all, or each its own?",
     FIELD(arch_record_each)},
};
/* clang-format on */

int ds_model_policy_set(struct ds_model_policy *policy, const char *name, const char *value)
{
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++) {
        const struct ds_model_policy_row *row = &ds_model_policies[i];
        if (strcmp(row->name, name) != 0)
            continue;
        for (uint8_t v = 0; row->values[v]; v++)
            if (strcmp(row->values[v], value) == 0) {
                ((uint8_t *)policy)[row->field] = v;
                return 0;
            }
        return -EINVAL;
    }
    return -ENOENT;
}

const char *ds_model_policy_value(const struct ds_model_policy *policy, const struct ds_model_policy_row *row)
{
    return row->values[((const uint8_t *)policy)[row->field]];
}

const char *ds_model_policy_named(const struct ds_model_policy *policy, const char *name)
{
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++)
        if (strcmp(ds_model_policies[i].name, name) == 0)
            return ds_model_policy_value(policy, &ds_model_policies[i]);
    return NULL;
}
