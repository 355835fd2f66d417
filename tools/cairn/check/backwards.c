/* SPDX-License-Identifier: MIT */
/* Where time goes back on a CPU. This kernel's never does; what Windows writes may. */
#include "tools/cairn/check/check.h"
#include "tools/cairn/log/etl/etl.h"

const char *cairn_check_may_go_back(const struct cairn_log *log)
{
    const struct cairn_etl *etl = log->etl;
    if (!etl || etl->cairn)
        return NULL;
    const uint32_t mode = etl->header.log_file_mode;
    return mode & ETL_MODE_RELOG                            ? "whoever relogged the file chose the times"
           : mode & ETL_MODE_PRIVATE                        ? "threads of a process shared buffers"
           : mode & ETL_MODE_SHARED_BUFFER                  ? "CPUs shared buffers"
           : etl->times.clock_type == ETL_CLOCK_SYSTEM_TIME ? "system time may have been set back"
           : etl->times.clock_type == ETL_CLOCK_CYCLES      ? "a cycle counter begins again after sleep"
                                                            : NULL;
}

void cairn_check_backwards(struct cairn_check *check, uint32_t cpu, int64_t time, const char *how)
{
    if (cairn_check_may_go_back(check->log))
        check->backwards++;
    else
        cairn_fail(check, CAIRN_RULE_TIMES, (int)cpu, &time, "%s", how);
}
