/* SPDX-License-Identifier: MIT */
/* The kernel's option table on the host: run-qemu.sh checks options with it, and docs/reference/options.md is made from
 * it. */
#include "ds/ds.h"
#include "kernel/options/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/nearest.h"
#include "tools/cairn/base/wrap.h"
#include "tools/options/describe.h"
#include "tools/options/processor.h"
#include "tools/options/sessions.h"

/* Prints text in lines of 80 columns; the first goes on at `column`. */
static void wrap(FILE *to, const char *text, unsigned column, unsigned indent)
{
    cairn_wrap(to, column, "", indent, (struct cairn_slice){text, (uint32_t)strlen(text)});
}

static int usage(void)
{
    fprintf(stderr,
            "usage: cairn-options check [--emulated] [--cpus N] KEY=VALUE... | nearest WORD NAME... | help | docs\n");
    return 2;
}

static const char *option_name(size_t i, const void *context)
{
    static struct options_help h;
    (void)context;
    return options_describe(i, &h) ? h.name : NULL;
}

/* Says which option `word` was meant to be, where its name is none but nearly one. */
static void suggest(const char *word)
{
    char name[64];
    const size_t n = strcspn(word, "=");
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    const char *near = cairn_nearest(name, option_name, NULL);
    if (word[n] && near && strcmp(near, name) != 0)
        fprintf(stderr, "    Did you mean %s%s?\n", near, word + n);
}

static const char *argument(size_t i, const void *arguments)
{
    return ((char *const *)arguments)[i];
}

/* Prints the name that the word was meant to be, if one is near. */
static int nearest(char **argv)
{
    const char *near = cairn_nearest(argv[0], argument, argv + 1);
    if (near)
        puts(near);
    return near ? 0 : 1;
}

/* --emulated: the machine has no Debug Store but that of ds.preset=, so ds=auto will not find another. --cpus N: it has
 * so many processors. */
static int check(int argc, char **argv)
{
    char error[512];
    bool emulated = false;
    unsigned long cpus = 0;
    for (; argc && argv[0][0] == '-'; argc--, argv++)
        if (strcmp(argv[0], "--emulated") == 0) {
            emulated = true;
        } else if (strcmp(argv[0], "--cpus") == 0 && argc > 1) {
            char *end;
            cpus = strtoul(argv[1], &end, 10);
            if (*end || !cpus)
                return usage();
            argc--;
            argv++;
        } else {
            return usage();
        }
    kopt_defaults();
    for (int i = 0; i < argc; i++)
        if (kopt_set(argv[i], strlen(argv[i]), error, sizeof error) != 0) {
            wrap(stderr, error, 0, 4);
            suggest(argv[i]);
            return 2;
        }
    bool preset = kopt.ds == KOPT_DS_SOFT || (kopt.ds == KOPT_DS_AUTO && emulated);
    if (kopt_check(error, sizeof error) == 0 && (!preset || options_check_processor(error, sizeof error) == 0) &&
        (!cpus || options_check_sessions(cpus < kopt.cpus ? (uint32_t)cpus : kopt.cpus, error, sizeof error) == 0))
        return 0;
    wrap(stderr, error, 0, 4);
    return 2;
}

static int help(void)
{
    enum { INDENT = 6 };
    struct options_help h;
    char events[1024];
    const char *name;
    size_t n = 0;
    for (size_t i = 0; options_describe(i, &h); i++) {
        char line[1024];
        snprintf(line, sizeof line, "%s=%s", h.name, h.values);
        printf("  ");
        wrap(stdout, line, 2, INDENT);
        snprintf(line, sizeof line, "%s (default %s%s%s)", h.text, h.standard, h.needs ? "; only with " : "",
                 h.needs ? h.needs : "");
        printf("%*s", INDENT, "");
        wrap(stdout, line, INDENT, INDENT);
    }
    for (size_t i = 0; (name = ds_event_name(i)) && n < sizeof events; i++)
        n += (size_t)snprintf(events + n, sizeof events - n, "%s%s", i ? ", " : "", name);
    printf("Events of pebs=\n%*s", INDENT, "");
    wrap(stdout, events, INDENT, INDENT);
    return 0;
}

/* Prints text, with each `from` in it replaced by `to`. */
static void replace(const char *text, char from, const char *to)
{
    for (; *text; text++)
        *text == from ? (void)fputs(to, stdout) : (void)putchar(*text);
}

static void needs(const char *text)
{
    for (; *text; text++)
        *text == '|' ? (void)printf(" or ") : *text == ',' ? (void)printf(", ") : (void)putchar(*text);
}

static bool is_policy(const struct options_help *h)
{
    return strncmp(h->name, "ds.policy.", 10) == 0;
}

/* The text of an option, for a policy without what the names of some say already. */
static const char *question(const struct options_help *h)
{
    static const char said[] = "architectural PEBS: ";
    return is_policy(h) && strncmp(h->text, said, sizeof said - 1) == 0 ? h->text + sizeof said - 1 : h->text;
}

/* Prints the options from the i-th on that differ only in their names, as one row; returns how many they are. */
static size_t row(size_t i, const struct options_help *h)
{
    const struct options_help first = *h;
    struct options_help next;
    size_t n = 1;
    printf("| `%s`", first.name);
    for (; options_describe(i + n, &next) && strcmp(next.text, first.text) == 0; n++)
        printf(", `%s`", next.name);
    options_describe(i, &next); /* `values` is its buffer */
    printf(" | ");
    replace(next.values, '|', ", ");
    if (is_policy(&first)) /* its first value is the default */
        printf(" | ");
    else
        printf(" | `%s` | ", first.standard);
    replace(question(&first), '|', "\\|"); /* a bar would end the cell */
    if (!is_policy(&first)) {
        printf(" | ");
        needs(first.needs ? first.needs : "");
    }
    puts(" |");
    return n;
}

static int docs(void)
{
    struct options_help h;
    const char *name;
    bool policies = false;
    puts("# Options\n\n"
         "Give these options to `./run-qemu.sh` as words, or write them into `cairn.cfg` on the boot volume, one a\n"
         "line; `#` begins a comment. Numbers are decimal, or hexadecimal with `0x`. An unknown option or value, an\n"
         "option that is given twice, and one that has no effect without another (the last column) stop the boot\n"
         "with one line that names them. A line of the run says what `ds=auto` has chosen. `make docs` makes this\n"
         "page from the kernel's own table.\n\n"
         "| option | values | default | meaning | only with |\n| --- | --- | --- | --- | --- |");
    for (size_t i = 0; options_describe(i, &h);) {
        if (is_policy(&h) && !policies)
            puts("\n## Policies\n\n"
                 "A policy chooses what the model does where no source says what a processor does\n"
                 "([**`not found`**](../README.md#how-sure)). The first value is the default. Policies need `ds=auto`\n"
                 "or `ds=soft`, and those whose name begins with `arch_` architectural PEBS.\n\n"
                 "| policy | values | question |\n| --- | --- | --- |");
        policies |= is_policy(&h);
        i += row(i, &h);
    }
    puts("\n## Events\n\n"
         "`pebs=` takes these names, Intel's and perf's, in upper or lower case. An event that the processor does\n"
         "not have, or that PEBS cannot record there, is refused before the run.\n");
    for (size_t i = 0; (name = ds_event_name(i)); i++)
        printf("%s`%s`", i ? ",\n" : "", name);
    puts("");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "check") == 0)
        return check(argc - 2, argv + 2);
    if (argc >= 3 && strcmp(argv[1], "nearest") == 0)
        return nearest(argv + 2);
    if (argc == 2 && strcmp(argv[1], "help") == 0)
        return help();
    if (argc == 2 && strcmp(argv[1], "docs") == 0)
        return docs();
    return usage();
}
