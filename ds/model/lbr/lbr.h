/* SPDX-License-Identifier: MIT */
/* Branch history, for hosts: which branches it has no use for, so that a host can leave them out. */
#pragma once

#include "ds/model/model.h"

/* Whether branch history is on and lets in branches of the type that end at `cpl`, frozen or not. */
bool ds_model_remembers(const struct ds_model *model, enum ds_model_branch_type type, unsigned cpl);
/* Whether it says how often events have occurred in between: ds_model_remember_branch() needs counters up to date. */
bool ds_model_logs(const struct ds_model *model);
/* Whether it is one that calls enter and returns leave. */
bool ds_model_call_stack(const struct ds_model *model);
