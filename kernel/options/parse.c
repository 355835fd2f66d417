/* SPDX-License-Identifier: MIT */
/* Parses options such as "switches=100" into struct kopt, by the table. */
#include "kernel/options/row.h"

#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

struct kopt kopt;

static bool given[KOPT_ROWS_MAX]; /* since kopt_defaults */

static bool is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

/* Names the word in a message that may go to a terminal: bytes that could control it are shown as \xNN. A long word is
 * cut, because the reason must follow. */
static int bad(char *error, size_t error_size, const char *word, size_t size, const char *why)
{
    char shown[164];
    size_t n = 0;
    for (; size && n < sizeof shown - 8; word++, size--)
        n +=
            (size_t)snprintf(shown + n, sizeof shown - n, is_printable(*word) ? "%c" : "\\x%02x", (unsigned char)*word);
    snprintf(shown + n, sizeof shown - n, "%s", size ? "..." : "");
    snprintf(error, error_size, "option '%s': %s", shown, why);
    return -EINVAL;
}

int kopt_word_index(const char *words, const char *value, size_t size)
{
    for (int i = 0;; i++) {
        const char *end = strchr(words, '|');
        size_t n = end ? (size_t)(end - words) : strlen(words);
        if (n == size && memcmp(words, value, n) == 0)
            return i;
        if (!end)
            return -1;
        words = end + 1;
    }
}

bool kopt_part(const char **value, size_t *size, char separator, const char **part, size_t *part_size)
{
    if (!*value)
        return false;
    const char *end = memchr(*value, separator, *size);
    *part = *value;
    *part_size = end ? (size_t)(end - *value) : *size;
    *size -= end ? *part_size + 1 : *size;
    *value = end ? end + 1 : NULL;
    return true;
}

bool kopt_part_number(const char **value, size_t *size, char separator, uint64_t min, uint64_t max, uint64_t *number)
{
    const char *part;
    size_t n;
    return !kopt_part(value, size, separator, &part, &n) ||
           (knumber_parse(part, n, number) && *number >= min && *number <= max);
}

bool kopt_is_absent(const char *word, size_t size, char *why, size_t why_size)
{
    const struct kopt_absent *const *row;
    for (ROWS_EACH(kopt_absent, row)) {
        const size_t n = strlen((*row)->word);
        const bool whole = n == size || (*row)->word[n - 1] == '.';
        if (n <= size && whole && memcmp((*row)->word, word, n) == 0) {
            snprintf(why, why_size, "this kernel is built without the wing %s (make nucleus WITH=%s)", (*row)->wing,
                     (*row)->with);
            return true;
        }
    }
    return false;
}

static void store(const struct kopt_option *o, uint64_t value)
{
    if (o->kind == WORD8)
        *(uint8_t *)o->field = (uint8_t)value;
    else if (o->kind == NUMBER64)
        *(uint64_t *)o->field = value;
    else
        *(uint32_t *)o->field = (uint32_t)value;
}

/* False: it is wrong, and `why` says in what. */
static bool set_value(const struct kopt_option *o, const char *value, size_t size, char *why, size_t why_size)
{
    const int word = o->words ? kopt_word_index(o->words, value, size) : 0;
    uint64_t number;
    if (word < 0) {
        snprintf(why, why_size, "must be one of %s", o->words);
        return false;
    }
    switch (o->kind) {
    case WORD:
    case WORD8:
        store(o, (uint64_t)word);
        return true;
    case NUMBER32:
    case NUMBER64:
        if (!knumber_parse(value, size, &number) || number < o->min || number > o->max) {
            snprintf(why, why_size, "must be a number from %lu to %lu", (unsigned long)o->min, (unsigned long)o->max);
            return false;
        }
        store(o, number);
        return true;
    case TEXT:
        if (size >= o->size) {
            snprintf(why, why_size, "is longer than %u characters", o->size - 1u);
            return false;
        }
        memcpy(o->field, value, size);
        ((char *)o->field)[size] = '\0';
        return true;
    default:
        return o->form->parse(o->field, value, size, why, why_size);
    }
}

bool kopt_given(const char *name)
{
    size_t i;
    return kopt_row_find(name, strlen(name), &i) && given[i];
}

void kopt_defaults(void)
{
    memset(&kopt, 0, sizeof kopt);
    memset(given, 0, sizeof given);
    const struct kopt_option *o;
    for (size_t i = 0; (o = kopt_row_get(i)); i++) {
        char why[8]; /* the defaults are right: a test sets each of them */
        set_value(o, o->standard, strlen(o->standard), why, sizeof why);
    }
}

int kopt_set(const char *word, size_t size, char *error, size_t error_size)
{
    for (size_t i = 0; i < size; i++) /* so that no value has such bytes, wherever it is printed */
        if (!is_printable(word[i]))
            return bad(error, error_size, word, size, "holds a character that is not printable ASCII");
    const char *equals = memchr(word, '=', size);
    if (!equals)
        return bad(error, error_size, word, size, "must have the form name=value");
    size_t n = (size_t)(equals - word);
    char why[256];
    if (kopt_is_absent(word, n, why, sizeof why) || kopt_is_absent(word, size, why, sizeof why))
        return bad(error, error_size, word, size, why);
    size_t i;
    const struct kopt_option *o = kopt_row_find(word, n, &i);
    if (!o)
        return bad(error, error_size, word, size,
                   "there is no option of this name (docs/reference/options.md lists them)");
    if (given[i])
        return bad(error, error_size, word, size, "is given twice: leave one of the two out");
    if (!set_value(o, equals + 1, size - n - 1, why, sizeof why))
        return bad(error, error_size, word, size, why);
    given[i] = true;
    return 0;
}

int kopt_parse(const char *text, size_t size, char *error, size_t error_size)
{
    for (unsigned line = 1; size; line++) {
        const char *newline = memchr(text, '\n', size);
        size_t whole = newline ? (size_t)(newline - text) + 1 : size;
        const char *comment = memchr(text, '#', whole);
        const char *word = text;
        size_t n = comment ? (size_t)(comment - text) : newline ? whole - 1 : whole;
        while (n && (word[n - 1] == ' ' || word[n - 1] == '\t' || word[n - 1] == '\r'))
            n--;
        for (; n && (*word == ' ' || *word == '\t'); n--)
            word++;
        if (n) {
            char why[384];
            int e = kopt_set(word, n, why, sizeof why);
            if (e) {
                snprintf(error, error_size, "cairn.cfg line %u: %s", line, why);
                return e;
            }
        }
        text += whole;
        size -= whole;
    }
    return kopt_check(error, error_size);
}
