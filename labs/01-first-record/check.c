/* SPDX-License-Identifier: MIT */
/* Lab 1: the check. First the settings are looked at, then the records. */
#include "labs/check.h"

#include "labs/machine/fence.h"
#include "labs/machine/sample.h"
#include "task.h"

#define CALLS      24u
#define CALL_BYTES 5u
#define RECORDS    CALLS /* one for each call is the most that can come */

#define DS_SECTION   "SDM vol. 3B, \"BTS and DS Save Area\""
#define PEBS_SECTION "SDM vol. 3B, \"Processor Event Based Sampling (PEBS)\""

lab_program lab_calls; /* program.asm, and the next one */
extern const uint8_t lab_first_call[];

const char lab_title[] = "1 First record";

static uint64_t start_value(const struct sampling *s)
{
    return -s->period & (DS_BIT(s->width) - 1);
}

static void check_area(const struct sampling *s)
{
    const struct ds_area_a0 *a = s->area;
    const uint64_t begin = (uintptr_t)s->buffer, end = begin + s->records * s->record_bytes;
    if (lab_msr(IA32_DS_AREA) != (uintptr_t)a)
        lab_fail("ds-area",
                 "The processor finds the DS area by the register IA32_DS_AREA: write the address of s->area "
                 "to it.",
                 DS_SECTION, "IA32_DS_AREA is 0x%lx, and s->area is at 0x%lx", (unsigned long)lab_msr(IA32_DS_AREA),
                 (unsigned long)(uintptr_t)a);
    if (a->pebs_buffer_base != begin || a->pebs_index != begin)
        lab_fail("index",
                 "pebs_index is where the processor writes the next record. At the beginning it is the same as "
                 "pebs_buffer_base: the address of s->buffer.",
                 DS_SECTION, "pebs_buffer_base is 0x%lx and pebs_index 0x%lx, and s->buffer is at 0x%lx",
                 (unsigned long)a->pebs_buffer_base, (unsigned long)a->pebs_index, (unsigned long)begin);
    if (a->pebs_absolute_maximum <= end || a->pebs_absolute_maximum > end + s->record_bytes - 1)
        lab_fail("maximum",
                 "pebs_absolute_maximum is the end of the buffer plus 1: a record that would not end below it is "
                 "dropped.",
                 DS_SECTION, "pebs_absolute_maximum is 0x%lx; the buffer is at 0x%lx and ends at 0x%lx",
                 (unsigned long)a->pebs_absolute_maximum, (unsigned long)begin, (unsigned long)end);
    if (a->pebs_interrupt_threshold <= end)
        lab_fail("threshold",
                 "When pebs_index reaches pebs_interrupt_threshold, the processor raises an interrupt. "
                 "Nobody handles it in this lab: put the threshold above the end of the buffer.",
                 DS_SECTION, "pebs_interrupt_threshold is 0x%lx; the buffer is at 0x%lx and ends at 0x%lx",
                 (unsigned long)a->pebs_interrupt_threshold, (unsigned long)begin, (unsigned long)end);
}

static void check_registers(const struct sampling *s)
{
    const uint64_t select = lab_msr(IA32_PERFEVTSEL0 + s->counter), count = lab_msr(IA32_PMC0 + s->counter);
    const uint64_t enable = lab_msr(IA32_PEBS_ENABLE);
    if ((select & 0xFFFF) != s->event || !(select & IA32_PERFEVTSEL_EN) || !(select & IA32_PERFEVTSEL_OS))
        lab_fail("select",
                 "IA32_PERFEVTSELx says what counter x counts: the event in bits 15:0, the rings (OS: ring 0), "
                 "and EN, without which it stands still.",
                 "SDM vol. 3B, \"Architectural Performance Monitoring\"",
                 "IA32_PERFEVTSEL%u is 0x%lx; expected event 0x%lx, with OS and EN", s->counter, (unsigned long)select,
                 (unsigned long)s->event);
    if (select & IA32_PERFEVTSEL_INT)
        lab_fail("int",
                 "INT asks for an interrupt at each overflow of the counter. With PEBS the overflow leads to a "
                 "record instead. Leave INT clear.",
                 PEBS_SECTION, "IA32_PERFEVTSEL%u is 0x%lx: INT (bit 20) is set", s->counter, (unsigned long)select);
    if (enable != DS_BIT(s->counter))
        lab_fail("enable", "Bit i of IA32_PEBS_ENABLE turns PEBS on for counter i. Without it the counter only counts.",
                 PEBS_SECTION, "IA32_PEBS_ENABLE is 0x%lx; expected 0x%lx, bit %u for counter %u",
                 (unsigned long)enable, (unsigned long)DS_BIT(s->counter), s->counter, s->counter);
    if (count != start_value(s))
        lab_fail("period",
                 "A counter counts up and overflows from its highest value to 0. To overflow after N events it "
                 "starts at -N, cut to the width of the counter.",
                 PEBS_SECTION, "IA32_PMC%u is 0x%lx; expected 0x%lx, which is -%lu in %u bits", s->counter,
                 (unsigned long)count, (unsigned long)start_value(s), (unsigned long)s->period, s->width);
    const uint64_t reset = s->area->pebs_gp_counter_reset[s->counter];
    if (reset != start_value(s))
        lab_fail("reset",
                 "After each record the processor loads counter x from pebs_gp_counter_reset[x] of the DS area. "
                 "The value has to be the same as the first one: -period, cut to the width of the counter.",
                 PEBS_SECTION, "pebs_gp_counter_reset[%u] is 0x%lx; expected 0x%lx, which is -%lu in %u bits",
                 s->counter, (unsigned long)reset, (unsigned long)start_value(s), (unsigned long)s->period, s->width);
}

static uint64_t eventing_ip(const struct sampling *s, uint32_t i)
{
    const uint8_t *record = s->buffer + i * s->record_bytes;
    return s->record_bytes == sizeof(struct ds_pebs_fmt3) ? ((const struct ds_pebs_fmt3 *)record)->fmt2.eventing_ip
                                                          : ((const struct ds_pebs_basic *)record)->eventing_ip;
}

/* `calls` calls have been executed, the last ones of the program. Returns how many records there are. Called before
 * lab_stop, which may tidy up area and buffer. */
static uint32_t check_records(const struct sampling *s, uint32_t calls)
{
    const uint64_t first = (uintptr_t)lab_first_call + (CALLS - calls) * CALL_BYTES;
    const uint32_t written = (uint32_t)((s->area->pebs_index - (uintptr_t)s->buffer) / s->record_bytes);
    const uint32_t expected = calls / ((uint32_t)s->period + 1);
    if (lab_model_fault())
        lab_fail("mapped",
                 "The processor uses the addresses of the DS area as they are. They have to be those of "
                 "s->area and s->buffer.",
                 DS_SECTION, "no memory is mapped at 0x%lx", (unsigned long)lab_model_fault());
    if (!written)
        lab_fail("none", "All settings look right one by one, but no record came.", PEBS_SECTION,
                 "pebs_index has not moved: no record in %u calls", calls);
    for (uint32_t i = 0; i < written; i++) {
        const uint64_t call = (eventing_ip(s, i) - first) / CALL_BYTES + 1, right = (i + 1) * (s->period + 1);
        lab_log("record %u: EventingIP 0x%lx, call %lu", i + 1, (unsigned long)eventing_ip(s, i), (unsigned long)call);
        if (call != right)
            lab_fail("records", "The settings look right one by one, but the event after the overflow is not recorded.",
                     PEBS_SECTION, "record %u is of call %lu; expected call %lu", i + 1, (unsigned long)call,
                     (unsigned long)right);
    }
    if (written != expected)
        lab_fail("records", "The settings look right one by one, but records are missing.", PEBS_SECTION,
                 "there are %u records in the buffer; expected %u", written, expected);
    return written;
}

static void check_stop(const struct sampling *s, uint32_t written)
{
    const uint32_t count = lab_stop(s);
    if (count != written)
        lab_fail("count",
                 "lab_stop returns how many records lie between pebs_buffer_base and pebs_index. All have "
                 "s->record_bytes bytes.",
                 DS_SECTION, "lab_stop says %u records; there are %u", count, written);
    lab_check_fences();
    const struct {
        const char *name;
        uint32_t msr;
    } zero[] = {{"IA32_PEBS_ENABLE", IA32_PEBS_ENABLE},
                {"IA32_PERFEVTSEL0 + x", IA32_PERFEVTSEL0 + s->counter},
                {"IA32_PMC0 + x", IA32_PMC0 + s->counter},
                {"IA32_PERF_GLOBAL_CTRL", IA32_PERF_GLOBAL_CTRL},
                {"IA32_DS_AREA", IA32_DS_AREA}};
    const char *left = NULL;
    for (unsigned i = 0; i < sizeof zero / sizeof zero[0]; i++) {
        if (!lab_msr(zero[i].msr))
            continue;
        left = zero[i].name;
        lab_log("%s (MSR 0x%x) is 0x%lx after lab_stop", left, zero[i].msr, (unsigned long)lab_msr(zero[i].msr));
    }
    if (left)
        lab_fail("stop",
                 "Leave no register behind: the next driver finds what you leave. Turn PEBS off first, and take the "
                 "DS area away last.",
                 PEBS_SECTION, "registers are not 0 after lab_stop (x is %u); expected 0", s->counter);
}

static void check_period(struct sampling *s, uint64_t period, uint32_t calls)
{
    s->period = period;
    *s->area = (struct ds_area_a0){0};
    if (lab_start(s) != 0)
        lab_fail("gp", "WRMSR raises #GP where a register does not exist, or a reserved bit is set.", PEBS_SECTION,
                 "lab_start returns an error");
    lab_check_counters_off();
    check_area(s);
    check_registers(s);
    if (lab_run(lab_calls, CALLS - calls, DS_BIT(s->counter)) != 0)
        lab_fail("run", "The check itself cannot run here.", PEBS_SECTION, "IA32_PERF_GLOBAL_CTRL refuses 0x%lx",
                 (unsigned long)DS_BIT(s->counter));
    check_stop(s, check_records(s, calls));
    lab_pass("records", "counter %u, period %lu: every %luth of %u calls is recorded", s->counter,
             (unsigned long)period, (unsigned long)period + 1, calls);
}

void lab_check(void)
{
    uint32_t leaf[4];
    lab_cpuid(0x0A, 0, leaf);
    struct sampling s = {.event = ia32_perfevtsel(0xC4, 2), /* BR_INST_RETIRED.NEAR_CALL */
                         .width = cpuid_0ah_eax_gp_width(leaf[0]),
                         .records = RECORDS,
                         .record_bytes = ds_pebs_fixed_size(lab_format())};
    s.area = lab_fenced(sizeof *s.area);
    s.buffer = lab_fenced(s.records * s.record_bytes);
    s.counter = 1 + lab_seed() % 3; /* not PMC0, whose records come one event earlier from Sapphire Rapids on: lab 2 */
    check_period(&s, 3 + lab_seed() / 3 % 6, CALLS);
    s.counter = 1 + s.counter % 3;
    check_period(&s, 5 + lab_seed() % 8, CALLS - 5 + lab_seed() / 8 % 4); /* fewer records than with all calls */
}
