/* SPDX-License-Identifier: MIT */
/* Lab 7: the check. The settings first, then the path of three runs of the same walk, then what it covers. */
#include "labs/check.h"

#include "task.h"

#define ROOMS   12u
#define RECORDS 512u /* more than the branches of a walk */

#define BTS_SECTION "SDM vol. 3B, \"Branch Trace Store (BTS)\""
#define DS_SECTION  "SDM vol. 3B, \"BTS and DS Save Area\""

struct lab_room {
    uint64_t address;
    const char *name;
};
extern const struct lab_room lab_rooms[ROOMS]; /* program.asm, as the rest here */
extern uint64_t lab_room_visits[ROOMS];
extern const uint8_t lab_walk_end[];
lab_program lab_walk;

const char lab_title[] = "7 Branches";

static struct tracing t;
static struct ds_bts_record whole[RECORDS]; /* the path of the run that has not gone round */

static void check_area(void)
{
    const struct ds_area_a0 *a = t.area;
    const uint64_t begin = (uintptr_t)t.ring, end = begin + t.records * sizeof *t.ring;
    const uint64_t ds_area = lab_msr(IA32_DS_AREA);
    if (ds_area != (uintptr_t)a)
        lab_fail("ds-area",
                 "BTS has its fields in the same DS area as PEBS. The processor finds it by the register "
                 "IA32_DS_AREA: write the address of t->area to it.",
                 DS_SECTION, "IA32_DS_AREA is 0x%lx; expected 0x%lx, the address of t->area", (unsigned long)ds_area,
                 (unsigned long)(uintptr_t)a);
    if (a->bts_buffer_base != begin || a->bts_index != begin)
        lab_fail("index",
                 "bts_index is where the processor writes the next record, and bts_buffer_base where it goes on "
                 "after the end. At the beginning both are the address of t->ring.",
                 DS_SECTION, "bts_buffer_base is 0x%lx and bts_index 0x%lx; expected 0x%lx, the address of t->ring",
                 (unsigned long)a->bts_buffer_base, (unsigned long)a->bts_index, (unsigned long)begin);
    if (a->bts_absolute_maximum <= end || a->bts_absolute_maximum >= end + sizeof *t.ring)
        lab_fail("maximum",
                 "bts_absolute_maximum is the end of the ring. The manual asks for a multiple of the record's "
                 "size plus 1, from the base on.",
                 DS_SECTION, "bts_absolute_maximum is 0x%lx; expected 0x%lx: the ring ends at 0x%lx, after %u records",
                 (unsigned long)a->bts_absolute_maximum, (unsigned long)end + 1, (unsigned long)end, t.records);
    if (a->bts_interrupt_threshold <= a->bts_absolute_maximum)
        lab_fail("threshold",
                 "When bts_index reaches bts_interrupt_threshold, there is an interrupt. A ring has none: its "
                 "threshold lies above bts_absolute_maximum, where the index never comes.",
                 BTS_SECTION, "bts_interrupt_threshold is 0x%lx; expected more than bts_absolute_maximum, 0x%lx",
                 (unsigned long)a->bts_interrupt_threshold, (unsigned long)a->bts_absolute_maximum);
}

static void check_debugctl(uint64_t value)
{
    const uint64_t on = IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS;
    if ((value & on) != on)
        lab_fail("on",
                 "TR turns branch messages on. BTS sends them to the buffer in memory instead of to the bus. A "
                 "trace in memory needs both.",
                 BTS_SECTION, "lab_start returns 0x%lx; expected TR (bit 6) and BTS (bit 7)", (unsigned long)value);
    if (value & IA32_DEBUGCTL_BTINT)
        lab_fail("btint",
                 "With BTINT the buffer is no ring: the processor stops at its end and waits for somebody to "
                 "handle the interrupt.",
                 BTS_SECTION, "lab_start returns 0x%lx: BTINT (bit 8) is set", (unsigned long)value);
    if (value & IA32_DEBUGCTL_BTS_OFF_OS)
        lab_fail("filter", "The program runs in ring 0. With BTS_OFF_OS the processor leaves out its branches.",
                 BTS_SECTION, "lab_start returns 0x%lx: BTS_OFF_OS (bit 9) is set", (unsigned long)value);
}

static bool same(const struct ds_bts_record *a, const struct ds_bts_record *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i].from != b[i].from || a[i].to != b[i].to)
            return false;
    return true;
}

/* One walk with a ring of that size. Returns how many records the index has moved, beyond whole rounds. */
static uint32_t walk(uint32_t records, uint64_t argument)
{
    t.records = records;
    *t.area = (struct ds_area_a0){0};
    for (uint32_t i = 0; i < RECORDS; i++) /* behind the ring: what belongs to no path */
        t.ring[i] = (struct ds_bts_record){.from = i >= records};
    for (unsigned i = 0; i < ROOMS; i++)
        lab_room_visits[i] = 0;
    (void)lab_wrmsr(IA32_DS_AREA, 0);
    const uint64_t debugctl = lab_start(&t);
    check_area();
    check_debugctl(debugctl);
    if (lab_run_traced(lab_walk, argument, debugctl) != 0)
        lab_fail("reserved", "A write of a bit that the processor does not have raises #GP. TR and BTS are enough.",
                 BTS_SECTION, "IA32_DEBUGCTL refuses 0x%lx", (unsigned long)debugctl);
    if (!t.ring[0].to)
        lab_fail("none", "All settings look right one by one, but no record came.", BTS_SECTION,
                 "the first place of the ring is empty after the walk");
    return (uint32_t)((t.area->bts_index - (uintptr_t)t.ring) / sizeof *t.ring);
}

/* What lab_path makes of the ring, compared with the last records of the whole path. */
static void check_path(uint32_t index, const struct ds_bts_record *expected, uint32_t count)
{
    static struct ds_bts_record path[RECORDS];
    const uint32_t n = lab_path(&t, path);
    if (n != count && n == index && n == 0)
        lab_fail("full",
                 "When the walk fills the ring exactly, the processor has gone back to the base. bts_index is then "
                 "where it began, as with an empty ring. The records themselves tell the two apart.",
                 BTS_SECTION, "lab_path returns 0 records, and the ring holds %u", count);
    if (n != count && n == index)
        lab_fail("wrapped",
                 "The processor has gone round: what lies between bts_index and the end of the ring is older than "
                 "what lies before it, and belongs to the path, too.",
                 BTS_SECTION, "lab_path returns %u records, those before bts_index; the ring holds %u", n, count);
    if (n != count)
        lab_fail("count",
                 "lab_path returns how many places of the ring have been written. A place that is still zero has not.",
                 BTS_SECTION, "lab_path returns %u records; the ring of %u places holds %u", n, t.records, count);
    if (same(path, expected, count))
        return;
    if (same(path, t.ring, count))
        lab_fail("order",
                 "The oldest record is the one that the processor would overwrite next. Begin there, go to the end of "
                 "the ring, and go on at its base.",
                 BTS_SECTION, "lab_path has copied the ring as it lies in memory; its oldest record is number %u",
                 index);
    for (uint32_t i = 0; i < count; i++)
        if (!same(&path[i], &expected[i], 1))
            lab_fail("path", "Each record is to be copied once, the oldest first.", BTS_SECTION,
                     "record %u of the path is 0x%lx > 0x%lx; expected 0x%lx > 0x%lx", i, (unsigned long)path[i].from,
                     (unsigned long)path[i].to, (unsigned long)expected[i].from, (unsigned long)expected[i].to);
}

static void draw(const uint32_t *visits)
{
    lab_log("rooms, and how often your path passes them:");
    for (unsigned i = 0; i < ROOMS; i++) {
        const uint32_t n = visits[lab_rooms[i].address - (uintptr_t)lab_walk];
        char bar[49];
        unsigned used = 0;
        for (; used < n && used < sizeof bar - 1; used++)
            bar[used] = '#';
        bar[used] = 0;
        lab_log("  %-8s %4u %s", lab_rooms[i].name, n, bar);
    }
}

/* A walk does not show it: it leaves the program by RET alone. This path runs behind the end, and over it. */
static void check_outside(uint32_t *visits, uint64_t begin, uint32_t bytes)
{
    const uint64_t end = begin + bytes;
    const struct ds_bts_record over[] = {{.to = end}, {.from = end, .to = end - 1}, {.from = end}};
    lab_visits(over, 3, begin, bytes, visits);
    for (uint32_t i = bytes; i < 2 * bytes; i++)
        if (visits[i])
            lab_fail("outside",
                     "A path may leave the program: its branches lead out of it, or it runs on behind the end. Compare "
                     "with begin and bytes before you count.",
                     BTS_SECTION, "visits[%u] has been written; the program has %u bytes", i, bytes);
}

static void check_visits(uint32_t count, uint32_t *visits)
{
    const uint64_t begin = (uintptr_t)lab_walk;
    const uint32_t bytes = (uint32_t)((uintptr_t)lab_walk_end - begin);
    uint32_t any = 0;
    for (uint32_t i = 0; i < 2 * bytes; i++)
        visits[i] = 0;
    /* Two parts, which share a record: what follows the first part belongs to the second alone. */
    lab_visits(whole, count / 2 + 1, begin, bytes, visits);
    lab_visits(&whole[count / 2], count - count / 2, begin, bytes, visits);
    for (uint32_t i = 0; i < bytes; i++)
        any |= visits[i];
    if (!any)
        lab_fail("visits", "Two records in a row say where the processor was in between. Begin there.", BTS_SECTION,
                 "lab_visits has counted nothing in a path of %u branches", count);
    draw(visits);
    for (unsigned i = 0; i < ROOMS; i++)
        if (visits[lab_rooms[i].address - begin] && !lab_room_visits[i])
            lab_fail("segment",
                     "Between `from` and `to` of one record the processor jumps: nothing there runs. It runs from "
                     "`to` of a record on, up to `from` of the record after it.",
                     BTS_SECTION, "your path passes the room %s %u times; no door leads there", lab_rooms[i].name,
                     visits[lab_rooms[i].address - begin]);
    for (unsigned i = 0; i < ROOMS; i++)
        if (visits[lab_rooms[i].address - begin] != lab_room_visits[i])
            lab_fail(
                "number",
                "All bytes of a range count, not only its first, and each time: a loop's bytes as often as it goes "
                "round. Each pair of neighbouring records gives one range. The check gives you the path in two parts: "
                "add to what visits[] has.",
                BTS_SECTION, "the room %s: %u visits by your path; it has counted %lu", lab_rooms[i].name,
                visits[lab_rooms[i].address - begin], (unsigned long)lab_room_visits[i]);
    for (uint32_t i = 1; i < count; i++)
        if (!visits[whole[i].from - begin])
            lab_fail("branch",
                     "The branch itself has run, too: the address `from` is its first byte, and belongs to the "
                     "range.",
                     BTS_SECTION, "the path passes the branch at 0x%lx, and its byte has no visit",
                     (unsigned long)whole[i].from);
    check_outside(visits, begin, bytes);
}

void lab_check(void)
{
    uint32_t *visits = lab_need_memory(2 * ((uintptr_t)lab_walk_end - (uintptr_t)lab_walk) * sizeof *visits);
    const uint64_t argument = lab_seed() * UINT64_C(0x9E3779B97F4A7C15);
    t.area = lab_need_memory(sizeof *t.area);
    t.ring = lab_need_memory(RECORDS * sizeof *t.ring);

    const uint32_t count = walk(RECORDS, argument);
    for (uint32_t i = 0; i < count; i++)
        whole[i] = t.ring[i];
    check_path(count, whole, count);
    lab_pass("path", "%u branches in a ring of %u", count, RECORDS);

    const uint32_t few = 17 + (uint32_t)lab_seed() % 4;
    check_path(walk(few, argument), &whole[count - few], few);
    lab_pass("round", "the newest %u branches in a ring of %u", few, few);
    check_path(walk(count, argument), whole, count);
    lab_pass("full", "%u branches in a ring of %u", count, count);

    check_visits(count, visits);
    lab_pass("visits", "each of %u rooms has as many visits as it has counted itself", ROOMS);
}
