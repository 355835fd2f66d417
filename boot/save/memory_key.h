/* SPDX-License-Identifier: MIT */
/* Memory that the next start reads otherwise than this one has written it. SDM vol. 4, "IA32_TME_ACTIVATE". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define IA32_TME_ACTIVATE 0x982u /* CPUID.7:ECX[13] says that it is there */
#define TME_ENABLED       (UINT64_C(1) << 1)
#define TME_KEY_RESTORED  (UINT64_C(1) << 2)  /* else it is a new one, of random numbers */
#define TME_BYPASS        (UINT64_C(1) << 31) /* what has no key of its own is not encrypted */

/* Of a machine, not of a guest: that knows nothing of its memory. */
static inline bool save_key_is_new_next(uint64_t tme_activate)
{
    return (tme_activate & (TME_ENABLED | TME_KEY_RESTORED | TME_BYPASS)) == TME_ENABLED;
}
