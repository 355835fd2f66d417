/* SPDX-License-Identifier: MIT */
/* The policies by name. */
#pragma once

#include "ds/policy/policy.h"

struct ds_model_policy_row {
    const char *name;      /* of the option: ds.policy.NAME */
    const char *values[5]; /* value i is called values[i]; [0] is the default; NULL ends them */
    const char *question;
    size_t field; /* offset in struct ds_model_policy */
};

#define DS_MODEL_POLICIES 20u
extern const struct ds_model_policy_row ds_model_policies[DS_MODEL_POLICIES];

/* 0; -ENOENT: no such policy; -EINVAL: not one of its values. */
int ds_model_policy_set(struct ds_model_policy *policy, const char *name, const char *value);
const char *ds_model_policy_value(const struct ds_model_policy *policy, const struct ds_model_policy_row *row);
