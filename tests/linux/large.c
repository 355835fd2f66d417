/* SPDX-License-Identifier: MIT */
/* large PROGRAM ...: executes it while branches are counted with the largest records that Linux 7.3 has a processor
 * write: general registers, XMM, 32 branches, memory, and a counter of the group. perf record cannot ask for them: it
 * wants XMM of the group's other event, too, which has no records. */
#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct perf_event_attr branches = {
        .size = sizeof branches,
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
        .sample_period = 10007,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
                       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_INTR,
        .read_format = PERF_FORMAT_GROUP,
        .branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
        .sample_regs_intr = 1ull << PERF_REG_X86_CX | 3ull << PERF_REG_X86_XMM0,
        .precise_ip = 2,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .disabled = 1,
        .enable_on_exec = 1,
    };
    struct perf_event_attr other = {
        .size = sizeof other,
        .type = PERF_TYPE_HARDWARE,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .sample_type = PERF_SAMPLE_READ,
        .read_format = PERF_FORMAT_GROUP,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    const long leader = syscall(SYS_perf_event_open, &branches, 0, -1, -1, 0);
    if (leader < 0 || syscall(SYS_perf_event_open, &other, 0, -1, leader, 0) < 0 || argc < 2) {
        perror("perf_event_open");
        return 1;
    }
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    return 1;
}
