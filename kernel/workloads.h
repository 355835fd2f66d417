/* SPDX-License-Identifier: MIT */
/* The list of all workloads. It knows all folders that contain some; none of them knows it. */
#pragma once

struct kworkload;

/* By its name in the option workload=; NULL: there is none with this name. */
const struct kworkload *kworkloads_find(const char *name);
