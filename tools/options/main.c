/* SPDX-License-Identifier: MIT */
/* The kernel's option table on the host: run-qemu.sh checks words with it, docs/options.md is made by it. */
#include "ds/ds.h"
#include "kernel/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/options/processor.h"

/* --emulated: the machine has no Debug Store but that of ds.preset=, so ds=auto will not find another. */
static int check(int argc, char **argv)
{
    char error[512];
    bool emulated = argc && strcmp(argv[0], "--emulated") == 0;
    argc -= emulated;
    argv += emulated;
    kopt_defaults();
    for (int i = 0; i < argc; i++)
        if (kopt_set(argv[i], strlen(argv[i]), error, sizeof error) != 0)
            goto bad;
    bool preset = kopt.ds == KOPT_DS_SOFT || (kopt.ds == KOPT_DS_AUTO && emulated);
    if (kopt_check(error, sizeof error) == 0 && (!preset || options_check_processor(error, sizeof error) == 0))
        return 0;
bad:
    fprintf(stderr, "%s\n", error);
    return 2;
}

/* Prints `text` behind what already takes `column` columns, with line breaks at blanks. Lists of values have none: a
 * word that no line could hold is broken behind bars. */
static void wrap(const char *text, size_t column)
{
    enum { WIDTH = 80, INDENT = 6 };
    bool broken = column + strcspn(text, " ") > WIDTH; /* the word that text is in */
    while (*text) {
        size_t blank = *text == ' ';
        size_t n = strcspn(text + blank, " ");
        if (blank)
            broken = INDENT + n > WIDTH;
        if (broken) {
            n = strcspn(text + blank, " |");
            n += text[blank + n] == '|';
        }
        if (column + blank + n > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
        } else if (blank) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)n, text + blank);
        column += n;
        text += blank + n;
    }
}

static int help(void)
{
    struct kopt_help h;
    char events[1024];
    const char *name;
    size_t n = 0;
    for (size_t i = 0; kopt_describe(i, &h); i++) {
        char line[1024];
        snprintf(line, sizeof line, "%s=%s", h.name, h.values);
        printf("  ");
        wrap(line, 2);
        snprintf(line, sizeof line, "%s (default %s%s%s)", h.text, h.standard, h.needs ? "; only with " : "",
                 h.needs ? h.needs : "");
        printf("\n      ");
        wrap(line, 6);
        puts("");
    }
    for (size_t i = 0; (name = ds_event_name(i)) && n < sizeof events; i++)
        n += (size_t)snprintf(events + n, sizeof events - n, "%s%s", i ? ", " : "", name);
    printf("Events of pebs=\n      ");
    wrap(events, 6);
    puts("");
    return 0;
}

static int docs(void)
{
    struct kopt_help h;
    const char *name;
    puts("# Options\n\n"
         "Made by `make docs` from the table in kernel/options.c. Give them to `./run-qemu.sh` as words, or write\n"
         "them into `cairn.cfg` on the boot volume, one a line; `#` begins a comment. A word that is not in this\n"
         "table, or whose value is not, stops the boot with one line that says so. Numbers are decimal, or\n"
         "hexadecimal with `0x`. An option given twice is refused, and so is one that would have no effect: the last\n"
         "column says what others must be for it to have one. Where `ds=auto` decides, a line of the run says so.\n\n"
         "| option | values | default | meaning | only with |\n| --- | --- | --- | --- | --- |");
    for (size_t i = 0; kopt_describe(i, &h); i++) {
        printf("| `%s` | ", h.name);
        for (const char *p = h.values; *p; p++)
            *p == '|' ? (void)printf(", ") : (void)putchar(*p);
        printf(" | `%s` | ", h.standard);
        for (const char *p = h.text; *p; p++) /* a bar would end the cell */
            printf(*p == '|' ? "\\|" : "%c", *p);
        printf(" | ");
        for (const char *p = h.needs ? h.needs : ""; *p; p++)
            *p == '|' ? (void)printf(" or ") : *p == ',' ? (void)printf(", ") : (void)putchar(*p);
        puts(" |");
    }
    puts("\nEvents of `pebs=`, Intel's names and perf's, in any case of letters; what a processor has not, or PEBS\n"
         "cannot record there, is refused before the run:\n");
    for (size_t i = 0; (name = ds_event_name(i)); i++)
        printf("- `%s`\n", name);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "check") == 0)
        return check(argc - 2, argv + 2);
    if (argc == 2 && strcmp(argv[1], "help") == 0)
        return help();
    if (argc == 2 && strcmp(argv[1], "docs") == 0)
        return docs();
    fprintf(stderr, "usage: cairn-options check [--emulated] KEY=VALUE... | help | docs\n");
    return 2;
}
