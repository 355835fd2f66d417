/* SPDX-License-Identifier: MIT */
/* Functions of programs in a log, and where their processes had code: of this program's own file. */
#define _GNU_SOURCE
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ds/layout.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/frame/text_streams.h"
#include "tools/grab/base/functions.h"
#include "tools/grab/programs.h"

#define BASE UINT64_C(0xFFFFFE0000001000)

static struct grab_store store;
static struct grab_maps maps;
static struct grab_map own; /* the code of this program */
static char path[1024];
static char *dumped;
static size_t dumped_size;
static struct cairn_text text;

static int setup(void **state)
{
    char line[1024], rights[5];
    int at;
    (void)state;
    path[readlink("/proc/self/exe", path, sizeof path - 1)] = '\0';
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &own.from, &own.to, rights,
                   &own.offset, &own.inode, &at) == 5 &&
            rights[2] == 'x' && strcmp(line + at, path) == 0)
            break;
    }
    fclose(file);
    maps = (struct grab_maps){0};
    return grab_store_begin(&store, "/tmp/none.log");
}

static int teardown(void **state)
{
    (void)state;
    cairn_text_free(&text);
    grab_maps_free(&maps);
    free(dumped);
    dumped = NULL;
    free(store.cpu[0].drains);
    free(store.cpu[0].switches);
    free(store.cpu[0].partial[0].bytes);
    free(store.cpu[0].partial[1].bytes);
    return close(store.file);
}

static void map(uint32_t process, uint64_t offset, uint64_t inode)
{
    const struct grab_told told = {.time = 20, .map = {process, own.from, own.to, own.offset + offset, inode, 0}};
    grab_maps_tell(&maps, &told, path);
}

static void fork_at(uint64_t time, uint32_t parent, uint32_t process)
{
    const struct grab_told told = {.time = time, .parent = parent, .map.process = process};
    grab_maps_tell(&maps, &told, "");
}

/* Thread 11 of process 10 runs when the first record is written, and thread 20 at the others. */
static void record(const uint64_t *ips, unsigned count)
{
    struct grab_drain head = {.kind = GRAB_DRAIN, .bytes = 32 * count};
    const struct grab_switch s = {.index = BASE + 32, .old_tid = 11, .old_tgid = 10, .new_tid = 20, .new_tgid = 20};
    const struct ds_area_60 area = {.pebs_buffer_base = BASE, .pebs_index = BASE + 32 * count};
    struct grab_records part = {GRAB_RECORDS, 32 * count, 0, 0, {0}};
    memcpy(head.area, &area, sizeof area);
    for (unsigned i = 0; i < count; i++) {
        const struct ds_pebs_basic r = {.head = ds_pebs_head(0, 32), .eventing_ip = ips[i]};
        memcpy(part.data + 32 * i, &r, 32);
    }
    grab_store_switch(&store, 0, &s, sizeof s);
    grab_store_drain(&store, 0, &head, sizeof head);
    grab_store_drain(&store, 0, &part, sizeof part);
    assert_int_equal(grab_store_end(&store), 0);
}

static void put(void *to, const char *data, size_t size)
{
    fwrite(data, 1, size, to);
}

/* What a reader of the log finds. */
static void dump(void)
{
    static struct trace_dump d;
    FILE *to = open_memstream(&dumped, &dumped_size);
    const struct trace_sink sink = {put, to};
    struct cairn_frames frames;
    grab_maps_end(&maps);
    trace_dump_init(&d, &sink);
    trace_dump_print(&d, CAIRN_STREAM_HEADER, "cairn.format=1");
    grab_programs_dump(&d, &maps, &store, 4);
    trace_dump_flush(&d);
    fclose(to);
    struct cairn_input input = {.name = "log", .data = dumped, .size = dumped_size};
    cairn_deframe(&frames, &input, 0, 0, NULL);
    cairn_text_read(&text, &frames);
    cairn_frames_free(&frames);
}

static const char *name_of(uint64_t address)
{
    static char name[256];
    const struct cairn_symbol *s = cairn_find_symbol(&text, address);
    return s ? cairn_slice_text(name, sizeof name, s->name) : "none";
}

static void test_functions(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup + 1, (uintptr_t)teardown, (uintptr_t)teardown + 4, 0x1234};
    map(10, 0, own.inode);
    map(20, 0, own.inode);
    record(ips, 4);
    dump();
    assert_string_equal(name_of((uintptr_t)setup), "setup");
    assert_string_equal(name_of((uintptr_t)teardown + 4), "teardown");
    assert_string_equal(name_of((uintptr_t)record), "none"); /* no record is in it */
    assert_int_equal(text.symbols.count, 2);
    assert_int_equal(text.malformed, 0);
}

/* This program's own, from its segments with notes as they are in memory. */
static int find_build_id(struct dl_phdr_info *info, size_t size, void *hex)
{
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uint8_t *at = (const uint8_t *)info->dlpi_addr + p->p_vaddr, *end = at + p->p_memsz;
        while (p->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) < end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const uint8_t *id = at + sizeof *note + ((note->n_namesz + 3) & ~3u);
            for (unsigned n = 0; note->n_type == NT_GNU_BUILD_ID && n < note->n_descsz; n++)
                sprintf((char *)hex + 2 * n, "%02x", id[n]);
            at = id + ((note->n_descsz + 3) & ~3u);
        }
    }
    return 1; /* the first is the program */
}

static void test_code(void **state)
{
    char build_id[64] = "";
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup, (uintptr_t)teardown};
    char expected[1200];
    map(10, 0, own.inode);
    map(10, 0, own.inode); /* told twice */
    map(30, 0, own.inode); /* has no record */
    record(ips, 2);
    dump();
    snprintf(expected, sizeof expected, "10 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " %s", own.from, own.to, own.offset,
             path);
    assert_true(cairn_slice_is(cairn_key(&text, "grab.map.0"), expected));
    assert_true(cairn_slice_is(cairn_key(&text, "grab.process.11"), "10"));
    dl_iterate_phdr(find_build_id, build_id);
    assert_int_equal(strlen(build_id), 40);
    assert_true(cairn_slice_is(cairn_key(&text, "grab.build_id.0"), build_id));
    assert_int_equal(text.keys.count, 4); /* with that of the header */
}

/* The same address is another function there, or no known one: a reader would take one for the other. */
static void test_two_processes_differ(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup, (uintptr_t)setup};
    map(10, 0, own.inode);
    map(20, 0x1000, own.inode);
    record(ips, 2);
    dump();
    assert_string_equal(name_of((uintptr_t)setup), "none");
}

/* By the times of events, not in their order: these may be of several CPUs. */
static void test_a_child_has_what_its_parent_had(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup, (uintptr_t)setup};
    fork_at(21, 9, 10);
    map(9, 0, own.inode);
    fork_at(19, 9, 20);
    record(ips, 2);
    dump();
    assert_int_equal(text.keys.count, 4); /* with those of the header, of thread 11 and the build ID */
    assert_memory_equal(cairn_key(&text, "grab.map.0").at, "10 0x", 5);
}

/* What they have is kept only of those with a record. */
static void test_children_without_records_cost_nothing(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup, (uintptr_t)setup};
    map(9, 0, own.inode);
    for (uint32_t i = 0; i < 20000; i++)
        fork_at(21 + i, i % 2 ? 9 : 100 + i, 101 + i); /* each second one of the child before */
    fork_at(30000, 20100, 20);
    record(ips, 2);
    dump();
    assert_int_equal(maps.count, 1);
    assert_string_equal(name_of((uintptr_t)setup), "none"); /* process 10 has no such code */
    assert_memory_equal(cairn_key(&text, "grab.map.0").at, "20 0x", 5);
}

/* Each number is given again to a child of the other's process. Copies would double at each fork. */
static void test_numbers_come_again(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup, (uintptr_t)setup};
    map(10, 0, own.inode);
    for (uint32_t i = 0; i < 200; i++)
        fork_at(21 + i, i % 2 ? 20 : 10, i % 2 ? 10 : 20);
    record(ips, 2);
    dump();
    assert_int_equal(maps.count, 2);
    assert_string_equal(name_of((uintptr_t)setup), "setup");
}

static void test_another_file_is_there_now(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup};
    map(10, 0, own.inode + 1);
    record(ips, 1);
    dump();
    assert_string_equal(name_of((uintptr_t)setup), "none");
}

/* As somebody may have put there who does not want to be recorded. */
static void test_a_fifo_is_there_now(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup};
    snprintf(path, sizeof path, "/tmp/test-programs.%d", (int)getpid());
    assert_int_equal(mkfifo(path, 0600), 0);
    map(10, 0, own.inode);
    record(ips, 1);
    alarm(20);
    dump();
    alarm(0);
    unlink(path);
    assert_string_equal(name_of((uintptr_t)setup), "none");
}

/* Of many libraries, too: the names stay. */
static void test_no_file_stays_open(void **state)
{
    (void)state;
    struct grab_files files = {0};
    const int next = dup(0);
    close(next);
    map(10, 0, own.inode);
    grab_maps_end(&maps);
    grab_maps_need(&maps, 10);
    const uint64_t offset = (uintptr_t)setup - own.from + own.offset;
    const struct grab_function *f = grab_files_function(&files, &maps, &maps.items[0], offset);
    assert_string_equal(f ? f->name : "none", "setup");
    const int after = dup(0);
    close(after);
    grab_files_free(&files);
    assert_int_equal(after, next);
}

static void test_a_name_is_no_line(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup};
    strcpy(path, "/tmp/a\ngrab.skipped=0 0");
    map(10, 0, own.inode);
    record(ips, 1);
    dump();
    assert_false(cairn_has_key(&text, "grab.skipped"));
    assert_int_equal(text.malformed, 0);
}

static void test_events_of_mappings_are_lost(void **state)
{
    (void)state;
    const uint64_t ips[] = {(uintptr_t)setup};
    maps.lost = 3;
    record(ips, 1);
    dump();
    assert_true(cairn_slice_is(cairn_key(&text, "grab.maps_lost"), "3"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_functions),
        TEST(test_code),
        TEST(test_two_processes_differ),
        TEST(test_a_child_has_what_its_parent_had),
        TEST(test_children_without_records_cost_nothing),
        TEST(test_numbers_come_again),
        TEST(test_another_file_is_there_now),
        TEST(test_a_fifo_is_there_now),
        TEST(test_no_file_stays_open),
        TEST(test_a_name_is_no_line),
        TEST(test_events_of_mappings_are_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
