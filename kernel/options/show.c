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
    case OTHER:
        o->form->show(o->field, text, size);
        break;
    }
}

bool kopt_show(size_t i, char *text, size_t size)
{
    char value[KOPT_TEXT];
    const struct kopt_option *o = kopt_row_get(i);
    if (!o)
        return false;
    kopt_option_show(o, value, sizeof value);
    snprintf(text, size, "%s=%s", o->name, value);
    return true;
}
