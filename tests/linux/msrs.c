/* SPDX-License-Identifier: MIT */
/* Prints the MSRs that perf sets up, a line `NAME=VALUE` each, while `perf record` samples this program: what `:p`
 * makes of an event. A register that this processor does not have has no line. Needs root, and msr.ko. */
#include "ds/layout.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned address;
} registers[] = {
    {"IA32_PERFEVTSEL0", IA32_PERFEVTSEL0},       {"IA32_PERFEVTSEL1", IA32_PERFEVTSEL0 + 1},
    {"IA32_FIXED_CTR_CTRL", IA32_FIXED_CTR_CTRL}, {"IA32_PEBS_ENABLE", IA32_PEBS_ENABLE},
    {"MSR_PEBS_DATA_CFG", MSR_PEBS_DATA_CFG},
};

int main(void)
{
    const int file = open("/dev/cpu/0/msr", O_RDONLY);
    if (file < 0) {
        perror("/dev/cpu/0/msr");
        return 1;
    }
    for (unsigned i = 0; i < sizeof registers / sizeof *registers; i++) {
        uint64_t value;
        if (pread(file, &value, sizeof value, registers[i].address) == sizeof value)
            printf("%s=%" PRIX64 "\n", registers[i].name, value);
    }
    return 0;
}
