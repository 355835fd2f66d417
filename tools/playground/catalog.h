/* SPDX-License-Identifier: MIT */
/* What can be chosen in the playground, for the page's form. */
#pragma once

#include <stddef.h>

/* JSON: {"processors":[...],"events":[...],"groups":[...],"ops":[...],"numbers":[...],"policies":[...]}. Returns what
 * was needed, as snprintf. */
size_t play_catalog_write(char *text, size_t size);
