/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/next.h"

#include <inttypes.h>
#include <stdio.h>

bool cairn_next(const struct cairn_log *log, unsigned number, char *out, size_t size)
{
    bool drains = false, records = false, branches = false, locks = false, probed = false;
    uint32_t life = CAIRN_CPUS_MOST;
    char one_life[32];
    for (uint32_t c = log->cpus; c-- > 0;) {
        const struct cairn_cpu *cpu = &log->cpu[c];
        drains |= cpu->pebs.epochs != 0;
        records |= cpu->pebs.records != 0;
        branches |= cpu->bts.records != 0;
        locks |= cpu->locks.events != 0;
        if (cpu->log_entries && cpu->pebs.records)
            life = c;
    }
    for (uint32_t c = 0; c < MAX_CPUS; c++)
        probed |= cairn_has_key(&log->text, "probe.%" PRIu32 ".0", c);
    snprintf(one_life, sizeof(one_life), "ds --life %" PRIu32 ":0", life);
    const struct {
        const char *command;
        bool shows;
    } all[] = {
        {"dump", !log->report},
        {"stat", !log->report},
        {"check", !log->report},
        {"ds", drains},
        {one_life, life != CAIRN_CPUS_MOST},
        {"profile", records},
        {"bts", branches},
        {"locks", locks},
        {"probe", probed},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].shows && number-- == 0) {
            snprintf(out, size, "%s", all[i].command);
            return true;
        }
    return false;
}
