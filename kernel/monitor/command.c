/* SPDX-License-Identifier: MIT */
/* Finds and runs the command of a line; help, explain, and the commands that leave. */
#include "ds/layout.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

/* The `i`th command of all groups; NULL: there are no more. */
static const struct kmonitor_command *command_at(const struct kmonitor *m, unsigned i)
{
    for (const struct kmonitor_command *const *group = m->groups; *group; group++)
        for (const struct kmonitor_command *c = *group; c->name; c++)
            if (i-- == 0)
                return c;
    return NULL;
}

static const struct kmonitor_command *find(const struct kmonitor *m, const char *name)
{
    const struct kmonitor_command *c;
    for (unsigned i = 0; (c = command_at(m, i)) && !kmonitor_same(c->name, name); i++)
        ;
    return c;
}

static void usage(const struct kmonitor *m, const struct kmonitor_command *c)
{
    kmonitor_print(m, "usage: %s%s%s\n", c->name, c->arguments[0] ? " " : "", c->arguments);
}

int kmonitor_run(struct kmonitor *m, char *line)
{
    char *word[KMONITOR_WORDS + 1];
    for (char *c = line; *c; c++) /* of a script: nothing else than text may come out again */
        *c = (*c >= ' ' && *c <= '~') || *c == '\t' ? *c : '?';
    const unsigned words = kmonitor_split(line, word);
    if (!words || word[0][0] == '#')
        return 0;
    const struct kmonitor_command *c = find(m, word[0]);
    if (!c) {
        kmonitor_say(m, "'%.40s' is not a command: help lists them", word[0]);
        return 0;
    }
    int result = KMONITOR_USAGE;
    if (words - 1 >= c->least && words - 1 <= c->most)
        result = c->run(m, words - 1, word + 1);
    if (result == KMONITOR_USAGE)
        usage(m, c);
    return result == KMONITOR_USAGE ? 0 : result;
}

/* ---- completion -------------------------------------------------------------------------------------------------- */

/* Word `i` of "a|b|c". */
static const char *word_of(const char *words, unsigned i, char *text, size_t size)
{
    for (; i; i--) {
        words = strchr(words, '|');
        if (!words)
            return NULL;
        words++;
    }
    const char *end = strchr(words, '|');
    snprintf(text, size, "%.*s", (int)(end ? (size_t)(end - words) : strlen(words)), words);
    return text;
}

static const char *name_at(bool msrs, unsigned i)
{
    for (size_t n = 0; n < kmonitor_names_count; n++)
        if ((!msrs || kmonitor_names[n].kind == KMONITOR_MSR) && i-- == 0)
            return kmonitor_names[n].name;
    return NULL;
}

const char *kmonitor_choice(void *context, const char *line, size_t size, unsigned i)
{
    static char text[32];
    const struct kmonitor *m = context;
    char first[16];
    size_t n = 0;
    while (size && *line == ' ')
        line++, size--;
    while (n < size && n < sizeof first - 1 && line[n] != ' ') {
        first[n] = line[n];
        n++;
    }
    first[n] = '\0';
    const struct kmonitor_command *c = n ? find(m, first) : NULL;
    const char *words = !n ? "COMMAND" : c ? c->choices : NULL;
    for (size_t at = n; at < size; at++) /* only its first argument */
        words = line[at] != ' ' ? NULL : words;
    if (!words)
        return NULL;
    if (strcmp(words, "COMMAND") == 0) {
        c = command_at(m, i);
        return c ? c->name : NULL;
    }
    if (strcmp(words, "MSR") == 0 || strcmp(words, "NAME") == 0)
        return name_at(words[0] == 'M', i);
    return word_of(words, i, text, sizeof text);
}

/* ---- help, explain ----------------------------------------------------------------------------------------------- */

static int help(struct kmonitor *m, unsigned words, char **word)
{
    const struct kmonitor_command *c;
    if (words) {
        c = find(m, word[0]);
        if (!c) {
            kmonitor_say(m, "'%.40s' is not a command: help lists them", word[0]);
            return 0;
        }
        usage(m, c);
        kmonitor_wrap(m, 2, c->help);
        return 0;
    }
    for (unsigned i = 0; (c = command_at(m, i)); i++) {
        const char *end = strchr(c->help, ';'); /* the rest is for `help COMMAND` */
        kmonitor_print(m, "%-8s %-20s %.*s\n", c->name, c->arguments, end ? (int)(end - c->help) : (int)strlen(c->help),
                       c->help);
    }
    kmonitor_print(m, "* marks a value that has changed since it was last shown.\n");
    return 0;
}

static void explain_row(struct kmonitor *m, const struct kmonitor_name *n, const struct kmonitor_name *msr)
{
    if (n->kind == KMONITOR_MSR && n->step)
        kmonitor_print(m, "%s: MSR %XH, and %u more after it, %u apart\n", n->name, n->number, n->count - 1, n->step);
    else if (n->kind == KMONITOR_MSR && n->count > 1)
        kmonitor_print(m, "%s: MSR %XH, and %u more after it\n", n->name, n->number, n->count - 1);
    else if (n->kind == KMONITOR_MSR)
        kmonitor_print(m, "%s: MSR %XH\n", n->name, n->number);
    else if (n->kind == KMONITOR_FIELD && n->mask == (n->mask & -n->mask))
        kmonitor_print(m, "%s.%s: bit %d\n", msr->name, n->name, __builtin_ctzll(n->mask));
    else if (n->kind == KMONITOR_FIELD)
        kmonitor_print(m, "%s.%s: bits %d:%d\n", msr->name, n->name, 63 - __builtin_clzll(n->mask),
                       __builtin_ctzll(n->mask));
    else if (n->kind == KMONITOR_AREA)
        kmonitor_print(m, "%s: offset %XH of the DS area\n", n->name, n->number);
    else
        kmonitor_print(m, "%s\n", n->name);
    kmonitor_wrap(m, 2, n->text);
    kmonitor_wrap(m, 2, n->section ? n->section : msr->section);
}

/* Whether `word` names the field, as NAME, REGISTER.NAME or REGISTER_NAME. */
static bool names_field(const struct kmonitor_name *n, const struct kmonitor_name *msr, const char *word)
{
    char text[80];
    snprintf(text, sizeof text, "%s.%s", msr->name, n->name);
    if (kmonitor_same(n->name, word) || kmonitor_same(text, word))
        return true;
    text[strlen(msr->name)] = '_';
    return kmonitor_same(text, word);
}

static int explain(struct kmonitor *m, unsigned words, char **word)
{
    const struct kmonitor_name *msr = NULL;
    unsigned found = 0;
    uint32_t number;
    (void)words;
    const bool is_msr = kmonitor_msr_named(word[0], &number); /* PMC3's row is PMC0's */
    for (size_t i = 0; i < kmonitor_names_count; i++) {
        const struct kmonitor_name *n = &kmonitor_names[i];
        msr = n->kind == KMONITOR_MSR ? n : msr;
        if (is_msr                      ? n == kmonitor_msr(number)
            : n->kind == KMONITOR_FIELD ? names_field(n, msr, word[0])
                                        : kmonitor_same(n->name, word[0])) {
            explain_row(m, n, msr);
            found++;
        }
    }
    if (!found)
        kmonitor_say(m, "'%.40s' is no name of this table: press TAB after 'explain ' for a list", word[0]);
    return 0;
}

/* ---- where, and away --------------------------------------------------------------------------------------------- */

static int cpu(struct kmonitor *m, unsigned words, char **word)
{
    uint64_t n;
    if (words) {
        if (!kmonitor_number(m, word[0], UINT32_MAX, &n))
            return 0;
        if (n >= m->machine->cpus) {
            kmonitor_say(m, "there is no CPU %lu, only 0 to %u", (unsigned long)n, m->machine->cpus - 1);
            return 0;
        }
        m->cpu = (uint32_t)n;
    }
    kmonitor_print(m, "CPU %u of %u; the monitor runs on CPU %u; backend %s\n", m->cpu, m->machine->cpus, m->here,
                   m->machine->backend);
    return 0;
}

static int go(struct kmonitor *m, unsigned words, char **word)
{
    (void)m, (void)words, (void)word;
    return KMONITOR_GO;
}

static int quit(struct kmonitor *m, unsigned words, char **word)
{
    (void)m, (void)words, (void)word;
    return KMONITOR_QUIT;
}

const struct kmonitor_command kmonitor_general[] = {
    {"help", "[COMMAND]", "list the commands, or say more about one", 0, 1, help, "COMMAND"},
    {"explain", "NAME", "a register or field: meaning, manual's section", 1, 1, explain, "NAME"},
    {"cpu", "[N]", "the CPU that commands are about; N: another one from now on", 0, 1, cpu, NULL},
    {"go", "", "leave: the run goes on, or ends after a panic", 0, 0, go, NULL},
    {"quit", "", "end the machine at once, without a dump", 0, 0, quit, NULL},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
