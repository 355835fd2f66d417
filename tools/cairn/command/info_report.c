/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/info_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cairn/base/wrap.h"

/* What came of the steps of cairn-report.efi, in the order of the file; one that ends with '.' is the beginning of
 * several. */
static const char *const outcomes[] = {"stopped", "skipped.", "probe",    "other.",   "interrupts", "smi",
                                       "taken",   "kept.",    "changed.", "restored", "end"};

static bool is_one_of(struct cairn_slice key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t size = strlen(names[i]);
        if (key.size >= size && memcmp(key.at, names[i], size) == 0 && (key.size == size || names[i][size - 1] == '.'))
            return true;
    }
    return false;
}

bool cairn_info_report_knows(struct cairn_slice key)
{
    static const char *const others[] = {"cairn-report", "machine",  "step",     "processor", "pebs",
                                         "bts",          "format",   "in_use",   "acpi.",     "screen.",
                                         "card.more",    "card.smi", "card.hw.", "save.note"};
    return is_one_of(key, others, sizeof(others) / sizeof(others[0])) ||
           is_one_of(key, outcomes, sizeof(outcomes) / sizeof(outcomes[0]));
}

static void print_outcomes(const struct cairn_log *log)
{
    bool any = false;
    for (size_t i = 0; i < log->text.keys.count; i++) {
        const struct cairn_key *k = &log->text.keys.items[i];
        if (!is_one_of(k->name, outcomes, sizeof(outcomes) / sizeof(outcomes[0])))
            continue;
        printf("%s", any ? "" : "\noutcome\n");
        any = true;
        const int used = printf("  %-14.*s ", CAIRN_SLICE(k->name));
        cairn_print_wrapped((unsigned)used, "", 17, k->value);
    }
}

/* Those that there are, "fit=end_le drop_reload=yes". */
static void print_answers(const struct cairn_log *log, uint32_t cpu)
{
    char text[4096];
    size_t size = 0;
    unsigned answered = 0, asked = 0;
    for (; cairn_has_key(&log->text, "probe.%" PRIu32 ".%u", cpu, asked); asked++) {
        const struct cairn_slice row = cairn_key(&log->text, "probe.%" PRIu32 ".%u", cpu, asked);
        const char *bar = memchr(row.at, '|', row.size);
        const size_t name = bar ? (size_t)(bar - row.at) : row.size, left = bar ? row.size - name - 1 : 0;
        const char *end = left ? memchr(bar + 1, '|', left) : NULL;
        const size_t answer = end ? (size_t)(end - bar - 1) : left;
        if (!answer || name + answer + 2 > sizeof(text) - size)
            continue;
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%.*s=%.*s", answered++ ? " " : "", (int)name,
                                 row.at, (int)answer, bar + 1);
    }
    if (!asked)
        return;
    printf("\nthe probe, CPU %" PRIu32 ": %u ", cpu, answered);
    if (answered < asked) /* of a card, asked may be no more than the answered: it leaves the others out */
        printf("of %u ", asked);
    printf("questions answered (cairn probe explains them)\n  ");
    cairn_print_wrapped(2, "", 2, (struct cairn_slice){text, (uint32_t)size});
}

void cairn_info_report(const struct cairn_log *log)
{
    if (cairn_has_key(&log->text, "end.verdict"))
        putchar('\n');
    cairn_info_value(log, "guest's verdict", "end.verdict");
    cairn_info_value(log, "panic", "end.panic");
    cairn_info_value(log, "  checks passed", "end.pass");
    cairn_info_value(log, "  failed", "end.fail");
    cairn_info_value(log, "  skipped", "end.skip");
    cairn_info_value(log, "  SMIs", "card.smi");
    cairn_info_value(log, "  and more", "card.more");
    print_outcomes(log);
    for (uint32_t cpu = 0; cpu < MAX_CPUS; cpu++)
        print_answers(log, cpu);
}

void cairn_info_report_store(const struct cairn_log *log)
{
    cairn_info_value(log, "  PEBS", "pebs");
    cairn_info_value(log, "  BTS", "bts");
    cairn_info_value(log, "  in use", "in_use");
    cairn_info_value(log, "  of processor", "card.hw.pebs");
    cairn_info_value(log, "    branch trace", "card.hw.bts");
}

void cairn_info_report_lists(const struct cairn_log *log, bool all)
{
    cairn_info_section(log, "\nACPI tables", "acpi.");
    if (all)
        cairn_info_section(log, "\nscreens, and the modes that each has", "screen.");
    for (unsigned i = 0; !all && cairn_has_key(&log->text, "screen.%u", i); i++)
        printf("%s%u: %.*s\n", i ? "                 " : "\nscreen           ", i,
               CAIRN_SLICE(cairn_key(&log->text, "screen.%u", i)));
}
