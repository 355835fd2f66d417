/* SPDX-License-Identifier: MIT */
/* Mutant 4: batches carry another CPU's PebsIndex. */
#include "kernel/cpu.h"
#include "kernel/recording/sessions.h"

void __real_ksession_start_all(bool (*then)(void));
void __wrap_ksession_start_all(bool (*then)(void));

void __wrap_ksession_start_all(bool (*then)(void))
{
    for (uint32_t i = 0; i < kcpu_count; i++)
        if (kcpu_table[i]->pebs_stamp)
            kcpu_table[i]->pebs_stamp = kcpu_table[(i + 1) % kcpu_count]->pebs_index;
    __real_ksession_start_all(then);
}
