/* SPDX-License-Identifier: MIT */
/* Reads the header of one event, of Cairn's events and of all that Windows writes. */
#include "tools/cairn/event/event.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/event/etl_layout.h"
#include "trace/wire/bts.h"
#include "trace/wire/model_log.h"

#define ITEM_BITS (PERFINFO_ITEM_PEBS_INDEX | PERFINFO_ITEM_PMC_MASK)

/* PERFINFO_TRACE_HEADER, and the items behind it: PebsIndex first. */
static void read_perfinfo(struct cairn_event *e, const uint8_t *p, uint32_t marker)
{
    e->has_pebs_index = marker & PERFINFO_ITEM_PEBS_INDEX;
    e->counters = (uint8_t)((marker & PERFINFO_ITEM_PMC_MASK) >> PERFINFO_ITEM_PMC_SHIFT);
    e->unknown_items = marker & ~(PERFINFO_MARKER_MASK | PERFINFO_VERSION_MASK | ITEM_BITS);
    e->head = (uint32_t)sizeof(struct perfinfo_trace_header) + 8u * (e->counters + e->has_pebs_index);
    e->time = (int64_t)cairn_get64(p + offsetof(struct perfinfo_trace_header, time_stamp));
}

static void read_system(struct cairn_event *e, const uint8_t *p, uint32_t head, uint32_t marker)
{
    e->unknown_items = marker & ~(PERFINFO_MARKER_MASK | PERFINFO_VERSION_MASK);
    e->head = head;
    e->tid = cairn_get32(p + offsetof(struct system_trace_header, thread_id));
    e->pid = cairn_get32(p + offsetof(struct system_trace_header, process_id));
    e->time = (int64_t)cairn_get64(p + offsetof(struct system_trace_header, time_stamp));
}

static void read_classic(struct cairn_event *e, const uint8_t *p, uint32_t head)
{
    e->head = head;
    e->tid = cairn_get32(p + ETL_CLASSIC_THREAD);
    e->pid = cairn_get32(p + ETL_CLASSIC_PROCESS);
    e->time = (int64_t)cairn_get64(p + ETL_CLASSIC_TIME);
    if (head == ETL_EVENT_BYTES) {
        e->id = cairn_get16(p + ETL_EVENT_ID);
        e->version = p[ETL_EVENT_VERSION];
    } else {
        e->id = p[ETL_FULL_TYPE];
        e->version = p[ETL_FULL_VERSION];
    }
    if (head != ETL_INSTANCE_BYTES)
        e->provider = p + ETL_CLASSIC_PROVIDER;
}

/* MESSAGE_TRACE_HEADER, and the items behind it; of one that is shorter than these only how long they are. */
static void read_message(struct cairn_event *e, const uint8_t *p, uint32_t total)
{
    static const uint32_t bytes[] = {4, 16, 4, 8, 8}; /* of the items, in their order */
    uint16_t flags = cairn_get16(p + ETL_MESSAGE_FLAGS);
    if (flags & ETL_MESSAGE_COMPONENT)
        flags &= (uint16_t)~ETL_MESSAGE_GUID;
    const uint16_t there[] = {flags & ETL_MESSAGE_SEQUENCE, flags & ETL_MESSAGE_GUID, flags & ETL_MESSAGE_COMPONENT,
                              flags & ETL_MESSAGE_TIME, flags & ETL_MESSAGE_SYSTEMINFO};
    const uint8_t *items[5] = {NULL};
    for (unsigned i = 0; i < 5; i++) {
        items[i] = there[i] ? p + e->head : NULL;
        e->head += there[i] ? bytes[i] : 0;
    }
    if (total < e->head)
        return;
    e->id = cairn_get16(p + ETL_MESSAGE_NUMBER);
    e->pointer = flags & ETL_MESSAGE_32_BIT ? 4 : 8;
    e->provider = items[1];
    e->has_sequence = items[0];
    e->sequence = items[0] ? cairn_get32(items[0]) : 0;
    e->has_component = items[2];
    e->component = items[2] ? cairn_get32(items[2]) : 0;
    e->has_time = items[3];
    e->time = items[3] ? (int64_t)cairn_get64(items[3]) : 0;
    if (items[4]) {
        e->tid = cairn_get32(items[4]);
        e->pid = cairn_get32(items[4] + 4);
    }
}

/* The least that the header takes; 8 of one that is not known, whose payload begins right behind its size. */
static uint32_t header_bytes(uint8_t header)
{
    switch (header) {
    case ETL_SYSTEM32:
    case ETL_SYSTEM64:
        return sizeof(struct system_trace_header);
    case ETL_COMPACT32:
    case ETL_COMPACT64:
        return ETL_COMPACT_BYTES;
    case ETL_PERFINFO32:
    case ETL_PERFINFO64:
        return sizeof(struct perfinfo_trace_header);
    case ETL_FULL32:
    case ETL_FULL64:
        return ETL_FULL_BYTES;
    case ETL_INSTANCE32:
    case ETL_INSTANCE64:
        return ETL_INSTANCE_BYTES;
    case ETL_EVENT32:
    case ETL_EVENT64:
        return ETL_EVENT_BYTES;
    default:
        return 8;
    }
}

static bool has_hook(uint8_t header)
{
    return (header >= ETL_SYSTEM32 && header <= ETL_COMPACT64) || header == ETL_PERFINFO32 || header == ETL_PERFINFO64;
}

bool cairn_event_at(const uint8_t *data, uint32_t size, uint32_t at, struct cairn_event *event)
{
    if (at >= size || size - at < 8)
        return false;
    const uint8_t *p = data + at;
    uint32_t marker = cairn_get32(p), kind = marker >> 24;
    if (marker == WMI_PAD_MARKER || !(kind & 0x80))
        return false;
    uint8_t header = kind == ETL_MARKER_MESSAGE ? ETL_MESSAGE
                     : kind == ETL_MARKER_EVENT ? (uint8_t)(marker >> ETL_MARKER_TYPE_SHIFT)
                                                : (uint8_t)kind; /* no such header: passed over by its size */
    bool hook = has_hook(header);
    uint32_t total = cairn_get16(hook ? p + 4 : p), least = header_bytes(header);
    if (total < least || total > size - at)
        return false;
    uint32_t space = WMI_EVENT_ALIGN(total); /* the last one's padding may not count as used */
    *event = (struct cairn_event){
        .hook = hook ? cairn_get16(p + 6) : CAIRN_NO_HOOK,
        .tid = CAIRN_NO_TID,
        .pid = CAIRN_NO_TID,
        .header = header,
        .head = least,
        .version = hook ? (uint8_t)(marker & PERFINFO_VERSION_MASK) : 0,
        .pointer = header == ETL_SYSTEM32 || header == ETL_COMPACT32 || header == ETL_PERFINFO32 ? 4 : 8,
        .space = space < size - at ? space : size - at,
        .has_time = least > 8,
    };
    if (header == ETL_PERFINFO32 || header == ETL_PERFINFO64)
        read_perfinfo(event, p, marker);
    else if (hook)
        read_system(event, p, least, marker);
    else if (least > 8)
        read_classic(event, p, least);
    else if (header == ETL_MESSAGE)
        read_message(event, p, total);
    if (total < event->head)
        return false;
    event->payload = p + event->head;
    event->size = total - event->head;
    event->pebs_index = event->has_pebs_index ? cairn_get64(p + sizeof(struct perfinfo_trace_header)) : 0;
    return true;
}

bool cairn_event_short(const struct cairn_event *e)
{
    uint32_t least;
    switch (e->hook) {
    case HOOK_CONTEXTSWAP:
        least = sizeof(struct wmi_contextswap);
        break;
    case HOOK_CONTEXTSWAP_BATCH:
        least = sizeof(struct ccswap_buffer);
        break;
    case HOOK_CAIRN_SESSION:
        least = sizeof(struct cairn_session_event);
        break;
    default:
        return false;
    }
    return e->size < least && cairn_event_decoded(e);
}

bool cairn_event_decoded(const struct cairn_event *e)
{
    if (e->unknown_items)
        return false;
    switch (e->hook) {
    case HOOK_CONTEXTSWAP: /* that of Windows XP has another layout, and nobody knows what a later one would have */
        return e->version >= HOOK_VERSION_CONTEXTSWAP;
    case HOOK_CONTEXTSWAP_BATCH:
    case HOOK_CAIRN_DS:
    case HOOK_CAIRN_BTS:
    case HOOK_CAIRN_MODEL:
    case HOOK_CAIRN_SWALLOWED:
    case HOOK_CAIRN_SESSION:
    case HOOK_CAIRN_STREAM:
        return true;
    default:
        return false;
    }
}

const char *cairn_header_name(uint8_t header)
{
    static const char *const names[] = {
        [ETL_SYSTEM32] = "SYSTEM32",     [ETL_SYSTEM64] = "SYSTEM64",     [ETL_COMPACT32] = "COMPACT32",
        [ETL_COMPACT64] = "COMPACT64",   [ETL_FULL32] = "FULL32",         [ETL_INSTANCE32] = "INSTANCE32",
        [ETL_TIMED] = "TIMED",           [ETL_ERROR] = "ERROR",           [ETL_WNODE] = "WNODE",
        [ETL_MESSAGE] = "MESSAGE",       [ETL_PERFINFO32] = "PERFINFO32", [ETL_PERFINFO64] = "PERFINFO64",
        [ETL_EVENT32] = "EVENT32",       [ETL_EVENT64] = "EVENT64",       [ETL_FULL64] = "FULL64",
        [ETL_INSTANCE64] = "INSTANCE64",
    };
    return header < sizeof(names) / sizeof(names[0]) && names[header] ? names[header] : "?";
}
