/* SPDX-License-Identifier: MIT */
/* Every workload there is: it knows all rooms that have some, and none of them knows it. */
#pragma once

struct kworkload;

/* By the word of option workload=; NULL: there is no such. */
const struct kworkload *kworkloads_find(const char *name);
