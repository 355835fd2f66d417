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
#define START_LIMIT_US  5000000u /* generous: an emulator may have fewer cores than CPUs, and others use them */
#define START_TRIES     2u       /* a STARTUP is lost while the processor is in SMM, where an INIT waits */

/* What a starting processor takes over: arch_ap_entry claims it by exchanging its own APIC ID for ARCH_AP_NOBODY, so no
 * two ever stand on one stack, however late the first of them comes. */
uint32_t arch_ap_expected = (uint32_t)ARCH_AP_NOBODY; /* its APIC ID */
void *arch_ap_stack_top;
struct arch_cpu *arch_ap_cpu;

/* arch_cpu.started. A CPU goes on only when it has been let go: one that comes too late is still at a place where an
 * INIT hurts nobody, with no lock taken. */
enum { START_NOT_YET, START_ARRIVED, START_LET_GO };

extern const uint8_t arch_trampoline[], arch_trampoline_end[]; /* arch/ap.asm */
extern const uint32_t arch_trampoline_cr3, arch_trampoline_cr4;

static uint64_t code_page; /* physical, below 1 MiB; 0: not prepared yet */

/* Adds free pages below 1 MiB, the highest first, to the `found` in `pages`, until there are two. */
static unsigned add_pages(uint64_t pages[2], unsigned found, bool conventional)
{
    const struct boot_info *info = arch_boot_info;
    const struct boot_memory *memory = arch_phys_to_virt(info->memory);

    for (uint32_t i = info->memory_count; i-- > 0;) {
        const struct boot_memory *m = &memory[i];
        uint64_t to = m->base + m->size < LOW_MEMORY_END ? m->base + m->size : LOW_MEMORY_END;
        if (!boot_memory_is_free(m->type) || (m->type == BOOT_MEMORY_CONVENTIONAL) != conventional)
            continue;
        for (; found < 2 && to > ARCH_PAGE_SIZE && to > m->base; found++) /* page 0 is where null pointers lead */
            pages[found] = to -= ARCH_PAGE_SIZE;
    }
    return found;
}

/* Two pages: the lowest hold what old firmware may still look at. Boot services' only where nothing else is: other
 * processors may still wait in code of theirs. Nobody else uses memory down there (arch.h). */
static int find_low_pages(uint64_t pages[2])
{
    const unsigned found = add_pages(pages, 0, true);
    return add_pages(pages, found, false) == 2 ? 0 : -ENOMEM;
}

/* `what` of the trampoline, in its copy. */
static uint32_t *in_copy(const uint32_t *what)
{
    return arch_phys_to_virt(code_page + (uint64_t)((const uint8_t *)what - arch_trampoline));
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
    code_page = pages[0];
    memcpy(arch_phys_to_virt(code_page), arch_trampoline, (size_t)(arch_trampoline_end - arch_trampoline));
    *in_copy(&arch_trampoline_cr3) = (uint32_t)pages[1];
    *in_copy(&arch_trampoline_cr4) = (uint32_t)(read_cr4() & (CR4_PAE | CR4_LA57));
    return 0;
}

/* False: the processor has claimed its place meanwhile. */
static bool withdraw_place(void)
{
    return __atomic_exchange_n(&arch_ap_expected, (uint32_t)ARCH_AP_NOBODY, __ATOMIC_ACQ_REL) !=
           (uint32_t)ARCH_AP_NOBODY;
}

static bool wait_started(struct arch_cpu *cpu, uint64_t us)
{
    uint64_t begin = arch_rdtsc();
    uint64_t ticks = us * arch_tsc_hz() / 1000000;

    do {
        if (__atomic_load_n(&cpu->started, __ATOMIC_ACQUIRE) == START_ARRIVED) {
            if (arch_tsc_meet)
                arch_tsc_meet(cpu);
            __atomic_store_n(&cpu->started, START_LET_GO, __ATOMIC_RELEASE);
            return true;
        }
        arch_pause();
    } while (arch_rdtsc() - begin < ticks);
    return false;
}

/* Back to waiting for a STARTUP, where no NMI reaches it. */
static int init(uint32_t apic_id)
{
    int error = arch_apic_send(apic_id, ICR_INIT | ICR_LEVEL_ASSERT);
    arch_delay_us(INIT_WAIT_US);
    return error;
}

/* INIT and STARTUP, the second one where the first is not enough. There is a place only behind the INIT: whoever is
 * late with an earlier STARTUP finds none. */
static int wake(struct arch_cpu *cpu)
{
    uint32_t startup = ICR_STARTUP | ICR_LEVEL_ASSERT | (uint32_t)(code_page / ARCH_PAGE_SIZE);
    int error = init(cpu->apic_id);
    __atomic_store_n(&arch_ap_expected, cpu->apic_id, __ATOMIC_RELEASE);
    if (!error)
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
    arch_ap_stack_top = stack_top;
    arch_ap_cpu = cpu;
    bool claimed = false;
    for (unsigned tries = 0; tries < START_TRIES && !claimed; tries++) {
        error = wake(cpu);
        if (!error)
            return 0;
        claimed = !withdraw_place();
    }
    if (claimed && wait_started(cpu, START_LIMIT_US))
        return 0;
    (void)init(apic_id); /* it may be executed late, or never: the place is not */
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
        if (arch_tsc_wait)
            arch_tsc_wait(cpu);
        arch_pause();
    }
    kernel_ap_main(cpu);
}
