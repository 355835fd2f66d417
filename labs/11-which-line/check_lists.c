/* SPDX-License-Identifier: MIT */
/* Lab 11: lists of accesses: what lab_lines and lab_shared make of them. */
#include "labs/check.h"

#include "check_parts.h"
#include "kernel/lib/string.h"
#include "labs/machine/fence.h"

#define LISTS    150u
#define MOST     120u /* accesses of a list that is made up */
#define MADE_CPU 4u

const char *const which_sharing[] = {"not shared", "true sharing", "false sharing"};

static uint64_t line_of(uint64_t address)
{
    return address / LAB_LINE_BYTES * LAB_LINE_BYTES;
}

/* ---- lab_lines */

/* The line as the accesses have it; `count` gets how many they are. */
static struct lab_line sum(const struct lab_access *a, uint32_t count, uint64_t line, uint32_t *of_line)
{
    struct lab_line total = {.address = line};
    *of_line = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (line_of(a[i].address) != line)
            continue;
        ++*of_line;
        total.latency += a[i].latency;
        total.loads += a[i].load;
        total.stores += a[i].store;
        total.changed += a[i].source == LAB_OTHER_CORE;
    }
    return total;
}

static void judge_line(const struct lab_line *given, const struct lab_line *right, uint32_t of_line)
{
    if (given->address % LAB_LINE_BYTES || !of_line)
        lab_fail("line",
                 "A line has 64 bytes, and begins at a multiple of 64: all accesses whose addresses differ in the low "
                 "6 bits alone are of one line.",
                 TASK, "there is a line at 0x%lx, %s", (unsigned long)given->address,
                 given->address % LAB_LINE_BYTES ? "which is no multiple of 64" : "where there is no access");
    if (given->latency != right->latency)
        lab_fail("total",
                 "The latency of a line is the sum over its loads: a line that is loaded often, and is always a little "
                 "late, costs more than one that is very late once.",
                 PAGE, "the line at 0x%lx has a latency of %lu; expected %lu, of %u accesses",
                 (unsigned long)given->address, (unsigned long)given->latency, (unsigned long)right->latency, of_line);
    if (given->loads != right->loads || given->stores != right->stores)
        lab_fail("both", "An access that is a load and a store counts as both.", TASK,
                 "the line at 0x%lx has %u loads and %u stores; expected %u and %u", (unsigned long)given->address,
                 given->loads, given->stores, right->loads, right->stores);
    if (given->changed != right->changed)
        lab_fail("changed", "Loads whose data was in another core, which had changed it: LAB_OTHER_CORE.", TASK,
                 "the line at 0x%lx has %u of them; expected %u", (unsigned long)given->address, given->changed,
                 right->changed);
}

static bool in_order(const struct lab_line *a, const struct lab_line *b)
{
    return a->latency > b->latency || (a->latency == b->latency && a->address < b->address);
}

static uint32_t judge_lines(const struct lab_access *a, uint32_t count, struct lab_line *lines)
{
    uint32_t covered = 0, of_line;
    for (uint32_t i = 0; i < count; i++) /* nobody has said that the memory is empty */
        lines[i] = (struct lab_line){line_of(a[0].address), 5, 5, 5, 5};
    const uint32_t found = lab_lines(a, count, lines);
    lab_check_fences();
    if (found > count)
        lab_fail("lines", "There is a line for each line of memory that has an access.", TASK,
                 "lab_lines returns %u for %u accesses", found, count);
    for (uint32_t i = 0; i < found; i++) {
        const struct lab_line right = sum(a, count, lines[i].address, &of_line);
        judge_line(&lines[i], &right, of_line);
        covered += of_line;
    }
    if (covered < count)
        lab_fail("lines", "There is a line for each line of memory that has an access.", TASK,
                 "lab_lines returns %u lines, with %u of %u accesses", found, covered, count);
    for (uint32_t i = 1; i < found; i++)
        if (!in_order(&lines[i - 1], &lines[i]))
            lab_fail("order", "The line with the largest latency comes first. Of equal ones the lower address does.",
                     TASK, "line %u is 0x%lx with %lu cycles, and line %u is 0x%lx with %lu", i - 1,
                     (unsigned long)lines[i - 1].address, (unsigned long)lines[i - 1].latency, i,
                     (unsigned long)lines[i].address, (unsigned long)lines[i].latency);
    return found;
}

/* ---- lab_shared */

static struct use { /* of a line: processors, a bit each */
    uint32_t any[LAB_LINE_BYTES], stores[LAB_LINE_BYTES];
} use;

static bool several(uint32_t processors)
{
    return processors & (processors - 1);
}

enum lab_sharing which_expected(const struct lab_access *a, uint32_t count, uint64_t line)
{
    uint32_t any = 0, stores = 0;
    bool same = false;
    memset(&use, 0, sizeof use);
    for (uint32_t i = 0; i < count; i++) {
        if (line_of(a[i].address) != line)
            continue;
        use.any[a[i].address % LAB_LINE_BYTES] |= 1u << a[i].cpu;
        use.stores[a[i].address % LAB_LINE_BYTES] |= a[i].store ? 1u << a[i].cpu : 0;
    }
    for (uint32_t i = 0; i < LAB_LINE_BYTES; i++) {
        any |= use.any[i];
        stores |= use.stores[i];
        same |= several(use.any[i]) && use.stores[i];
    }
    return !several(any) || !stores ? LAB_NOT_SHARED : same ? LAB_TRUE_SHARING : LAB_FALSE_SHARING;
}

/* After which_expected: which rule a wrong answer has missed. */
static _Noreturn void fail_sharing(uint64_t line, enum lab_sharing given, enum lab_sharing right)
{
    static const char text[] = "lab_shared says %s for the line at 0x%lx; expected %s";
    const char *said = (unsigned)given < 3 ? which_sharing[given] : "no such value";
    uint32_t any = 0;
    bool read_by_several = false;
    for (uint32_t i = 0; i < LAB_LINE_BYTES; i++) {
        any |= use.any[i];
        read_by_several |= several(use.any[i]);
    }
    if (right == LAB_NOT_SHARED && !several(any))
        lab_fail("alone", "One processor alone uses this line, at whatever addresses.", PAGE, text, said,
                 (unsigned long)line, which_sharing[right]);
    if (right == LAB_NOT_SHARED)
        lab_fail("read-only", "Nobody stores into this line. Each core can have a copy, and keep it.", PAGE, text, said,
                 (unsigned long)line, which_sharing[right]);
    if (right == LAB_TRUE_SHARING)
        lab_fail("true",
                 "At one address of this line, one processor stores, and another one loads or stores. Whatever else is "
                 "in the line, to move its variables apart does not help.",
                 PAGE, text, said, (unsigned long)line, which_sharing[right]);
    if (read_by_several)
        lab_fail("same-word",
                 "Two processors load from one address here, but nobody stores there. The stores into this line are at "
                 "another address: in a line of its own that word would be late for nobody.",
                 PAGE, text, said, (unsigned long)line, which_sharing[right]);
    lab_fail("false", "Two processors use this line at addresses of their own, and at least one of them stores.", PAGE,
             text, said, (unsigned long)line, which_sharing[right]);
}

uint32_t which_judge_list(const struct lab_access *accesses, uint32_t count, const struct lab_line **out)
{
    static struct lab_line *all;
    if (!all)
        all = lab_fenced(LIST_MAX * sizeof *all);
    struct lab_line *lines = all + LIST_MAX - count; /* behind it nobody may write */
    const uint32_t found = judge_lines(accesses, count, lines);
    for (uint32_t i = 0; i < found; i++) {
        const enum lab_sharing given = lab_shared(accesses, count, lines[i].address);
        const enum lab_sharing right = which_expected(accesses, count, lines[i].address);
        if (given != right)
            fail_sharing(lines[i].address, given, right);
    }
    *out = lines;
    return found;
}

/* ---- lists that are made up */

struct word { /* that is accessed */
    uint64_t address;
    uint32_t cpu, other; /* who does; other == cpu: nobody else */
    bool load, store;
};

static struct word make_word(uint64_t base, uint32_t lines)
{
    const uint32_t cpu = which_below(MADE_CPU), kind = which_below(4);
    return (struct word){.address = base + which_below(lines) * LAB_LINE_BYTES + which_below(LAB_LINE_BYTES),
                         .cpu = cpu,
                         .other = which_below(2) ? which_below(MADE_CPU) : cpu,
                         .load = kind != 1,
                         .store = kind == 1 || kind == 2};
}

static struct lab_access make_access(const struct word *w)
{
    const bool load = w->load && (!w->store || which_below(4)), store = w->store && (!load || which_below(2));
    return (struct lab_access){.address = w->address,
                               .cpu = which_below(2) ? w->cpu : w->other,
                               .load = load,
                               .store = store,
                               .latency = load ? 4 + which_below(4) * which_below(60) : 0,
                               .source = load ? (enum lab_source)which_below(LAB_MEMORY + 1) : LAB_UNKNOWN};
}

void which_check_lists(void)
{
    static struct lab_access list[MOST + 1];
    const struct lab_line *lines;
    uint32_t seen[3] = {0};
    for (uint32_t i = 0; i < LISTS; i++) {
        struct word words[16];
        const uint32_t count = i < 2 ? i : 1 + which_below(MOST), used = 1 + which_below(16);
        const uint64_t base = ((uint64_t)which_below(0x7FFF) << 32 | which_below(UINT32_MAX)) & ~UINT64_C(63);
        for (uint32_t j = 0; j < used; j++)
            words[j] = make_word(base, 1 + used / 2);
        for (uint32_t j = 0; j < count; j++)
            list[j] = make_access(&words[which_below(used)]);
        /* one behind the list, which nobody may read: */
        list[count] = (struct lab_access){list[0].address, list[0].cpu ^ 1, true, true, 9999, LAB_OTHER_CORE};
        const uint32_t found = which_judge_list(list, count, &lines);
        for (uint32_t j = 0; j < found; j++)
            seen[which_expected(list, count, lines[j].address)]++;
    }
    lab_pass("lists", "%u lists of accesses; of their lines %u are not shared, %u truly and %u falsely", LISTS, seen[0],
             seen[1], seen[2]);
}
