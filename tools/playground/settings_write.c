/* SPDX-License-Identifier: MIT */
/* Writes the settings as a text again, for a link. */
#include "tools/playground/settings.h"

#include "ds/policy/table/table.h"
#include "kernel/lib/string.h"

struct writer {
    char *text;
    size_t size, used;
};

static void write_item(struct writer *w, const char *key, const char *value)
{
    if (w->used < w->size)
        w->used += (size_t)snprintf(w->text + w->used, w->size - w->used, "%s%s=%s", w->used ? ";" : "", key, value);
}

static void write_counter(struct writer *w, const struct play_counter *c, unsigned i)
{
    char key[8], value[48] = "off";
    snprintf(key, sizeof key, "%s%u", i < DS_MODEL_GP_MAX ? "pmc" : "fixed",
             i < DS_MODEL_GP_MAX ? i : i - DS_MODEL_GP_MAX);
    const char *event = i < DS_MODEL_GP_MAX ? play_event_names[c->event] : "";
    if (c->used)
        snprintf(value, sizeof value, "%s%s%u%s%s%s%s", event, *event ? ":" : "", (unsigned)c->period,
                 c->user ? ":u" : ":", c->kernel ? "k" : "", c->plain ? ":plain" : "", c->interrupt ? ":int" : "");
    if (c->used || i == 0) /* the default text has PMC0 */
        write_item(w, key, value);
}

static void write_groups(struct writer *w, uint8_t groups)
{
    char value[40] = "none";
    size_t used = 0;
    for (unsigned i = 0; i < 6; i++)
        if (groups & 1u << i)
            used += (size_t)snprintf(value + used, sizeof value - used, "%s%s", used ? "," : "", play_group_names[i]);
    write_item(w, "groups", value);
}

void play_settings_write(const struct play_settings *s, uint32_t step, char *text, size_t size)
{
    struct writer w = {text, size, 0};
    char value[PLAY_PROGRAM_MAX * 13];
    write_item(&w, "cpu", s->preset->name);
    for (unsigned i = 0; i < PLAY_COUNTERS_MAX; i++)
        write_counter(&w, &s->counter[i], i);
    write_groups(&w, s->groups);
    for (size_t i = 0; i < DS_MODEL_POLICIES; i++) {
        const struct ds_model_policy_row *row = &ds_model_policies[i];
        char key[32];
        snprintf(key, sizeof key, "policy.%s", row->name);
        if (((const uint8_t *)&s->policy)[row->field])
            write_item(&w, key, ds_model_policy_value(&s->policy, row));
    }
    play_program_write(&s->program, value, sizeof value);
    write_item(&w, "program", value);
    for (size_t i = 0; i < PLAY_NUMBERS; i++) {
        const struct play_setting *row = &play_numbers[i];
        uint32_t now = row->field == offsetof(struct play_settings, step)
                           ? step
                           : *(const uint32_t *)((const uint8_t *)s + row->field);
        if (now == row->normal)
            continue;
        if (!row->values[0])
            snprintf(value, sizeof value, "%u", (unsigned)now);
        write_item(&w, row->key, row->values[0] ? row->values[now] : value);
    }
}
