/* SPDX-License-Identifier: MIT */
/* The local APIC in xAPIC or x2APIC mode; shuts out the legacy interrupt controllers. SDM vol. 3, "Advanced
 * Programmable Interrupt Controller (APIC)"; Intel 8259A and 82093AA (I/O APIC) datasheets. */
#include "arch/apic_registers.h"
#include "arch/internal.h"
#include "arch/registers.h"
#include "kernel/lib/cpuset.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"

/* Polls of the delivery status; a register read takes well over 10 ns, delivery well under 1 us. */
#define ICR_WAIT_POLLS 1000000u

#define PIC1_DATA 0x21u /* 8259A: the mask */
#define PIC2_DATA 0xA1u

#define IOAPIC_SELECT        0u /* index of a 32-bit word */
#define IOAPIC_WINDOW        4u
#define IOAPIC_SIZE          0x20u /* bytes */
#define IOAPIC_VERSION       0x01u
#define VERSION_MAX_ENTRY(v) ((v) >> 16 & 0xFF)
#define IOAPIC_ENTRY         0x10u /* two registers an entry */
#define IOAPIC_DELIVERY      0x00700u
#define IOAPIC_SMI           0x00200u
#define IOAPIC_MASKED        0x10000u

static bool x2apic;
static volatile uint32_t *registers; /* xAPIC page */
static uint32_t apic_ids[MAX_CPUS];  /* by the kernel's dense CPU number */
static struct kcpuset reachable;     /* CPUs that have set their local APIC up; atomic */

uint32_t arch_apic_read(uint32_t reg)
{
    return x2apic ? (uint32_t)rdmsr(X2APIC_MSR + reg / 16) : registers[reg / 4];
}

void arch_apic_write(uint32_t reg, uint32_t value)
{
    if (x2apic)
        wrmsr(X2APIC_MSR + reg / 16, value);
    else
        registers[reg / 4] = value;
}

uint32_t arch_apic_id(void)
{
    uint32_t r[4];

    arch_cpuid(0, 0, r);
    if (r[0] >= 0xB) {
        arch_cpuid(0xB, 0, r);
        if (r[1] & 0xFFFF)
            return r[3]; /* the 32-bit x2APIC ID */
    }
    arch_cpuid(1, 0, r);
    return r[1] >> 24;
}

void arch_apic_eoi(void)
{
    arch_apic_write(APIC_EOI, 0);
}

bool arch_apic_in_service(unsigned vector)
{
    return kcpuset_has_atomic(&reachable, arch_cpu_index()) &&
           arch_apic_read(APIC_ISR + 0x10 * (vector / 32)) >> vector % 32 & 1;
}

/* ---- interprocessor interrupts ---- */

static bool icr_idle(void)
{
    for (uint32_t i = 0; i < ICR_WAIT_POLLS; i++) {
        if (!(arch_apic_read(APIC_ICR) & ICR_PENDING))
            return true;
        arch_pause();
    }
    return false;
}

/* The two halves of an xAPIC's ICR must not be torn by an interrupt handler that sends as well. */
int arch_apic_send(uint32_t apic_id, uint32_t command)
{
    if (x2apic) {
        __asm__ volatile("mfence; lfence" ::: "memory"); /* WRMSR to the x2APIC range does not serialise stores */
        wrmsr(X2APIC_MSR + APIC_ICR / 16, (uint64_t)apic_id << 32 | command);
        return 0;
    }
    bool on = arch_irq_save();
    int error = icr_idle() ? 0 : -EIO;
    arch_apic_write(APIC_ICR_HIGH, apic_id << 24);
    arch_apic_write(APIC_ICR, command);
    arch_irq_restore(on);
    return error;
}

void arch_ipi(uint32_t cpu_index, uint8_t vector)
{
    (void)arch_apic_send(apic_ids[cpu_index], ICR_FIXED | ICR_LEVEL_ASSERT | vector);
}

void arch_ipi_self(uint8_t vector)
{
    (void)arch_apic_send(0, ICR_TO_SELF | ICR_FIXED | ICR_LEVEL_ASSERT | vector);
}

/* One by one: the shorthand "all excluding self" also reaches CPUs that were left out, and firmware parks those in a
 * HLT loop as well as in the wait for a STARTUP. There an NMI would run into tables that are no longer there. */
void arch_nmi_others(void)
{
    const uint32_t me = arch_cpu_index();

    for (uint32_t i = 0; i < MAX_CPUS; i++)
        if (i != me && kcpuset_has_atomic(&reachable, i))
            (void)arch_apic_send(apic_ids[i], ICR_NMI | ICR_LEVEL_ASSERT);
}

/* ---- timer and performance counter entries ---- */

void arch_apic_timer_oneshot(uint8_t vector, uint32_t count)
{
    arch_apic_write(APIC_LVT_TIMER, vector ? vector : LVT_MASKED);
    arch_apic_write(APIC_TIMER_INITIAL, count);
}

void arch_apic_timer_periodic(uint8_t vector, uint32_t count)
{
    arch_apic_write(APIC_LVT_TIMER, LVT_TIMER_PERIODIC | vector);
    arch_apic_write(APIC_TIMER_INITIAL, count);
}

uint32_t arch_apic_timer_count(void)
{
    return arch_apic_read(APIC_TIMER_CURRENT);
}

void arch_timer_stop(void)
{
    arch_apic_write(APIC_LVT_TIMER, LVT_MASKED);
    arch_apic_write(APIC_TIMER_INITIAL, 0);
}

uint32_t arch_lvtpc_read(void)
{
    return arch_apic_read(APIC_LVT_PC);
}

void arch_lvtpc_write(uint32_t value)
{
    arch_apic_write(APIC_LVT_PC, value);
}

/* ---- start ---- */

/* An entry of the local vector table, by its number, if it is there. What leads to SMM stays: it is the firmware's own,
 * which looks after heat and memory errors with it, and the kernel never sees it. */
static void mask_lvt(uint32_t number, uint32_t reg)
{
    if (number <= VERSION_MAX_LVT(arch_apic_read(APIC_VERSION)) && (arch_apic_read(reg) & LVT_DELIVERY) != LVT_SMI)
        arch_apic_write(reg, LVT_MASKED);
}

void arch_apic_cpu_init(const struct arch_cpu *cpu)
{
    if (!x2apic)
        arch_apic_leave_x2apic();
    uint64_t base = rdmsr(IA32_APIC_BASE) | APIC_BASE_EN;
    wrmsr(IA32_APIC_BASE, base); /* EXTD may only be set on an enabled APIC */
    if (x2apic)
        wrmsr(IA32_APIC_BASE, base | APIC_BASE_EXTD);

    apic_ids[cpu->index] = cpu->apic_id;
    arch_apic_write(APIC_SVR, SVR_ENABLE | ARCH_VECTOR_SPURIOUS);
    arch_apic_write(APIC_TPR, 0);
    arch_timer_stop();
    arch_apic_write(APIC_TIMER_DIVIDE, DIVIDE_BY_1);
    arch_apic_write(APIC_LVT_ERROR, LVT_MASKED);
    arch_apic_write(APIC_LVT_LINT0, LVT_MASKED); /* the way of the 8259s here, which are masked themselves, too */
    arch_apic_write(APIC_LVT_LINT1, LVT_NMI);    /* the NMI line of every PC */
    if (LVT_NUMBER_PC <= VERSION_MAX_LVT(arch_apic_read(APIC_VERSION)))
        arch_apic_write(APIC_LVT_PC, LVT_MASKED);
    mask_lvt(LVT_NUMBER_THERMAL, APIC_LVT_THERMAL);
    mask_lvt(LVT_NUMBER_CMCI, APIC_LVT_CMCI);

    /* What the firmware left in service would block all vectors of its priority and below for ever. One EOI a bit. */
    for (unsigned reg = 0; reg < 8; reg++)
        for (uint32_t bits = arch_apic_read(APIC_ISR + 0x10 * reg); bits; bits &= bits - 1)
            arch_apic_eoi();
    kcpuset_add_atomic(&reachable, cpu->index);
}

/* What leads to SMM stays: it is the firmware's own, and the kernel never sees it. */
static void mask_entries(volatile uint32_t *ioapic, uint32_t last)
{
    for (uint32_t entry = 0; entry <= last; entry++) {
        ioapic[IOAPIC_SELECT] = IOAPIC_ENTRY + 2 * entry;
        uint32_t low = ioapic[IOAPIC_WINDOW];
        if ((low & IOAPIC_DELIVERY) != IOAPIC_SMI)
            ioapic[IOAPIC_WINDOW] = low | IOAPIC_MASKED;
    }
}

/* The kernel takes no device interrupts; the firmware may have left some routed. Entries of the MADT that cannot be
 * (address 0 is known from the wild) are skipped: what is not there raises no interrupts. */
static int mask_ioapics(void)
{
    for (uint32_t i = 0; i < arch_acpi.ioapic_count; i++) {
        const uint64_t at = arch_acpi.ioapics[i];
        const char *why = !at ? "address 0" : arch_memory_at(at, IOAPIC_SIZE) ? "memory is there" : NULL;
        volatile uint32_t *ioapic = why ? NULL : arch_map_device(at, IOAPIC_SIZE);
        if (!why && !ioapic) {
            kprintf("apic: the I/O APIC at 0x%lx cannot be mapped\n", at);
            return -ENOMEM;
        }
        if (ioapic) {
            ioapic[IOAPIC_SELECT] = IOAPIC_VERSION;
            const uint32_t version = ioapic[IOAPIC_WINDOW];
            if (version == UINT32_MAX)
                why = "nothing answers";
            else
                mask_entries(ioapic, VERSION_MAX_ENTRY(version));
        }
        if (why)
            kprintf("apic: no I/O APIC at 0x%lx, where table APIC has one (%s): not used\n", at, why);
    }
    return 0;
}

/* The mode is the firmware's choice: it knows its machine. */
__attribute__((weak)) int arch_apic_choose(bool *x2)
{
    *x2 = rdmsr(IA32_APIC_BASE) & APIC_BASE_EXTD;
    return 0;
}

/* A CPU in another mode than the boot processor's cannot be used: it waits for the INIT of those that are left out. */
__attribute__((weak)) void arch_apic_leave_x2apic(void)
{
    while (rdmsr(IA32_APIC_BASE) & APIC_BASE_EXTD)
        arch_pause();
}

static void leave_out_beyond(uint32_t highest)
{
    uint32_t kept = 1; /* the boot processor's */
    for (uint32_t i = 1; i < arch_acpi.cpu_count; i++)
        if (arch_acpi.apic_ids[i] <= highest)
            arch_acpi.apic_ids[kept++] = arch_acpi.apic_ids[i];
    arch_acpi.cpus_left_out += arch_acpi.cpu_count - kept;
    arch_acpi.cpu_count = kept;
}

int arch_apic_init(void)
{
    arch_out8(PIC1_DATA, 0xFF);
    arch_out8(PIC2_DATA, 0xFF);
    int error = mask_ioapics();
    if (!error)
        error = arch_apic_choose(&x2apic);
    if (error)
        return error;
    leave_out_beyond(x2apic ? X2APIC_HIGHEST_ID : XAPIC_HIGHEST_ID);
    if (!x2apic) {
        /* The MSR is where the page really is; the MADT only repeats it. */
        registers = arch_map_device(rdmsr(IA32_APIC_BASE) & APIC_BASE_ADDRESS, ARCH_PAGE_SIZE);
        if (!registers) {
            kprintf("apic: the local APIC cannot be mapped\n");
            return -ENOMEM;
        }
    }
    arch_features_add(x2apic ? "x2apic" : "xapic");
    arch_apic_cpu_init(arch_this_cpu());
    return 0;
}
