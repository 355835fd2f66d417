/* SPDX-License-Identifier: MIT */
/* Writes cairn's commands and options, from its own tables, as a manual page and as completions for shells. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/command/command.h"
#include "tools/cairn/export/writer.h"

static bool takes_file(const struct cairn_option *o)
{
    return o->value && (strcmp(o->value, "FILE") == 0 || strcmp(o->value, "LOG") == 0);
}

/* The words a value may be, or that a list of them may hold; NULL where it may be anything. */
static const char *const *words_of(const struct cairn_option *o)
{
    return o->words ? o->words : o->hints;
}

static void print_words(const struct cairn_option *o, const char *between)
{
    for (unsigned i = 0; words_of(o) && words_of(o)[i]; i++)
        printf("%s%s", i ? between : "", words_of(o)[i]);
}

/* Whether that option, with the same words of help, is one of several commands. */
static bool is_common(const struct cairn_option *option)
{
    unsigned found = 0;
    for (unsigned i = 0; cairn_commands[i]; i++)
        for (const struct cairn_option *o = cairn_commands[i]->options; o->name; o++)
            found += strcmp(o->name, option->name) == 0 && strcmp(o->help, option->help) == 0;
    return found > 2;
}

/* ---- manual page ------------------------------------------------------------------------------------------------- */

/* Text in which no character means anything to troff. */
static void print_roff(const char *text)
{
    bool line_begins = true;
    for (; *text; line_begins = *text++ == '\n') {
        if (line_begins && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\'')
            fputs("\\(aq", stdout);
        else if (*text == '^')
            fputs("\\(ha", stdout);
        else if (*text == '~')
            fputs("\\(ti", stdout);
        else
            putchar(*text);
    }
}

static void print_option(const struct cairn_option *o)
{
    puts(".TP");
    if (o->letter)
        printf("\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", stdout);
    print_roff(o->name);
    fputs("\\fR", stdout);
    if (o->value) {
        fputs(" \\fI", stdout);
        print_roff(o->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    print_roff(o->help);
    putchar('\n');
}

static void print_command(const struct cairn_command *c)
{
    fputs(".SS \"cairn ", stdout);
    print_roff(c->name);
    putchar(' ');
    print_roff(c->arguments);
    printf("\"\n%c", toupper(c->summary[0]));
    print_roff(c->summary + 1);
    puts(".");
    unsigned common = 0;
    for (const struct cairn_option *o = c->options; o->name; o++)
        if (!is_common(o))
            print_option(o);
    for (const struct cairn_writer *const *f = c->formats; f && *f; f++) {
        fputs(".TP\nformat \\fB", stdout);
        print_roff((*f)->name);
        fputs("\\fR\n", stdout);
        print_roff((*f)->summary);
        putchar('\n');
    }
    if (*c->notes) {
        puts(".PP");
        print_roff(c->notes);
    }
    fputs(".PP\n.nf\n", stdout);
    for (unsigned i = 0; i < 2; i++) {
        print_roff(c->examples[i]);
        putchar('\n');
    }
    puts(".fi");
    for (const struct cairn_option *o = c->options; o->name; o++)
        if (is_common(o)) {
            fputs(common++ ? ", " : ".PP\nAlso ", stdout);
            printf("\\fB\\-\\-");
            print_roff(o->name);
            fputs("\\fR", stdout);
        }
    if (common)
        puts(": see below.");
}

/* Options that several commands have, each once. */
static void print_common(void)
{
    puts(".SH OPTIONS OF SEVERAL COMMANDS");
    for (unsigned i = 0; cairn_commands[i]; i++)
        for (const struct cairn_option *o = cairn_commands[i]->options; o->name; o++) {
            bool told = !is_common(o);
            for (unsigned before = 0; before < i; before++)
                for (const struct cairn_option *b = cairn_commands[before]->options; b->name; b++)
                    told |= strcmp(b->name, o->name) == 0 && strcmp(b->help, o->help) == 0;
            if (told)
                continue;
            print_option(o);
            if (o->hints) {
                fputs("The words: ", stdout);
                print_words(o, ", ");
                puts(".");
            }
        }
}

static int manual(void)
{
    fputs(".\\\" Made from the tables of cairn's commands (tools/manual).\n.TH CAIRN 1 \"\" \"cairn " CAIRN_VERSION
          "\" \"Cairn\"\n.nh\n.SH NAME\ncairn \\- read traces of context switches and of Intel\\(aqs Debug Store\n"
          ".SH SYNOPSIS\n.nf\n",
          stdout);
    for (unsigned i = 0; cairn_commands[i]; i++) {
        printf("\\fBcairn %s\\fR ", cairn_commands[i]->name);
        print_roff(cairn_commands[i]->arguments);
        putchar('\n');
    }
    fputs("\\fBcairn\\fR LOG\n\\fBcairn help\\fR [COMMAND]\n\\fBcairn \\-\\-version\\fR\n.fi\n.SH DESCRIPTION\n"
          "A LOG is the serial log of a run of the kernel Cairn, or an ETL file that Cairn or Windows wrote;\n"
          "\\- is standard input. Damaged and missing parts are reported on standard error. The rest is shown.\n"
          ".SH COMMANDS\n",
          stdout);
    for (unsigned i = 0; cairn_commands[i]; i++)
        print_command(cairn_commands[i]);
    print_common();
    fputs(
        ".SH A PART OF A TRACE\n"
        "If you give options of several kinds, all of them must match. The time \\-\\-from is included, the time\n"
        "\\-\\-until is not; times are those that \\fBcairn dump\\fR shows. \\-\\-thread and \\-\\-reason do not hide\n"
        "what was lost, except that \\-\\-thread hides lost branches of other threads. Counts and shares are of the\n"
        "part that is left. docs/how-to/filters.md says more.\n"
        ".SH EXIT STATUS\n"
        ".TP\n0\nGood. With \\fBcapture\\fR: the guest\\(aqs verdict was pass.\n"
        ".TP\n1\nThe trace is damaged, a check failed, or the log has nothing of what you asked for. What there is\n"
        "has been shown. With \\fBcapture\\fR: the guest\\(aqs verdict was fail, or the trace is damaged.\n"
        ".TP\n2\nWrong usage: the arguments are wrong, or do not fit this log.\n"
        ".TP\n3\nA file could not be read or written, or is not a trace. With \\fBcapture\\fR: no verdict came.\n"
        ".TP\n130\nCtrl\\-C ended \\fBcapture\\fR or \\fBtop\\fR. If another signal ends \\fBtop\\fR, the status is\n"
        "128 plus the number of the signal, such as 143 for SIGTERM.\n"
        ".SH ENVIRONMENT\n"
        ".TP\nCAIRN_PAGER, PAGER\nThe first that is set is the pager for output on a terminal that is longer than\n"
        "the screen. Without both it is \\fBless\\fR, with LESS=FRX unless LESS is set. An empty one, or \\fIcat\\fR,\n"
        "is none, as with \\-\\-no\\-pager. If you quit the pager early, \\fBcairn\\fR ends with status 0.\n"
        ".TP\nCOLUMNS\nIf it is set and not empty, lines have at most 80 columns, as on a terminal.\n"
        "Otherwise lines are not wrapped in a file or a pipe; \\-\\-help always is.\n"
        ".TP\nNO_COLOR\nIf it is set and not empty, there are no colours, unless \\-\\-color=always.\n"
        ".TP\nTERM\nIf it is not set, or \\fIdumb\\fR, there is no pager, and there are no colours unless\n"
        "\\-\\-color=always.\n"
        ".TP\nTMPDIR\nThe folder for a copy of what comes through a pipe, as with \\-. Without it, /var/tmp. The copy\n"
        "is as large as the log. Nobody else can see it, and it is gone at the end.\n"
        ".SH FILES\n"
        ".TP\n\\fIPREFIX\\fR/share/doc/cairn\nThe documents that this page names as docs/...; \\fIPREFIX\\fR is\n"
        "where cairn was installed, by default /usr/local.\n"
        ".SH EXAMPLES\n"
        "Show what ran, and what was lost:\n.IP\n.nf\ncairn dump t.log\ncairn stat t.log\n.fi\n.PP\n"
        "Check whether that is what the kernel really did:\n.IP\n.nf\ncairn check t.log\n.fi\n.PP\n"
        "Show who waited for a mutex in half a second, and where some of the threads spent their time:\n"
        ".IP\n.nf\ncairn dump \\-\\-reason \\(aqWr*Mutex\\(aq \\-\\-from 1.5s \\-\\-until 2s t.log\n"
        "cairn profile \\-\\-thread \\(aqconsumer*\\(aq t.log\n.fi\n.PP\n"
        "Export for a browser, for ui.perfetto.dev, and as a flame graph:\n.IP\n.nf\n"
        "cairn export \\-\\-to html t.log \\-o t.html\n"
        "cairn export \\-\\-to perfetto t.log \\-o t.pftrace\n"
        "cairn export \\-\\-to folded t.log | flamegraph.pl > t.svg\n.fi\n.PP\n"
        "Decode a PEBS buffer that gdb has printed:\n.IP\n.nf\ncairn decode \\-\\-elf vmlinux gdb.txt\n.fi\n.PP\n"
        "Read a packed log, and record what a machine sends over its serial line:\n.IP\n.nf\n"
        "zcat t.log.gz | cairn stat \\-\n"
        "cairn capture /dev/ttyUSB0,115200 \\-o t.log\n.fi\n"
        ".SH SEE ALSO\n\\fBbabeltrace2\\fR(1), \\fBperf\\fR(1), \\fBless\\fR(1); the documents of FILES\n",
        stdout);
    return 0;
}

/* ---- bash -------------------------------------------------------------------------------------------------------- */

static int bash(void)
{
    fputs("# bash completion of cairn: made from its tables (tools/manual)\n"
          "_cairn() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options='' words=''\n"
          "    if [ \"$cur\" = '=' ]; then\n"
          "        cur=''\n"
          "    elif [ \"$prev\" = '=' ]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W '",
          stdout);
    for (unsigned i = 0; cairn_commands[i]; i++)
        printf("%s ", cairn_commands[i]->name);
    puts("help --help --version' -- \"$cur\")\n"
         "        if [ ${#COMPREPLY[@]} = 0 ]; then\n"
         "            compopt -o filenames 2>/dev/null\n"
         "            mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
         "        fi\n"
         "        return\n"
         "    fi\n"
         "    case ${COMP_WORDS[1]} in");
    for (unsigned i = 0; cairn_commands[i]; i++) {
        const struct cairn_command *c = cairn_commands[i];
        printf("    %s)\n        options='", c->name);
        for (const struct cairn_option *o = c->options; o->name; o++)
            printf("--%s ", o->name);
        puts("--help'\n        case $prev in");
        for (const struct cairn_option *o = c->options; o->name; o++) {
            if (!o->value)
                continue;
            printf("        --%s", o->name);
            if (o->letter)
                printf(" | -%c", o->letter);
            fputs(") words=", stdout);
            if (takes_file(o))
                fputs("'<file>'", stdout);
            else if (words_of(o)) {
                putchar('\'');
                print_words(o, " ");
                putchar('\'');
            } else
                fputs("'<any>'", stdout);
            puts(" ;;");
        }
        puts("        esac\n        ;;");
    }
    fputs("    help) words='", stdout);
    for (unsigned i = 0; cairn_commands[i]; i++)
        printf("%s%s", i ? " " : "", cairn_commands[i]->name);
    puts("' ;;\n"
         "    esac\n"
         "    if [ \"$words\" = '<any>' ]; then\n"
         "        return\n"
         "    elif [ -n \"$words\" ] && [ \"$words\" != '<file>' ]; then\n"
         "        local before=${cur%\"${cur##*,}\"}\n"
         "        mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"${cur##*,}\")\n"
         "    elif [ -z \"$words\" ] && [[ $cur == -* ]]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
         "    else\n"
         "        compopt -o filenames 2>/dev/null\n"
         "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
         "    fi\n"
         "}\n"
         "complete -F _cairn cairn");
    return 0;
}

/* ---- zsh, fish --------------------------------------------------------------------------------------------------- */

/* Within single quotes; what `special` has gets a backslash. */
static void print_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else
            printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

static int zsh(void)
{
    puts("#compdef cairn\n# zsh completion of cairn: made from its tables (tools/manual)\n"
         "_cairn() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(");
    for (unsigned i = 0; cairn_commands[i]; i++) {
        printf("            '%s:", cairn_commands[i]->name);
        print_quoted(cairn_commands[i]->summary, ":\\", "'\\''");
        puts("'");
    }
    puts("            'help:describe a command and its options'\n"
         "            '--help:list all commands'\n            '--version:print the version'\n"
         "        )\n        _describe command commands || _files\n        return\n    fi\n"
         "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in");
    for (unsigned i = 0; cairn_commands[i]; i++) {
        printf("    %s)\n        _arguments", cairn_commands[i]->name);
        for (const struct cairn_option *o = cairn_commands[i]->options; o->name; o++) {
            if (o->letter)
                printf(" \\\n            '(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter, o->name,
                       o->value ? "=" : "");
            else
                printf(" \\\n            '--%s%s[", o->name, o->value ? "=" : "");
            print_quoted(o->help, "[]:\\", "'\\''");
            putchar(']');
            if (o->value)
                printf(":%s:", o->value);
            if (takes_file(o))
                fputs("_files", stdout);
            if (words_of(o)) {
                fputs(o->words ? "(" : "_values -s , LIST ", stdout);
                print_words(o, " ");
                fputs(o->words ? ")" : "", stdout);
            }
            putchar('\'');
        }
        puts(" \\\n            '--help[describe this command]' '*:log:_files'\n        ;;");
    }
    fputs("    help) compadd", stdout);
    for (unsigned i = 0; cairn_commands[i]; i++)
        printf(" %s", cairn_commands[i]->name);
    puts(" ;;\n    esac\n}\n_cairn \"$@\"");
    return 0;
}

static int fish(void)
{
    puts("# fish completion of cairn: made from its tables (tools/manual)");
    for (unsigned i = 0; cairn_commands[i]; i++) {
        const struct cairn_command *c = cairn_commands[i];
        printf("complete -c cairn -n __fish_use_subcommand -f -a %s -d '", c->name);
        print_quoted(c->summary, "\\", "\\'");
        puts("'");
        for (const struct cairn_option *o = c->options; o->name; o++) {
            printf("complete -c cairn -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
            if (o->letter)
                printf(" -s %c", o->letter);
            if (o->value)
                printf(" -%s", takes_file(o) ? "r" : "x");
            if (words_of(o)) { /* what is no choice of one is a list with commas */
                fputs(o->words ? " -a '" : " -a '(__fish_append , ", stdout);
                print_words(o, " ");
                fputs(o->words ? "'" : ")'", stdout);
            }
            fputs(" -d '", stdout);
            print_quoted(o->help, "\\", "\\'");
            puts("'");
        }
        printf("complete -c cairn -n '__fish_seen_subcommand_from help' -f -a %s\n", c->name);
    }
    puts("complete -c cairn -n __fish_use_subcommand -f -a help -d 'describe a command and its options'\n"
         "complete -c cairn -l help -d 'list all commands, or describe this one'\n"
         "complete -c cairn -n __fish_use_subcommand -l version -d 'print the version'");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*print)(void);
    } kinds[] = {{"man", manual}, {"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (unsigned i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            return cairn_flush(kinds[i].print());
    fputs("usage: cairn-manual man|bash|zsh|fish\n", stderr);
    return CAIRN_USAGE;
}
