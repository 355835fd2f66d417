/* SPDX-License-Identifier: MIT */
#include "tools/cairn/model/plugin_truth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cairn/base/bytes.h"
#include "tools/pebs/pebs.h"

struct line { /* what is left of it */
    const char *at, *end;
};

/* Takes the word, if it is the next. */
static bool word(struct line *l, const char *is)
{
    size_t size = strlen(is);
    if ((size_t)(l->end - l->at) < size || memcmp(l->at, is, size) != 0 ||
        (l->at + size != l->end && l->at[size] != ' '))
        return false;
    l->at += size + (l->at + size != l->end);
    return true;
}

static bool number(struct line *l, unsigned base, uint64_t *value)
{
    unsigned digits = 0;
    for (*value = 0; l->at != l->end && *l->at != ' '; l->at++, digits++) {
        const char *digit = memchr("0123456789abcdef", *l->at, base);
        if (!digit || *value > (UINT64_MAX - 15) / base)
            return false;
        *value = *value * base + (uint64_t)(*digit <= '9' ? *digit - '0' : *digit - 'a' + 10);
    }
    l->at += l->at != l->end;
    return digits;
}

/* "NAME HEX" */
static bool field(struct line *l, const char *name, uint64_t *value)
{
    return word(l, name) && number(l, 16, value);
}

static bool read_record(struct cairn_plugin *p, struct cairn_plugin_cpu *cpu, struct line *l, bool stored)
{
    struct cairn_plugin_record r = {.first = p->words.count};
    uint64_t value;
    if (!field(l, "at", &r.address) || !field(l, "counters", &r.counters) || !field(l, "ip", &r.ip) ||
        !field(l, "next", &r.next) || !field(l, "flags", &r.flags) || !field(l, "tsc", &r.tsc) ||
        (stored && !word(l, "words")))
        return false;
    for (; stored && r.words < CAIRN_PEBS_SIZE_MOST / 8 && number(l, 16, &value); r.words++)
        *CAIRN_ADD(p->words) = value;
    *CAIRN_ADD(cpu->records) = r;
    return !stored || r.words;
}

static bool read_branch(struct cairn_plugin_cpu *cpu, struct line *l, bool stored)
{
    struct cairn_plugin_branch b;
    if (!field(l, "from", &b.from) || !field(l, "to", &b.to) || !field(l, "tsc", &b.tsc))
        return false;
    if (stored)
        *CAIRN_ADD(cpu->branches) = b;
    return true;
}

/* Whether they are those of the lines before. */
static bool read_totals(struct cairn_plugin_cpu *cpu, struct line *l)
{
    uint64_t total;
    for (unsigned i = 0; i < QDS_TRUTH_TOTALS; i++)
        if (!word(l, qds_truth_totals[i]) || !number(l, 10, &total) || total != cpu->totals[i])
            return false;
    return cpu->whole = l->at == l->end;
}

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, CAIRN_PLUGIN_REFUSAL, format, args);
    va_end(args);
    return -EINVAL;
}

static int read_line(struct cairn_plugin *p, struct line *l, uint64_t line, char *why)
{
    uint64_t vcpu, instructions, value;
    bool stored, good;
    unsigned total;
    if (!number(l, 10, &vcpu) || !number(l, 10, &instructions))
        return refuse(why, "line %" PRIu64 " is damaged", line);
    if (vcpu >= MAX_CPUS)
        return refuse(why, "line %" PRIu64 ": vCPU %" PRIu64 ", but this cairn knows at most %u", line, vcpu, MAX_CPUS);
    struct cairn_plugin_cpu *cpu = &p->cpu[vcpu];
    if (word(l, "total"))
        return read_totals(cpu, l) ? 0 : refuse(why, "line %" PRIu64 ": its totals do not match the lines above", line);
    if (instructions < cpu->instructions)
        return refuse(why, "line %" PRIu64 ": vCPU %" PRIu64 " goes back, from %" PRIu64 " instructions to %" PRIu64,
                      line, vcpu, cpu->instructions, instructions);
    if ((stored = word(l, "record")) || word(l, "dropped")) {
        total = stored ? QDS_TRUTH_RECORDS : QDS_TRUTH_DROPPED;
        good = read_record(p, cpu, l, stored);
    } else if ((stored = word(l, "branch")) || word(l, "branch-dropped")) {
        total = stored ? QDS_TRUTH_BRANCHES : QDS_TRUTH_BRANCHES_DROPPED;
        good = read_branch(cpu, l, stored);
    } else if (word(l, "pmi")) {
        total = QDS_TRUTH_PMIS;
        good = field(l, "lvtpc", &value) && field(l, "next", &value);
    } else if (word(l, "wrmsr") || word(l, "wrmsr-fault")) {
        total = QDS_TRUTH_WRMSRS;
        good = field(l, "msr", &value) && field(l, "value", &value);
    } else {
        total = QDS_TRUTH_LOST;
        good = word(l, "lost") && field(l, "at", &value);
    }
    if (!good || l->at != l->end)
        return refuse(why, "line %" PRIu64 " is damaged", line);
    cpu->instructions = instructions;
    cpu->totals[total]++;
    cpu->whole = false;
    return 0;
}

static bool read_head(struct line *l, uint64_t *version)
{
    return word(l, "qemu-ds") && word(l, "truth") && number(l, 10, version);
}

int cairn_plugin_read(struct cairn_plugin *plugin, const char *data, size_t size, char why[CAIRN_PLUGIN_REFUSAL])
{
    const char *end = data + size;
    bool ended = false;
    uint64_t number = 0, version;
    int e;
    *plugin = (struct cairn_plugin){0};
    while (data < end) {
        const char *newline = memchr(data, '\n', (size_t)(end - data));
        struct line l = {data, newline ? newline : end};
        if (++number == 1) {
            if (!read_head(&l, &version))
                return refuse(why, "not a file that qemu-ds writes with truth=FILE");
            if (version != QDS_TRUTH_VERSION)
                return refuse(why, "version %" PRIu64 ", but this cairn reads %u; use the cairn of that qemu-ds",
                              version, QDS_TRUTH_VERSION);
        } else if (!ended && newline && l.end - l.at == 3 && word(&l, "end")) {
            ended = true;
        } else if (ended) {
            return refuse(why, "line %" PRIu64 ": there is more after the line 'end'", number);
        } else if (newline && (e = read_line(plugin, &l, number, why)) != 0) {
            return e;
        }
        data = newline ? newline + 1 : end;
    }
    if (!ended)
        return refuse(why, "it is cut off: the line 'end', which QEMU writes when it exits, is missing");
    for (unsigned i = 0; i < MAX_CPUS; i++)
        for (unsigned t = 0; t < QDS_TRUTH_TOTALS; t++)
            if (plugin->cpu[i].totals[t] && !plugin->cpu[i].whole)
                return refuse(why, "the totals of vCPU %u are missing", i);
    return 0;
}

void cairn_plugin_free(struct cairn_plugin *plugin)
{
    for (unsigned i = 0; i < MAX_CPUS; i++) {
        free(plugin->cpu[i].records.items);
        free(plugin->cpu[i].branches.items);
    }
    free(plugin->words.items);
}
