/* SPDX-License-Identifier: MIT */
/*
 * A data breakpoint at a word that a loop writes in each of its four iterations, ten branches apart: first the program
 * runs from one to the next, then it is single-stepped there, as a debugger that goes backwards does. For each write:
 * DR6 (bit 0: the breakpoint, bit 14: a single step), the word, and branches until then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITE_8_BYTES     0x90001UL /* of DR7: breakpoint 0 */
#define DEBUG_REGISTER(n) (offsetof(struct user, u_debugreg) + 8 * (n))

volatile unsigned long word;

static void check(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static void loop(void)
{
    __asm__ volatile("   xor %%eax, %%eax\n"
                     "1: inc %%rax\n"
                     "   mov %%rax, %0\n"
                     "   mov $9, %%ecx\n"
                     "2: dec %%ecx\n"
                     "   jnz 2b\n"
                     "   cmp $4, %%eax\n"
                     "   jne 1b\n"
                     : "=m"(word)
                     :
                     : "rax", "rcx", "cc");
}

static void run(const char *name, long request)
{
    struct perf_event_attr branches = {.type = PERF_TYPE_HARDWARE,
                                       .size = sizeof branches,
                                       .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
                                       .exclude_kernel = 1};
    const pid_t child = fork();
    int status, counter;
    check(child >= 0, "fork");
    if (child == 0) {
        check(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0, "traceme");
        raise(SIGSTOP);
        loop();
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child, "wait");
    counter = (int)syscall(SYS_perf_event_open, &branches, child, -1, -1, 0);
    check(counter >= 0, "perf_event_open");
    check(ptrace(PTRACE_POKEUSER, child, DEBUG_REGISTER(0), &word) == 0, "DR0");
    check(ptrace(PTRACE_POKEUSER, child, DEBUG_REGISTER(7), WRITE_8_BYTES) == 0, "DR7");
    for (;;) {
        unsigned long count;
        check(ptrace(request, child, NULL, NULL) == 0, name);
        check(waitpid(child, &status, 0) == child, "wait");
        if (WIFEXITED(status))
            break;
        const long dr6 = ptrace(PTRACE_PEEKUSER, child, DEBUG_REGISTER(6), NULL);
        if (!(dr6 & 1))
            continue;
        check(read(counter, &count, sizeof count) == sizeof count, "read");
        printf("%s %lx %ld %lu\n", name, dr6 & 0x400F, ptrace(PTRACE_PEEKDATA, child, &word, NULL), count);
        check(ptrace(PTRACE_POKEUSER, child, DEBUG_REGISTER(6), 0) == 0, "DR6");
    }
    close(counter);
}

int main(void)
{
    run("run", PTRACE_CONT);
    run("step", PTRACE_SINGLESTEP);
    return 0;
}
