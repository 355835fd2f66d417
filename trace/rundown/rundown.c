/* SPDX-License-Identifier: MIT */
/* Writes the payloads of rundown events: see rundown.h. Also compiled on the host. */
#include "trace/rundown/rundown.h"

#include "kernel/lib/string.h"
#include "trace/pmc_sources.h"
#include "trace/session.h"

/* The longest of each kind has room. */
#define NARROW (ETW_NAME_MAX + 1)
#define WIDE   (2 * NARROW)
_Static_assert(sizeof(struct etw_process) + sizeof(struct etw_local_system) + NARROW + 3 * 2 <= ETW_RUNDOWN_MAX,
               "process");
_Static_assert(sizeof(struct etw_thread) + WIDE <= ETW_RUNDOWN_MAX, "thread");
_Static_assert(sizeof(struct etw_image) + WIDE <= ETW_RUNDOWN_MAX, "image");
_Static_assert(sizeof(struct etw_cpu_config) <= ETW_RUNDOWN_MAX, "CPU configuration");
_Static_assert(4 + MAX_CPUS * 4 <= ETW_RUNDOWN_MAX, "processor numbers");

static void add(struct etw_payload *p, const void *data, uint32_t size)
{
    memcpy(p->bytes + p->size, data, size);
    p->size += size;
}

static void begin(struct etw_payload *p, const void *head, uint32_t size)
{
    p->size = 0;
    add(p, head, size);
}

static void add_narrow(struct etw_payload *p, const char *text)
{
    size_t n = strlen(text);
    add(p, text, n < ETW_NAME_MAX ? (uint32_t)n : ETW_NAME_MAX);
    p->bytes[p->size++] = 0;
}

static void add_wide(struct etw_payload *p, const char *text)
{
    for (unsigned i = 0; i < ETW_NAME_MAX && text[i]; i++) {
        p->bytes[p->size++] = (uint8_t)text[i];
        p->bytes[p->size++] = 0;
    }
    p->bytes[p->size++] = 0;
    p->bytes[p->size++] = 0;
}

void trace_rundown_process(struct etw_payload *p, const struct etw_process *process, const char *name)
{
    static const struct etw_local_system user = {
        .token_user = {1, 0}, /* Windows has a pointer there, which nobody else can use */
        .sid = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0},
    };
    begin(p, process, sizeof(*process));
    add(p, &user, sizeof(user));
    add_narrow(p, name);
    add_wide(p, "");
    add_wide(p, "");
    add_wide(p, "");
}

void trace_rundown_thread(struct etw_payload *p, const struct etw_thread *thread, const char *name)
{
    begin(p, thread, sizeof(*thread));
    if (name)
        add_wide(p, name);
}

void trace_rundown_thread_name(struct etw_payload *p, uint32_t process_id, uint32_t thread_id, const char *name)
{
    const struct etw_thread_name head = {process_id, thread_id};
    begin(p, &head, sizeof(head));
    add_wide(p, name);
}

void trace_rundown_image(struct etw_payload *p, const struct etw_image *image, const char *name)
{
    begin(p, image, sizeof(*image));
    add_wide(p, name);
}

void trace_rundown_kernel_base(struct etw_payload *p, uint64_t base)
{
    begin(p, &base, sizeof(base));
}

void trace_rundown_masks(struct etw_payload *p, const uint32_t masks[8])
{
    struct etw_header_extension e = {.version = ETW_KERNEL_VERSION_10240};
    memcpy(e.group_masks, masks, sizeof(e.group_masks));
    begin(p, &e, sizeof(e));
}

void trace_rundown_cpu_config(struct etw_payload *p, const struct etw_cpu_config *config, const char *computer)
{
    begin(p, config, sizeof(*config));
    uint8_t *name = p->bytes + offsetof(struct etw_cpu_config, computer_name);
    for (unsigned i = 0; i < ETW_NAME_MAX && computer[i]; i++)
        name[2 * i] = (uint8_t)computer[i];
}

uint64_t trace_rundown_group(uint32_t cpus, uint32_t group)
{
    const uint32_t left = cpus > group * TRACE_GROUP_CPUS ? cpus - group * TRACE_GROUP_CPUS : 0;
    return left < TRACE_GROUP_CPUS ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
}

void trace_rundown_processor_group(struct etw_payload *p, uint32_t cpus)
{
    const uint32_t groups = (cpus + TRACE_GROUP_CPUS - 1) / TRACE_GROUP_CPUS;
    begin(p, &groups, sizeof(groups));
    for (uint32_t i = 0; i < groups; i++) {
        const uint64_t affinity = trace_rundown_group(cpus, i);
        add(p, &affinity, sizeof(affinity));
    }
}

void trace_rundown_processor_numbers(struct etw_payload *p, uint32_t cpus)
{
    begin(p, &cpus, sizeof(cpus));
    for (uint32_t i = 0; i < cpus; i++) {
        const uint32_t number = ETW_PROCESSOR_NUMBER(i);
        add(p, &number, sizeof(number));
    }
}

void trace_rundown_profile_interval(struct etw_payload *p, uint32_t new_interval, uint32_t old_interval)
{
    const struct etw_profile_interval head = {TRACE_PMC_TIMER, new_interval, old_interval};
    begin(p, &head, sizeof(head));
    add_wide(p, "Timer"); /* trace/pmc/pmc_names.c */
}
