/* SPDX-License-Identifier: MIT */
/* The local APIC in xAPIC and x2APIC mode; masks the legacy interrupt controllers. SDM vol. 3, "Advanced Programmable
 * Interrupt Controller (APIC)"; Intel 8259A and 82093AA (I/O APIC) datasheets. */
#include "arch/internal.h"
#include "arch/registers.h"
#include "kernel/lib/cpuset.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/print.h"

/* Register offsets of the xAPIC page; x2APIC: MSR 800H + offset / 16. */
#define APIC_TPR           0x080u
#define APIC_EOI           0x0B0u
#define APIC_SVR           0x0F0u
#define SVR_ENABLE         0x100u
#define APIC_ISR           0x100u /* 8 registers, 10H apart */
#define APIC_LVT_CMCI      0x2F0u
#define APIC_ICR           0x300u
#define ICR_PENDING        0x01000u /* delivery status; not in x2APIC mode */
#define ICR_TO_SELF        0x40000u
#define APIC_ICR_HIGH      0x310u
#define APIC_LVT_TIMER     0x320u
#define LVT_TIMER_PERIODIC 0x20000u
#define APIC_LVT_THERMAL   0x330u
#define APIC_LVT_PC        0x340u
#define APIC_LVT_LINT0     0x350u
#define APIC_LVT_LINT1     0x360u
#define APIC_LVT_ERROR     0x370u
#define LVT_MASKED         0x10000u
#define LVT_DELIVERY       0x00700u
#define LVT_SMI            0x00200u
#define LVT_NMI            0x00400u
#define LVT_ACTIVE_LOW     0x02000u
#define APIC_VERSION       0x030u
#define VERSION_MAX_LVT(v) ((v) >> 16 & 0xFF)
#define LVT_NUMBER_PC      4u
#define LVT_NUMBER_THERMAL 5u
#define LVT_NUMBER_CMCI    6u
#define APIC_TIMER_INITIAL 0x380u
#define APIC_TIMER_CURRENT 0x390u
#define APIC_TIMER_DIVIDE  0x3E0u
#define DIVIDE_BY_1        0xBu
#define X2APIC_SELF_IPI    0x3F0u

#define X2APIC_MSR      0x800u
#define IA32_X2APIC_ICR 0x830u

#define CPUID_1_EDX_APIC              (1u << 9)
#define CPUID_1_ECX_X2APIC            (1u << 21)
#define CPUID_7_EDX_ARCH_CAPABILITIES (1u << 29)

/* Polls of the delivery status; a register read takes well over 10 ns, delivery well under 1 us. */
#define ICR_WAIT_POLLS 1000000u

#define PIC1_COMMAND 0x20u
#define PIC1_DATA    0x21u
#define PIC2_COMMAND 0xA0u
#define PIC2_DATA    0xA1u

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

static uint32_t read_in_mode(bool x2, uint32_t reg)
{
    if (x2)
        return (uint32_t)rdmsr(X2APIC_MSR + reg / 16);
    return registers[reg / 4];
}

static uint32_t apic_read(uint32_t reg)
{
    return read_in_mode(x2apic, reg);
}

static void apic_write(uint32_t reg, uint32_t value)
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
    apic_write(APIC_EOI, 0);
}

bool arch_apic_in_service(unsigned vector)
{
    return kcpuset_has_atomic(&reachable, arch_cpu_index()) &&
           apic_read(APIC_ISR + 0x10 * (vector / 32)) >> vector % 32 & 1;
}

/* ---- interprocessor interrupts ---- */

static bool icr_idle(void)
{
    for (uint32_t i = 0; i < ICR_WAIT_POLLS; i++) {
        if (!(apic_read(APIC_ICR) & ICR_PENDING))
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
        wrmsr(IA32_X2APIC_ICR, (uint64_t)apic_id << 32 | command);
        return 0;
    }
    bool on = arch_irq_save();
    int error = icr_idle() ? 0 : -EIO;
    apic_write(APIC_ICR_HIGH, apic_id << 24);
    apic_write(APIC_ICR, command);
    arch_irq_restore(on);
    return error;
}

void arch_ipi(uint32_t cpu_index, uint8_t vector)
{
    (void)arch_apic_send(apic_ids[cpu_index], ICR_FIXED | ICR_LEVEL_ASSERT | vector);
}

void arch_ipi_self(uint8_t vector)
{
    if (x2apic)
        wrmsr(X2APIC_MSR + X2APIC_SELF_IPI / 16, vector);
    else
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
    apic_write(APIC_LVT_TIMER, vector ? vector : LVT_MASKED);
    apic_write(APIC_TIMER_INITIAL, count);
}

void arch_apic_timer_periodic(uint8_t vector, uint32_t count)
{
    apic_write(APIC_LVT_TIMER, LVT_TIMER_PERIODIC | vector);
    apic_write(APIC_TIMER_INITIAL, count);
}

uint32_t arch_apic_timer_count(void)
{
    return apic_read(APIC_TIMER_CURRENT);
}

void arch_timer_stop(void)
{
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_TIMER_INITIAL, 0);
}

uint32_t arch_lvtpc_read(void)
{
    return apic_read(APIC_LVT_PC);
}

void arch_lvtpc_write(uint32_t value)
{
    apic_write(APIC_LVT_PC, value);
}

/* ---- start ---- */

/* What the MADT says about the CPU; every CPU that runs is in there. */
static const struct acpi_cpu *madt_cpu(uint32_t apic_id)
{
    const struct acpi_cpu *cpu = arch_acpi.cpus;
    while (cpu->apic_id != apic_id)
        cpu++;
    return cpu;
}

static uint32_t lint_value(const struct acpi_cpu *cpu, unsigned lint)
{
    if (!(cpu->nmi_lint >> lint & 1))
        return LVT_MASKED;
    return LVT_NMI | (cpu->nmi_low >> lint & 1 ? LVT_ACTIVE_LOW : 0);
}

/* What an entry of the local vector table, by its number, is to be. Firmware that looks after heat and memory errors
 * itself has entries lead to SMM: these are its own, and the kernel never sees them. `x2`: the mode the APIC is in. */
static uint32_t smi_or_masked(bool x2, uint32_t number, uint32_t lvt)
{
    if (number > VERSION_MAX_LVT(read_in_mode(x2, APIC_VERSION)))
        return LVT_MASKED;
    const uint32_t value = read_in_mode(x2, lvt);
    return (value & LVT_DELIVERY) == LVT_SMI ? value : LVT_MASKED;
}

void arch_apic_cpu_init(const struct arch_cpu *this_cpu)
{
    const struct acpi_cpu *cpu = madt_cpu(this_cpu->apic_id);
    uint64_t base = rdmsr(IA32_APIC_BASE);
    uint32_t thermal = LVT_MASKED, cmci = LVT_MASKED;
    const bool leaves_x2apic = !x2apic && base & APIC_BASE_EXTD;

    if (leaves_x2apic) { /* the one way out is by an APIC that is off, and its entries are reset */
        thermal = smi_or_masked(true, LVT_NUMBER_THERMAL, APIC_LVT_THERMAL);
        cmci = smi_or_masked(true, LVT_NUMBER_CMCI, APIC_LVT_CMCI);
        wrmsr(IA32_APIC_BASE, base &= ~(APIC_BASE_EN | APIC_BASE_EXTD));
    }
    if (!(base & APIC_BASE_EN))
        wrmsr(IA32_APIC_BASE, base |= APIC_BASE_EN); /* EXTD may only be set on an enabled APIC */
    if (x2apic && !(base & APIC_BASE_EXTD))
        wrmsr(IA32_APIC_BASE, base | APIC_BASE_EXTD);
    if (!leaves_x2apic) {
        thermal = smi_or_masked(x2apic, LVT_NUMBER_THERMAL, APIC_LVT_THERMAL);
        cmci = smi_or_masked(x2apic, LVT_NUMBER_CMCI, APIC_LVT_CMCI);
    }

    apic_ids[this_cpu->index] = this_cpu->apic_id;
    apic_write(APIC_SVR, SVR_ENABLE | ARCH_VECTOR_SPURIOUS);
    apic_write(APIC_TPR, 0);
    uint32_t last_lvt = VERSION_MAX_LVT(apic_read(APIC_VERSION));
    apic_write(APIC_LVT_TIMER, LVT_MASKED);
    apic_write(APIC_LVT_ERROR, LVT_MASKED);
    if (last_lvt >= LVT_NUMBER_PC)
        apic_write(APIC_LVT_PC, LVT_MASKED);
    if (last_lvt >= LVT_NUMBER_THERMAL)
        apic_write(APIC_LVT_THERMAL, thermal);
    if (last_lvt >= LVT_NUMBER_CMCI)
        apic_write(APIC_LVT_CMCI, cmci);
    apic_write(APIC_LVT_LINT0, lint_value(cpu, 0));
    apic_write(APIC_LVT_LINT1, lint_value(cpu, 1));
    apic_write(APIC_TIMER_DIVIDE, DIVIDE_BY_1);
    apic_write(APIC_TIMER_INITIAL, 0);

    /* What the firmware left in service would block all vectors of its priority and below for ever. One EOI a bit. */
    for (unsigned reg = 0; reg < 8; reg++)
        for (uint32_t bits = apic_read(APIC_ISR + 0x10 * reg); bits; bits &= bits - 1)
            arch_apic_eoi();
    kcpuset_add_atomic(&reachable, this_cpu->index);
}

/* The two 8259s: moved away from the exceptions (ICW1..4), because even masked ones can give a spurious interrupt. */
static void mask_pic(void)
{
    static const struct {
        uint16_t port;
        uint8_t value;
    } sequence[] = {
        {PIC1_COMMAND, 0x11}, {PIC2_COMMAND, 0x11}, /* ICW1: edge, cascade, ICW4 follows */
        {PIC1_DATA, 0x20},    {PIC2_DATA, 0x28},    /* ICW2: first vector */
        {PIC1_DATA, 0x04},    {PIC2_DATA, 0x02},    /* ICW3: cascade on line 2 */
        {PIC1_DATA, 0x01},    {PIC2_DATA, 0x01},    /* ICW4: 8086 mode */
        {PIC1_DATA, 0xFF},    {PIC2_DATA, 0xFF},    /* OCW1: all masked */
    };
    for (size_t i = 0; i < sizeof(sequence) / sizeof(sequence[0]); i++)
        arch_out8(sequence[i].port, sequence[i].value);
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
            kprintf("apic: what table APIC calls an I/O APIC, at 0x%lx, is none (%s): not used\n", at, why);
    }
    return 0;
}

/* ---- the mode ---- */

static bool locked_in_x2apic(void)
{
    uint32_t basic[4], seven[4] = {0};

    arch_cpuid(0, 0, basic);
    if (basic[0] >= 7)
        arch_cpuid(7, 0, seven);
    return seven[3] & CPUID_7_EDX_ARCH_CAPABILITIES &&
           rdmsr(IA32_ARCH_CAPABILITIES) & ARCH_CAPABILITIES_XAPIC_DISABLE &&
           rdmsr(IA32_XAPIC_DISABLE_STATUS) & LEGACY_XAPIC_DISABLED;
}

/* Beyond these an APIC ID means everybody. */
static uint32_t highest_id(void)
{
    return x2apic ? UINT32_MAX - 1 : ACPI_HIGHEST_XAPIC_ID;
}

static uint32_t count_beyond(uint32_t highest)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < arch_acpi.cpu_count; i++)
        n += arch_acpi.cpus[i].apic_id > highest;
    return n;
}

static void leave_out_beyond(uint32_t highest)
{
    uint32_t kept = 1; /* the boot processor: choose_mode has seen to it */
    for (uint32_t i = 1; i < arch_acpi.cpu_count; i++)
        if (arch_acpi.cpus[i].apic_id <= highest)
            arch_acpi.cpus[kept++] = arch_acpi.cpus[i];
    arch_acpi.cpus_left_out += arch_acpi.cpu_count - kept;
    arch_acpi.cpu_count = kept;
}

/* In x2APIC mode the page is gone that SMM code may write to, and without interrupt remapping the SDM promises nothing:
 * the firmware knows its machine, so its choice stays unless there is a need. 0 or -ENODEV with one line printed. */
static int choose_mode(enum arch_x2apic wanted, bool has_x2apic)
{
    const bool handed_over = rdmsr(IA32_APIC_BASE) & APIC_BASE_EXTD;
    const uint32_t far = count_beyond(ACPI_HIGHEST_XAPIC_ID);

    x2apic = handed_over;
    if (wanted == ARCH_X2APIC_ON) {
        if (!has_x2apic) {
            kprintf("apic: x2apic=on: this processor has no x2APIC mode: give x2apic=auto\n");
            return -ENODEV;
        }
        if (!handed_over && arch_acpi.x2apic_opt_out)
            kprintf("apic: x2apic=on, though the firmware asks for xAPIC mode (table DMAR)\n");
        x2apic = true;
    } else if (wanted == ARCH_X2APIC_OFF) {
        if (handed_over && locked_in_x2apic()) {
            kprintf("apic: x2apic=off: the firmware has locked x2APIC mode (IA32_XAPIC_DISABLE_STATUS): give "
                    "x2apic=auto\n");
            return -ENODEV;
        }
        if (arch_acpi.cpus[0].apic_id > ACPI_HIGHEST_XAPIC_ID) {
            kprintf("apic: x2apic=off: the boot processor's APIC ID, %u, needs x2APIC mode: give x2apic=auto\n",
                    arch_acpi.cpus[0].apic_id);
            return -ENODEV;
        }
        x2apic = false;
    } else if (far && !handed_over) {
        x2apic = has_x2apic && !arch_acpi.x2apic_opt_out;
        kprintf("apic: processors with APIC IDs above %u: %u; %s\n", ACPI_HIGHEST_XAPIC_ID, far,
                x2apic                     ? "x2APIC mode is turned on for them"
                : arch_acpi.x2apic_opt_out ? "the firmware asks for xAPIC mode (table DMAR): they are left out"
                                           : "this processor has no x2APIC mode: they are left out");
    }
    return 0;
}

int arch_apic_init(enum arch_x2apic wanted)
{
    uint32_t one[4];

    arch_cpuid(1, 0, one);
    if (!(one[3] & CPUID_1_EDX_APIC)) {
        kprintf("apic: this processor has no local APIC\n");
        return -ENODEV;
    }
    mask_pic();
    int error = mask_ioapics();
    if (error)
        return error;
    error = choose_mode(wanted, one[2] & CPUID_1_ECX_X2APIC);
    if (error)
        return error;
    leave_out_beyond(highest_id());
    if (x2apic) {
        arch_features_add("x2apic");
    } else {
        /* The MSR is where the page really is; the MADT only repeats it. */
        registers = arch_map_device(rdmsr(IA32_APIC_BASE) & APIC_BASE_ADDRESS, ARCH_PAGE_SIZE);
        if (!registers) {
            kprintf("apic: the local APIC cannot be mapped\n");
            return -ENOMEM;
        }
        arch_features_add("xapic");
    }
    arch_apic_cpu_init(arch_this_cpu());
    return 0;
}
