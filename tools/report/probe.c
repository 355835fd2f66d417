/* SPDX-License-Identifier: MIT */
/* ds/probe on the boot processor: its questions, one step each, and what each answer is. */
#include "ds/probe/probe.h"

#include "arch/arch.h"
#include "boot/loader.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tools/report/report.h"

#define SAMPLES_VIRTUAL 16u     /* of a cost: they say nothing about a processor, and take long */
#define OPEN_CYCLES     100000u /* an interrupt that LVTPC has let go takes some hundred */

static struct ds_probe_result results[DS_PROBE_ROWS];
static struct ds_probe_cost costs[DS_PROBE_COSTS];
static unsigned printed; /* so many of both */

static struct ds_probe_bench bench;
static int outcome;
static const char *machine_kind; /* who is; NULL: nobody */
static char error[160];

static uint64_t execute(void *context, enum ds_probe_code code, uint32_t *pmis)
{
    uint32_t handled;
    (void)context;
    if (!pmis)
        return ds_probe_time(code, &report_pmis, &handled);
    const uint32_t before = report_pmis;
    arch_irq_restore(true);
    const uint64_t cycles = ds_probe_time(code, &report_pmis, &handled);
    arch_cli();
    *pmis = handled - before;
    return cycles;
}

static uint32_t interrupts(void *context)
{
    static uint32_t asked;
    (void)context;
    const uint64_t start = arch_rdtsc();
    arch_irq_restore(true);
    while (arch_rdtsc() - start < OPEN_CYCLES)
        arch_pause();
    arch_cli();
    const uint32_t pmis = report_pmis - asked;
    asked = report_pmis;
    return pmis;
}

/* As the dump of workload probe has them, for `cairn probe`. */
static void print_row(unsigned row)
{
    if (row < DS_PROBE_ROWS) {
        const struct ds_probe_result *r = &results[row];
        report_line("probe.0.%u=%s|%s|%s", row, ds_probe_rows[row].name, r->answer, r->evidence);
        return;
    }
    const struct ds_probe_cost *c = &costs[row - DS_PROBE_ROWS];
    report_line("probe.0.cost.%u=%s|%u|%lu|%lu|%lu|%s", row - DS_PROBE_ROWS, ds_probe_costs[row - DS_PROBE_ROWS].name,
                c->samples, (unsigned long)c->least, (unsigned long)c->median, (unsigned long)c->p99, c->reason);
}

static void print_to(unsigned rows)
{
    while (printed < rows)
        print_row(printed++);
}

static const char *row_name(unsigned row)
{
    return row < DS_PROBE_ROWS ? ds_probe_rows[row].name : ds_probe_costs[row - DS_PROBE_ROWS].name;
}

static bool before(void *context, unsigned row)
{
    char step[40];
    (void)context;
    report_lend();
    print_to(row);
    snprintf(step, sizeof step, "probe.%s", row_name(row));
    const bool asked = report_step(step);
    if (!asked && row < DS_PROBE_ROWS)
        snprintf(results[row].evidence, sizeof results[row].evidence, "not asked: the run before this ended there");
    if (!asked && row >= DS_PROBE_ROWS)
        snprintf(costs[row - DS_PROBE_ROWS].reason, sizeof costs[0].reason, "the run before this ended there");
    report_lend_end();
    return asked;
}

static void run(void *unused)
{
    (void)unused;
    outcome = ds_probe_all(&bench, results, costs, error, sizeof error);
}

/* A line for the screen: how many were answered, and those that differ from the model. */
static void say(void)
{
    unsigned answered = 0, same = 0;
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++) {
        const bool known = results[i].answer[0] != '\0';
        answered += known;
        same += known && strcmp(results[i].answer, ds_probe_model(&ds_probe_rows[i])) == 0;
    }
    report_say("probe=%u of %u questions answered, %u as the model does", answered, DS_PROBE_ROWS, same);
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
        if (results[i].answer[0] && strcmp(results[i].answer, ds_probe_model(&ds_probe_rows[i])) != 0)
            report_say("other.%s=%s, the model: %s", ds_probe_rows[i].name, results[i].answer,
                       ds_probe_model(&ds_probe_rows[i]));
}

/* Pages for all of it; the buffer first, aligned to its size, for which there is as much again. The firmware does not
 * get them back: a record that comes late must meet nobody's memory. */
#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

static uint8_t *get_memory(void)
{
    const UINTN pages = 2 * PAGES(DS_PROBE_BUFFER) + 1 + PAGES(DS_PROBE_BUFFER / 2) + PAGES(ds_cpu_bytes());
    uint8_t *at = boot_alloc(pages);
    return at ? (uint8_t *)(((uintptr_t)at + DS_PROBE_BUFFER - 1) & ~(uintptr_t)(DS_PROBE_BUFFER - 1)) : NULL;
}

void report_probe_answers(void (*put)(const char *name, const char *value))
{
    if (!machine_kind)
        return;
    put("probe", "0");
    put("asked", machine_kind);
    for (unsigned i = 0; i < DS_PROBE_ROWS; i++)
        if (results[i].answer[0])
            put(ds_probe_rows[i].name, results[i].answer);
}

void report_probe(const struct ds_caps *caps)
{
    struct report_trap trap;
    uint32_t leaf[4];
    arch_cpuid(1, 0, leaf);
    const bool hypervisor = leaf[2] & CPUID_01H_ECX_HYPERVISOR;
    uint8_t *memory = get_memory();
    if (!memory) {
        report_say("stopped=no memory for the probe");
        return;
    }
    bench = (struct ds_probe_bench){.machine = ds_hw_machine(),
                                    .caps = caps,
                                    .buffer = memory,
                                    .copy = memory + DS_PROBE_BUFFER,
                                    .area = (uint64_t *)(void *)(memory + DS_PROBE_BUFFER * 3 / 2),
                                    .driver = (void *)(memory + DS_PROBE_BUFFER * 3 / 2 + ARCH_PAGE_SIZE),
                                    .samples = hypervisor ? SAMPLES_VIRTUAL : DS_PROBE_SAMPLES,
                                    .no_unmapped = "may be fatal on silicon: not tried",
                                    .vector = REPORT_VECTOR,
                                    .execute = execute,
                                    .interrupts = interrupts,
                                    .before = before};
    if (!ds_probe_code(bench.sled)) {
        report_say("stopped=the code of the probe is not as it should be");
        return;
    }
    arch_cpuid(CPUID_HYPERVISOR, 0, leaf);
    machine_kind = !hypervisor ? "processor" : memcmp(&leaf[1], "TCGTCGTCGTCG", 12) == 0 ? "TCG" : "virtual";
    report_line("probe.0.machine=%s", machine_kind);
    const int e = report_call(run, NULL, &trap);
    print_to(e || outcome ? printed : DS_PROBE_ROWS + DS_PROBE_COSTS);
    if (e)
        report_say_trap(row_name(printed), &trap);
    else if (outcome)
        report_say("stopped=%s", error);
    else
        say();
    report_line("interrupts=%u PMIs, %u NMIs, %u others", report_pmis, report_nmis, report_strays);
}
