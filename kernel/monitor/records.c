/* SPDX-License-Identifier: MIT */
/* Command `records`: what lies in the PEBS buffer, a line for each record, or one record word by word. */
#include "ds/layout.h"
#include "kernel/lib/string.h"
#include "kernel/monitor/inside.h"

#define LIST_MOST 64u

static const char *const fixed_words[] = {
    "RFLAGS",     "RIP",     "RAX",        "RBX", "RCX", "RDX", "RSI", "RDI", "RBP",    "RSP",
    "R8",         "R9",      "R10",        "R11", "R12", "R13", "R14", "R15", "Status", "DataLinearAddress",
    "DataSource", "Latency", "EventingIP", "TX",  "TSC"};
static const char *const basic_words[] = {"RecordFormat", "EventingIP", "ApplicableCounters", "TSC"};
static const char *const memory_words[] = {"DataLinearAddress", "DataSource", "Latency", "TX"};
static const char *const gpr_words[] = {"RFLAGS", "RIP", "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI",
                                        "RDI",    "R8",  "R9",  "R10", "R11", "R12", "R13", "R14", "R15"};
#define COUNT(words) (sizeof(words) / sizeof(words)[0])

/* The name of word `n` of an adaptive record with these groups. */
static void name_adaptive(uint32_t groups, unsigned n, char *name, size_t size)
{
    if (n < COUNT(basic_words)) {
        snprintf(name, size, "%s", basic_words[n]);
        return;
    }
    n -= COUNT(basic_words);
    if (groups & MSR_PEBS_DATA_CFG_MEMINFO) {
        if (n < COUNT(memory_words)) {
            snprintf(name, size, "%s", memory_words[n]);
            return;
        }
        n -= COUNT(memory_words);
    }
    if (groups & MSR_PEBS_DATA_CFG_GPR) {
        if (n < COUNT(gpr_words)) {
            snprintf(name, size, "%s", gpr_words[n]);
            return;
        }
        n -= COUNT(gpr_words);
    }
    if (groups & MSR_PEBS_DATA_CFG_XMM) {
        if (n < 32) {
            snprintf(name, size, "XMM%u.%s", n / 2, n % 2 ? "high" : "low");
            return;
        }
        n -= 32;
    }
    snprintf(name, size, "LBR/CNTR word %u", n);
}

struct buffer {
    struct kmonitor_ds ds;
    uint64_t base, index;
    uint8_t record[DS_PEBS_RECORD_MAX];
    uint32_t size; /* of the record */
};

/* The record at `at`; false: there is none whole, and a line has said why if it is not the end. */
static bool read_record(struct kmonitor *m, struct buffer *b, uint64_t at)
{
    const uint64_t left = b->index - at;
    const uint32_t n = left < sizeof b->record ? (uint32_t)left : (uint32_t)sizeof b->record;
    if (at >= b->index)
        return false;
    if (m->machine->read(at, b->record, n) != 0)
        kmonitor_say(m, "0x%lx: not mapped for the kernel", (unsigned long)at);
    else if (!(b->size = ds_pebs_record_size(b->ds.format, b->record, n)))
        kmonitor_say(m, "0x%lx: no record of format %u: its size is wrong", (unsigned long)at, b->ds.format);
    else
        return true;
    return false;
}

static uint64_t word_at(const struct buffer *b, unsigned n)
{
    uint64_t v = 0;
    if (8 * n + 8 <= b->size)
        memcpy(&v, b->record + 8 * n, 8);
    return v;
}

static void list(struct kmonitor *m, const struct buffer *b, unsigned i)
{
    const bool adaptive = b->ds.format >= 4;
    const uint64_t ip = word_at(b, adaptive ? 1 : b->ds.format >= 2 ? 22 : 1);
    char where[80];
    if (!i)
        kmonitor_print(m, "      EventingIP or RIP           ApplicableCounters  TSC\n");
    kmonitor_print(m, "%4u  %-26.26s  0x%-16lx  ", i, kmonitor_place_of(m, ip, where, sizeof where),
                   (unsigned long)word_at(b, adaptive ? 2 : 18));
    if (ds_pebs_has_tsc(b->ds.format))
        kmonitor_print(m, "%lu\n", (unsigned long)word_at(b, adaptive ? 3 : 24));
    else
        kmonitor_print(m, "none in format %u\n", b->ds.format);
}

static void print_words(struct kmonitor *m, const struct buffer *b)
{
    for (unsigned n = 0; 8 * n < b->size; n++) {
        char name[32], where[80] = "";
        if (b->ds.format >= 4)
            name_adaptive(ds_pebs_head_groups(word_at(b, 0)), n, name, sizeof name);
        else
            snprintf(name, sizeof name, "%s", fixed_words[n]);
        if (strcmp(name, "RIP") == 0 || strcmp(name, "EventingIP") == 0)
            kmonitor_place_of(m, word_at(b, n), where, sizeof where);
        kmonitor_print(m, "%4x %-20s %016lx  %s\n", 8 * n, name, (unsigned long)word_at(b, n), where);
    }
}

static int records(struct kmonitor *m, unsigned words, char **word)
{
    static struct buffer b; /* not on an interrupt's stack */
    struct ds_area_60 area;
    uint64_t wanted = UINT64_MAX;
    unsigned i = 0;
    if (words && !kmonitor_number(m, word[0], UINT32_MAX, &wanted))
        return 0;
    if (m->machine->ds(m->cpu, &b.ds) != 0 || !b.ds.area || m->machine->read(b.ds.area, &area, sizeof area) != 0) {
        kmonitor_say(m, "CPU %u has no DS area: `ds` says why", m->cpu);
        return 0;
    }
    b.base = area.pebs_buffer_base;
    b.index = area.pebs_index;
    for (uint64_t at = b.base; read_record(m, &b, at); at += b.size, i++) {
        if (i == wanted) {
            print_words(m, &b);
            return 0;
        }
        if (wanted == UINT64_MAX && i < LIST_MOST)
            list(m, &b, i);
        if (i > UINT16_MAX) /* PebsIndex cannot be right */
            break;
    }
    if (wanted != UINT64_MAX)
        kmonitor_say(m, "there is no record %lu: the buffer has %u", (unsigned long)wanted, i);
    else
        kmonitor_print(m, "%u record%s in the PEBS buffer of CPU %u%s\n", i, kmonitor_plural(i), m->cpu,
                       i > LIST_MOST ? ", the first 64 are shown" : "");
    return 0;
}

const struct kmonitor_command kmonitor_records[] = {
    {"records", "[N]", "records in the PEBS buffer; N: that one word by word, the first is 0", 0, 1, records, NULL},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
