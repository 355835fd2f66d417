/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem, memrchr */
#include "tools/cairn/log/machine_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/probe/probe.h"
#include "kernel/lib/crc32c.h"
#include "tools/cairn/base/bytes.h"

#define REPORT "cairn-report="
#define CARD   "cairn="
#define SUM    "sum="

struct text {
    char *at;
    size_t size;
};

static bool begins(struct text t, const char *with)
{
    return t.size >= strlen(with) && memcmp(t.at, with, strlen(with)) == 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- the file of cairn-report.efi -------------------------------------------------------------------------------- */

/* From the line on that begins with cairn-report=; size 0: there is none. */
static struct text find_report(struct text all)
{
    for (char *end = all.at + all.size, *line = all.at; line < end;) {
        const struct text rest = {line, (size_t)(end - line)};
        if (begins(rest, REPORT))
            return rest;
        const char *newline = memchr(line, '\n', rest.size);
        line = newline ? line + (newline + 1 - line) : end;
    }
    return (struct text){all.at, 0};
}

/* The hypervisor's signature of CPUID 40000000H, or "none". */
static void tell_hypervisor(struct cairn_text *t)
{
    char words[40], signature[13] = "none";
    unsigned r[4] = {0};
    cairn_slice_text(words, sizeof(words), cairn_key(t, "cpu.0.cpuid.40000000.00000000"));
    if (sscanf(words, "%x %x %x %x", &r[0], &r[1], &r[2], &r[3]) == 4)
        for (unsigned i = 0; i < 12; i++) {
            const char c = (char)(r[1 + i / 4] >> i % 4 * 8);
            signature[i] = c >= ' ' && c <= '~' ? c : '\0';
        }
    cairn_text_tell(t, "machine.hypervisor", signature);
}

/* Takes out the card that is among its last lines: it tells the same in short. */
static void drop_card(struct text *t)
{
    char *end = t->at + t->size, *card = memmem(t->at, t->size, "\n" CARD, strlen("\n" CARD));
    const char *sum = card ? memmem(card, (size_t)(end - card), SUM, strlen(SUM)) : NULL;
    const char *behind = sum ? memchr(sum, '\n', (size_t)(end - sum)) : NULL;
    if (!card)
        return;
    const size_t left = behind ? (size_t)(end - behind) : 0;
    memmove(card, behind ? behind : end, left);
    t->size = (size_t)(card - t->at) + left;
}

static void read_report(struct cairn_log *log, struct text text)
{
    char value[24];
    log->report = "a report of cairn-report.efi";
    for (size_t i = 0; i < text.size; i++)
        text.at[i] = text.at[i] == '\r' ? '\n' : text.at[i];
    drop_card(&text);
    cairn_text_lines(&log->text, text.at, text.size);
    if (!cairn_has_key(&log->text, "end"))
        snprintf(log->flaw, sizeof(log->flaw), "it ends at step=%s: the machine hung there, or the file was cut off",
                 cairn_slice_text(value, sizeof(value), cairn_key(&log->text, "step")));
    tell_hypervisor(&log->text);
    cairn_text_tell(&log->text, "ds.backend", "hw");
    if (cairn_has_key(&log->text, "format"))
        cairn_text_tell(&log->text, "ds.format",
                        cairn_slice_text(value, sizeof(value), cairn_key(&log->text, "format")));
}

/* ---- a card ------------------------------------------------------------------------------------------------------ */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_curly_quote(const char *at, size_t left)
{
    return left >= 3 && memcmp(at, "\xE2\x80", 2) == 0 && (unsigned char)at[2] >= 0x9C && (unsigned char)at[2] <= 0x9F;
}

/* How many blanks there are between '=' and its value; 0 where the value is empty: the next word has a '=', too. */
static size_t blanks_before_value(const char *at, const char *end)
{
    const char *value = at, *behind;
    while (value < end && is_space(*value))
        value++;
    for (behind = value; behind < end && !is_blank(*behind); behind++)
        if (*behind == '=')
            return 0;
    while (behind < end && is_space(*behind))
        behind++;
    return behind < end && *behind == '=' ? 0 : (size_t)(value - at);
}

/* Undoes what a keyboard makes of a card: names with capitals, blanks around '=', curly quotes. */
static void straighten(struct text *t)
{
    const char *end = t->at + t->size;
    size_t n = 0;
    for (const char *from = t->at; from < end; from++) {
        if (*from == '=') {
            while (n && is_space(t->at[n - 1]))
                n--;
            for (size_t i = n; i && !is_blank(t->at[i - 1]); i--)
                t->at[i - 1] = (char)tolower((unsigned char)t->at[i - 1]);
            t->at[n++] = '=';
            from += blanks_before_value(from + 1, end);
        } else if (is_curly_quote(from, (size_t)(end - from))) {
            t->at[n++] = '"';
            from += 2;
        } else {
            t->at[n++] = *from;
        }
    }
    t->size = n;
}

/* The last one, from its first word on; size 0: there is none. */
static struct text find_card(struct text all)
{
    struct text card = {all.at, 0};
    for (char *at = all.at, *end = all.at + all.size; (at = memmem(at, (size_t)(end - at), CARD, strlen(CARD))); at++)
        if ((at == all.at || is_blank(at[-1]) || at[-1] == ':') && at + strlen(CARD) < end &&
            !is_blank(at[strlen(CARD)]))
            card = (struct text){at, (size_t)(end - at)};
    return card;
}

/* With one blank between two words; to be freed. */
static struct text join_rows(struct text card)
{
    struct text words = {cairn_alloc(card.size), 0};
    for (size_t i = 0; i < card.size; i++)
        if (!is_blank(card.at[i]))
            words.at[words.size++] = card.at[i] >= ' ' && card.at[i] <= '~' ? card.at[i] : '?';
        else if (words.at[words.size - 1] != ' ')
            words.at[words.size++] = ' ';
    return words;
}

/* In which row of the card the character behind the first `size` of its words is, from 1. */
static unsigned row_of(struct text card, const char *words, size_t size)
{
    unsigned row = 1;
    size_t letters = 0;
    for (size_t i = 0; i < size; i++)
        letters += words[i] != ' ';
    for (size_t i = 0; i < card.size && (letters || is_blank(card.at[i])); i++) {
        letters -= !is_blank(card.at[i]);
        row += card.at[i] == '\n';
    }
    return row;
}

struct word {
    struct cairn_slice all, name, value;
};

/* Takes a word off. False: there is none, or it is not NAME=VALUE. */
static bool take_word(struct text *t, struct word *w)
{
    const char *blank = memchr(t->at, ' ', t->size), *equals = memchr(t->at, '=', t->size);
    if (equals && equals + 1 < t->at + t->size && equals[1] == '"' && (!blank || blank > equals)) {
        const char *quote = memchr(equals + 2, '"', (size_t)(t->at + t->size - equals - 2));
        blank = quote ? memchr(quote, ' ', (size_t)(t->at + t->size - quote)) : NULL;
    }
    const size_t size = blank ? (size_t)(blank - t->at) : t->size;
    w->all = (struct cairn_slice){t->at, (uint32_t)size};
    if (!size || !equals || equals == t->at || equals >= t->at + size)
        return false;
    w->name = (struct cairn_slice){t->at, (uint32_t)(equals - t->at)};
    w->value = (struct cairn_slice){equals + 1, (uint32_t)(t->at + size - equals - 1)};
    if (w->value.size >= 2 && w->value.at[0] == '"') {
        w->value.at++;
        w->value.size -= w->value.at[w->value.size - 2] == '"' ? 2 : 1;
    }
    t->at += size + (blank ? 1 : 0);
    t->size -= size + (blank ? 1 : 0);
    return true;
}

struct answer {
    struct cairn_slice name, value;
    bool others; /* of the first CPU, whose answers these are but for some */
};

struct reading {
    FILE *lines; /* as of a log's machine stream */
    uint64_t cpu;
    bool probe;                 /* what follows are answers of that CPU */
    bool cut;                   /* some had no room */
    struct cairn_slice no_word; /* the first that no card has */
    struct {
        struct answer *items;
        size_t count, room;
    } first, answers; /* of the first CPU that was asked, and of the one that is being read */
};

static void write_answers(struct reading *r)
{
    for (size_t i = 0; i < r->answers.count; i++) {
        const struct answer *a = &r->answers.items[i];
        fprintf(r->lines, "probe.%" PRIu64 ".%zu=%.*s|%.*s|%s\n", r->cpu, i, CAIRN_SLICE(a->name),
                CAIRN_SLICE(a->value),
                a->others && r->cut ? "may differ: the card had no room for all differences"
                : a->value.size     ? "a card has no numbers"
                                    : "a card has no reasons");
    }
    if (!r->first.count) {
        r->first = r->answers;
        memset(&r->answers, 0, sizeof(r->answers));
    }
    r->answers.count = 0;
}

static void add_answer(struct reading *r, struct answer answer)
{
    for (size_t i = 0; i < r->answers.count; i++)
        if (cairn_slice_same(r->answers.items[i].name, answer.name)) {
            r->answers.items[i] = answer;
            return;
        }
    *CAIRN_ADD(r->answers) = answer;
}

static void read_verdict(struct reading *r, struct cairn_slice value)
{
    static const char *const keys[] = {"verdict", "pass", "fail", "skip"};
    for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]) && value.size; i++) {
        const char *comma = memchr(value.at, ',', value.size);
        const uint32_t size = comma ? (uint32_t)(comma - value.at) : value.size;
        fprintf(r->lines, "end.%s=%.*s\n", keys[i], (int)size, value.at);
        value.at += size + (comma ? 1 : 0);
        value.size -= size + (comma ? 1 : 0);
    }
}

static bool is_answer(const struct word *w)
{
    char name[32], answer[32];
    cairn_slice_text(name, sizeof(name), w->name);
    cairn_slice_text(answer, sizeof(answer), w->value);
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
        if (strcmp(ds_probe_rows[i].name, name) == 0)
            return !answer[0] || ds_probe_lists(&ds_probe_rows[i], answer);
    return false;
}

static void read_word(struct reading *r, const struct word *w)
{
    static const struct {
        const char *word, *key;
    } known[] = {
        {"cairn", "kernel.version"}, {"sig", "cpu.0.signature"},   {"ucode", "cpu.0.microcode"},
        {"cpus", "machine.cpus"},    {"hv", "machine.hypervisor"}, {"brand", "cpu.0.brand"},
        {"ds", "ds.backend"},        {"pebs", "ds.format"},        {"bts", "ds.bts"},
        {"panic", "end.panic"},      {"more", "card.more"},        {"hw.pebs", "card.hw.pebs"},
        {"hw.bts", "card.hw.bts"},   {"smi", "card.smi"},
    };
    r->cut |= cairn_slice_is(w->name, "more");
    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (cairn_slice_is(w->name, known[i].word)) {
            fprintf(r->lines, "%s=%.*s\n", known[i].key, CAIRN_SLICE(w->value));
            return;
        }
    if (cairn_slice_is(w->name, "verdict")) {
        read_verdict(r, w->value);
    } else if (cairn_slice_is(w->name, "probe")) {
        write_answers(r);
        r->probe = cairn_slice_u64(w->value, &r->cpu) && r->cpu < MAX_CPUS;
    } else if (r->probe && cairn_slice_is(w->name, "asked")) {
        fprintf(r->lines, "probe.%" PRIu64 ".machine=%.*s\n", r->cpu, CAIRN_SLICE(w->value));
    } else if (r->probe && cairn_slice_is(w->name, "as")) {
        for (size_t i = 0; i < r->first.count; i++)
            add_answer(r, (struct answer){r->first.items[i].name, r->first.items[i].value, true});
    } else {
        if (!r->no_word.size && !(r->probe && is_answer(w)))
            r->no_word = w->all;
        if (r->probe)
            add_answer(r, (struct answer){w->name, w->value, false});
        else
            fprintf(r->lines, "card.%.*s=%.*s\n", CAIRN_SLICE(w->name), CAIRN_SLICE(w->value));
    }
}

/* Behind what is wrong. */
#define TO_DO "correct it as the photograph shows it"

/* Where its sum is wrong: the word that no card has, else what there is to do. */
static void blame(struct cairn_log *log, struct text card, const char *words, struct cairn_slice word,
                  const char *right, struct cairn_slice sum)
{
    char shown[48], typed[8];
    if (word.size)
        snprintf(log->flaw, sizeof(log->flaw), "row %u: '%s' is mistyped: " TO_DO,
                 row_of(card, words, (size_t)(word.at - words)), cairn_slice_text(shown, sizeof(shown), word));
    else
        snprintf(log->flaw, sizeof(log->flaw),
                 "its sum is %s, not %s: a word is mistyped: compare each row with the photograph", right,
                 cairn_slice_text(typed, sizeof(typed), sum));
}

/* The words up to sum=, which is told whether it is right. */
static void read_words(struct cairn_log *log, struct text card, struct text words, struct reading *r)
{
    const char *start = words.at;
    char shown[24], right[8];
    struct word w;
    while (take_word(&words, &w)) {
        if (!cairn_slice_is(w.name, "sum")) {
            read_word(r, &w);
            continue;
        }
        const size_t size = (size_t)(w.all.at - start);
        snprintf(right, sizeof(right), "%04x", kcrc32c(0, start, size ? size - 1 : 0) & 0xFFFF);
        if (!cairn_slice_is(w.value, right))
            blame(log, card, start, r->no_word, right, w.value);
        return;
    }
    if (w.all.size)
        snprintf(log->flaw, sizeof(log->flaw), "row %u: '%s' is not NAME=VALUE, what follows is not read: " TO_DO,
                 row_of(card, start, (size_t)(w.all.at - start)), cairn_slice_text(shown, sizeof(shown), w.all));
    else
        snprintf(log->flaw, sizeof(log->flaw), "its last word, " SUM ", is missing: add what the photograph shows");
}

static void read_card(struct cairn_log *log, struct text card)
{
    char *lines = NULL;
    size_t size;
    const struct text words = join_rows(card);
    struct reading r = {.lines = open_memstream(&lines, &size)};
    if (!r.lines)
        cairn_out_of_memory();
    log->report = "a run's card";
    read_words(log, card, words, &r);
    write_answers(&r);
    log->miscopied = log->flaw[0];
    if (fclose(r.lines) != 0)
        cairn_out_of_memory();
    cairn_text_lines(&log->text, lines, size);
    if (!cairn_has_key(&log->text, "machine.hypervisor"))
        cairn_text_tell(&log->text, "machine.hypervisor", "none");
    free(r.first.items);
    free(r.answers.items);
    free(lines);
    free(words.at);
}

/* ------------------------------------------------------------------------------------------------------------------ */

int cairn_machine_text_read(struct cairn_log *log, const struct cairn_input *input)
{
    if (input->size > CAIRN_MACHINE_TEXT_MOST)
        return -ENOENT;
    struct text all = {cairn_alloc(input->size + 1), input->size};
    memset(log, 0, sizeof(*log));
    log->input = *input;
    log->input.own = false;
    if (!cairn_input_read(&log->input, 0, all.at, all.size)) {
        free(all.at);
        return log->input.error;
    }
    const struct text report = find_report(all);
    if (report.size) {
        read_report(log, report);
    } else {
        straighten(&all);
        const struct text card = find_card(all);
        if (card.size)
            read_card(log, card);
    }
    free(all.at);
    if (!log->report)
        return -ENOENT;
    log->own = true;
    log->cpu = cairn_alloc(MAX_CPUS * sizeof(*log->cpu));
    log->cpus = 1;
    const bool emulated = cairn_slice_is(cairn_key(&log->text, "machine.hypervisor"), "TCGTCGTCGTCG") ||
                          cairn_slice_is(cairn_key(&log->text, "probe.0.machine"), "TCG");
    cairn_text_tell(&log->text, "machine.emulated", emulated ? "1" : "0");
    return 0;
}
