/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/linux/random/random.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void map(uint64_t address, unsigned pages, int protection, int fd, int at)
{
    const int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void *want = (void *)(uintptr_t)address;
    if (mmap(want, pages * RANDOM_PAGE, protection, kind | MAP_FIXED_NOREPLACE, fd, fd < 0 ? 0 : at) != want)
        _exit(121);
}

/* As the kernel has it: the restorer is the program's own. */
static void handle(int signal, const struct random_program *p)
{
    const struct {
        uint64_t handler, flags, restorer, mask;
    } action = {p->handler, SA_SIGINFO | SA_NODEFER | 0x04000000 /* SA_RESTORER */, p->restorer, 0};
    if (syscall(SYS_rt_sigaction, signal, &action, NULL, 8) != 0)
        _exit(122);
}

_Noreturn void random_enter(const struct random_program *p, int fd)
{
    static const int signals[] = {SIGILL, SIGTRAP, SIGFPE, SIGSEGV, SIGBUS};
    const int all = PROT_READ | PROT_WRITE | PROT_EXEC, data = PROT_READ | PROT_WRITE;
    map(RANDOM_CODE, RANDOM_CODE_PAGES, all, fd, RANDOM_CODE_AT);
    for (unsigned i = 0; i < RANDOM_ALIASES; i++)
        map(random_alias[i], RANDOM_SHARED_PAGES, all, fd, RANDOM_SHARED_AT);
    map(RANDOM_STACK, RANDOM_STACK_PAGES, data, fd, RANDOM_STACK_AT);
    map(RANDOM_DATA, RANDOM_DATA_PAGES, data, fd, RANDOM_DATA_AT);
    map(RANDOM_COLD, RANDOM_COLD_PAGES, data, -1, 0);
    map(RANDOM_GUARD, RANDOM_GUARD_PAGES, PROT_NONE, -1, 0);
    for (unsigned i = 0; i < sizeof signals / sizeof signals[0]; i++)
        handle(signals[i], p);
    umask(022);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(123);
    /* Registers, which compilers use as they like, are the same each time, too. */
    __asm__ volatile("mov %0, %%rax\n\t"
                     "xor %%ebx, %%ebx\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx\n\txor %%esi, %%esi\n\t"
                     "xor %%edi, %%edi\n\txor %%ebp, %%ebp\n\txor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\t"
                     "xor %%r10d, %%r10d\n\txor %%r11d, %%r11d\n\txor %%r12d, %%r12d\n\txor %%r13d, %%r13d\n\t"
                     "xor %%r14d, %%r14d\n\txor %%r15d, %%r15d\n\tmov %1, %%rsp\n\tjmp *%%rax"
                     :
                     : "r"(p->entry), "r"(RANDOM_STACK + RANDOM_STACK_PAGES * (uint64_t)RANDOM_PAGE)
                     : "memory");
    __builtin_unreachable();
}
