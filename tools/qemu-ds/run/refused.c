/* SPDX-License-Identifier: MIT */
#include "tools/qemu-ds/run/refused.h"

#include <inttypes.h>
#include <stdio.h>

#include "ds/layout.h"

#define MSRS 256u /* more than the model has */

static struct qds_refused wanted;
static unsigned accesses; /* to the model's */
static bool counts, said;
static struct {
    uint32_t msr[MSRS];
    unsigned count;
} seen[2]; /* those of the model that RDMSR and WRMSR were of */

static const char *name(bool write)
{
    return write ? "WRMSR" : "RDMSR";
}

void qds_refused_set(const struct qds_refused *refused)
{
    wanted = *refused;
}

static void note(bool write, uint32_t msr)
{
    for (unsigned i = 0; i < seen[write].count; i++)
        if (seen[write].msr[i] == msr)
            return;
    if (seen[write].count < MSRS)
        seen[write].msr[seen[write].count++] = msr;
}

bool qds_refused_access(unsigned vcpu, bool write, uint32_t msr, bool ours)
{
    if (vcpu != 0 || (!counts && msr != IA32_PERF_CAPABILITIES))
        return false;
    counts = true;
    if (ours) {
        accesses++;
        note(write, msr);
    }
    const bool refused =
        wanted.number ? ours && accesses == wanted.number : (write ? wanted.write : wanted.read) && msr == wanted.msr;
    if (refused && !said)
        fprintf(stderr, "qemu-ds: access %u refused: %s of %" PRIX32 "H\n", accesses, name(write), msr);
    said |= refused;
    return refused;
}

static void print_seen(bool write)
{
    fprintf(stderr, "qemu-ds: there was %s of", name(write));
    for (unsigned i = 0; i < seen[write].count; i++)
        fprintf(stderr, " %" PRIX32, seen[write].msr[i]);
    fprintf(stderr, "%s\n", seen[write].count ? "" : " none");
}

void qds_refused_print(void)
{
    if (said)
        return;
    if (wanted.number)
        fprintf(stderr, "qemu-ds: refuse=%u: there were only %u accesses\n", wanted.number, accesses);
    if (wanted.read || wanted.write) {
        fprintf(stderr, "qemu-ds: refuse=%s:%" PRIX32 ": there was no such access\n", name(wanted.write), wanted.msr);
        print_seen(false);
        print_seen(true);
    }
}
