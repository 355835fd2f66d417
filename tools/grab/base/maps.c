/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/base/maps.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/grab/base/error.h"
#include "tools/grab/base/line.h"
#include "tools/grab/base/machine.h"
#include "tools/grab/base/memory.h"

#define RING_BYTES (1u << 18) /* of events that wait to be taken, per CPU */

struct grab_maps_ring {
    struct perf_event_mmap_page *page; /* events follow it; NULL: the CPU is not online */
    int file;
};

/* ---- the list ---------------------------------------------------------------------------------------------------- */

void grab_maps_tell(struct grab_maps *m, const struct grab_told *told, const char *path)
{
    const size_t size = strlen(path) + 1;
    const struct grab_map *last = m->told_count ? &m->told[m->told_count - 1].map : NULL;
    uint32_t at = last ? last->path : 0;
    if (!last || strcmp(m->paths + at, path)) { /* often several parts of a file come one after another */
        at = (uint32_t)m->paths_size;
        while (m->paths_room < m->paths_size + size)
            m->paths = grab_grow(m->paths, m->paths_room, &m->paths_room, 1);
        memcpy(m->paths + at, path, size);
        grab_line_clean(m->paths + at); /* PERF_RECORD_MMAP2 has the name as it is */
        m->paths_size += size;
    }
    struct grab_told *to = GRAB_ADD(m->told, m->told_count, m->told_room);
    *to = *told;
    to->number = m->told_count;
    to->map.path = at;
}

const char *grab_maps_path(const struct grab_maps *m, const struct grab_map *map)
{
    return m->paths + map->path;
}

static int by_process(const void *a, const void *b)
{
    const struct grab_told *x = a, *y = b;
    if (x->map.process != y->map.process)
        return x->map.process < y->map.process ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The first that a process was told at this time or later. */
static size_t find_told(const struct grab_maps *m, uint32_t process, uint64_t time, size_t number)
{
    const struct grab_told key = {.time = time, .number = number, .map.process = process};
    size_t low = 0, high = m->told_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (by_process(&m->told[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_address(const void *a, const void *b)
{
    const struct grab_map *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->path > y->path) - (x->path < y->path);
}

static bool is_same(const struct grab_map *a, const struct grab_map *b)
{
    return a->from == b->from && a->to == b->to && a->offset == b->offset && a->inode == b->inode;
}

/* Those from `first` on, which are of one process. */
static void order(struct grab_maps *m, size_t first)
{
    size_t kept = first;
    if (m->count > first)
        qsort(m->items + first, m->count - first, sizeof *m->items, by_address);
    for (size_t i = first; i < m->count; i++)
        if (kept == first || !is_same(&m->items[kept - 1], &m->items[i]))
            m->items[kept++] = m->items[i];
    m->count = kept;
}

struct forks { /* whose parents are still to be followed; indices of `told` */
    size_t *items, count, room;
};

/* Adds for `process` what another, or itself, was told in front of `end`. What has been taken of one is always all
 * before a certain time, so that nothing is taken twice, even where Linux gives a number to a second process. */
static void take(struct grab_maps *m, uint32_t process, uint32_t of, size_t end, struct forks *forks)
{
    for (size_t i = end; i-- && m->told[i].map.process == of && m->told[i].needed != process;) {
        m->told[i].needed = process;
        if (m->told[i].parent) {
            *(size_t *)GRAB_ADD(forks->items, forks->count, forks->room) = i;
            continue;
        }
        struct grab_map *map = GRAB_ADD(m->items, m->count, m->room);
        *map = m->told[i].map;
        map->process = process;
    }
}

void grab_maps_need(struct grab_maps *m, uint32_t process)
{
    const size_t first = m->count;
    struct forks forks = {0};
    take(m, process, process, find_told(m, process, UINT64_MAX, SIZE_MAX), &forks);
    while (forks.count) {
        const struct grab_told *fork = &m->told[forks.items[--forks.count]];
        take(m, process, fork->parent, find_told(m, fork->parent, fork->time, fork->number), &forks);
    }
    free(forks.items);
    order(m, first);
}

const struct grab_map *grab_maps_find(const struct grab_maps *m, uint32_t process, uint64_t address)
{
    size_t low = 0, high = m->count;
    while (low < high) { /* the first behind it */
        const size_t middle = (low + high) / 2;
        const struct grab_map *i = &m->items[middle];
        if (i->process < process || (i->process == process && i->from <= address))
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- && m->items[low].process == process)
        if (address < m->items[low].to)
            return &m->items[low];
    return NULL;
}

/* ---- processes that run already ---------------------------------------------------------------------------------- */

/* FROM-TO r-xp OFFSET MAJOR:MINOR INODE PATH */
static void read_line(struct grab_maps *m, uint32_t process, const char *line)
{
    struct grab_told told = {.map.process = process};
    struct grab_map *map = &told.map;
    char rights[5];
    int path = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &map->from, &map->to, rights,
               &map->offset, &map->inode, &path) < 5 ||
        rights[2] != 'x')
        return;
    grab_maps_tell(m, &told, path ? line + path : "");
}

static void read_processes(struct grab_maps *m)
{
    char path[64], line[4608];
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const uint32_t process = (uint32_t)strtoul(entry->d_name, NULL, 10);
        snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", process);
        FILE *file = process ? fopen(path, "re") : NULL;
        if (!file)
            continue; /* no process, or it has ended */
        while (fgets(line, sizeof line, file)) {
            line[strcspn(line, "\n")] = '\0';
            read_line(m, process, line);
        }
        fclose(file);
    }
    if (folder)
        closedir(folder);
}

/* ---- what the kernel tells --------------------------------------------------------------------------------------- */

struct mmap2 { /* PERF_RECORD_MMAP2, in front of the name */
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t addr, len, pgoff;
    uint32_t maj, min;
    uint64_t ino, generation;
    uint32_t prot, flags;
};

struct fork { /* PERF_RECORD_FORK */
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};

static void take_event(struct grab_maps *m, const void *event)
{
    const struct perf_event_header *header = event;
    const struct mmap2 *map = event;
    const struct fork *fork = event;
    if (header->type == PERF_RECORD_MMAP2) {
        struct grab_told told = {.map = {map->pid, map->addr, map->addr + map->len, map->pgoff, map->ino, 0}};
        const char *path = (const char *)(map + 1);
        memcpy(&told.time, (const char *)event + header->size - sizeof told.time, sizeof told.time);
        grab_maps_tell(m, &told, strncmp(path, "//", 2) == 0 ? "" : path);    /* "//anon" */
    } else if (header->type == PERF_RECORD_FORK && fork->pid != fork->ppid) { /* no thread */
        const struct grab_told told = {.time = fork->time, .parent = fork->ppid, .map.process = fork->pid};
        grab_maps_tell(m, &told, "");
    } else if (header->type == PERF_RECORD_LOST) {
        uint64_t lost[2]; /* ID, number */
        memcpy(lost, header + 1, sizeof lost);
        m->lost += lost[1];
    }
}

static void take_ring(struct grab_maps *m, struct grab_maps_ring *r)
{
    static union {
        struct perf_event_header header;
        char bytes[1 << 16];
    } event;
    const char *data = (const char *)r->page + sysconf(_SC_PAGESIZE);
    const uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = r->page->data_tail;
    while (tail < head) { /* events have a multiple of 8 bytes, as the ring has */
        memcpy(&event.header, data + tail % RING_BYTES, sizeof event.header);
        for (uint32_t i = 0; i < event.header.size; i += 8)
            memcpy(event.bytes + i, data + (tail + i) % RING_BYTES, 8);
        take_event(m, &event);
        tail += event.header.size;
    }
    __atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

void grab_maps_take(struct grab_maps *m)
{
    for (unsigned i = 0; i < m->cpus; i++)
        if (m->rings[i].page)
            take_ring(m, &m->rings[i]);
}

static int open_ring(struct grab_maps_ring *r, int cpu)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .sample_type = PERF_SAMPLE_TIME, /* at the end of each event */
                                   .sample_id_all = 1,
                                   .mmap = 1, /* of code */
                                   .mmap2 = 1,
                                   .task = 1,
                                   .watermark = 1, /* nobody waits for it */
                                   .wakeup_watermark = RING_BYTES};
    const size_t size = RING_BYTES + (size_t)sysconf(_SC_PAGESIZE);
    r->file = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (r->file < 0)
        return errno;
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->file, 0);
    r->page = page == MAP_FAILED ? NULL : page;
    return r->page ? 0 : errno;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

int grab_maps_begin(struct grab_maps *m)
{
    *m = (struct grab_maps){.cpus = grab_machine_cpus()};
    m->rings = calloc(m->cpus, sizeof *m->rings);
    for (unsigned i = 0; i < m->cpus; i++) {
        const int error = open_ring(&m->rings[i], (int)i);
        if (error && error != ENODEV) { /* not online */
            grab_error("Linux does not show the code of processes: perf_event_open: %s", strerror(error));
            return GRAB_REFUSED;
        }
    }
    read_processes(m); /* now: nothing is missed in between */
    return 0;
}

void grab_maps_end(struct grab_maps *m)
{
    grab_maps_take(m);
    if (m->told_count)
        qsort(m->told, m->told_count, sizeof *m->told, by_process);
}

void grab_maps_free(struct grab_maps *m)
{
    for (unsigned i = 0; i < m->cpus; i++)
        if (m->rings[i].page)
            munmap(m->rings[i].page, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE));
    free(m->rings);
    free(m->told);
    free(m->items);
    free(m->paths);
}
