/* SPDX-License-Identifier: MIT */
/*
 * What arch/apic.c and arch/x2apic make of a local APIC as firmware may leave it: in either mode, with entries of its
 * own enabled and vectors in service. The registers are memory, the MSRs a table.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

#include "arch/apic.c" /* its registers and its mode are its own */
#include "arch/instructions.h"
#include "arch/internal.h"
#include "arch/registers.h"
#include "arch/x2apic/x2apic.h"
#include "kernel/lib/cpuset.h"
#include "kernel/lib/errno.h"

#include "kernel/lib/print.h"

static uint64_t base_msr, base_writes[4], x2apic_msrs[0x100];
static unsigned writes;
static uint32_t page[ARCH_PAGE_SIZE / 4];
struct acpi_info arch_acpi;

/* Whether IA32_ARCH_CAPABILITIES is there, whether it says that IA32_XAPIC_DISABLE_STATUS is, and what that says: the
 * next of the three is only there where the one before it says so. */
static unsigned lock;
static bool has_x2apic;
enum { HAS_CAPABILITIES = 1, HAS_STATUS = 2, LOCKED = 4 };

void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    assert_int_equal(subleaf, 0);
    memset(out, 0, 4 * sizeof out[0]);
    if (leaf == 0)
        out[0] = 7;
    else if (leaf == 1)
        out[2] = has_x2apic ? CPUID_1_ECX_X2APIC : 0;
    else if (leaf == 7)
        out[3] = lock & HAS_CAPABILITIES ? CPUID_7_EDX_ARCH_CAPABILITIES : 0;
    else
        fail_msg("leaf %x", leaf);
}

uint64_t rdmsr(uint32_t msr)
{
    if (msr == IA32_APIC_BASE)
        return base_msr;
    if (msr == IA32_ARCH_CAPABILITIES) {
        assert_true(lock & HAS_CAPABILITIES); /* else #GP */
        return lock & HAS_STATUS ? ARCH_CAPABILITIES_XAPIC_DISABLE : 0;
    }
    if (msr == IA32_XAPIC_DISABLE_STATUS) {
        assert_true(lock & HAS_STATUS);
        return lock & LOCKED ? LEGACY_XAPIC_DISABLED : 0;
    }
    assert_in_range(msr, X2APIC_MSR, X2APIC_MSR + 0xFF);
    assert_true(base_msr & APIC_BASE_EXTD); /* else #GP */
    return x2apic_msrs[msr - X2APIC_MSR];
}

void wrmsr(uint32_t msr, uint64_t value)
{
    if (msr == IA32_APIC_BASE) {
        /* SDM vol. 3, "x2APIC State Transitions": one step at a time, and the only way back is through an APIC that is
         * off. */
        const uint64_t mode = value & (APIC_BASE_EN | APIC_BASE_EXTD);
        const uint64_t before = base_msr & (APIC_BASE_EN | APIC_BASE_EXTD);
        assert_true(mode != APIC_BASE_EXTD);
        if (mode != before)
            assert_true(before == (APIC_BASE_EN | APIC_BASE_EXTD) ? mode == 0
                        : before == 0                             ? mode == APIC_BASE_EN
                                                                  : mode & APIC_BASE_EN);
        assert_int_equal(value & APIC_BASE_ADDRESS, base_msr & APIC_BASE_ADDRESS);
        assert_true(writes < 4);
        if (mode == 0) { /* "Local APIC Status and Location": as after RESET */
            x2apic_msrs[APIC_LVT_THERMAL / 16] = x2apic_msrs[APIC_LVT_CMCI / 16] = LVT_MASKED;
            page[APIC_VERSION / 4] = (uint32_t)x2apic_msrs[APIC_VERSION / 16];
            page[APIC_LVT_THERMAL / 4] = page[APIC_LVT_CMCI / 4] = LVT_MASKED;
            page[APIC_SVR / 4] = 0xFF;
        }
        base_writes[writes++] = base_msr = value;
        return;
    }
    assert_in_range(msr, X2APIC_MSR, X2APIC_MSR + 0xFF);
    assert_true(base_msr & APIC_BASE_EXTD);
    x2apic_msrs[msr - X2APIC_MSR] = value;
}

static char said[512];

void kprintf(const char *format, ...)
{
    const size_t at = strlen(said);
    va_list args;
    va_start(args, format);
    vsnprintf(said + at, sizeof said - at, format, args);
    va_end(args);
}

void arch_features_add(const char *word)
{
    fail_msg("%s", word);
}

static const struct boot_info boot_info;
const struct boot_info *arch_boot_info = &boot_info;
const struct acpi_memory arch_acpi_memory;

static uint8_t dmar[48];
static uint32_t dmar_size; /* 0: there is none */

int acpi_find(const struct acpi_memory *memory, uint64_t rsdp, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem)
{
    (void)rsdp, (void)problem;
    assert_ptr_equal(memory, &arch_acpi_memory);
    assert_string_equal(signature, "DMAR");
    *bytes = dmar;
    *size = dmar_size;
    return dmar_size ? 0 : -ENOENT;
}

#define MEMORY_END 0x80000000u /* all below is, but for page 0 */

bool arch_is_memory(const struct boot_info *info, uint64_t phys, uint64_t size)
{
    assert_ptr_equal(info, arch_boot_info);
    return phys + size > ARCH_PAGE_SIZE && phys < MEMORY_END;
}

/* What is where I/O APICs may be: registers that answer what was written to them last. */
static uint32_t ioapic[8];
static uint64_t mapped[4];
static unsigned maps;
static bool no_room;

void *arch_map_device(uint64_t phys, size_t size)
{
    assert_false(arch_is_memory(arch_boot_info, phys, size));
    assert_int_equal(size, sizeof ioapic);
    assert_true(maps < 4);
    mapped[maps++] = phys;
    return no_room ? NULL : ioapic;
}

static uint32_t *reg(uint32_t offset)
{
    return x2apic ? (uint32_t *)&x2apic_msrs[offset / 16] : &page[offset / 4];
}

/* As firmware leaves it, in mode `base`, with `last_lvt` as the highest entry. */
static void begin(bool x2, uint64_t base, uint32_t last_lvt)
{
    memset(page, 0, sizeof page);
    memset(x2apic_msrs, 0, sizeof x2apic_msrs);
    memset(&reachable, 0, sizeof reachable);
    x2apic = x2;
    registers = x2 ? NULL : page; /* as arch_apic_init leaves it */
    writes = 0;
    base_msr = 0xFEE00000 | base;
    *reg(APIC_VERSION) = last_lvt << 16 | 0x15;
    *reg(APIC_SVR) = 0x10F;
    *reg(APIC_TPR) = 0x80;
    *reg(APIC_LVT_TIMER) = LVT_TIMER_PERIODIC | 0x40;
    *reg(APIC_TIMER_INITIAL) = 100000;
    *reg(APIC_LVT_LINT0) = 0x700; /* ExtINT: virtual wire mode */
    *reg(APIC_LVT_LINT1) = LVT_NMI;
    *reg(APIC_LVT_ERROR) = 0x41;
    *reg(APIC_LVT_PC) = LVT_NMI;
    *reg(APIC_LVT_THERMAL) = 0x42;
    *reg(APIC_LVT_CMCI) = 0x43;
    arch_acpi = (struct acpi_info){.cpu_count = 2, .apic_ids = {7, 300}};
}

static void expect_silent(void)
{
    assert_int_equal(*reg(APIC_SVR), SVR_ENABLE | ARCH_VECTOR_SPURIOUS);
    assert_int_equal(*reg(APIC_TPR), 0);
    assert_int_equal(*reg(APIC_LVT_TIMER), LVT_MASKED);
    assert_int_equal(*reg(APIC_TIMER_INITIAL), 0);
    assert_int_equal(*reg(APIC_LVT_ERROR), LVT_MASKED);
    assert_int_equal(*reg(APIC_LVT_LINT0), LVT_MASKED);
    assert_int_equal(*reg(APIC_LVT_LINT1), LVT_NMI);
}

static const struct arch_cpu first = {.index = 0, .apic_id = 7}, other = {.index = 200, .apic_id = 300};

static void xapic(void **state)
{
    (void)state;
    begin(false, APIC_BASE_EN, 6);
    arch_apic_cpu_init(&first);
    expect_silent();
    assert_int_equal(*reg(APIC_LVT_PC), LVT_MASKED);
    assert_int_equal(*reg(APIC_LVT_THERMAL), LVT_MASKED);
    assert_int_equal(*reg(APIC_LVT_CMCI), LVT_MASKED);
    assert_int_equal(base_msr & (APIC_BASE_EN | APIC_BASE_EXTD), APIC_BASE_EN);
    assert_true(kcpuset_has(&reachable, 0));
}

static void turned_off(void **state)
{
    (void)state;
    begin(false, 0, 5);
    arch_apic_cpu_init(&first);
    assert_int_equal(writes, 1);
    assert_true(base_msr & APIC_BASE_EN && !(base_msr & APIC_BASE_EXTD));
}

static void x2apic_handed_over(void **state)
{
    (void)state;
    begin(true, APIC_BASE_EN | APIC_BASE_EXTD, 6);
    arch_apic_cpu_init(&other);
    assert_int_equal(base_msr & (APIC_BASE_EN | APIC_BASE_EXTD), APIC_BASE_EN | APIC_BASE_EXTD);
    expect_silent();
    assert_true(kcpuset_has(&reachable, 200) && !kcpuset_has(&reachable, 200 - 64));
    assert_int_equal(page[APIC_SVR / 4], 0);
}

static void into_x2apic(void **state)
{
    (void)state;
    for (unsigned on = 0; on < 2; on++) {
        begin(true, on ? APIC_BASE_EN : 0, 6);
        arch_apic_cpu_init(&other);
        assert_int_equal(writes, 2);
        assert_int_equal(base_writes[1] & (APIC_BASE_EN | APIC_BASE_EXTD), APIC_BASE_EN | APIC_BASE_EXTD);
    }
}

static void out_of_x2apic(void **state)
{
    (void)state;
    begin(false, APIC_BASE_EN | APIC_BASE_EXTD, 6);
    arch_apic_cpu_init(&first);
    assert_int_equal(base_writes[0] & (APIC_BASE_EN | APIC_BASE_EXTD), 0);
    assert_int_equal(base_writes[1] & (APIC_BASE_EN | APIC_BASE_EXTD), APIC_BASE_EN);
    expect_silent();
}

/* ---- which mode */

enum { XAPIC, X2APIC, REFUSED };

static const char far_ids[] = "apic: processors with APIC IDs above 254: 1; x2APIC mode is turned on for them\n";

static void modes(void **state)
{
    (void)state;
    static const struct {
        enum arch_x2apic wanted;
        bool cpuid, handed_over, opt_out, far, far_boot;
        unsigned lock, expected;
        const char *said;
    } cases[] = {
        /* as the firmware left it, whatever CPUID has */
        {ARCH_X2APIC_AUTO, .cpuid = true, .expected = XAPIC, .said = ""},
        {ARCH_X2APIC_AUTO, .cpuid = false, .expected = XAPIC, .said = ""},
        {ARCH_X2APIC_AUTO, .cpuid = true, .opt_out = true, .expected = XAPIC, .said = ""},
        {ARCH_X2APIC_AUTO, .cpuid = true, .handed_over = true, .expected = X2APIC, .said = ""},
        {ARCH_X2APIC_AUTO, .cpuid = true, .handed_over = true, .opt_out = true, .far = true, .expected = X2APIC,
         .said = ""},
        /* large APIC IDs */
        {ARCH_X2APIC_AUTO, .cpuid = true, .far = true, .expected = X2APIC, .said = far_ids},
        {ARCH_X2APIC_AUTO, .cpuid = true, .far = true, .opt_out = true, .expected = XAPIC,
         .said = "apic: processors with APIC IDs above 254: 1; the firmware asks for xAPIC mode (table DMAR): "
                 "they are left out\n"},
        {ARCH_X2APIC_AUTO, .far = true, .expected = XAPIC,
         .said = "apic: processors with APIC IDs above 254: 1; this processor has no x2APIC mode: they are left out\n"},
        {ARCH_X2APIC_ON, .cpuid = true, .expected = X2APIC, .said = ""},
        {ARCH_X2APIC_ON, .cpuid = true, .opt_out = true, .expected = X2APIC,
         .said = "apic: x2apic=on, though the firmware asks for xAPIC mode (table DMAR)\n"},
        {ARCH_X2APIC_ON, .expected = REFUSED,
         .said = "apic: x2apic=on: this processor has no x2APIC mode: give x2apic=auto\n"},
        {ARCH_X2APIC_OFF, .cpuid = true, .far = true, .expected = XAPIC, .said = ""},
        {ARCH_X2APIC_OFF, .cpuid = true, .handed_over = true, .expected = XAPIC, .said = ""},
        {ARCH_X2APIC_OFF, .cpuid = true, .handed_over = true, .lock = HAS_CAPABILITIES, .expected = XAPIC, .said = ""},
        {ARCH_X2APIC_OFF, .cpuid = true, .handed_over = true, .lock = HAS_CAPABILITIES | HAS_STATUS, .expected = XAPIC,
         .said = ""},
        {ARCH_X2APIC_OFF, .cpuid = true, .handed_over = true, .lock = HAS_CAPABILITIES | HAS_STATUS | LOCKED,
         .expected = REFUSED,
         .said = "apic: x2apic=off: the firmware has locked x2APIC mode (IA32_XAPIC_DISABLE_STATUS): give "
                 "x2apic=auto\n"},
        {ARCH_X2APIC_OFF, .cpuid = true, .handed_over = true, .far_boot = true, .expected = REFUSED,
         .said = "apic: x2apic=off: the boot processor's APIC ID, 512, needs x2APIC mode: give x2apic=auto\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(!cases[i].handed_over, APIC_BASE_EN | (cases[i].handed_over ? APIC_BASE_EXTD : 0), 6);
        dmar_size = i % 3 || cases[i].opt_out ? DMAR_SIZE : 0;
        dmar[DMAR_FLAGS] = cases[i].opt_out ? 7 : 5;
        has_x2apic = cases[i].cpuid;
        arch_acpi.apic_ids[0] = cases[i].far_boot ? 512 : 7;
        arch_acpi.apic_ids[1] = cases[i].far ? 255 : 254;
        lock = cases[i].lock;
        said[0] = '\0';
        arch_x2apic_want(cases[i].wanted);
        const int error = arch_apic_choose(&x2apic);
        assert_string_equal(said, cases[i].said);
        assert_int_equal(error, cases[i].expected == REFUSED ? -ENODEV : 0);
        if (!error)
            assert_int_equal(x2apic, cases[i].expected == X2APIC);
        assert_int_equal(writes, 0); /* to choose is not to switch */
    }
}

static void who_is_left_out(void **state)
{
    (void)state;
    static const uint32_t ids[] = {7, 255, 254, 300, UINT32_MAX, 0};
    for (unsigned x2 = 0; x2 < 2; x2++) {
        begin(x2, APIC_BASE_EN, 6);
        arch_acpi = (struct acpi_info){.cpu_count = 6, .cpus_left_out = 2};
        for (unsigned i = 0; i < 6; i++)
            arch_acpi.apic_ids[i] = ids[i];
        leave_out_beyond(x2 ? X2APIC_HIGHEST_ID : XAPIC_HIGHEST_ID);
        assert_int_equal(arch_acpi.cpu_count, x2 ? 5 : 3);
        assert_int_equal(arch_acpi.cpus_left_out, x2 ? 2 + 1 : 2 + 3);
        assert_int_equal(arch_acpi.apic_ids[0], 7);
        assert_int_equal(arch_acpi.apic_ids[x2 ? 4 : 2], 0);
        assert_int_equal(arch_acpi.apic_ids[1], x2 ? 255 : 254);
    }
}

static void a_short_dmar(void **state)
{
    (void)state;
    begin(true, APIC_BASE_EN, 6);
    arch_x2apic_want(ARCH_X2APIC_ON);
    has_x2apic = true;
    dmar_size = DMAR_SIZE - 1;
    dmar[DMAR_FLAGS] = DMAR_FLAG_X2APIC_OPT_OUT;
    said[0] = '\0';
    assert_int_equal(arch_apic_choose(&x2apic), 0);
    assert_string_equal(said, "acpi: table DMAR: it is too short: not used\n");
}

static void what_leads_to_smm_stays(void **state)
{
    (void)state;
    begin(false, APIC_BASE_EN | APIC_BASE_EXTD, 6); /* out of x2APIC mode */
    x2apic_msrs[APIC_VERSION / 16] = 6 << 16 | 0x15;
    x2apic_msrs[APIC_LVT_THERMAL / 16] = LVT_SMI;
    x2apic_msrs[APIC_LVT_CMCI / 16] = 0x43;
    arch_apic_cpu_init(&first);
    assert_int_equal(*reg(APIC_LVT_THERMAL), LVT_SMI);
    assert_int_equal(*reg(APIC_LVT_CMCI), LVT_MASKED);
    begin(false, APIC_BASE_EN, 6);
    *reg(APIC_LVT_THERMAL) = *reg(APIC_LVT_CMCI) = LVT_SMI;
    *reg(APIC_LVT_PC) = LVT_SMI; /* but for this: it is the kernel's */
    arch_apic_cpu_init(&first);
    assert_int_equal(*reg(APIC_LVT_THERMAL), LVT_SMI);
    assert_int_equal(*reg(APIC_LVT_CMCI), LVT_SMI);
    assert_int_equal(*reg(APIC_LVT_PC), LVT_MASKED);
}

/* An entry that is not there must not be written: in x2APIC mode that is a #GP. */
static void few_entries(void **state)
{
    (void)state;
    static const uint32_t offset[] = {APIC_LVT_PC, APIC_LVT_THERMAL, APIC_LVT_CMCI};
    for (uint32_t last = 3; last <= 6; last++) {
        begin(false, APIC_BASE_EN, last);
        for (unsigned i = 0; i < 3; i++)
            *reg(offset[i]) = 0x55;
        arch_apic_cpu_init(&first);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(*reg(offset[i]), last >= 4 + i ? LVT_MASKED : 0x55);
    }
}

/* ---- I/O APICs that the MADT names */

static void begin_ioapics(uint64_t one, uint64_t two, uint32_t answer)
{
    arch_acpi = (struct acpi_info){.ioapic_count = 2, .ioapics = {one, two}};
    memset(ioapic, 0, sizeof ioapic);
    ioapic[IOAPIC_WINDOW] = answer;
    said[0] = '\0';
    maps = 0;
    no_room = false;
}

static void ioapics_masked(void **state)
{
    (void)state;
    static const uint32_t answers[] = {2 << 16 | 0x20, 2 << 16 | 0x20 | IOAPIC_SMI}; /* version as well as entries */
    for (unsigned smi = 0; smi < 2; smi++) {
        begin_ioapics(0xFEC00000, 0, answers[smi]);
        arch_acpi.ioapic_count = 1;
        assert_int_equal(mask_ioapics(), 0);
        assert_int_equal(ioapic[IOAPIC_SELECT], IOAPIC_ENTRY + 2 * 2);
        assert_int_equal(ioapic[IOAPIC_WINDOW], answers[smi] | (smi ? 0 : IOAPIC_MASKED));
        assert_string_equal(said, "");
    }
}

static void bogus_ioapics(void **state)
{
    (void)state;
    begin_ioapics(0, 0xFEC00000, 0x00170020); /* nothing is written where none is, and the next one is masked */
    assert_int_equal(mask_ioapics(), 0);
    assert_int_equal(maps, 1);
    assert_int_equal(mapped[0], 0xFEC00000);
    assert_string_equal(said, "apic: no I/O APIC at 0x0, where table APIC has one (address 0): not used\n");

    begin_ioapics(0xFEC00000, 0x100000, 0x00170020);
    assert_int_equal(mask_ioapics(), 0);
    assert_int_equal(maps, 1);
    assert_string_equal(said, "apic: no I/O APIC at 0x100000, where table APIC has one (memory is there): not used\n");

    begin_ioapics(0xFEC00000, 0x100000, UINT32_MAX);
    arch_acpi.ioapic_count = 1;
    assert_int_equal(mask_ioapics(), 0);
    assert_int_equal(ioapic[IOAPIC_SELECT], IOAPIC_VERSION); /* asked, and no entry written */
    assert_string_equal(said,
                        "apic: no I/O APIC at 0xfec00000, where table APIC has one (nothing answers): not used\n");
}

static void no_room_for_ioapics(void **state)
{
    (void)state;
    begin_ioapics(0xFEC00000, 0xFEC10000, 0x00170020);
    no_room = true;
    assert_int_equal(mask_ioapics(), -ENOMEM);
    assert_string_equal(said, "apic: the I/O APIC at 0xfec00000 cannot be mapped\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xapic),
        cmocka_unit_test(turned_off),
        cmocka_unit_test(into_x2apic),
        cmocka_unit_test(x2apic_handed_over),
        cmocka_unit_test(few_entries),
        cmocka_unit_test(what_leads_to_smm_stays),
        cmocka_unit_test(ioapics_masked),
        cmocka_unit_test(bogus_ioapics),
        cmocka_unit_test(no_room_for_ioapics),
        cmocka_unit_test(out_of_x2apic),
        cmocka_unit_test(modes),
        cmocka_unit_test(who_is_left_out),
        cmocka_unit_test(a_short_dmar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
