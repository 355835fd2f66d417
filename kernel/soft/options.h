/* SPDX-License-Identifier: MIT */
/* Options of the backend soft. */
#pragma once

#include <stdint.h>

#include "ds/model/model.h"

struct ksoft_options {
    char preset[24]; /* the name of a ds_model_preset */
    struct ds_model_policy policy;
};
extern struct ksoft_options ksoft_options;
