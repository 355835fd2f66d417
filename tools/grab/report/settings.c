/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/report/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/grab/base/machine.h"
#include "tools/grab/report/attributes.h"
#include "tools/grab/report/known.h"

#define PAUSE_NS 2000000
#define REST_NS  1000000

struct run {
    int files[GRAB_ATTRIBUTES];
    void *map;
};

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* What has no PEBS has its samples in r->map. */
static const char *open_events(struct run *r, enum grab_setting_number number, const struct grab_core *core,
                               unsigned format, pid_t child)
{
    struct grab_attributes to;
    grab_attributes(&to, number, core, format);
    for (unsigned i = 0; i < to.count; i++) {
        const int group = i && to.group ? r->files[0] : -1;
        r->files[i] = (int)syscall(SYS_perf_event_open, &to.a[i], child, -1, group, PERF_FLAG_FD_CLOEXEC);
        if (r->files[i] < 0 && i < to.needed)
            return number == GRAB_SHORT && errno == EINVAL ? "Linux refuses one as short" : strerror(errno);
    }
    if (number != GRAB_INTERRUPTS && number != GRAB_TRACE)
        return to.count ? NULL : "Linux has no such event here";
    r->map = grab_samples_map(r->files[0]);
    return r->map ? NULL : strerror(errno);
}

static void close_events(struct run *r, enum grab_setting_number number, struct grab_taken *taken)
{
    if (r->map)
        grab_samples_take(&taken->samples, r->map);
    if (number == GRAB_PRECISE && r->files[1] >= 0 && read(r->files[1], &taken->cycles, sizeof taken->cycles) < 0)
        taken->cycles = 0;
    for (unsigned i = 0; i < GRAB_ATTRIBUTES; i++)
        if (r->files[i] >= 0)
            close(r->files[i]);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void execute(int go, unsigned cpu, const struct grab_setting *s)
{
    const struct timespec rest = {0, REST_NS};
    uint64_t buffer[2] = {0};
    char nothing;
    if (!grab_machine_go(cpu) || read(go, &nothing, 1) < 0)
        _exit(1);
    grab_known(s->iterations, buffer);
    for (unsigned i = 0; i < s->rests; i++) {
        nanosleep(&rest, NULL);
        grab_known(s->iterations, buffer);
    }
    _exit(0);
}

static bool follow(pid_t child, struct grab_rings *rings)
{
    const struct timespec pause = {0, PAUSE_NS};
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        nanosleep(&pause, NULL);
        grab_rings_take(rings);
    }
    return status == 0;
}

void grab_settings_run(enum grab_setting_number number, const struct grab_core *core, unsigned format,
                       struct grab_rings *rings, const struct grab_store *store, struct grab_taken *taken)
{
    const struct grab_one_cpu *c = &store->cpu[core->cpu];
    struct run r = {{-1, -1, -1, -1, -1}, NULL};
    int go[2];
    *taken = (struct grab_taken){.refused = "no process can be made"};
    grab_rings_take(rings);
    taken->first = taken->end = c->drain_count;
    taken->first_switch = taken->end_switch = c->switch_count;
    if (pipe2(go, O_CLOEXEC))
        return;
    const pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        execute(go[0], core->cpu, &grab_settings[number]);
    }
    close(go[0]);
    taken->tid = (uint32_t)child;
    if (child > 0)
        taken->refused = open_events(&r, number, core, format, child);
    if (child > 0 && taken->refused)
        kill(child, SIGKILL);
    close(go[1]); /* which lets it go */
    if (child > 0 && !follow(child, rings) && !taken->refused)
        taken->refused = "the program could not run on its CPU";
    close_events(&r, number, taken);
    grab_rings_take(rings);
    taken->end = c->drain_count;
    taken->end_switch = c->switch_count;
}
