/* SPDX-License-Identifier: MIT */
/*
 * tools/report/take.c and apic.c: the processor is taken from firmware of many kinds and given back as it was, whatever
 * raises an exception in between. The registers of the local APIC are memory or a table of MSRs.
 */
#include <setjmp.h>
#include <string.h>

#include "arch/apic_registers.h"
#include "arch/arch.h"
#include "arch/registers.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "tools/report/instructions.h"
#include "tools/report/report.h"

#define DEADLINE  0x6E0u /* IA32_TSC_DEADLINE */
#define NOW       1234u
#define REGS      64u /* of the APIC */
#define GATE      16u /* bytes, of an IDT */
#define VECTOR_MC 18u

static uint32_t page[4096 / 4] __attribute__((aligned(4096)));

static struct machine {
    uint64_t base, cr4, cr8, deadline;
    uint32_t edx; /* of CPUID.01H */
    bool irq_on, base_refused;
    uint8_t pic[2];
    struct report_table idt;
    uint32_t reg[REGS];          /* of the APIC in x2APIC mode */
    unsigned written[REGS];      /* how often, there */
    unsigned accesses, fault_at; /* of them; 0: none faults */
    unsigned all_off;            /* writes of 0 to what counts */
} m;

static uint64_t firmware_idt[64];
static jmp_buf *call;

const uint8_t report_stubs[256][16];
const uint8_t ImageBase[1];
uint64_t report_apic_eoi;
struct report_trap report_caught;
int report_take_call(void (*f)(void *), void *argument);

void report_say(const char *format, ...)
{
    (void)format;
}

/* As take.asm does it: an exception ends the innermost call. */
int report_take_call(void (*f)(void *), void *argument)
{
    jmp_buf here, *outer = call;
    call = &here;
    const int e = setjmp(here);
    if (!e)
        f(argument);
    call = outer;
    return e ? -EFAULT : 0;
}

static void raise_at(uint64_t vector, uint64_t address)
{
    assert_non_null(call);
    report_caught = (struct report_trap){.vector = vector, .address = address};
    longjmp(*call, 1);
}

static void access_apic(unsigned reg)
{
    assert_true(m.base & APIC_BASE_EXTD);
    assert_in_range(reg, 0, REGS - 1);
    const unsigned last = VERSION_MAX_LVT(m.reg[APIC_VERSION / 16]);
    assert_true(reg != APIC_LVT_CMCI / 16 || last >= 6); /* else #GP */
    assert_true(reg != APIC_LVT_THERMAL / 16 || last >= 5);
    m.accesses++;
    if (m.accesses == m.fault_at)
        raise_at(13, reg);
}

uint64_t rdmsr(uint32_t msr)
{
    if (msr == IA32_APIC_BASE && m.base_refused)
        raise_at(13, 0);
    if (msr == IA32_APIC_BASE)
        return m.base;
    if (msr == DEADLINE)
        return m.deadline;
    access_apic(msr - X2APIC_MSR);
    return m.reg[msr - X2APIC_MSR];
}

void wrmsr(uint32_t msr, uint64_t value)
{
    if (msr == DEADLINE) {
        m.deadline = value;
        return;
    }
    access_apic(msr - X2APIC_MSR);
    m.reg[msr - X2APIC_MSR] = (uint32_t)value;
    m.written[msr - X2APIC_MSR]++;
}

int arch_wrmsr_safe(uint32_t msr, uint64_t value)
{
    (void)msr;
    assert_int_equal(value, 0);
    m.all_off++;
    return 0;
}

void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    assert_true(leaf == 1 && subleaf == 0);
    memset(out, 0, 4 * sizeof out[0]);
    out[3] = m.edx;
}

uint64_t read_cr4(void)
{
    return m.cr4;
}

uint64_t arch_rdtsc(void)
{
    return NOW;
}

uint64_t arch_read_rflags(void)
{
    return m.irq_on ? ARCH_RFLAGS_IF : 0;
}

void arch_cli(void)
{
    m.irq_on = false;
}

void arch_irq_restore(bool on)
{
    m.irq_on |= on;
}

uint8_t arch_in8(uint16_t port)
{
    assert_true(port == 0x21 || port == 0xA1);
    return m.pic[port == 0xA1];
}

void arch_out8(uint16_t port, uint8_t value)
{
    assert_true(port == 0x21 || port == 0xA1);
    m.pic[port == 0xA1] = value;
}

void report_sidt(struct report_table *to)
{
    *to = m.idt;
}

void report_lidt(const struct report_table *from)
{
    assert_false(m.irq_on);
    m.idt = *from;
}

uint64_t report_read_cr8(void)
{
    return m.cr8;
}

void report_write_cr8(uint64_t v)
{
    m.cr8 = v;
}

uint16_t report_read_cs(void)
{
    return 0x38;
}

/* ---- firmware ---------------------------------------------------------------------------------------------------- */

#define OFF       LVT_MASKED /* with vector 0, as after RESET */
#define NOT_THERE 0xDEADu

static const struct firmware {
    const char *name;
    uint32_t cmci, timer, thermal, pc, lint0, lint1, error, spurious;
    unsigned entries; /* the last one's number in the version register */
} kinds[] = {
    {"EDK II", OFF, 0x20040, OFF, OFF, 0x700, 0x400, OFF, 0x10F, 6},
    {"EDK II with a deadline", OFF, 0x40040, OFF, OFF, 0x700, 0x400, 0x31, 0x10F, 6},
    {"U-Boot", OFF, OFF, OFF, OFF, 0x700, 0x400, OFF, 0x1FF, 5},
    {"off by software", OFF, OFF, OFF, OFF, OFF, OFF, OFF, 0x0FF, 6},
    {"what leads to SMM", 0x200, 0x30, 0x200, 0x200, 0x700, 0x400, 0x32, 0x1FF, 6},
    {"an old APIC without CMCI and thermal sensor", NOT_THERE, 0x30, NOT_THERE, OFF, 0x700, 0x400, 0x32, 0x1FF, 4},
    {"all masked, with vectors", 0x100F2, 0x10030, 0x100F0, 0x100F1, 0x10700, 0x10400, 0x10032, 0x1FF, 6},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static uint32_t *reg(unsigned offset)
{
    return m.base & APIC_BASE_EXTD ? &m.reg[offset / 16] : &page[offset / 4];
}

static void start(const struct firmware *f, bool x2apic)
{
    memset(page, 0, sizeof page);
    m = (struct machine){.base = (uintptr_t)page | APIC_BASE_EN | (x2apic ? APIC_BASE_EXTD : 0),
                         .cr8 = 2,
                         .edx = 1u << 5 | 1u << 9,
                         .irq_on = true,
                         .pic = {0xB8, 0x8F},
                         .idt = {sizeof firmware_idt - 1, (uintptr_t)firmware_idt}};
    *reg(APIC_VERSION) = f->entries << 16 | 0x15;
    *reg(APIC_LVT_CMCI) = f->cmci;
    *reg(APIC_LVT_TIMER) = f->timer;
    *reg(APIC_LVT_THERMAL) = f->thermal;
    *reg(APIC_LVT_PC) = f->pc;
    *reg(APIC_LVT_LINT0) = f->lint0;
    *reg(APIC_LVT_LINT1) = f->lint1;
    *reg(APIC_LVT_ERROR) = f->error;
    *reg(APIC_SVR) = f->spurious;
    *reg(APIC_TIMER_INITIAL) = *reg(APIC_TIMER_CURRENT) = 1000;
    m.deadline = NOW + 1000;
    assert_null(report_take_check());
    assert_int_equal(m.idt.base, (uintptr_t)firmware_idt);
    assert_true(m.irq_on && m.cr8 == 2);
}

static const unsigned local[] = {APIC_LVT_CMCI,  APIC_LVT_TIMER, APIC_LVT_THERMAL, APIC_LVT_PC,
                                 APIC_LVT_LINT0, APIC_LVT_LINT1, APIC_LVT_ERROR,   APIC_SVR};
#define LOCAL (sizeof local / sizeof local[0])

static uint32_t had(const struct firmware *f, unsigned i)
{
    const uint32_t values[LOCAL] = {f->cmci, f->timer, f->thermal, f->pc, f->lint0, f->lint1, f->error, f->spurious};
    return values[i];
}

/* All of it, but for one register of the APIC. */
static void assert_given_but(const struct firmware *f, unsigned but)
{
    for (unsigned i = 0; i < LOCAL; i++)
        if (local[i] != but)
            assert_int_equal(*reg(local[i]), had(f, i));
    assert_true(m.idt.base == (uintptr_t)firmware_idt && m.idt.limit == sizeof firmware_idt - 1);
    assert_true(m.cr8 == 2 && m.pic[0] == 0xB8 && m.pic[1] == 0x8F && m.irq_on);
}

static void assert_given(const struct firmware *f)
{
    assert_given_but(f, 0);
}

/* No interrupt comes but that of LVTPC, NMIs, SMIs, and spurious ones at the report's own vector. */
static void assert_taken(void *firmware)
{
    const struct firmware *f = firmware;
    for (unsigned i = 0; i < LOCAL; i++) {
        const bool there = had(f, i) != NOT_THERE && local[i] != APIC_LVT_PC && local[i] != APIC_SVR;
        if (there && (had(f, i) & LVT_DELIVERY) != LVT_SMI)
            assert_true(*reg(local[i]) & LVT_MASKED);
        else if (local[i] != APIC_SVR)
            assert_int_equal(*reg(local[i]), had(f, i));
    }
    assert_int_equal(*reg(APIC_SVR) & 0x1FF, 0x1FF);
    assert_true(m.idt.base != (uintptr_t)firmware_idt && m.idt.limit == 4095);
    assert_true(m.cr8 == 14 && m.pic[0] == 0xFF && m.pic[1] == 0xFF && !m.irq_on);
}

static void work(void *f)
{
    assert_taken(f);
    report_lend();
    assert_given(f);
    report_lend_end();
    assert_taken(f);
    arch_lvtpc_write(REPORT_VECTOR); /* as the driver does */
    assert_int_equal(arch_lvtpc_read(), REPORT_VECTOR);
}

static void test_firmware(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * KINDS; i++) {
        struct firmware f = kinds[i / 2];
        struct report_trap trap;
        print_message("%s, %s\n", f.name, i & 1 ? "x2APIC" : "xAPIC");
        start(&f, i & 1);
        assert_int_equal(report_apic_eoi, i & 1 ? 0 : (uintptr_t)page + APIC_EOI);
        assert_int_equal(report_call(work, &f, &trap), 0);
        assert_given(&f);
        assert_int_equal(m.all_off, 0);
    }
}

/* A write of vector 0 is an error of the APIC's, masked or not. */
static void test_masked_is_not_written(void **state)
{
    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        struct firmware f = kinds[k];
        struct report_trap trap;
        start(&f, true);
        assert_int_equal(report_call(assert_taken, &f, &trap), 0);
        for (unsigned i = 0; i < LOCAL; i++) {
            const bool quiet = had(&f, i) & LVT_MASKED || local[i] == APIC_LVT_PC ||
                               (had(&f, i) & LVT_DELIVERY) == LVT_SMI || had(&f, i) == NOT_THERE;
            assert_int_equal(m.written[local[i] / 16], quiet && local[i] != APIC_SVR ? 0 : had(&f, i) == 0x1FF ? 1 : 2);
        }
    }
}

/* Whichever access raises an exception: it ends the call, is told, and all else is given back. */
static void test_exceptions(void **state)
{
    (void)state;
    for (unsigned k = 0; k < KINDS; k++) {
        struct firmware f = kinds[k];
        struct report_trap trap;
        start(&f, true);
        assert_int_equal(report_call(work, &f, &trap), 0);
        const unsigned accesses = m.accesses;
        assert_true(accesses > 20);
        for (unsigned n = 1; n <= accesses; n++) {
            start(&f, true);
            m.fault_at = n;
            assert_int_equal(report_call(work, &f, &trap), -EFAULT);
            assert_int_equal(trap.vector, 13);
            assert_given_but(&f, (unsigned)trap.address * 16);
            assert_true(m.all_off == 0 || m.all_off == 3);
        }
    }
}

static void fault(void *unused)
{
    (void)unused;
    raise_at(6, 0);
}

/* What may still count is off before the firmware goes on. */
static void test_exception_of_the_work(void **state)
{
    struct firmware f = kinds[0];
    struct report_trap trap;
    (void)state;
    start(&f, false);
    assert_int_equal(report_call(fault, NULL, &trap), -EFAULT);
    assert_true(trap.vector == 6 && m.all_off == 3);
    assert_given(&f);
}

static void run_out(void *unused)
{
    (void)unused;
    *reg(APIC_TIMER_CURRENT) = 0;
    m.deadline = 0;
}

static void nothing(void *unused)
{
    (void)unused;
}

/* A timer that runs out meanwhile, and does not come again by itself, rings afterwards; no other is touched. */
static void test_timer(void **state)
{
    static const struct {
        uint32_t lvt;
        bool runs_out;
        uint32_t initial;
        uint64_t deadline;
    } row[] = {{0x00040, true, 1, 0},    {0x00040, false, 1000, NOW + 1000}, {0x10040, true, 1000, 0},
               {0x20040, true, 1000, 0}, {0x40040, true, 1000, NOW},         {0x40040, false, 1000, NOW + 1000},
               {0x50040, true, 1000, 0}};
    (void)state;
    for (unsigned i = 0; i < 2 * sizeof row / sizeof row[0]; i++) {
        struct firmware f = kinds[0];
        struct report_trap trap;
        f.timer = row[i / 2].lvt;
        start(&f, i & 1);
        assert_int_equal(report_call(row[i / 2].runs_out ? run_out : nothing, NULL, &trap), 0);
        assert_int_equal(*reg(APIC_TIMER_INITIAL), row[i / 2].initial);
        assert_int_equal(m.deadline, row[i / 2].deadline);
        assert_given(&f);
    }
}

/* Firmware that had interrupts off has them off. */
static void test_interrupts_off(void **state)
{
    struct firmware f = kinds[0];
    struct report_trap trap;
    (void)state;
    start(&f, false);
    m.irq_on = false;
    assert_int_equal(report_call(assert_taken, &f, &trap), 0);
    assert_false(m.irq_on);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    static const struct {
        uint32_t edx;
        uint64_t cr4, base;
        bool refused;
        const char *why;
    } row[] = {
        {1u << 5, 0, APIC_BASE_EN, false, "the processor has no local APIC or no MSRs"},
        {1u << 9, 0, APIC_BASE_EN, false, "the processor has no local APIC or no MSRs"},
        {1u << 5 | 1u << 9, 1u << 23, APIC_BASE_EN, false, "shadow stacks (CR4.CET) or FRED on"},
        {1u << 5 | 1u << 9, UINT64_C(1) << 32, APIC_BASE_EN, false, "shadow stacks (CR4.CET) or FRED on"},
        {1u << 5 | 1u << 9, 0, 0, false, "the firmware has turned the local APIC off"},
        {1u << 5 | 1u << 9, 0, APIC_BASE_EN, true, "IA32_APIC_BASE cannot be read"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct firmware f = kinds[0];
        start(&f, false);
        m.edx = row[i].edx;
        m.cr4 = row[i].cr4;
        m.base = (uintptr_t)page | row[i].base;
        m.base_refused = row[i].refused;
        const char *why = report_take_check();
        assert_non_null(why);
        assert_non_null(strstr(why, row[i].why));
        assert_given(&f);
    }
}

static void look_at_idt(void *gate)
{
    memcpy(gate, (const uint8_t *)(uintptr_t)m.idt.base + VECTOR_MC * GATE, GATE);
}

/* A machine check goes to the firmware, if its IDT has that vector. */
static void test_machine_check(void **state)
{
    struct firmware f = kinds[0];
    struct report_trap trap;
    uint8_t gate[GATE];
    (void)state;
    memset(firmware_idt, 0xA5, sizeof firmware_idt);
    start(&f, false);
    assert_int_equal(report_call(look_at_idt, gate, &trap), 0);
    assert_memory_equal(gate, firmware_idt, GATE);
    m.idt.limit = VECTOR_MC * GATE - 1;
    assert_null(report_take_check());
    assert_int_equal(report_call(look_at_idt, gate, &trap), 0);
    assert_memory_not_equal(gate, firmware_idt, GATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_firmware),   cmocka_unit_test(test_masked_is_not_written),
        cmocka_unit_test(test_exceptions), cmocka_unit_test(test_exception_of_the_work),
        cmocka_unit_test(test_timer),      cmocka_unit_test(test_interrupts_off),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_machine_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
