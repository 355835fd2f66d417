/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/arguments.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/pager.h"
#include "tools/cairn/base/wrap.h"
#include "tools/cairn/export/writer.h"
#include "tools/cairn/log/show.h"

#define OPTIONS_MAX 24

const struct cairn_command *const *cairn_arguments_all;

static int help(const struct cairn_command *c)
{
    int width = 0;
    cairn_pager_start();
    printf("usage: cairn %s %s\n%c%s.\n", c->name, c->arguments, toupper(c->summary[0]), c->summary + 1);
    for (int printing = 0; printing <= 1; printing++) /* first, how wide the names are */
        for (const struct cairn_option *o = c->options; o->name; o++) {
            char row[64];
            int n = snprintf(row, sizeof(row), "  %c%c%c --%s %s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                             o->letter ? ',' : ' ', o->name, o->value ? o->value : "");
            width = n > width ? n : width;
            if (!printing)
                continue;
            printf("%-*s  ", width, row);
            cairn_wrap(stdout, (unsigned)width + 2, "", (unsigned)width + 2,
                       (struct cairn_slice){o->help, (uint32_t)strlen(o->help)});
        }
    for (const struct cairn_writer *const *f = c->formats; f && *f; f++) {
        const int at = printf("  %-8s  ", (*f)->name);
        cairn_wrap(stdout, (unsigned)at, "", 12, (struct cairn_slice){(*f)->summary, (uint32_t)strlen((*f)->summary)});
    }
    fputs(c->notes, stdout);
    printf("Examples:\n  %s\n  %s\n", c->examples[0], c->examples[1]);
    const int status = cairn_flush(CAIRN_GOOD);
    cairn_pager_end();
    return status;
}

static bool set_word(const struct cairn_option *o, const char *value)
{
    for (unsigned i = 0; o->words[i]; i++)
        if (strcmp(o->words[i], value) == 0) {
            *o->word = i;
            return true;
        }
    return false;
}

/* "must be time or index" */
static const char *join(char *out, size_t size, const char *const *words)
{
    int n = snprintf(out, size, "must be %s", words[0]);
    for (unsigned i = 1; words[i] && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%s", words[i + 1] ? ", " : " or ", words[i]);
    return out;
}

/* NULL, or what the value must be instead, perhaps in `out`. */
static const char *set(const struct cairn_option *o, const char *value, char *out, size_t size)
{
    if (o->on)
        *o->on = true;
    else if (o->text)
        *o->text = value;
    else if (o->take)
        return o->take(value);
    else if (o->words)
        return set_word(o, value) ? NULL : join(out, size, o->words);
    else if (!cairn_slice_u64((struct cairn_slice){value, (uint32_t)strnlen(value, 32)}, o->number) ||
             *o->number < o->low || *o->number > o->high) {
        snprintf(out, size, "must be a number from %" PRIu64 " to %" PRIu64, o->low, o->high);
        return out;
    }
    return NULL;
}

static bool has_option(const struct cairn_command *c, struct cairn_slice name)
{
    for (const struct cairn_option *o = c->options; o->name; o++)
        if (cairn_slice_is(name, o->name))
            return true;
    return false;
}

/* getopt has told what is wrong. An option may be one that only other commands have: which. */
static void refused(const struct cairn_command *c, const char *given)
{
    const char *at = strncmp(given, "--", 2) == 0 ? given + 2 : "";
    const struct cairn_slice name = {at, (uint32_t)strcspn(at, "=")};
    char text[128];
    int n = 0;
    const bool other = name.size && !has_option(c, name);
    for (const struct cairn_command *const *o = cairn_arguments_all; other && o && *o; o++)
        if (has_option(*o, name))
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s", n ? ", " : "", (*o)->name);
    if (n)
        cairn_error("leave it out: only these commands have --%.*s: %s", CAIRN_SLICE(name), text);
    cairn_usage_line(c);
}

/* There are `given` operands, which are not as many as are wanted. */
static int wrong_operands(const struct cairn_command *c, int argc, char **argv, int given)
{
    const char *what = c->compare ? "two LOGs" : c->device ? "one DEV" : c->file ? "one FILE" : "one LOG";
    if (given)
        return cairn_usage(c, "%d %s given, but %s takes %s", given,
                           cairn_plural((uint32_t)given, "argument is", "arguments are"), c->name, what);
    for (const struct cairn_option *o = c->options; o->name && argc > 2; o++)
        if (o->value && strncmp(argv[argc - 2], "--", 2) == 0 && strcmp(argv[argc - 2] + 2, o->name) == 0)
            return cairn_usage(c, "'%s' is taken as the %s of --%s; give %s after it", argv[argc - 1], o->value,
                               o->name, what);
    return cairn_usage(c, "give %s%s", what, c->device ? "" : " (- is standard input)");
}

bool cairn_arguments_read(const struct cairn_command *c, int argc, char **argv, char ***operands, int *status)
{
    struct option names[OPTIONS_MAX + 2] = {0};
    char letters[2 * OPTIONS_MAX + 2] = "h", title[32], text[128];
    const char *refusal = NULL;
    int count = 0;
    for (const struct cairn_option *o = c->options; o->name; o++, count++) {
        assert(count < OPTIONS_MAX);
        int code = o->letter ? o->letter : UINT8_MAX + 1 + count; /* what getopt_long returns for it */
        names[count] = (struct option){o->name, o->value ? required_argument : no_argument, NULL, code};
        if (o->letter)
            strcat(strncat(letters, &o->letter, 1), o->value ? ":" : "");
    }
    names[count] = (struct option){"help", no_argument, NULL, 'h'};
    snprintf(title, sizeof(title), "cairn %s", c->name);
    argv[0] = title; /* getopt's own lines begin with it */
    for (int option, i; (option = getopt_long(argc, argv, letters, names, NULL)) != -1;) {
        for (i = 0; i < count && names[i].val != option; i++)
            ;
        if (i < count && !(refusal = set(&c->options[i], optarg, text, sizeof(text))))
            continue;
        *status = CAIRN_USAGE;
        if (option == 'h')
            *status = help(c);
        else if (option == '?')
            refused(c, argv[optind - 1]);
        else
            cairn_usage(c, "--%s %s: %s", names[i].name, optarg, refusal);
        return false;
    }
    *operands = argv + optind;
    const int wanted = c->compare ? 2 : 1, given = argc - optind;
    if (given == wanted || (given > wanted && c->device))
        return true;
    *status = wrong_operands(c, argc, argv, given);
    return false;
}
