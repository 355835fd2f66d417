/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tools/grab/report/judge.h"

#include <cpuid.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ds/events/events.h"
#include "ds/pebs23_layout.h"
#include "tools/cairn/base/wrap.h"
#include "tools/grab/base/error.h"
#include "tools/grab/base/events.h"
#include "tools/grab/base/index.h"
#include "tools/grab/base/machine.h"
#include "tools/grab/report/rows.h"

#define REPORT_VERSION 1

/* That of this thread's CPU, by CPUID and Linux. Nothing that tells one machine from another of its kind. */
static void print_identity(const struct grab_judged *j, const char *release, unsigned signature, unsigned core_type)
{
    struct grab_source source;
    char microcode[64];
    unsigned a, b, c, d;
    const uint64_t capabilities = j->store->cpu[j->cpu].drains->head.capabilities;
    grab_source_find(&source, release);
    grab_machine_microcode(microcode, j->cpu);
    const unsigned family = (signature >> 8 & 15) + ((signature >> 8 & 15) == 15 ? signature >> 20 & 255 : 0);
    const unsigned model = (signature >> 4 & 15) | (signature >> 12 & 0xF0);
    printf("cairn silicon report %d, cairn %s\n", REPORT_VERSION, CAIRN_VERSION);
    printf("source: %s\n", source.text);
    printf("hypervisor: %s\nemulated: %s\n", source.hypervisor, source.emulated ? "yes" : "no");
    printf("cpuid.1: family %u model %02XH stepping %u\n", family, model, signature & 15);
    printf("microcode: %s\n", microcode[0] ? microcode : "unknown");
    if (core_type)
        printf("cpuid.1a: core type %02XH\n", core_type);
    __cpuid(0xA, a, b, c, d);
    printf("cpuid.0a: %08x %08x %08x %08x\n", a, b, c, d);
    for (unsigned sub = 0; j->format == DS_FORMAT_ARCH && sub < 6; sub++) {
        __cpuid_count(0x23, sub, a, b, c, d);
        printf("cpuid.23.%u: %08x %08x %08x %08x\n", sub, a, b, c, d);
    }
    printf("perf_capabilities: %" PRIx64 "H, PEBS format %u\n", capabilities, j->format);
}

static void print_rows(const struct grab_judged *j)
{
    unsigned count[3] = {0}; /* equal, different, not asked */
    for (unsigned i = 0; i < GRAB_ROWS; i++) {
        const struct grab_row *row = &grab_rows[i];
        struct grab_answer a = {0};
        row->ask(j, &a);
        const bool asked = a.answer[0], equal = asked && strcmp(a.answer, grab_row_model(row)) == 0;
        count[!asked ? 2 : !equal]++;
        if (asked)
            printf("\n%-15s %-14s model %-14s %s\n    ", row->name, a.answer, grab_row_model(row),
                   equal ? "equal" : "differs");
        else
            printf("\n%-15s not asked\n    ", row->name);
        cairn_wrap(stdout, 4, "", 4, cairn_slice_of(a.evidence));
    }
    printf("\n%u rows: %u equal, %u different, %u not asked\n", GRAB_ROWS, count[0], count[1], count[2]);
}

/* Of the CPU that this thread runs on from here on. */
static void print_core(struct grab_judged *j, const char *release)
{
    unsigned signature, b, c, d;
    grab_machine_go(j->cpu);
    const unsigned core_type = grab_machine_core_type();
    __cpuid(1, signature, b, c, d);
    j->generation = ds_generation(signature, core_type << 24);
    print_identity(j, release, signature, core_type);
    print_rows(j);
}

static int record_core(struct grab_judged *j, const struct grab_core *core, struct grab_rings *rings)
{
    j->cpu = core->cpu;
    if (!j->store->cpu[j->cpu].drain_count) {
        grab_error("CPU %u has no Debug Store; 'dmesg | grep PEBS' may say why", j->cpu);
        return GRAB_REFUSED;
    }
    j->format = ia32_perf_capabilities_pebs_fmt(j->store->cpu[j->cpu].drains->head.capabilities);
    for (unsigned n = 0; n < GRAB_SETTINGS; n++) {
        fprintf(stderr, "%s, %u of %u: %s\n", core->pmu, n + 1, GRAB_SETTINGS, grab_settings[n].event);
        grab_settings_run((enum grab_setting_number)n, core, j->format, rings, j->store, &j->taken[n]);
        grab_clock_take(j->clock);
    }
    return GRAB_GOOD;
}

static int record(struct grab_judged *j, const struct grab_core *cores, unsigned count, struct grab_rings *rings)
{
    int status = grab_event_hold();
    status = status ? status : grab_rings_start(rings);
    if (status)
        return status;
    for (unsigned i = 0; i < count && !status; i++)
        status = record_core(&j[i], &cores[i], rings);
    grab_rings_stop(rings);
    return status;
}

int grab_judge(const struct grab_kernel *kernel, struct grab_rings *rings, struct grab_store *store)
{
    struct grab_core cores[GRAB_CORES];
    struct grab_clock clock = {0};
    uint64_t skipped, switches;
    struct grab_judged judged[GRAB_CORES] = {0};
    const unsigned count = grab_cores_find(cores);
    if (!count) {
        grab_error("Linux does not say which CPU this program may run on");
        return GRAB_REFUSED;
    }
    for (unsigned i = 0; i < count; i++)
        judged[i] = (struct grab_judged){.store = store, .clock = &clock};
    grab_clock_take(&clock);
    int status = record(judged, cores, count, rings);
    if (status)
        return status;
    if (grab_store_end(store) || !store->size) {
        grab_error("the known program has no records of %s", grab_settings[0].event);
        return GRAB_BAD;
    }
    grab_rings_tell_skipped(rings);
    grab_rings_skipped(rings, &skipped, &switches);
    for (unsigned i = 0; i < count; i++) {
        const unsigned cpu = cores[i].cpu;
        if (judged[i].format == DS_FORMAT_ARCH)
            grab_index_find(&store->cpu[cpu], skipped | switches ? NULL : grab_rings_cpu(rings, cpu),
                            &(struct grab_index){0});
        printf("%s", i ? "\n" : "");
        print_core(&judged[i], kernel->release);
    }
    if (!fflush(stdout) && !ferror(stdout))
        return GRAB_GOOD;
    grab_error("the report cannot be written to standard output");
    return GRAB_BAD;
}
