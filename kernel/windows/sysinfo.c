/* SPDX-License-Identifier: MIT */
#include "kernel/windows/sysinfo.h"

#include "kernel/activity/sample_interval.h"
#include "kernel/control/session.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/locks/lock_trace.h"
#include "kernel/pmc/pmc.h"
#include "kernel/windows/control_area.h"
#include "trace/pmc/pmc_items.h"

_Static_assert(ETW_MAX_PMC_COUNTERS == TRACE_PMC_MAX && ETW_MAX_PMC_EVENTS == TRACE_PMC_HOOKS_MAX, "as Windows has it");

/* Windows' loggers by number are Cairn's sessions; the one that is the NT Kernel Logger, by the number Windows has for
 * it, is session 1. */
static uint32_t logger(uint64_t trace_handle)
{
    uint32_t number = trace_handle & TRACE_HANDLE_LOGGER;
    return number == TRACE_HANDLE_NT_KERNEL_LOGGER ? 1 : number;
}

/* What kernel/recording/sessions.h says of a session, as Windows says it of a logger. */
static kntstatus logger_status(int e)
{
    switch (e) {
    case 0:
        return STATUS_SUCCESS;
    case -ENOENT: /* there is none */
    case -EINVAL: /* it does not run */
        return STATUS_WMI_INSTANCE_NOT_FOUND;
    case -EEXIST: /* it has what is given to a logger once */
        return STATUS_WMI_ALREADY_ENABLED;
    case -ENODEV:
        return STATUS_NOT_SUPPORTED;
    default:
        return STATUS_UNSUCCESSFUL;
    }
}

/* ---- 1FH: SystemPerformanceTraceInformation ---------------------------------------------------------------------- */

static kntstatus query_groupmask(void *information, uint32_t length)
{
    struct event_trace_groupmask_information i;
    (void)length;
    memcpy(&i, information, sizeof i);
    kntstatus status = logger_status(ksession_masks(logger(i.trace_handle), &i.group_masks));
    if (status == STATUS_SUCCESS)
        memcpy(information, &i, sizeof i);
    return status;
}

static kntstatus set_groupmask(const void *information, uint32_t length)
{
    struct event_trace_groupmask_information i;
    (void)length;
    memcpy(&i, information, sizeof i);
    return logger_status(ksession_change(logger(i.trace_handle), &i.group_masks));
}

static kntstatus query_interval(void *information, uint32_t length)
{
    struct event_trace_time_profile_information i = {.information_class = EVENT_TRACE_TIME_PROFILE_INFORMATION,
                                                     .profile_interval = ksample_interval()};
    memcpy(information, &i, length);
    return STATUS_SUCCESS;
}

static kntstatus set_interval(const void *information, uint32_t length)
{
    struct event_trace_time_profile_information i;
    memcpy(&i, information, length);
    ksample_interval_set(i.profile_interval);
    return STATUS_SUCCESS;
}

/* One for all loggers. The first version ends before SpinLockHoldThreshold. */
static kntstatus query_spinlock(void *information, uint32_t length)
{
    const struct trace_spinlock_sampling s = klock_trace_sampling();
    const struct event_trace_spinlock_information i = {
        .information_class = EVENT_TRACE_SPINLOCK_INFORMATION,
        .spin_threshold = s.spin_threshold,
        .acquire_sample_rate = s.acquire_sample_rate,
        .contention_sample_rate = s.contention_sample_rate,
        .hold_threshold = s.hold_threshold,
    };
    memcpy(information, &i, length);
    return STATUS_SUCCESS;
}

static kntstatus set_spinlock(const void *information, uint32_t length)
{
    struct trace_spinlock_sampling s = klock_trace_sampling();
    struct event_trace_spinlock_information i = {.hold_threshold = s.hold_threshold};
    memcpy(&i, information, length);
    s.spin_threshold = i.spin_threshold;
    s.acquire_sample_rate = i.acquire_sample_rate;
    s.contention_sample_rate = i.contention_sample_rate;
    s.hold_threshold = i.hold_threshold;
    if (!trace_spinlock_sampling_valid(&s))
        return STATUS_INVALID_PARAMETER;
    klock_trace_configure(s);
    return STATUS_SUCCESS;
}

/* A list's header, and its elements, of which there are at most `most`: -EINVAL: more, or part of one. */
static int read_list(const void *information, uint32_t length, struct event_trace_list_information *head,
                     uint32_t *elements, uint32_t most)
{
    uint32_t bytes = length - (uint32_t)sizeof *head;
    if (bytes % sizeof *elements || bytes / sizeof *elements > most)
        return -EINVAL;
    memcpy(head, information, sizeof *head);
    memcpy(elements, (const uint8_t *)information + sizeof *head, bytes);
    return (int)(bytes / sizeof *elements);
}

static kntstatus set_pebs(const void *information, uint32_t length)
{
    const uint32_t all = CAIRN_STAMP_FULL | CAIRN_STAMP_COMPACT;
    struct event_trace_list_information head;
    uint32_t hook, on = 0;
    int count = read_list(information, length, &head, &hook, 1);
    if (count == 1)
        on = hook == HOOK_CONTEXTSWAP ? CAIRN_STAMP_FULL : hook == HOOK_CONTEXTSWAP_BATCH ? CAIRN_STAMP_COMPACT : 0;
    if (count < 0 || (count == 1 && !on))
        return STATUS_INVALID_PARAMETER;
    return logger_status(ksession_stamp(logger(head.trace_handle), on, on ? 0 : all));
}

static bool has_twice(const uint32_t *elements, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = 0; j < i; j++)
            if (elements[i] == elements[j])
                return true;
    return false;
}

static kntstatus set_hooks(const void *information, uint32_t length)
{
    struct event_trace_list_information head;
    uint32_t hook[ETW_MAX_PMC_EVENTS];
    int count = read_list(information, length, &head, hook, ETW_MAX_PMC_EVENTS);
    bool good = count >= 0 && !has_twice(hook, count);
    for (int i = 0; i < count; i++)
        good = good && hook[i] <= UINT16_MAX && trace_pmc_group((uint16_t)hook[i]);
    return good ? logger_status(kpmc_set_hooks(logger(head.trace_handle), hook, (uint32_t)count))
                : STATUS_INVALID_PARAMETER;
}

static kntstatus set_counters(const void *information, uint32_t length)
{
    struct event_trace_list_information head;
    uint32_t source[ETW_MAX_PMC_COUNTERS];
    int count = read_list(information, length, &head, source, ETW_MAX_PMC_COUNTERS);
    if (count <= 0 || has_twice(source, count))
        return STATUS_INVALID_PARAMETER;
    return logger_status(kpmc_set_counters(logger(head.trace_handle), source, (uint32_t)count));
}

/* ---- which is which ---------------------------------------------------------------------------------------------- */

/* Right lengths are `least` and `most` bytes, nothing between; where `most` is 0, `least` and any above. */
static const struct trace_class {
    uint32_t number;
    uint32_t least, most;
    kntstatus (*query)(void *information, uint32_t length); /* NULL: for setting only */
    kntstatus (*set)(const void *information, uint32_t length);
} trace_classes[] = {
    {EVENT_TRACE_GROUP_MASK_INFORMATION, sizeof(struct event_trace_groupmask_information),
     sizeof(struct event_trace_groupmask_information), query_groupmask, set_groupmask},
    {EVENT_TRACE_TIME_PROFILE_INFORMATION, sizeof(struct event_trace_time_profile_information),
     sizeof(struct event_trace_time_profile_information), query_interval, set_interval},
    {EVENT_TRACE_SPINLOCK_INFORMATION, EVENT_TRACE_SPINLOCK_INFORMATION_V1_BYTES,
     sizeof(struct event_trace_spinlock_information), query_spinlock, set_spinlock},
    {EVENT_TRACE_PEBS_TRACING_INFORMATION, sizeof(struct event_trace_list_information), 0, NULL, set_pebs},
    {EVENT_TRACE_PROFILE_EVENT_LIST_INFORMATION, sizeof(struct event_trace_list_information), 0, NULL, set_hooks},
    {EVENT_TRACE_PROFILE_COUNTER_LIST_INFORMATION, sizeof(struct event_trace_list_information), 0, NULL, set_counters},
};
#define TRACE_CLASSES (sizeof trace_classes / sizeof trace_classes[0])

static bool right_length(const struct trace_class *c, uint32_t length)
{
    return length == c->least || length == c->most || (!c->most && length > c->least);
}

/* The class a buffer names, to query or to set; *status says why there is none. */
static const struct trace_class *find_class(const void *information, uint32_t length, bool query, kntstatus *status,
                                            uint32_t *wanted)
{
    const struct trace_class *c = trace_classes, *end = c + TRACE_CLASSES;
    uint32_t number = 0;
    if (length >= sizeof number)
        memcpy(&number, information, sizeof number);
    while (length >= sizeof number && c < end && (c->number != number || (query && !c->query)))
        c++;
    if (length < sizeof number)
        *status = STATUS_INFO_LENGTH_MISMATCH;
    else if (c == end)
        *status = STATUS_NOT_IMPLEMENTED;
    else if (!right_length(c, length))
        *wanted = c->most ? c->most : c->least, *status = STATUS_INFO_LENGTH_MISMATCH;
    else
        return c;
    return NULL;
}

static kntstatus query_trace(void *information, uint32_t length, uint32_t *returned)
{
    kntstatus status;
    const struct trace_class *c = find_class(information, length, true, &status, returned);
    if (!c)
        return status;
    status = c->query(information, length);
    *returned = status == STATUS_SUCCESS ? length : 0;
    return status;
}

static kntstatus set_trace(const void *information, uint32_t length)
{
    kntstatus status;
    uint32_t wanted;
    const struct trace_class *c = find_class(information, length, false, &status, &wanted);
    return c ? c->set(information, length) : status;
}

/* ---- 81H: SystemProcessorProfileControlArea ---------------------------------------------------------------------- */

static kntstatus area_status(int e)
{
    switch (e) {
    case 0:
        return STATUS_SUCCESS;
    case -EEXIST:
        return STATUS_ADDRESS_ALREADY_EXISTS;
    case -ENOENT:
        return STATUS_MEMORY_NOT_ALLOCATED;
    case -ENOTSUP:
        return STATUS_NOT_SUPPORTED;
    case -ENOMEM:
        return STATUS_INSUFFICIENT_RESOURCES;
    default:
        return STATUS_UNSUCCESSFUL;
    }
}

static kntstatus set_control_area(void *information, uint32_t length)
{
    struct system_processor_profile_control_area i;
    if (length != sizeof i)
        return STATUS_INFO_LENGTH_MISMATCH;
    memcpy(&i, information, sizeof i);
    i.processor_profile_control_area = 0;
    kntstatus status =
        area_status(i.allocate ? kcontrol_area_allocate(&i.processor_profile_control_area) : kcontrol_area_free());
    memcpy(information, &i, sizeof i);
    return status;
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

kntstatus ksysinfo_query(uint32_t information_class, void *information, uint32_t length, uint32_t *returned)
{
    uint32_t bytes = 0;
    kntstatus status = information_class == SYSTEM_PERFORMANCE_TRACE_INFORMATION
                           ? query_trace(information, length, &bytes)
                           : STATUS_INVALID_INFO_CLASS;
    if (returned)
        *returned = bytes;
    return status;
}

kntstatus ksysinfo_set(uint32_t information_class, void *information, uint32_t length)
{
    switch (information_class) {
    case SYSTEM_PERFORMANCE_TRACE_INFORMATION:
        return set_trace(information, length);
    case SYSTEM_PROCESSOR_PROFILE_CONTROL_AREA:
        return set_control_area(information, length);
    default:
        return STATUS_INVALID_INFO_CLASS;
    }
}
