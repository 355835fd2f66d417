/* SPDX-License-Identifier: MIT */
/* Options as words, for the log. */
#include "kernel/options/row.h"

#include "kernel/lib/string.h"

void kopt_word_show(const char *words, uint32_t n, char *text, size_t size)
{
    for (; n; n--)
        words = strchr(words, '|') + 1;
    const char *end = strchr(words, '|');
    snprintf(text, size, "%.*s", (int)(end ? (size_t)(end - words) : strlen(words)), words);
}

static void show_session(const struct kopt_session *s, char *text, size_t size)
{
    static const struct perfinfo_groupmask none;
    char groups[TRACE_GROUPS_TEXT] = "", clock[8], mode[12], sizes[24] = "";
    if (!s->on) {
        snprintf(text, size, "off");
        return;
    }
    bool some = !s->automatic || memcmp(&s->masks, &none, sizeof none) != 0;
    if (some)
        trace_groups_show(&s->masks, groups);
    kopt_word_show(KOPT_CLOCKS, s->clock - TRACE_CLOCK_QPC, clock, sizeof clock);
    kopt_word_show(KOPT_MODES, s->circular, mode, sizeof mode);
    if (s->buffers)
        snprintf(sizes, sizeof sizes, ":%u:%u", s->buffer_kib, s->buffers);
    else if (s->buffer_kib)
        snprintf(sizes, sizeof sizes, ":%u", s->buffer_kib);
    snprintf(text, size, "%s%s%s:%s:%s%s", s->automatic ? "auto" : "", s->automatic && some ? "+" : "", groups, clock,
             mode, sizes);
}

void kopt_option_show(const struct kopt_option *o, char *text, size_t size)
{
    switch (o->kind) {
    case WORD:
    case WORD8:
        kopt_word_show(o->words, o->kind == WORD ? *(uint32_t *)o->field : *(uint8_t *)o->field, text, size);
        break;
    case NUMBER32:
        snprintf(text, size, "%u", *(uint32_t *)o->field);
        break;
    case NUMBER64:
        snprintf(text, size, "%lu", (unsigned long)*(uint64_t *)o->field);
        break;
    case TEXT:
        snprintf(text, size, "%s", (char *)o->field);
        break;
    case SERIAL:
        kopt_serial_show(text, size);
        break;
    case SESSION:
        show_session(o->field, text, size);
        break;
    }
}

bool kopt_show(size_t i, char *text, size_t size)
{
    char value[KOPT_TEXT];
    struct kopt_row row;
    const struct kopt_option *o = kopt_row_get(i, &row);
    if (!o)
        return false;
    kopt_option_show(o, value, sizeof value);
    snprintf(text, size, "%s=%s", o->name, value);
    return true;
}
