/* SPDX-License-Identifier: MIT */
/*
 * Lab 3: the check. In one session a program runs three times: with interrupts, without, with them again. So in the
 * second run the student's handler comes too late, and in the third it must be well again.
 */
#include "labs/check.h"

#include "check_delivered.h"
#include "labs/machine/fence.h"
#include "labs/machine/sample.h"

#define CALLS 600u

#define DS_SECTION   "SDM vol. 3B, \"BTS and DS Save Area\""
#define PEBS_SECTION "SDM vol. 3B, \"Processor Event Based Sampling (PEBS)\""
#define ISR_SECTION  "SDM vol. 3B, \"Writing the DS Interrupt Service Routine\""
#define LVT_SECTION  "SDM vol. 3A, \"Local Vector Table\""

lab_program lab_calls_3; /* ring3/program.asm */

const char lab_title[] = "3 Buffer and threshold";

static void check_area(const struct sampling *s)
{
    const struct ds_area_a0 *a = s->area;
    const uint64_t begin = (uintptr_t)s->buffer, end = begin + s->records * s->record_bytes;
    const long threshold = (long)(a->pebs_interrupt_threshold - begin);
    if (lab_msr(IA32_DS_AREA) != (uintptr_t)a || a->pebs_buffer_base != begin || a->pebs_index != begin ||
        a->pebs_absolute_maximum <= end || a->pebs_absolute_maximum >= end + s->record_bytes)
        lab_fail("area", "Set up IA32_DS_AREA, base, index and absolute maximum as in lab 1.", DS_SECTION,
                 "IA32_DS_AREA is 0x%lx, base 0x%lx, index 0x%lx, maximum 0x%lx; the area is at 0x%lx, the buffer "
                 "0x%lx to 0x%lx",
                 (unsigned long)lab_msr(IA32_DS_AREA), (unsigned long)a->pebs_buffer_base, (unsigned long)a->pebs_index,
                 (unsigned long)a->pebs_absolute_maximum, (unsigned long)(uintptr_t)a, (unsigned long)begin,
                 (unsigned long)end);
    if (threshold <= 0 || threshold % s->record_bytes)
        lab_fail("boundary",
                 "The threshold is an address in the buffer where a record begins: the interrupt comes when the index "
                 "reaches it.",
                 DS_SECTION,
                 "pebs_interrupt_threshold is 0x%lx; expected 0x%lx plus a multiple of %u, the size of a record",
                 (unsigned long)a->pebs_interrupt_threshold, (unsigned long)begin, s->record_bytes);
    if ((uint64_t)threshold >= (uint64_t)s->records * s->record_bytes)
        lab_fail("margin",
                 "The processor goes on writing until the interrupt is taken. Put the threshold so that at least one "
                 "record still fits behind it.",
                 DS_SECTION, "pebs_interrupt_threshold is behind record %ld of %u", threshold / s->record_bytes,
                 s->records);
}

static void check_registers(const struct sampling *s)
{
    const uint64_t select = lab_msr(IA32_PERFEVTSEL0 + s->counter), enable = lab_msr(IA32_PEBS_ENABLE);
    const uint64_t spare = lab_msr(IA32_PERFEVTSEL0 + s->spare);
    if ((select & 0xFFFF) != s->event || !(select & IA32_PERFEVTSEL_EN) || !(select & IA32_PERFEVTSEL_USR) ||
        select & IA32_PERFEVTSEL_OS)
        lab_fail("ring",
                 "The program runs in ring 3: USR counts there. With OS the counter would count your own handler, too.",
                 "SDM vol. 3B, \"Architectural Performance Monitoring\"",
                 "IA32_PERFEVTSEL%u is 0x%lx; expected event 0x%lx, with USR and EN and without OS", s->counter,
                 (unsigned long)select, (unsigned long)s->event);
    if (spare & IA32_PERFEVTSEL_EN && spare & IA32_PERFEVTSEL_OS)
        lab_fail("spare",
                 "With OS the spare counter counts the kernel's events on the way to the program and back, too. No "
                 "record is due for those.",
                 "SDM vol. 3B, \"Architectural Performance Monitoring\"",
                 "IA32_PERFEVTSEL%u, of the spare counter, is 0x%lx: OS (bit 17) is set", s->spare,
                 (unsigned long)spare);
    if (select & IA32_PERFEVTSEL_INT)
        lab_fail("int",
                 "INT asks for an interrupt at each overflow. The interrupt at the threshold needs no bit: only "
                 "LVTPC and the threshold.",
                 PEBS_SECTION, "IA32_PERFEVTSEL%u is 0x%lx: INT (bit 20) is set", s->counter, (unsigned long)select);
    if (enable != DS_BIT(s->counter))
        lab_fail("enable", "Bit i of IA32_PEBS_ENABLE turns PEBS on for counter i, and only that one is to have it.",
                 PEBS_SECTION, "IA32_PEBS_ENABLE is 0x%lx; expected 0x%lx", (unsigned long)enable,
                 (unsigned long)DS_BIT(s->counter));
    const uint64_t start = -s->period & (DS_BIT(s->width) - 1), value = lab_msr(IA32_PMC0 + s->counter);
    if (value != start || s->area->pebs_gp_counter_reset[s->counter] != start)
        lab_fail("period", LAB_PERIOD_HINT, PEBS_SECTION,
                 "IA32_PMC%u is 0x%lx and pebs_gp_counter_reset[%u] 0x%lx; expected 0x%lx, which is -%lu", s->counter,
                 (unsigned long)value, s->counter, (unsigned long)s->area->pebs_gp_counter_reset[s->counter],
                 (unsigned long)start, (unsigned long)s->period);
    if (lab_lvtpc_read() & LVTPC_MASKED || (lab_lvtpc_read() & LVTPC_VECTOR) != LAB_PMI_VECTOR)
        lab_fail("lvtpc", "The local APIC delivers the interrupt only if LVTPC has a vector and is not masked.",
                 LVT_SECTION, "LVTPC is 0x%x; expected vector 0x%x, not masked", lab_lvtpc_read(), LAB_PMI_VECTOR);
}

static void check_stopped(const struct sampling *s)
{
    const uint32_t zero[] = {IA32_PEBS_ENABLE,       IA32_PERFEVTSEL0 + s->counter, IA32_PERFEVTSEL0 + s->spare,
                             IA32_PMC0 + s->counter, IA32_PMC0 + s->spare,          IA32_DS_AREA};
    for (unsigned i = 0; i < sizeof zero / sizeof zero[0]; i++)
        if (lab_msr(zero[i]))
            lab_fail("stop", "Leave no register behind: the next driver finds what you leave.", PEBS_SECTION,
                     "MSR 0x%x is 0x%lx after lab_stop", zero[i], (unsigned long)lab_msr(zero[i]));
    if (!(lab_lvtpc_read() & LVTPC_MASKED))
        lab_fail("stop", "Mask LVTPC, or the next interrupt of a counter comes to a handler that has gone.",
                 LVT_SECTION, "LVTPC is 0x%x after lab_stop", lab_lvtpc_read());
}

static void check_acknowledged(void)
{
    const uint64_t status = lab_msr(IA32_PERF_GLOBAL_STATUS);
    uint64_t value;
    if (status & IA32_PERF_GLOBAL_STATUS_OVF_BUF && lab_refused(IA32_PERF_GLOBAL_OVF_CTRL, &value))
        lab_fail("acknowledge",
                 "A write that sets a reserved bit raises #GP and changes nothing. Write OvfBuf, bit 62, alone: each "
                 "bit that is 1 clears the same bit of IA32_PERF_GLOBAL_STATUS.",
                 ISR_SECTION, "lab_wrmsr of 0x%lx to IA32_PERF_GLOBAL_OVF_CTRL has raised #GP", (unsigned long)value);
    if (status & IA32_PERF_GLOBAL_STATUS_OVF_BUF)
        lab_fail("acknowledge",
                 "IA32_PERF_GLOBAL_STATUS says why the interrupt came: bit 62, OvfBuf. The handler clears it through "
                 "IA32_PERF_GLOBAL_OVF_CTRL.",
                 ISR_SECTION, "IA32_PERF_GLOBAL_STATUS is 0x%lx after the handler", (unsigned long)status);
    if (lab_unmasked_early())
        lab_fail("order",
                 "Clear OvfBuf first, then the mask bit of LVTPC. The other way round, the next interrupt may be "
                 "raised while OvfBuf of this one is still set, and nobody can tell the two apart.",
                 ISR_SECTION, "LVTPC was unmasked in the handler while OvfBuf was set");
}

/* What is wrong after a run that had interrupts. `before`: interrupts before it. */
static void check_run(const struct sampling *s, uint32_t before)
{
    const uint32_t pmis = lab_pmis() - before;
    const uint32_t room = (uint32_t)((s->area->pebs_interrupt_threshold - (uintptr_t)s->buffer) / s->record_bytes);
    const uint64_t used = (s->area->pebs_index - (uintptr_t)s->buffer) / s->record_bytes;
    lab_check_delivered();
    if (pmis && lab_lvtpc_read() & LVTPC_MASKED)
        lab_fail("unmask",
                 "When the processor takes the interrupt, it masks LVTPC. Until somebody clears that bit, no other "
                 "one comes.",
                 LVT_SECTION, "LVTPC is 0x%x after %u interrupt%s", lab_lvtpc_read(), pmis, pmis == 1 ? "" : "s");
    if (pmis)
        check_acknowledged();
    if (pmis && used >= room)
        lab_fail("rewind",
                 "After the records are delivered, the index goes back to the base. The processor never does that.",
                 ISR_SECTION, "%lu records are in the buffer after %u interrupts; the threshold is at %u",
                 (unsigned long)used, pmis, room);
}

static void run(const struct sampling *s, bool interrupts)
{
    const uint32_t before = lab_pmis();
    lab_user_interrupts(interrupts);
    lab_expect_run();
    if (lab_run_user(lab_calls_3, 0, DS_BIT(s->counter) | DS_BIT(s->spare)) != 0)
        lab_fail("run", "The check itself cannot run here.", "./run-qemu.sh --help", "no program can run in ring 3");
    lab_user_interrupts(true);
    if (lab_model_fault())
        lab_fail("mapped", "The processor uses the addresses of the DS area as they are.", DS_SECTION,
                 "no memory is mapped at 0x%lx", (unsigned long)lab_model_fault());
    check_run(s, before);
}

static void check_loss(uint64_t told, uint64_t records)
{
    const uint64_t lost = records - lab_delivered();
    if (told != lost && !told)
        lab_fail("lost-none",
                 "While interrupts are off, the buffer fills up to its maximum. Then the processor drops records and "
                 "tells nobody. Find out how many there should have been: what does a counter without PEBS count?",
                 DS_SECTION, "lab_stop says that no record is lost; %lu of %lu are", (unsigned long)lost,
                 (unsigned long)records);
    if (told != lost)
        lab_fail(
            "lost-count",
            "There is a record for every period + 1 events. A record that does not fit reloads the counter, too. "
            "The number of lost ones is that of those due less those delivered. The spare counter has to count the "
            "same events in the same ring, from 0 on.",
            DS_SECTION, "lab_stop says %ld lost records; %lu of %lu are lost",
            (long)told, /* negative is easier to read */
            (unsigned long)lost, (unsigned long)records);
}

static void check_session(struct sampling *s)
{
    const uint64_t records = 3 * CALLS / (s->period + 1), dropped = lab_model_dropped();
    *s->area = (struct ds_area_a0){0};
    lab_expect(s);
    if (lab_start(s) != 0)
        lab_fail("gp", "WRMSR raises #GP where a register does not exist, or a reserved bit is set.", PEBS_SECTION,
                 "lab_start returns an error");
    lab_check_counters_off();
    check_area(s);
    check_registers(s);

    run(s, true);
    const uint32_t first = lab_delivered();
    const uint64_t left = (s->area->pebs_index - (uintptr_t)s->buffer) / s->record_bytes;
    if (first + left != CALLS / (s->period + 1))
        lab_fail("lost",
                 "With interrupts on, no record may be lost, whatever the period. How many records lie between base "
                 "and index follows from the size of one: s->record_bytes, which is not the same on each processor.",
                 ISR_SECTION, "%u records of %u bytes were delivered and %lu are in the buffer; expected %lu", first,
                 s->record_bytes, (unsigned long)left, (unsigned long)(CALLS / (s->period + 1)));
    run(s, false);
    run(s, true);
    const uint32_t undelivered = (uint32_t)((s->area->pebs_index - (uintptr_t)s->buffer) / s->record_bytes);
    const uint32_t before = lab_delivered();
    const uint64_t told = lab_stop(s);
    lab_check_delivered();
    if (lab_delivered() - before != undelivered)
        lab_fail("rest", "The buffer below the threshold is not empty at the end: deliver what it holds.", ISR_SECTION,
                 "%u records were in the buffer when lab_stop was called, and it has delivered %u", undelivered,
                 lab_delivered() - before);
    check_loss(told, records);
    check_stopped(s);
    lab_check_fences();
    if (lab_is_model() && lab_model_dropped() - dropped != told)
        lab_fail("model", "The check and the model do not agree: please report this.", DS_SECTION,
                 "the model has dropped %lu records; lab_stop says %lu", (unsigned long)(lab_model_dropped() - dropped),
                 (unsigned long)told);
    lab_pass("session", "period %lu, %u records of room: %u delivered, %lu lost", (unsigned long)s->period, s->records,
             lab_delivered(), (unsigned long)told);
}

void lab_check(void)
{
    uint32_t leaf[4];
    lab_cpuid(0x0A, 0, leaf);
    const uint64_t seldom = 3 * CALLS; /* one event more, and a record would be due */
    const uint64_t periods[] = {1, 2 + lab_seed() % 8, 13 + lab_seed() % 40, 200 + lab_seed() % 300, seldom};
    const uint32_t most = 20;
    struct sampling s = {.event = ia32_perfevtsel(0xC4, 2), /* BR_INST_RETIRED.NEAR_CALL */
                         .counter = 1 + lab_seed() % 3,
                         .spare = 1 + (lab_seed() + 1) % 3,
                         .width = cpuid_0ah_eax_gp_width(leaf[0]),
                         .record_bytes = ds_pebs_fixed_size(lab_format())};
    s.area = lab_fenced(sizeof *s.area);
    s.buffer = lab_fenced((most + 1) * s.record_bytes);
    for (unsigned i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        s.period = periods[i];
        s.records = 3;
        check_session(&s);
        s.records = most;
        check_session(&s);
    }
}
