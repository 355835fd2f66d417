/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/report/cores.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tools/grab/bpf/events.h"

/* A line of a file of the PMU. */
static bool read_line(char text[96], const char *pmu, const char *file)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/%s", pmu, file);
    FILE *from = fopen(path, "re");
    const bool found = from && fgets(text, 96, from);
    if (from)
        fclose(from);
    if (found)
        text[strcspn(text, "\n")] = '\0';
    return found;
}

/* False: there is no such PMU, or it has no CPUs. */
static bool find(struct grab_core *core, const char *pmu)
{
    char text[96];
    core->pmu = pmu;
    return read_line(text, pmu, "cpus") && sscanf(text, "%u", &core->cpu) == 1 && core->cpu < GRAB_CPUS &&
           read_line(text, pmu, "type") && sscanf(text, "%u", &core->type) == 1;
}

unsigned grab_cores_find(struct grab_core cores[GRAB_CORES])
{
    static const char *const hybrid[GRAB_CORES] = {"cpu_core", "cpu_atom", "cpu_lowpower"};
    cpu_set_t may;
    unsigned count = 0, cpu = 0;
    for (unsigned i = 0; i < GRAB_CORES; i++)
        count += find(&cores[count], hybrid[i]);
    if (count || sched_getaffinity(0, sizeof may, &may))
        return count;
    while (cpu < GRAB_CPUS && !CPU_ISSET(cpu, &may))
        cpu++;
    cores[0] = (struct grab_core){"cpu", cpu, 0};
    return cpu < GRAB_CPUS;
}

bool grab_core_event(char text[96], const struct grab_core *core, const char *name)
{
    char file[32];
    snprintf(file, sizeof file, "events/%s", name);
    return read_line(text, core->pmu, file);
}
