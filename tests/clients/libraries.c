// SPDX-License-Identifier: MIT
// Counts by PAPI and by libpfm in the Linux guest:
//   clients-libraries papi EVENT...        each EVENT of a loop of LONG iterations, less that of one of SHORT ones
//   clients-libraries pfm EVENT PROGRAM... EVENT, as libpfm encodes it, of the program, from its first instruction on
// The libraries are Debian's, opened at run time: neither they nor their headers need to be on the host. What is
// declared here is as in papi.h 7.1 and in pfmlib_perf_event.h 4.13.
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHORT = 1000, LONG = 101000 }; // iterations of two instructions, the second of them a branch
enum { MOST = 4 };                    // events at once

#define PAPI         "libpapi.so.7.1"
#define PAPI_VERSION 0x07010000u // PAPI_VER_CURRENT
#define PAPI_NULL    (-1)

enum { PFM_OS_PERF_EVENT = 1, PFM_PLM3 = 8 };

struct pfm_arg {
    struct perf_event_attr *attr;
    char **name;
    size_t size;
    int index, cpu, flags;
};

static _Noreturn void fail(const char *what, int status)
{
    fprintf(stderr, "clients-libraries: %s: %d\n", what, status);
    exit(1);
}

static void check(const char *what, int status)
{
    if (status != 0)
        fail(what, status);
}

static void *symbol(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW);
    void *found = handle ? dlsym(handle, name) : NULL;
    if (!found)
        fail(dlerror(), 0);
    return found;
}

static void run(uint64_t iterations)
{
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(iterations) : : "cc");
}

// One copy of this code, because what counts around run() must be the same for all iterations.
static __attribute__((noinline)) void papi_measure(int set, uint64_t iterations, long long counts[])
{
    int (*start)(int) = symbol(PAPI, "PAPI_start");
    int (*stop)(int, long long *) = symbol(PAPI, "PAPI_stop");

    check("PAPI_start", start(set));
    run(iterations);
    check("PAPI_stop", stop(set, counts));
}

static void papi(int count, char **events)
{
    int (*library_init)(int) = symbol(PAPI, "PAPI_library_init");
    int (*create_eventset)(int *) = symbol(PAPI, "PAPI_create_eventset");
    int (*add_named_event)(int, const char *) = symbol(PAPI, "PAPI_add_named_event");
    long long few[MOST], many[MOST];
    int set = PAPI_NULL;

    check("PAPI_library_init", library_init((int)PAPI_VERSION) != (int)PAPI_VERSION);
    check("PAPI_create_eventset", create_eventset(&set));
    for (int i = 0; i < count; i++)
        check(events[i], add_named_event(set, events[i]));
    papi_measure(set, SHORT, few);
    papi_measure(set, LONG, many);
    for (int i = 0; i < count; i++)
        printf("%s %lld\n", events[i], many[i] - few[i]);
}

static void pfm(const char *event, char **program)
{
    const char *library = "libpfm.so.4";
    int (*initialize)(void) = symbol(library, "pfm_initialize");
    int (*encoding)(const char *, int, int, void *) = symbol(library, "pfm_get_os_event_encoding");
    struct perf_event_attr attr = {.size = sizeof(attr)};
    char *name = NULL;
    struct pfm_arg arg = {.attr = &attr, .name = &name, .size = sizeof(arg)};
    uint64_t value;
    int status;

    check("pfm_initialize", initialize());
    check(event, encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT, &arg));
    attr.disabled = attr.enable_on_exec = attr.inherit = 1;
    long file = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (file < 0)
        fail("perf_event_open", (int)file);
    pid_t child = fork();
    if (child == 0) {
        execvp(program[0], program);
        fail(program[0], 127);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        fail(program[0], status);
    if (read((int)file, &value, sizeof(value)) != sizeof(value))
        fail("read", 0);
    printf("%s %#llx %llu\n", name, (unsigned long long)attr.config, (unsigned long long)value);
}

int main(int argc, char **argv)
{
    if (argc >= 3 && argc <= 2 + MOST && strcmp(argv[1], "papi") == 0)
        papi(argc - 2, argv + 2);
    else if (argc >= 4 && strcmp(argv[1], "pfm") == 0)
        pfm(argv[2], argv + 3);
    else
        fail("papi EVENT... | pfm EVENT PROGRAM ARGUMENT...", 2);
    return 0;
}
