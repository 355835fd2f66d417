/* SPDX-License-Identifier: MIT */
/* arch/smp.c: which pages the trampoline gets, and how often a processor is asked to start that is slow, deaf for a
 * while (in System Management Mode), or late. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

#include "arch/smp.c" /* the place that it offers, and the code's page */
#include "tests/unit/fake/processor.h"

#define RANGES 8u

/* As arch/ap.asm has them. */
__asm__(".data\n.globl arch_trampoline, arch_trampoline_end, arch_trampoline_cr3, arch_trampoline_cr4\n"
        "arch_trampoline: .fill 56, 1, 0x90\narch_trampoline_cr3: .long 0\narch_trampoline_cr4: .long 0\n"
        "arch_trampoline_end:\n.text\n");

static struct boot_memory ranges[RANGES];
static struct boot_info info;
const struct boot_info *arch_boot_info = &info;
struct acpi_info arch_acpi;
static uint8_t low[LOW_MEMORY_END], tables[ARCH_PAGE_SIZE];

static struct {
    unsigned inits, startups; /* sent */
    unsigned deaf;            /* so many STARTUPs are lost */
    bool claims;              /* it takes its place, but does not arrive */
    int error;                /* of each command */
    uint64_t last;            /* when the last INIT was sent */
} ap;
static struct arch_cpu cpu;

void *arch_phys_to_virt(uint64_t phys)
{
    return phys < sizeof low ? low + phys : (void *)(uintptr_t)phys;
}

uint64_t kernel_page_permanent(void)
{
    return (uintptr_t)tables;
}

int arch_paging_identity(uint64_t copy, uint64_t phys)
{
    assert_true(copy != phys);
    return 0;
}

uint64_t read_cr4(void)
{
    return CR4_PAE;
}

int arch_stack_make_ist(uint32_t index, void *tops[IST_COUNT])
{
    (void)index, (void)tops;
    return 0;
}

void arch_tables_fill(void *page, void *const ist_tops[IST_COUNT])
{
    (void)ist_tops;
    assert_ptr_equal(page, tables);
}

uint64_t arch_tsc_hz(void)
{
    return 1000000;
}

void arch_delay_us(uint64_t us)
{
    processor.tsc += us;
}

int arch_apic_send(uint32_t apic_id, uint32_t command)
{
    assert_int_equal(apic_id, 9);
    if (command == (ICR_INIT | ICR_LEVEL_ASSERT)) {
        assert_int_equal(arch_ap_expected, (uint32_t)ARCH_AP_NOBODY); /* no place for one that this INIT ends */
        ap.inits++;
        ap.last = processor.tsc;
        return ap.error;
    }
    assert_int_equal(command, ICR_STARTUP | ICR_LEVEL_ASSERT | (uint32_t)(code_page / ARCH_PAGE_SIZE));
    assert_true(processor.tsc - ap.last >= INIT_WAIT_US);
    if (ap.startups++ < ap.deaf)
        return 0;
    if (arch_ap_expected == 9) {
        arch_ap_expected = (uint32_t)ARCH_AP_NOBODY;
        cpu.started = ap.claims ? START_NOT_YET : START_ARRIVED;
    }
    return 0;
}

/* The rest of arch/ that smp.c's other half calls. */
void arch_tables_load(struct arch_cpu *c)
{
    (void)c;
    abort();
}

void arch_cpu_init(void)
{
    abort();
}

void arch_apic_cpu_init(const struct arch_cpu *c)
{
    (void)c;
    abort();
}

void kernel_ap_main(struct arch_cpu *c)
{
    (void)c;
    abort();
}

void kpanic(const char *format, ...)
{
    fail_msg("%s", format);
    abort();
}

static void memory(const struct boot_memory *from, unsigned count)
{
    memcpy(ranges, from, count * sizeof *from);
    info.memory = (uintptr_t)ranges;
    info.memory_count = count;
    code_page = 0;
}

static int begin(void **state)
{
    static const struct boot_memory all = {.size = 0x80000, .type = BOOT_MEMORY_CONVENTIONAL};
    (void)state;
    memory(&all, 1);
    memset(&ap, 0, sizeof ap);
    memset(&cpu, 0, sizeof cpu);
    cpu.index = 1;
    processor.tsc = 0;
    processor.step = 10;
    arch_acpi.cpu_count = 2;
    arch_acpi.apic_ids[1] = 9;
    arch_ap_expected = (uint32_t)ARCH_AP_NOBODY;
    return 0;
}

static int start(void)
{
    return arch_smp_start(1, &cpu, low);
}

#define CONVENTIONAL BOOT_MEMORY_CONVENTIONAL
#define SERVICES     BOOT_MEMORY_BOOT_SERVICES_CODE

static void test_low_pages(void **state)
{
    static const struct {
        struct boot_memory ranges[4];
        uint64_t pages[2]; /* 0: there are none */
    } cases[] = {
        /* the highest of conventional memory, below that of boot services */
        {{{0, 0x58000, 0, CONVENTIONAL, 0},
          {0x58000, 0x48000, 0, SERVICES, 0},
          {0x100000, 0x10000, 0, CONVENTIONAL, 0}},
         {0x57000, 0x56000}},
        {{{0x1000, 0x1000, 0, CONVENTIONAL, 0},
          {0x2000, 0x1000, 0, SERVICES, 0},
          {0x3000, 0x1000, 0, CONVENTIONAL, 0},
          {0x4000, 0x1000, 0, BOOT_MEMORY_ACPI_NVS, 0}},
         {0x3000, 0x1000}},
        /* only one page of it, and page 0: the other one is the highest of boot services */
        {{{0, 0x2000, 0, CONVENTIONAL, 0}, {0x2000, 0x9000, 0, SERVICES, 0}, {0xB000, 0x1000, 0, 6, 0}},
         {0x1000, 0xA000}},
        {{{0, 0x9000, 0, BOOT_MEMORY_BOOT_SERVICES_DATA, 0}}, {0x8000, 0x7000}},
        {{{0, 0x2000, 0, CONVENTIONAL, 0}, {0x2000, 0x1000, 0, BOOT_MEMORY_LOADER_DATA, 0}}, {0}},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t pages[2];
        unsigned count = 0;
        while (count < 4 && cases[i].ranges[count].size)
            count++;
        memory(cases[i].ranges, count);
        assert_int_equal(find_low_pages(pages), cases[i].pages[0] ? 0 : -ENOMEM);
        if (cases[i].pages[0])
            assert_true(pages[0] == cases[i].pages[0] && pages[1] == cases[i].pages[1]);
    }
}

static void test_starts(void **state)
{
    (void)state;
    assert_int_equal(start(), 0);
    assert_true(ap.inits == 1 && ap.startups == 1 && cpu.started == START_LET_GO);
    begin(NULL);
    ap.deaf = 1;
    assert_int_equal(start(), 0);
    assert_true(ap.inits == 1 && ap.startups == 2);
}

/* Both STARTUPs are lost, as in System Management Mode; the INIT has waited. */
static void test_lost(void **state)
{
    (void)state;
    ap.deaf = 2;
    assert_int_equal(start(), 0);
    assert_true(ap.inits == 2 && ap.startups == 3 && cpu.started == START_LET_GO);
}

/* It is asked twice, and then left alone: an INIT, and no place. */
static void test_never(void **state)
{
    (void)state;
    ap.deaf = UINT32_MAX;
    assert_int_equal(start(), -ETIMEDOUT);
    assert_true(ap.inits == 3 && ap.startups == 4);
    assert_int_equal(arch_ap_expected, (uint32_t)ARCH_AP_NOBODY);
    assert_true(processor.tsc > 10000000 && processor.tsc < 10100000);
}

/* One that has taken its place is not asked again: it stands on its stack, with its tables loaded. */
static void test_stuck(void **state)
{
    (void)state;
    ap.claims = true;
    assert_int_equal(start(), -ETIMEDOUT);
    assert_true(ap.inits == 2 && ap.startups == 2);
}

static void test_no_apic(void **state)
{
    (void)state;
    ap.error = -EIO;
    assert_int_equal(start(), -EIO);
    assert_true(ap.inits == 3 && ap.startups == 0 && processor.tsc < 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_low_pages, begin), cmocka_unit_test_setup(test_starts, begin),
        cmocka_unit_test_setup(test_lost, begin),      cmocka_unit_test_setup(test_never, begin),
        cmocka_unit_test_setup(test_stuck, begin),     cmocka_unit_test_setup(test_no_apic, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
