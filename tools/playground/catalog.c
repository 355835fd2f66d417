/* SPDX-License-Identifier: MIT */
/* The tables of processors, events, instructions, settings and policies, as JSON. No text in them needs an escape. */
#include "tools/playground/catalog.h"

#include "ds/policy/table/table.h"
#include "kernel/lib/string.h"
#include "tools/playground/settings.h"

struct out {
    char *text;
    size_t size, used;
};

static void put(struct out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    o->used += (size_t)vsnprintf(o->used < o->size ? o->text + o->used : NULL,
                                 o->used < o->size ? o->size - o->used : 0, format, args);
    va_end(args);
}

static void put_values(struct out *o, const char *const *values)
{
    put(o, "[");
    for (unsigned i = 0; values[i]; i++)
        put(o, "%s\"%s\"", i ? "," : "", values[i]);
    put(o, "]");
}

static void put_processors(struct out *o)
{
    put(o, "{\"processors\":[");
    const struct ds_model_preset *p = NULL;
    for (bool more = false; (p = ds_model_preset_after(p)); more = true) {
        put(o, "%s{\"name\":\"%s\",\"format\":%u,\"gp\":%u,\"fixed\":%u,\"width\":%u,\"baseline\":%s,", more ? "," : "",
            p->name, p->format, p->gp_counters, p->fixed_counters, p->width, p->baseline ? "true" : "false");
        put(o, "\"arch\":%s,", play_arch(p) ? "true" : "false");
        put(o, "\"pebs\":\"%llx\",\"pdist\":\"%llx\",\"groups\":%u,\"events\":[", (unsigned long long)p->pebs_counters,
            (unsigned long long)p->pdist, (unsigned)play_groups_there(p));
        bool first = true;
        for (unsigned e = 0; e < DS_MODEL_PLAIN_EVENTS; e++)
            if (play_event_names[e] && play_event_there(p, e)) {
                put(o, "%s%u", first ? "" : ",", e);
                first = false;
            }
        put(o, "]}");
    }
    put(o, "]");
}

size_t play_catalog_write(char *text, size_t size)
{
    struct out o = {text, size, 0};
    put_processors(&o);
    put(&o, ",\"events\":[");
    for (unsigned e = 0; e < DS_MODEL_PLAIN_EVENTS; e++)
        put(&o, "%s\"%s\"", e ? "," : "", play_event_names[e] ? play_event_names[e] : "");
    put(&o, "],\"groups\":[");
    for (unsigned g = 0; g < 6; g++)
        put(&o, "%s\"%s\"", g ? "," : "", play_group_names[g]);
    put(&o, "],\"ops\":[");
    for (unsigned i = 0; i < PLAY_OPS; i++)
        put(&o, "%s[\"%s\",\"%s\",\"%s\"]", i ? "," : "", play_ops[i].name, play_ops[i].mnemonic, play_ops[i].text);
    put(&o, "],\"numbers\":[");
    for (size_t i = 0; i < PLAY_NUMBERS; i++) {
        const struct play_setting *n = &play_numbers[i];
        put(&o, "%s[\"%s\",\"%s\",%u,%u,%u,", i ? "," : "", n->key, n->text, (unsigned)n->low, (unsigned)n->high,
            (unsigned)n->normal);
        put_values(&o, n->values);
        put(&o, "]");
    }
    put(&o, "],\"policies\":[");
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++) {
        put(&o, "%s[\"%s\",\"%s\",", i ? "," : "", ds_model_policies[i].name, ds_model_policies[i].question);
        put_values(&o, ds_model_policies[i].values);
        put(&o, "]");
    }
    put(&o, "]}");
    return o.used;
}
