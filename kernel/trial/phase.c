/* SPDX-License-Identifier: MIT */
#include "kernel/phase.h"
#include "kernel/console/report.h"
#include "kernel/recording/ds.h"
#include "kernel/trial/self_test.h"

static void try_instructions(const struct boot_info *info)
{
    char said[300];
    (void)info;
    if (!kds->pebs)
        return;
    if (kself_test(kds->caps, kds->config, &kds->ds, said, sizeof said))
        kreport(KREPORT_SKIP, "records", "no memory to try whether PEBS makes any");
    kds_remark(said);
}
KPHASE(KPHASE_PLANNED, try_instructions);
