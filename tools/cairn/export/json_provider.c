/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/json_provider.h"

#include <stdlib.h>

#include "kernel/lib/base64.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/log/etl/described/event_info.h"
#include "tools/cairn/log/etl/event_text.h"

static void guid(struct cairn_json *j, const char *name, const uint8_t *value)
{
    char text[CAIRN_GUID_TEXT];
    if (value)
        cairn_json_text(j, name, cairn_guid_text(text, value));
}

static void text_of(struct cairn_json *j, const char *name, struct cairn_bytes info, size_t field)
{
    char text[CAIRN_VALUE_TEXT_MOST];
    cairn_event_info_text(text, sizeof(text), info, field);
    if (text[0])
        cairn_json_text(j, name, text);
}

static void keyword(void *to, const char *name)
{
    cairn_json_text(to, NULL, name);
}

/* What the file calls the numbers of the header. */
static void names(struct cairn_json *j, struct cairn_bytes info)
{
    text_of(j, "level_name", info, offsetof(struct event_info, level_name));
    text_of(j, "opcode_name", info, offsetof(struct event_info, opcode_name));
    text_of(j, "task_name", info, offsetof(struct event_info, task_name));
    text_of(j, "channel_name", info, offsetof(struct event_info, channel_name));
    text_of(j, "message", info, offsetof(struct event_info, event_message));
    cairn_json_open_list(j, "keyword_names");
    cairn_event_info_keywords(info, keyword, j);
    cairn_json_close_list(j);
}

static void descriptor(struct cairn_json *j, const struct cairn_provider *p)
{
    cairn_json_number(j, "level", p->level);
    if (!p->described)
        return;
    cairn_json_number(j, "opcode", p->opcode);
    cairn_json_number(j, "task", p->task);
    cairn_json_number(j, "channel", p->channel);
    cairn_json_hex(j, "keyword", p->keyword);
    guid(j, "activity", p->activity);
    guid(j, "related_activity", p->related);
}

void cairn_json_provider(struct cairn_json *j, const struct cairn_log *log, const struct cairn_event *e)
{
    struct cairn_provider p;
    char name[CAIRN_VALUE_TEXT_MOST];
    if (!cairn_provider_read(&p, log, e))
        return;
    cairn_json_open(j, "provider");
    guid(j, "guid", p.guid);
    if (p.name[0])
        cairn_json_text(j, "name", p.name);
    cairn_json_close(j);
    cairn_event_name(name, &p);
    if (name[0])
        cairn_json_text(j, "name", name);
    cairn_json_number(j, p.described ? "id" : "event_type", e->id);
    cairn_json_number(j, "version", e->version);
    cairn_json_number(j, "pid", e->pid);
    cairn_json_number(j, "tid", e->tid);
    descriptor(j, &p);
    if (p.info.at)
        names(j, p.info);
}

void cairn_json_payload(struct cairn_json *j, const struct cairn_event *e)
{
    struct cairn_provider p;
    struct cairn_bytes bytes = {e->payload, e->size};
    if (cairn_provider_header(&p, e)) /* without the items before it */
        bytes = p.payload;
    char *text = cairn_alloc(KBASE64_SIZE(bytes.size) + 1);
    kbase64_encode(text, bytes.at, bytes.size);
    cairn_json_text(j, "payload", text);
    free(text);
}
