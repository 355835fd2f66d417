/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/base/events.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/grab/base/error.h"
#include "tools/grab/base/machine.h"
#include "tools/grab/base/names.h"

/* Letters after the last ':' select rings. A p changes nothing: events are precise anyway. */
static bool parse_rings(struct grab_event *e, const char *letters)
{
    e->user = strchr(letters, 'u');
    e->kernel = strchr(letters, 'k');
    if (!e->user && !e->kernel)
        e->user = e->kernel = true;
    return strspn(letters, "ukpP") == strlen(letters);
}

const char *grab_event_parse(struct grab_event *e, const char *text)
{
    char *copy = strdup(text), *slash = strchr(copy, '/'), *close = slash ? strchr(slash + 1, '/') : NULL, *end;
    char *rings = close ? close + 1 : strrchr(copy, ':');
    const char *wrong = NULL;
    *e = (struct grab_event){.name = text, .type = PERF_TYPE_RAW};
    if (slash && !close)
        wrong = "the '/' at its end is missing: cpu/event=0xc0,umask=0x1/u";
    else if (rings && !parse_rings(e, rings + (*rings == ':')))
        wrong = "only u (programs), k (kernel) and p are allowed after ':'";
    else if (!rings)
        e->user = e->kernel = true;
    if (slash && !wrong) {
        *slash = *close = '\0';
        if (strcmp(copy, "intel_bts") == 0)
            wrong = "its records go to perf's own memory; -e branches:u -c 1 records each branch";
        else if (!grab_names_pmu(&e->type, copy))
            wrong = "Linux has no such PMU: 'ls /sys/bus/event_source/devices' lists them";
        else if (!grab_names_terms(&e->config, &e->config1, slash + 1))
            wrong = "between the slashes only event=, umask=, cmask=, inv, edge, ldlat= and frontend= are allowed";
    } else if (!wrong) {
        if (rings)
            *rings = '\0';
        if (grab_names_hardware(&e->config, copy)) {
            e->type = PERF_TYPE_HARDWARE;
        } else if (copy[0] != 'r' || !copy[1] || (e->config = strtoull(copy + 1, &end, 16), *end)) {
            wrong = "must be one of perf's names (cycles, instructions, branches, branch-misses, cache-misses), rUUEE "
                    "in hexadecimal, or cpu/event=0xc0,umask=0x1/";
        }
    }
    free(copy);
    return wrong;
}

/* As precise as this Linux allows. With Nehalem's records 2 also needs branch history, and Core's allow only 1. */
static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    for (;;) {
        const int file = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        if (file >= 0 || errno != EOPNOTSUPP || attr->precise_ip < 2)
            return file;
        attr->precise_ip--;
    }
}

/* Each branch is to have a record: Linux then uses BTS, and does not call that precise. */
static bool is_bts(const struct grab_event *e)
{
    return e->period == 1 && e->type == PERF_TYPE_HARDWARE && e->config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
}

static struct perf_event_attr attributes(const struct grab_event *e, bool on_exec)
{
    return (struct perf_event_attr){.size = sizeof(struct perf_event_attr),
                                    .type = e->type,
                                    .config = e->config,
                                    .config1 = e->config1,
                                    .sample_period = e->period,
                                    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                    .precise_ip = is_bts(e) ? 0 : 2,
                                    .exclude_user = !e->user,
                                    .exclude_kernel = !e->kernel,
                                    .exclude_hv = 1,
                                    .disabled = on_exec,
                                    .enable_on_exec = on_exec,
                                    .inherit = 1};
}

static int refuse(const struct grab_event *e, int error)
{
    grab_error(
        "%s: Linux refuses the event: %s%s", e->name, error == ENOENT ? "this PMU has no such event" : strerror(error),
        is_bts(e) && e->kernel ? "; with -c 1 BTS records branches, of programs only: use branches:u"
        : is_bts(e)            ? "; newer kernels refuse this period on Nehalem and Haswell, and so BTS"
        : error == EOPNOTSUPP || error == EINVAL ? "; not every event has PEBS, as 'perf record -e EVENT:pp true' shows"
                                                 : "");
    return GRAB_REFUSED;
}

static int open_threads(const struct grab_event *e, struct perf_event_attr *attr, pid_t pid)
{
    char path[32];
    unsigned opened = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    if (!folder) {
        grab_error("process %d: %s", (int)pid, strerror(errno));
        return GRAB_REFUSED;
    }
    int error = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        if (open_event(attr, atoi(entry->d_name), -1) >= 0)
            opened++;
        else if (errno != ESRCH) /* it has ended meanwhile */
            error = errno;
    }
    closedir(folder);
    return opened ? 0 : refuse(e, error ? error : ESRCH);
}

int grab_event_open(const struct grab_event *e, pid_t pid, bool on_exec)
{
    struct perf_event_attr attr = attributes(e, on_exec);
    if (pid >= 0)
        return open_threads(e, &attr, pid);
    attr.inherit = 0;
    for (int cpu = 0, cpus = (int)grab_machine_cpus(); cpu < cpus; cpu++)
        if (open_event(&attr, -1, cpu) < 0 && errno != ENODEV) /* the CPU is not online, or is the other kind of core */
            return refuse(e, errno);
    return 0;
}

static int readers[GRAB_OWN]; /* events, of this thread */
static unsigned reader_count;

/* Linux reads the index where it turns such an event on. */
static bool open_readers(void)
{
    static const char *const pmus[] = {"cpu", "cpu_core", "cpu_atom"};
    struct grab_event e = {.config = 0xC0 /* instructions */, .user = true, .period = 1u << 30};
    for (unsigned i = 0; i < sizeof pmus / sizeof pmus[0] && reader_count < GRAB_OWN; i++) {
        if (!grab_names_pmu(&e.type, pmus[i]))
            continue;
        struct perf_event_attr attr = attributes(&e, false);
        attr.disabled = 1;
        attr.inherit = 0;
        const int file = open_event(&attr, 0, -1);
        if (file < 0)
            return false;
        readers[reader_count++] = file;
    }
    return true;
}

void grab_event_have_read(bool on)
{
    for (unsigned i = 0; i < reader_count; i++)
        ioctl(readers[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void grab_event_readers(uint64_t ids[GRAB_OWN])
{
    for (unsigned i = 0; i < GRAB_OWN; i++)
        if (i >= reader_count || ioctl(readers[i], PERF_EVENT_IOC_ID, &ids[i]))
            ids[i] = 0;
}

int grab_event_hold(void)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_HARDWARE,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    if (open_event(&attr, 0, -1) >= 0 && (!grab_machine_architectural() || open_readers()))
        return 0;
    grab_error("Linux cannot open an event of the PMU: %s; 'dmesg | grep -i pmu' may say why", strerror(errno));
    return GRAB_REFUSED;
}

int grab_event_try(const struct perf_event_attr *of)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = of->type,
                                   .config = of->config,
                                   .config1 = of->config1,
                                   .config2 = of->config2,
                                   .sample_period = INT32_MAX,
                                   .sample_type = PERF_SAMPLE_IP,
                                   .precise_ip = 1,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    const int file = open_event(&attr, 0, -1), error = errno;
    if (file < 0)
        return error;
    close(file);
    return 0;
}
