/* SPDX-License-Identifier: MIT */
/* What a panic shows: the name of an exception, registers, and a backtrace. */
#include <stdbool.h>

#include "arch/arch.h"
#include "arch/asm_numbers.h"
#include "arch/registers.h"
#include "kernel/lib/panic.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/lib/symbols.h"
#include "kernel/thread.h"

/* "0xffffffff80001234 name+0x12", or the bare address. `called`: it is a return address. The byte before it is looked
 * up, because the call may be the last instruction of its function. */
static void print_address(uint64_t address, bool called)
{
    uint64_t offset;
    const char *name = ksymbols_name(address - called, &offset);
    if (name)
        kprintf("  %p %s+0x%lx\n", (void *)address, name, (unsigned long)(offset + called));
    else
        kprintf("  %p\n", (void *)address);
}

/* Frame pointers are kept everywhere: each frame is {caller's frame, return address}. Bounded, and every word is looked
 * at only where it can be read. `called`: rip is a return address itself. */
static void backtrace(uint64_t rip, uint64_t rbp, bool called)
{
    kprintf("backtrace:\n");
    print_address(rip, called);
    for (int depth = 0; depth < 32 && rbp % 8 == 0 && arch_readable((void *)rbp, 16); depth++) {
        const uint64_t *frame = (const uint64_t *)rbp;
        if (!frame[1])
            break;
        print_address(frame[1], true);
        if (frame[0] <= rbp)
            break;
        rbp = frame[0];
    }
}

static void print_registers(const struct arch_trap_frame *f)
{
    kprintf("RAX %016lx RBX %016lx RCX %016lx\nRDX %016lx RSI %016lx RDI %016lx\n", f->rax, f->rbx, f->rcx, f->rdx,
            f->rsi, f->rdi);
    kprintf("RBP %016lx RSP %016lx R8  %016lx\nR9  %016lx R10 %016lx R11 %016lx\n", f->rbp, f->rsp, f->r8, f->r9,
            f->r10, f->r11);
    kprintf("R12 %016lx R13 %016lx R14 %016lx\nR15 %016lx RIP %016lx RFLAGS %08lx\n", f->r12, f->r13, f->r14, f->r15,
            f->rip, f->rflags);
    kprintf("CR2 %016lx CR3 %016lx", read_cr2(), read_cr3());
    if (f->vector != ARCH_NO_VECTOR)
        kprintf(" error %lx vector %lu", f->error, f->vector);
    kprintf("\n");
}

void kpanic_show(const struct arch_trap_frame *f, bool called)
{
    print_registers(f);
    backtrace(f->rip, f->rbp, called);
}

static const char *const exceptions[32] = {
    "divide error (#DE)",   "debug (#DB)",
    "unexpected NMI",       "breakpoint (#BP)",
    "overflow (#OF)",       "bound range (#BR)",
    "invalid opcode (#UD)", "device not available (#NM)",
    "double fault (#DF)",   "coprocessor segment overrun",
    "invalid TSS (#TS)",    "segment not present (#NP)",
    "stack fault (#SS)",    "general protection (#GP)",
    "page fault (#PF)",     "exception 15",
    "x87 error (#MF)",      "alignment check (#AC)",
    "machine check (#MC)",  "SIMD error (#XM)",
    "virtualization (#VE)", "control protection (#CP)",
};

void kpanic_describe(const struct arch_trap_frame *f, uint64_t cr2, char *line, size_t size)
{
    char name[24];
    snprintf(name, sizeof name, "exception %lu", f->vector);
    const char *what = f->vector < 32 && exceptions[f->vector] ? exceptions[f->vector] : name;

    if ((f->vector == ARCH_VECTOR_DF || f->vector == ARCH_VECTOR_PF) &&
        (kthread_stack_is_guard(cr2) || arch_stack_is_guard((void *)cr2)) && !(f->cs & 3))
        snprintf(line, size, "%s: stack overflow: %p is in the guard page below the stack", what, (void *)cr2);
    else if (f->vector == ARCH_VECTOR_PF)
        snprintf(line, size, "%s: %s %p%s", what,
                 f->error & 16  ? "execution of"
                 : f->error & 2 ? "write to"
                                : "read of",
                 (void *)cr2, cr2 < ARCH_PAGE_SIZE ? " (null pointer)" : "");
    else if (f->error)
        snprintf(line, size, "%s, error code 0x%lx", what, f->error);
    else
        snprintf(line, size, "%s", what);
}
