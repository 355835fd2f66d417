/* SPDX-License-Identifier: MIT */
/* Starting the other processors. SDM vol. 3, "MP Initialization Protocol Algorithm". */
#include "arch/apic_registers.h"
#include "arch/internal.h"
#include "arch/registers.h"
#include "arch/upcalls.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"

#define LOW_MEMORY_END UINT64_C(0x100000) /* a STARTUP IPI names a page below 1 MiB */

#define INIT_WAIT_US    10000u
#define STARTUP_WAIT_US 200u
#define START_LIMIT_US  10000000u /* generous: an emulator may have fewer cores than CPUs, and others use them */

/* The block at the end of the trampoline, arch/ap.asm. */
struct passed_info {
    uint64_t gdt[4];
    uint64_t kernel_cr3;
    uint64_t entry;
    uint32_t cr3, cr4, efer;
    uint16_t reserved0, gdt_limit;
    uint32_t gdt_base;
    uint32_t far32_offset;
    uint16_t far32_selector, reserved1;
    uint32_t far64_offset;
    uint16_t far64_selector, reserved2;
};
_Static_assert(offsetof(struct passed_info, kernel_cr3) == 32, "passed_info.kernel_cr3");
_Static_assert(offsetof(struct passed_info, gdt_limit) == 62, "passed_info.gdt_limit");
_Static_assert(offsetof(struct passed_info, far64_selector) == 80, "passed_info.far64_selector");

/* What a starting processor takes over: arch_ap_entry claims it by exchanging its own APIC ID for ARCH_AP_NOBODY, so no
 * two ever stand on one stack, however late the first of them comes. */
struct ap_place {
    uint32_t apic_id, reserved;
    uint64_t stack_top;
    uint64_t cpu;
} arch_ap_place = {.apic_id = (uint32_t)ARCH_AP_NOBODY};
_Static_assert(offsetof(struct ap_place, apic_id) == ARCH_AP_APIC_ID, "ap_place.apic_id");
_Static_assert(offsetof(struct ap_place, stack_top) == ARCH_AP_STACK_TOP, "ap_place.stack_top");
_Static_assert(offsetof(struct ap_place, cpu) == ARCH_AP_CPU, "ap_place.cpu");

/* arch_cpu.started. A CPU goes on only when it has been let go: one that comes too late is still at a place where an
 * INIT hurts nobody, with no lock taken. */
enum { START_NOT_YET, START_ARRIVED, START_LET_GO };

extern const uint8_t arch_trampoline[], arch_trampoline_end[], arch_trampoline_block[];
extern const uint8_t arch_trampoline_mode32[], arch_trampoline_mode64[];
void arch_ap_entry(void);

static uint64_t code_page, table_page; /* physical, below 1 MiB; 0: not prepared yet */

/* Two free pages below 1 MiB, the highest ones: the lowest hold what old firmware may still look at. Nobody else uses
 * memory down there (arch.h). */
static int find_low_pages(uint64_t pages[2])
{
    const struct boot_info *info = arch_boot_info;
    const struct boot_memory *memory = arch_phys_to_virt(info->memory);
    unsigned found = 0;

    for (uint32_t i = info->memory_count; i-- > 0;) {
        if (!boot_memory_is_free(memory[i].type))
            continue;
        uint64_t from = memory[i].base ? memory[i].base : ARCH_PAGE_SIZE; /* page 0 is where null pointers lead */
        uint64_t to = memory[i].base + memory[i].size;
        if (to > LOW_MEMORY_END)
            to = LOW_MEMORY_END;
        while (to >= from + ARCH_PAGE_SIZE) {
            to -= ARCH_PAGE_SIZE;
            pages[found++] = to;
            if (found == 2)
                return 0;
        }
    }
    return -ENOMEM;
}

static void fill_block(void)
{
    uint64_t block = code_page + (uint64_t)(arch_trampoline_block - arch_trampoline);
    struct passed_info *info = arch_phys_to_virt(block);

    info->kernel_cr3 = read_cr3();
    info->entry = (uint64_t)arch_ap_entry;
    info->cr3 = (uint32_t)table_page;
    info->cr4 = (uint32_t)(read_cr4() & (CR4_PAE | CR4_LA57));
    info->efer = (uint32_t)(EFER_LME | (rdmsr(IA32_EFER) & EFER_NXE));
    info->gdt_base = (uint32_t)block;
    info->far32_offset = (uint32_t)(code_page + (uint64_t)(arch_trampoline_mode32 - arch_trampoline));
    info->far64_offset = (uint32_t)(code_page + (uint64_t)(arch_trampoline_mode64 - arch_trampoline));
}

static int prepare_trampoline(void)
{
    uint64_t pages[2];

    if (code_page)
        return 0;
    int error = find_low_pages(pages);
    if (error) {
        kprintf("smp: no two free pages below 1 MiB: the other processors cannot be started\n");
        return error;
    }
    error = arch_paging_identity(pages[1], pages[0]);
    if (error)
        return error;
    memcpy(arch_phys_to_virt(pages[0]), arch_trampoline, (size_t)(arch_trampoline_end - arch_trampoline));
    code_page = pages[0];
    table_page = pages[1];
    fill_block();
    return 0;
}

static void offer_place(struct arch_cpu *cpu, void *stack_top)
{
    arch_ap_place.stack_top = (uint64_t)stack_top;
    arch_ap_place.cpu = (uint64_t)cpu;
    __atomic_store_n(&arch_ap_place.apic_id, cpu->apic_id, __ATOMIC_RELEASE);
}

/* False: the processor has claimed it meanwhile. */
static bool withdraw_place(void)
{
    return __atomic_exchange_n(&arch_ap_place.apic_id, (uint32_t)ARCH_AP_NOBODY, __ATOMIC_ACQ_REL) !=
           (uint32_t)ARCH_AP_NOBODY;
}

static bool wait_started(struct arch_cpu *cpu, uint64_t us)
{
    uint64_t begin = arch_rdtsc();
    uint64_t ticks = us * arch_tsc_hz() / 1000000;

    do {
        if (__atomic_load_n(&cpu->started, __ATOMIC_ACQUIRE) == START_ARRIVED) {
            arch_tsc_meet(cpu);
            __atomic_store_n(&cpu->started, START_LET_GO, __ATOMIC_RELEASE);
            return true;
        }
        arch_pause();
    } while (arch_rdtsc() - begin < ticks);
    return false;
}

__attribute__((weak)) void arch_tsc_meet(struct arch_cpu *cpu)
{
    (void)cpu;
}

__attribute__((weak)) void arch_tsc_wait(struct arch_cpu *cpu)
{
    (void)cpu;
}

/* INIT and STARTUP, the second one where the first is not enough. */
static int wake(struct arch_cpu *cpu)
{
    uint32_t startup = ICR_STARTUP | ICR_LEVEL_ASSERT | (uint32_t)(code_page / ARCH_PAGE_SIZE);
    int error = arch_apic_send(cpu->apic_id, ICR_INIT | ICR_LEVEL_ASSERT);
    if (error)
        return error;
    arch_delay_us(INIT_WAIT_US);
    error = arch_apic_send(cpu->apic_id, startup);
    if (error || wait_started(cpu, STARTUP_WAIT_US))
        return error;
    error = arch_apic_send(cpu->apic_id, startup);
    if (error || wait_started(cpu, START_LIMIT_US))
        return error;
    return -ETIMEDOUT;
}

int arch_smp_start(uint32_t index, struct arch_cpu *cpu, void *stack_top)
{
    uint32_t apic_id = arch_acpi.apic_ids[index];
    void *ist_tops[IST_COUNT];

    KASSERT(index && index < arch_acpi.cpu_count && cpu->index && cpu->index < MAX_CPUS);
    int error = prepare_trampoline();
    if (!error)
        error = arch_stack_make_ist(index, ist_tops);
    if (error)
        return error;
    uint64_t tables = kernel_page_permanent();
    if (!tables)
        return -ENOMEM;
    cpu->self = cpu;
    cpu->apic_id = apic_id;
    cpu->started = START_NOT_YET;
    cpu->tables = arch_phys_to_virt(tables);
    arch_tables_fill(cpu->tables, ist_tops);
    offer_place(cpu, stack_top);

    error = wake(cpu);
    if (!error || (!withdraw_place() && wait_started(cpu, START_LIMIT_US)))
        return 0;
    /* Back to waiting for a STARTUP, where no NMI reaches it. It may be executed late, or never: the place is not. */
    (void)arch_apic_send(apic_id, ICR_INIT | ICR_LEVEL_ASSERT);
    return error;
}

/* Called by arch/ap.asm on `cpu`'s stack with the kernel's tables. */
void arch_ap_main(struct arch_cpu *cpu)
{
    arch_tables_load(cpu);
    arch_cpu_init();
    arch_apic_cpu_init(cpu);
    __atomic_store_n(&cpu->started, START_ARRIVED, __ATOMIC_RELEASE);
    while (__atomic_load_n(&cpu->started, __ATOMIC_ACQUIRE) != START_LET_GO) {
        arch_tsc_wait(cpu);
        arch_pause();
    }
    kernel_ap_main(cpu);
}
