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

/* "auto", or groups, or both of them joined. */
static bool parse_groups(const char *part, size_t n, struct kopt_session *s)
{
    if (n >= 4 && memcmp(part, "auto", 4) == 0 && (n == 4 || part[4] == '+')) {
        s->automatic = 1;
        if (n == 4)
            return true;
        part += 5;
        n -= 5;
    }
    return trace_groups_parse(part, n, &s->masks) == 0;
}

#define FORM "must be GROUPS:CLOCK:MODE[:KIB[:BUFFERS]], its "

static bool parse_session(struct kopt_session *session, const char *value, size_t size, const char **why)
{
    struct kopt_session s = {.on = 1};
    const char *part;
    size_t n;
    int clock, mode;
    uint64_t kib = 0, buffers = 0;
    if (kopt_word_index("off", value, size) == 0 && session != &kopt.session[0]) {
        *session = (struct kopt_session){.clock = TRACE_CLOCK_QPC};
        return true;
    }
    *why = FORM "groups joined by '+', of auto, " TRACE_GROUPS_WORDS ", or a group's value";
    if (!kopt_part(&value, &size, ':', &part, &n) || !parse_groups(part, n, &s))
        return false;
    *why = FORM "clock qpc, system or tsc";
    if (!kopt_part(&value, &size, ':', &part, &n) || (clock = kopt_word_index(KOPT_CLOCKS, part, n)) < 0)
        return false;
    *why = FORM "mode sequential or circular";
    if (!kopt_part(&value, &size, ':', &part, &n) || (mode = kopt_word_index(KOPT_MODES, part, n)) < 0)
        return false;
    *why = FORM "buffers of 4 to 1024 KiB, 1 to 65536 of them";
    if (!kopt_part_number(&value, &size, ':', 4, 1024, &kib) ||
        !kopt_part_number(&value, &size, ':', 1, 65536, &buffers) || value)
        return false;
    s.clock = (uint32_t)clock + TRACE_CLOCK_QPC;
    s.circular = (uint32_t)mode;
    s.buffer_kib = (uint32_t)kib;
    s.buffers = (uint32_t)buffers;
    *session = s;
    return true;
}

/* Whether this kernel is built without what `word` is about; `why` says so then. */
static bool is_absent(const char *word, size_t size, char *why, size_t why_size)
{
    const struct kopt_absent *const *row;
    for (ROWS_EACH(kopt_absent, row)) {
        const size_t n = strlen((*row)->word);
        const bool whole = n == size || (*row)->word[n - 1] == '.' || (n < size && (word[n] == ':' || word[n] == ','));
        if (n <= size && whole && memcmp((*row)->word, word, n) == 0) {
            snprintf(why, why_size, "this kernel is built without the wing %s (make nucleus WITH=%s)", (*row)->wing,
                     (*row)->with);
            return true;
        }
    }
    return false;
}

/* Whether groups are among these that only an absent wing would write; `why` says so then. */
static bool is_group_absent(const struct perfinfo_groupmask *masks, char *why, size_t why_size)
{
    static const char key[] = "session=";
    const struct kopt_absent *const *row;
    for (ROWS_EACH(kopt_absent, row)) {
        const char *word = (*row)->word, *group = word + sizeof key - 1;
        struct perfinfo_groupmask absent = {0};
        if (strlen(word) < sizeof key || memcmp(word, key, sizeof key - 1) != 0 ||
            trace_groups_parse(group, strlen(group), &absent) != 0)
            continue;
        for (unsigned i = 0; i < sizeof absent.masks / sizeof absent.masks[0]; i++)
            if (masks->masks[i] & absent.masks[i])
                return is_absent(word, strlen(word), why, why_size);
    }
    return false;
}

static int set_value(const struct kopt_option *o, const char *word, size_t word_size, const char *value, size_t size,
                     char *error, size_t error_size)
{
    char why[256];
    const char *reason = why;
    uint64_t v;
    int i;

    switch (o->kind) {
    case WORD:
    case WORD8:
        if ((i = kopt_word_index(o->words, value, size)) >= 0) {
            if (o->kind == WORD)
                *(uint32_t *)o->field = (uint32_t)i;
            else
                *(uint8_t *)o->field = (uint8_t)i;
            return 0;
        }
        snprintf(why, sizeof why, "must be one of %s", o->words);
        break;
    case NUMBER32:
    case NUMBER64:
        if (knumber_parse(value, size, &v) && v >= o->min && v <= o->max) {
            if (o->kind == NUMBER32)
                *(uint32_t *)o->field = (uint32_t)v;
            else
                *(uint64_t *)o->field = v;
            return 0;
        }
        snprintf(why, sizeof why, "must be a number from %lu to %lu", (unsigned long)o->min, (unsigned long)o->max);
        break;
    case TEXT:
        if (o->words && kopt_word_index(o->words, value, size) < 0) {
            snprintf(why, sizeof why, "must be one of %s", o->words);
        } else if (size >= o->size) {
            snprintf(why, sizeof why, "is longer than %u characters", o->size - 1u);
        } else {
            memcpy(o->field, value, size);
            ((char *)o->field)[size] = '\0';
            return 0;
        }
        break;
    case SERIAL:
        if (kopt_serial_parse(value, size, why, sizeof why))
            return 0;
        break;
    case SESSION:
        if (parse_session(o->field, value, size, &reason)) {
            if (!is_group_absent(&((struct kopt_session *)o->field)->masks, why, sizeof why))
                return 0;
            reason = why;
        }
        break;
    }
    return bad(error, error_size, word, word_size, reason);
}

bool kopt_row_given(size_t i)
{
    return given[i];
}

void kopt_defaults(void)
{
    struct kopt_row row;
    memset(&kopt, 0, sizeof kopt);
    memset(given, 0, sizeof given);
    const struct kopt_option *o;
    for (size_t i = 0; (o = kopt_row_get(i, &row)); i++) {
        char error[8]; /* the defaults are right: a test sets each of them */
        set_value(o, o->standard, 0, o->standard, strlen(o->standard), error, sizeof error);
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
    if (is_absent(word, n, why, sizeof why) || is_absent(word, size, why, sizeof why))
        return bad(error, error_size, word, size, why);
    struct kopt_row row;
    const size_t i = kopt_row_find(word, n);
    const struct kopt_option *o = kopt_row_get(i, &row);
    if (o) {
        if (kopt_row_given(i))
            return bad(error, error_size, word, size, "is given twice: leave one of the two out");
        int e = set_value(o, word, size, equals + 1, size - n - 1, error, error_size);
        given[i] |= !e;
        return e;
    }
    return bad(error, error_size, word, size, "there is no option of this name (docs/reference/options.md lists them)");
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
