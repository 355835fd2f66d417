/* SPDX-License-Identifier: MIT */
#include "tools/cairn/log/rundown.h"

#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/printable.h"
#include "tools/cairn/event/etl_layout.h"

static uint64_t pointer_at(const struct cairn_event *e, uint32_t at)
{
    return e->pointer == 8 ? cairn_get64(e->payload + at) : cairn_get32(e->payload + at);
}

static void read_process(struct cairn_rundown *r, const struct cairn_event *e)
{
    uint32_t p = e->pointer, at = ETL_PROCESS_FIXED(p, e->version), token = ETL_TOKEN_USER(p);
    if (!e->version || e->size < at + 4)
        return;
    r->kind = CAIRN_RUNDOWN_PROCESS;
    r->pid = cairn_get32(e->payload + ETL_PROCESS_ID(p));
    r->parent = cairn_get32(e->payload + ETL_PROCESS_PARENT(p));
    if (cairn_get32(e->payload + at) == 0)
        at += 4;
    else if (e->size - at < token + ETL_SID_BYTES(0u))
        return;
    else
        at += token + ETL_SID_BYTES(e->payload[at + token + 1]);
    if (at < e->size)
        cairn_printable(r->name, sizeof(r->name), e->payload + at, e->size - at, 1);
}

static void read_thread(struct cairn_rundown *r, const struct cairn_event *e)
{
    uint32_t fixed = ETL_THREAD_FIXED(e->pointer);
    if (!e->version || e->size < 8)
        return;
    r->kind = CAIRN_RUNDOWN_THREAD;
    r->pid = cairn_get32(e->payload + ETL_THREAD_PROCESS);
    r->tid = cairn_get32(e->payload + ETL_THREAD_ID);
    if (e->hook == HOOK_THREAD_SET_NAME) {
        cairn_printable(r->name, sizeof(r->name), e->payload + 8, e->size - 8, 2);
        return;
    }
    r->has_base = e->version >= 3 && e->size >= fixed;
    if (!r->has_base)
        return;
    r->base_priority = (int8_t)e->payload[ETL_THREAD_BASE(e->pointer)];
    cairn_printable(r->name, sizeof(r->name), e->payload + fixed, e->size - fixed, 2);
}

static void read_image(struct cairn_rundown *r, const struct cairn_event *e)
{
    uint32_t fixed = ETL_IMAGE_FIXED((uint32_t)e->pointer, e->version);
    if (!e->version || e->size < fixed)
        return;
    r->kind = CAIRN_RUNDOWN_IMAGE;
    r->address = pointer_at(e, 0);
    r->size = pointer_at(e, e->pointer);
    r->pid = cairn_get32(e->payload + ETL_IMAGE_PROCESS(e->pointer));
    const uint8_t *name = e->payload + fixed; /* from its last backslash on */
    uint32_t size = e->size - fixed, begin = 0;
    for (uint32_t i = 0; size - i >= 2 && cairn_get16(name + i); i += 2)
        if (cairn_get16(name + i) == '\\')
            begin = i + 2;
    cairn_printable(r->name, sizeof(r->name), name + begin, size - begin, 2);
}

void cairn_rundown_read(struct cairn_rundown *r, const struct cairn_event *e)
{
    *r = (struct cairn_rundown){.kind = CAIRN_RUNDOWN_NONE};
    if (e->unknown_items)
        return;
    switch (e->hook) {
    case HOOK_PROCESS_START:
    case HOOK_PROCESS_END:
    case HOOK_PROCESS_DC_START:
    case HOOK_PROCESS_DC_END:
        read_process(r, e);
        break;
    case HOOK_THREAD_START:
    case HOOK_THREAD_END:
    case HOOK_THREAD_DC_START:
    case HOOK_THREAD_DC_END:
    case HOOK_THREAD_SET_NAME:
        read_thread(r, e);
        break;
    case HOOK_IMAGE_LOAD:
    case HOOK_IMAGE_UNLOAD:
    case HOOK_IMAGE_DC_START:
    case HOOK_IMAGE_DC_END:
        read_image(r, e);
        break;
    default:
        break;
    }
    r->rundown = (e->hook & 0xFF) == 3 || (e->hook & 0xFF) == 4;
    r->ends = (e->hook & 0xFF) == 2 || (e->hook & 0xFF) == 4; /* end, and still there at the end */
}
