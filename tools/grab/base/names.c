/* SPDX-License-Identifier: MIT */
#include "tools/grab/base/names.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES      "/sys/bus/event_source/devices"
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
    const char *name;
    uint64_t config;
} hardware[] = {
    /* what is asked for by several names is told by the first */
    {"cycles", PERF_COUNT_HW_CPU_CYCLES},           {"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS},   {"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES}, {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_COUNT_HW_CACHE_MISSES},   {"bus-cycles", PERF_COUNT_HW_BUS_CYCLES},
    {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES},
};

/* Fields of IA32_PERFEVTSELx that say what is counted. */
static const struct {
    const char *name;
    unsigned shift, bits;
} fields[] = {{"event", 0, 8}, {"umask", 8, 8}, {"edge", 18, 1}, {"inv", 23, 1}, {"cmask", 24, 8}};

bool grab_names_hardware(uint64_t *config, const char *name)
{
    for (unsigned i = 0; i < COUNT(hardware); i++)
        if (strcmp(hardware[i].name, name) == 0) {
            *config = hardware[i].config;
            return true;
        }
    return false;
}

bool grab_names_pmu(uint32_t *type, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, DEVICES "/%.32s/type", name);
    FILE *file = fopen(path, "re");
    const bool found = file && fscanf(file, "%u", type) == 1;
    if (file)
        fclose(file);
    return found;
}

bool grab_names_terms(uint64_t *config, uint64_t *config1, char *terms)
{
    char *rest;
    for (char *term = strtok_r(terms, ",\n", &rest); term; term = strtok_r(NULL, ",\n", &rest)) {
        char *value = strchr(term, '='), *end = value;
        if (value)
            *value++ = '\0';
        const uint64_t number = value ? strtoull(value, &end, 0) : 1;
        if (value && (end == value || *end))
            return false;
        if (strcmp(term, "ldlat") == 0 || strcmp(term, "frontend") == 0) {
            *config1 = number;
            continue;
        }
        unsigned i = 0;
        while (i < COUNT(fields) && strcmp(term, fields[i].name))
            i++;
        if (i == COUNT(fields))
            return false;
        *config |= number << fields[i].shift;
    }
    return true;
}

void grab_names_code(char code[GRAB_NAME], const char *pmu, uint64_t config, uint64_t config1)
{
    uint64_t known = GRAB_NAMES_NOT_COUNTED;
    int at = snprintf(code, GRAB_NAME, "%s/", pmu);
    for (unsigned i = 0; i < COUNT(fields); i++)
        known |= ((UINT64_C(1) << fields[i].bits) - 1) << fields[i].shift;
    if (config & ~known) /* as one number; AnyThread, TSX, or of a PMU of another kind */
        at += snprintf(code + at, GRAB_NAME - (size_t)at, "config=0x%" PRIx64 ",", config & ~GRAB_NAMES_NOT_COUNTED);
    for (unsigned i = 0; i < COUNT(fields) && !(config & ~known); i++) {
        const uint64_t value = config >> fields[i].shift & ((UINT64_C(1) << fields[i].bits) - 1);
        if (value || i < 2)
            at += snprintf(code + at, GRAB_NAME - (size_t)at, fields[i].bits == 1 ? "%s," : "%s=0x%" PRIx64 ",",
                           fields[i].name, value);
    }
    if (config1)
        at += snprintf(code + at, GRAB_NAME - (size_t)at, "config1=0x%" PRIx64 ",", config1);
    code[at - 1] = '/'; /* for the last comma */
}

/* The PMU of that type; "" if there is none. */
static void find_pmu(char name[GRAB_NAME], uint32_t type)
{
    name[0] = '\0';
    DIR *folder = opendir(DEVICES);
    uint32_t found;
    for (struct dirent *entry; folder && !name[0] && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && grab_names_pmu(&found, entry->d_name) && found == type)
            snprintf(name, GRAB_NAME, "%.32s", entry->d_name);
    if (folder)
        closedir(folder);
}

void grab_names_core(char name[GRAB_NAME], const struct perf_event_attr *attr)
{
    const bool generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
    const uint32_t type = generic && attr->config >> 32 ? (uint32_t)(attr->config >> 32)
                          : generic                     ? PERF_TYPE_RAW
                                                        : attr->type;
    find_pmu(name, type);
    if (!name[0])
        snprintf(name, GRAB_NAME, "cpu");
}

/* Of those that /sys names for the PMU, the one with this code. What it says of config1 is only an example. */
static bool find_listed(char name[GRAB_NAME], const char *pmu, const struct perf_event_attr *attr)
{
    char path[2 * GRAB_NAME + 320], terms[128];
    bool found = false;
    snprintf(path, sizeof path, DEVICES "/%s/events", pmu);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        uint64_t config = 0, config1 = 0;
        snprintf(path, sizeof path, DEVICES "/%s/events/%s", pmu, entry->d_name);
        FILE *file = strchr(entry->d_name, '.') ? NULL : fopen(path, "re"); /* NAME.unit, NAME.scale: no events */
        if (!file)
            continue;
        found = fgets(terms, sizeof terms, file) && grab_names_terms(&config, &config1, terms) &&
                config == attr->config && !config1 == !attr->config1;
        fclose(file);
        if (found && attr->config1)
            snprintf(name, GRAB_NAME, "%.24s/%.32s,config1=0x%" PRIx64 "/", pmu, entry->d_name,
                     (uint64_t)attr->config1);
        else if (found)
            snprintf(name, GRAB_NAME, "%.24s/%.64s/", pmu, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return found;
}

static void name_cache(char name[GRAB_NAME], uint64_t config)
{
    static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
    static const char *const operations[][2] = {{"loads", "load"}, {"stores", "store"}, {"prefetches", "prefetch"}};
    const unsigned cache = config & 0xFF, operation = config >> 8 & 0xFF, missed = (config >> 16 & 0xFF) != 0;
    if (cache < COUNT(caches) && operation < COUNT(operations))
        snprintf(name, GRAB_NAME, "%s-%s%s", caches[cache], operations[operation][missed], missed ? "-misses" : "");
}

static void name_hardware(char name[GRAB_NAME], uint64_t config)
{
    for (unsigned i = 0; i < COUNT(hardware) && !name[0]; i++)
        if (hardware[i].config == config)
            snprintf(name, GRAB_NAME, "%s", hardware[i].name);
}

void grab_names_event(char name[GRAB_NAME], const struct perf_event_attr *attr)
{
    char pmu[GRAB_NAME], plain[GRAB_NAME] = "", rings[8];
    grab_names_core(pmu, attr);
    if (attr->type == PERF_TYPE_HARDWARE)
        name_hardware(plain, (uint32_t)attr->config);
    else if (attr->type == PERF_TYPE_HW_CACHE)
        name_cache(plain, (uint32_t)attr->config);
    else if (!find_listed(plain, pmu, attr))
        grab_names_code(plain, pmu, attr->config, attr->config1);
    const size_t size = strlen(plain);
    const bool slashes = size && plain[size - 1] == '/', one = attr->exclude_user || attr->exclude_kernel;
    snprintf(rings, sizeof rings, "%s%s%.*s", one && !attr->exclude_user ? "u" : "",
             one && !attr->exclude_kernel ? "k" : "", (int)attr->precise_ip, "ppp");
    if (!slashes && attr->config >> 32) /* of one kind of core */
        snprintf(name, GRAB_NAME, "%.32s/%.48s/%s", pmu, plain, rings);
    else
        snprintf(name, GRAB_NAME, "%.80s%s%s", plain, slashes || !rings[0] ? "" : ":", rings);
}
