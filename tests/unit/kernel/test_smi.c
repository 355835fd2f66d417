/* SPDX-License-Identifier: MIT */
/* kernel/inventory/smi.c: what is said of system management interrupts, on machines with and without their count. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

#include "kernel/inventory/smi.c" /* its phases, its card's row and its sections, each by itself */

static uint64_t counter[2];
static bool has[2], intel;
static char out[512], card_said[32];
static uint32_t cpu;
uint32_t kcpu_count = 2;

uint32_t arch_cpu_index(void)
{
    return cpu;
}

void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t r[4])
{
    assert_int_equal(leaf | subleaf, 0);
    memset(r, 0, 4 * sizeof *r);
    memcpy(&r[1], intel ? "Genu" : "Auth", 4);
}

int arch_rdmsr_safe(uint32_t msr, uint64_t *value)
{
    assert_int_equal(msr, 0x34);
    assert_true(intel);
    if (!has[cpu])
        return -14;
    *value = counter[cpu];
    return 0;
}

void kcross_call_all(void (*function)(void *), void *argument)
{
    for (cpu = 0; cpu < kcpu_count; cpu++)
        function(argument);
}

static void add(const char *format, va_list args)
{
    const size_t n = strlen(out);
    vsnprintf(out + n, sizeof out - n, format, args);
}

void kprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(format, args);
    va_end(args);
}

void trace_dump_print(struct trace_dump *d, enum cairn_stream stream, const char *format, ...)
{
    va_list args;
    (void)d;
    va_start(args, format);
    snprintf(out + strlen(out), sizeof out - strlen(out), "%c ", stream == CAIRN_STREAM_END ? 'E' : 'M');
    add(format, args);
    snprintf(out + strlen(out), sizeof out - strlen(out), ",");
    va_end(args);
}

static void put(const char *name, const char *value)
{
    snprintf(card_said, sizeof card_said, "%s=%s", name, value);
}

/* Each CPU's count rises by these while the run lasts. */
static void run(uint32_t first, uint32_t second)
{
    memset(counts, 0, sizeof counts);
    out[0] = card_said[0] = '\0';
    begin(NULL);
    counter[0] += first;
    counter[1] += second;
    end(NULL);
    say(NULL);
    tell(put);
    dump_begin(NULL);
    dump_end(NULL);
}

static void test_counts(void **state)
{
    (void)state;
    intel = has[0] = has[1] = true;
    counter[0] = 7, counter[1] = 8;
    run(2, 3);
    assert_string_equal(out, "smi: 3 system management interrupts since the CPUs started: times and counts include "
                             "them\nM cpu.0.smi=7,M cpu.1.smi=8,E end.cpu.0.smi=9,E end.cpu.1.smi=11,");
    assert_string_equal(card_said, "smi=3");
    run(0, 0);
    assert_string_equal(out, "M cpu.0.smi=9,M cpu.1.smi=11,E end.cpu.0.smi=9,E end.cpu.1.smi=11,");
    assert_string_equal(card_said, "");
    counter[0] = UINT32_MAX; /* 32 bits count, the upper half is reserved */
    has[1] = false;
    run(4, 0);
    assert_string_equal(card_said, "smi=4");
    assert_non_null(strstr(out, "M cpu.0.smi=4294967295,E end.cpu.0.smi=3,"));
}

static void test_unknown(void **state)
{
    (void)state;
    intel = true;
    has[0] = has[1] = false;
    run(1, 1);
    assert_string_equal(out, "");
    assert_string_equal(card_said, "");
    intel = false;
    has[0] = has[1] = true;
    run(1, 1);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
