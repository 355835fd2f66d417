/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/zeros/uncounted.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#define NAMED 12u /* as many as a line takes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t codes[NAMED]; /* event select, unit mask and UMaskExt, as in IA32_PERFEVTSELx */
static unsigned number;
static bool more;

static void note(uint64_t code)
{
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    while (i < number && codes[i] != code)
        i++;
    if (i == NAMED)
        more = true;
    else if (i == number)
        codes[number++] = code;
    pthread_mutex_unlock(&lock);
}

void qds_uncounted_look(const struct ds_model *m)
{
    for (unsigned i = 0; i < m->preset->gp_counters; i++)
        if (m->perfevtsel[i] & IA32_PERFEVTSEL_EN && m->global_ctrl & DS_BIT(i) && !ds_model_knows(m, i))
            note(m->perfevtsel[i] & (0xFFFF | IA32_PERFEVTSEL_UMASK2));
}

void qds_uncounted_print(void)
{
    if (!number)
        return;
    fprintf(stderr, "qemu-ds: events that read 0, as the model does not count them (event/unit mask):");
    for (unsigned i = 0; i < number; i++) {
        const unsigned extended = (unsigned)(codes[i] >> 40);
        fprintf(stderr, "%s %02XH/%02XH", i ? "," : "", (unsigned)codes[i] & 0xFF, (unsigned)codes[i] >> 8 & 0xFF);
        if (extended)
            fprintf(stderr, " with UMaskExt %02XH", extended);
    }
    fprintf(stderr, "%s\n", more ? " and others" : "");
}
