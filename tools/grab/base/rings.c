/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/base/rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tools/grab/base/error.h"
#include "tools/grab/base/events.h"
#include "tools/grab/base/limits.h"
#include "tools/grab/base/machine.h"

#define PATIENCE 2000 /* tries, of a millisecond, to have a CPU begin or end */

extern const uint8_t grab_object[], grab_object_end[]; /* object.S */

/* All that Linux has; those that are not there are of other kernels. */
static const char *const functions[] = {"intel_pmu_drain_pebs_core", "intel_pmu_drain_pebs_nhm",
                                        "intel_pmu_drain_pebs_icl", "intel_pmu_drain_arch_pebs"};
#define FUNCTIONS (sizeof functions / sizeof functions[0])
#define OF_BTS    "intel_pmu_drain_bts_buffer"
enum { LINK_BTS = FUNCTIONS, LINK_SWITCHES, LINK_ENABLE, LINK_READ, LINK_STOP, LINKS };

#define ENABLE "intel_pmu_enable_event"
#define STOP   "x86_pmu_stop"

struct of_cpu { /* for the call-backs */
    struct grab_store *store;
    unsigned cpu;
};

struct grab_rings {
    struct bpf_object *object;
    struct bpf_program *drain, *bts, *change, *enable, *read, *stop;
    struct bpf_link *link[LINKS]; /* by function, then the others */
    struct ring_buffer *buffers;
    volatile struct grab_shared *data;
    struct of_cpu of_cpu[GRAB_CPUS];
    unsigned cpus;
    bool counts_missed; /* as in struct grab_kernel */
};

static char last_words[512]; /* of libbpf's, the first line that it says of an error */

static int keep(enum libbpf_print_level level, const char *format, va_list args)
{
    if (level == LIBBPF_WARN && !last_words[0]) {
        vsnprintf(last_words, sizeof last_words, format, args);
        last_words[strcspn(last_words, "\n")] = '\0';
    }
    return 0;
}

static int on_drain(void *context, void *event, size_t size)
{
    const struct of_cpu *c = context;
    grab_store_drain(c->store, c->cpu, event, size);
    return 0;
}

static int on_switch(void *context, void *event, size_t size)
{
    const struct of_cpu *c = context;
    grab_store_switch(c->store, c->cpu, event, size);
    return 0;
}

/* A ring for each CPU, in the map of rings. */
static int make_rings(struct grab_rings *r, const char *name, uint32_t bytes, ring_buffer_sample_fn take)
{
    const int outer = bpf_object__find_map_fd_by_name(r->object, name);
    for (uint32_t cpu = 0; cpu < r->cpus; cpu++) {
        const int ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, bytes, NULL);
        if (ring < 0)
            return -errno;
        int error = bpf_map_update_elem(outer, &cpu, &ring, 0) ? -errno : 0;
        if (!error && r->buffers)
            error = ring_buffer__add(r->buffers, ring, take, &r->of_cpu[cpu]);
        else if (!error && !(r->buffers = ring_buffer__new(ring, take, &r->of_cpu[cpu], NULL)))
            error = -errno;
        close(ring); /* the map keeps it, and libbpf has mapped it */
        if (error)
            return error;
    }
    return 0;
}

static struct bpf_map *section(struct bpf_object *object, const char *name)
{
    struct bpf_map *map;
    bpf_object__for_each_map(map, object) if (strstr(bpf_map__name(map), name)) return map;
    return NULL;
}

static int load(struct grab_rings *r, const struct grab_kernel *k)
{
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "grab");
    const struct grab_addresses addresses = {k->offsets, k->events, k->pmu, k->switch_state, k->bts, k->direct_map};
    r->object = bpf_object__open_mem(grab_object, (size_t)(grab_object_end - grab_object), &options);
    if (!r->object)
        return -errno;
    r->drain = bpf_object__find_program_by_name(r->object, "grab_on_drain");
    r->bts = bpf_object__find_program_by_name(r->object, "grab_on_bts");
    r->change = bpf_object__find_program_by_name(r->object, "grab_on_switch");
    r->enable = bpf_object__find_program_by_name(r->object, "grab_on_enable");
    r->read = bpf_object__find_program_by_name(r->object, "grab_on_read");
    r->stop = bpf_object__find_program_by_name(r->object, "grab_on_stop");
    struct bpf_map *map = section(r->object, ".rodata"), *bss = section(r->object, ".bss");
    if (!map || !bss || !r->drain || !r->bts || !r->change || !r->enable || !r->read || !r->stop)
        return -ENOENT;
    bpf_program__set_autoload(r->read, k->direct_map != 0); /* older kernels have not all that it reads */
    int error = bpf_map__set_initial_value(map, &addresses, sizeof addresses); /* refuses another size */
    error = error ? error : bpf_object__load(r->object);
    if (error)
        return error;
    void *data = mmap(NULL, sizeof(struct grab_shared), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(bss), 0);
    if (data == MAP_FAILED)
        return -errno;
    r->data = data;
    return 0;
}

static int no_kprobe(const char *function)
{
    grab_error(
        "%s: a kprobe cannot be set there: %s; the kernel must be built with CONFIG_KPROBES and CONFIG_BPF_EVENTS",
        function, strerror(errno));
    return GRAB_REFUSED;
}

static int attach_tracepoint(struct bpf_link **link, const struct bpf_program *program, const char *name)
{
    *link = bpf_program__attach_raw_tracepoint(program, name);
    if (*link)
        return GRAB_GOOD;
    grab_error("the tracepoint %s refuses a BPF program: %s", name, strerror(errno));
    return GRAB_REFUSED;
}

static int attach(struct grab_rings *r, const struct grab_kernel *k)
{
    bool any = false;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        if (!grab_symbols_find(&k->symbols, functions[i]))
            continue;
        r->link[i] = bpf_program__attach_kprobe(r->drain, false, functions[i]);
        if (!r->link[i])
            return no_kprobe(functions[i]);
        any = true;
    }
    if (!any) {
        grab_error("/proc/kallsyms has none of %s, %s, %s, %s: this kernel drains PEBS elsewhere; please open an issue "
                   "that names the kernel",
                   functions[0], functions[1], functions[2], functions[3]);
        return GRAB_REFUSED;
    }
    if (grab_symbols_find(&k->symbols, OF_BTS)) {
        r->link[LINK_BTS] = bpf_program__attach_kprobe(r->bts, false, OF_BTS);
        if (!r->link[LINK_BTS])
            return no_kprobe(OF_BTS);
    }
    if (grab_symbols_find(&k->symbols, STOP)) {
        r->link[LINK_STOP] = bpf_program__attach_kprobe(r->stop, false, STOP);
        if (!r->link[LINK_STOP])
            return no_kprobe(STOP);
    }
    const int status = attach_tracepoint(&r->link[LINK_SWITCHES], r->change, "sched_switch");
    if (status || !k->direct_map)
        return status;
    return attach_tracepoint(&r->link[LINK_READ], r->read, "read_msr");
}

int grab_rings_open(struct grab_rings **rings, const struct grab_kernel *k, struct grab_store *store, uint32_t bytes)
{
    const unsigned cpus = grab_machine_cpus();
    struct grab_rings *r = calloc(1, sizeof *r);
    *rings = r;
    libbpf_set_print(keep);
    libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
    grab_limits_raise();
    if (!r || cpus > GRAB_CPUS) {
        grab_error(
            "CPU %u is online, but cairn grab can read only CPUs 0 to %u; take the others offline with 'chcpu -d'",
            cpus - 1, GRAB_CPUS - 1);
        return GRAB_REFUSED;
    }
    r->cpus = cpus;
    r->counts_missed = k->counts_missed;
    for (unsigned i = 0; i < r->cpus; i++)
        r->of_cpu[i] = (struct of_cpu){store, i};
    int error = load(r, k);
    error = error ? error : make_rings(r, "grab_drain_rings", bytes, on_drain);
    error = error ? error : make_rings(r, "grab_switch_rings", bytes, on_switch);
    if (error) {
        grab_error("the kernel refuses the BPF programs: %s%s%s", strerror(-error), last_words[0] ? ": " : "",
                   last_words);
        return GRAB_REFUSED;
    }
    return attach(r, k);
}

int grab_rings_watch(struct grab_rings *r, const struct grab_kernel *k, bool needed)
{
    if (!grab_symbols_find(&k->symbols, ENABLE)) {
        if (!needed)
            return GRAB_GOOD;
        grab_error("/proc/kallsyms has no " ENABLE ", which shows what is counted; run it without --why");
        return GRAB_REFUSED;
    }
    r->link[LINK_ENABLE] = bpf_program__attach_kprobe(r->enable, false, ENABLE);
    if (!r->link[LINK_ENABLE])
        return no_kprobe(ENABLE);
    r->data->events = 1;
    return GRAB_GOOD;
}

/* Has a switch happen on each CPU by going there, or an index be read, until it is in `phase` or cannot be. Returns how
 * many are. */
static unsigned visit(struct grab_rings *r, enum grab_phase phase)
{
    const struct timespec moment = {0, 1000000};
    cpu_set_t before;
    unsigned reached = 0;
    sched_getaffinity(0, sizeof before, &before);
    grab_event_have_read(true);
    for (unsigned cpu = 0; cpu < r->cpus; cpu++) {
        if (!grab_machine_go(cpu))
            continue;
        for (int i = 0; i < PATIENCE && r->data->cpu[cpu].phase != (uint32_t)phase; i++)
            nanosleep(&moment, NULL);
        reached += r->data->cpu[cpu].phase == (uint32_t)phase;
        grab_rings_take(r);
    }
    grab_event_have_read(false);
    sched_setaffinity(0, sizeof before, &before);
    return reached;
}

int grab_rings_start(struct grab_rings *r)
{
    grab_event_readers((uint64_t *)r->data->own);
    r->data->on = 1;
    if (!visit(r, GRAB_RUNS)) {
        grab_error("no CPU runs the BPF programs; 'bpftool prog' shows whether they are loaded");
        return GRAB_REFUSED;
    }
    return GRAB_GOOD;
}

void grab_rings_take(struct grab_rings *r)
{
    ring_buffer__consume(r->buffers);
}

void grab_rings_stop(struct grab_rings *r)
{
    r->data->ends = 1;
    visit(r, GRAB_STOPPED);
    r->data->on = 0;
    grab_rings_take(r);
}

unsigned grab_rings_cpus(const struct grab_rings *r)
{
    return r->cpus;
}

const struct grab_cpu *grab_rings_cpu(const struct grab_rings *r, unsigned cpu)
{
    return (const struct grab_cpu *)&r->data->cpu[cpu];
}

/* Kernels that do not count it skip no raw tracepoint. */
static uint64_t skipped_by_bpf(const struct bpf_program *program)
{
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof info;
    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);
    return info.recursion_misses;
}

/* The beginning of struct bpf_link_info of a kprobe, which older headers do not have. */
struct kprobe_info {
    uint32_t type, id, program, reserved, event_type, reserved2;
    uint64_t name;
    uint32_t name_bytes, offset;
    uint64_t address, missed;
};
_Static_assert(offsetof(struct kprobe_info, missed) == 48, "bpf_link_info.perf_event.kprobe.missed");

static uint64_t skipped_by_kprobe(const struct bpf_link *link)
{
    struct kprobe_info info = {0};
    uint32_t size = sizeof info;
    return link && !bpf_obj_get_info_by_fd(bpf_link__fd(link), &info, &size) ? info.missed : 0;
}

void grab_rings_skipped(const struct grab_rings *r, uint64_t *drains, uint64_t *switches)
{
    *switches = skipped_by_bpf(r->change);
    *drains = r->counts_missed ? skipped_by_bpf(r->drain) + skipped_by_bpf(r->bts) : UINT64_MAX;
    for (unsigned i = 0; r->counts_missed && i <= LINK_BTS; i++)
        *drains += skipped_by_kprobe(r->link[i]);
    for (unsigned i = 0; r->counts_missed && i < r->cpus; i++)
        *drains += r->data->cpu[i].unseen;
}

uint64_t grab_rings_throttled(const struct grab_rings *r)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < r->cpus; i++)
        sum += r->data->cpu[i].throttled;
    return r->link[LINK_STOP] ? sum : UINT64_MAX;
}

bool grab_rings_complete(const struct grab_rings *r)
{
    uint64_t drains, switches;
    grab_rings_skipped(r, &drains, &switches);
    return !drains && !switches && !skipped_by_bpf(r->enable) && !skipped_by_kprobe(r->link[LINK_ENABLE]);
}

void grab_rings_tell_skipped(const struct grab_rings *r)
{
    uint64_t drains, switches;
    for (unsigned i = r->cpus; i < GRAB_CPUS; i++)
        if (r->data->cpu[i].phase != GRAB_IDLE)
            grab_note("CPU %u came online during the recording and was not recorded", i);
    grab_rings_skipped(r, &drains, &switches);
    if (drains == UINT64_MAX)
        grab_note(
            "it is unknown whether the kernel skipped hooks and records are missing; Linux counts that from 6.7 on");
    else if (drains || switches)
        grab_note(
            "the kernel skipped %lu hooks of drains and %lu of switches, because other kprobes or BPF programs ran "
            "there: records or switches are missing",
            (unsigned long)drains, (unsigned long)switches);
}

void grab_rings_close(struct grab_rings *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < LINKS; i++)
        bpf_link__destroy(r->link[i]);
    ring_buffer__free(r->buffers);
    if (r->data)
        munmap((void *)r->data, sizeof(struct grab_shared));
    bpf_object__close(r->object);
    free(r);
}
