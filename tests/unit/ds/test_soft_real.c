/* SPDX-License-Identifier: MIT */
/*
 * The stepping backend on this very processor: RFLAGS.TF is set for real, and the SIGTRAP handler plays the kernel's
 * #DB stub.
 */
#define _GNU_SOURCE /* REG_RIP and the like */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/unit/ds/soft/soft_machine.h"
#include "tests/unit/support/cmocka.h"

static void on_sigtrap(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct arch_trap_frame f = {
        .r15 = (uint64_t)g[REG_R15],
        .r14 = (uint64_t)g[REG_R14],
        .r13 = (uint64_t)g[REG_R13],
        .r12 = (uint64_t)g[REG_R12],
        .r11 = (uint64_t)g[REG_R11],
        .r10 = (uint64_t)g[REG_R10],
        .r9 = (uint64_t)g[REG_R9],
        .r8 = (uint64_t)g[REG_R8],
        .rbp = (uint64_t)g[REG_RBP],
        .rdi = (uint64_t)g[REG_RDI],
        .rsi = (uint64_t)g[REG_RSI],
        .rdx = (uint64_t)g[REG_RDX],
        .rcx = (uint64_t)g[REG_RCX],
        .rbx = (uint64_t)g[REG_RBX],
        .rax = (uint64_t)g[REG_RAX],
        .vector = ARCH_VECTOR_DB,
        .rip = (uint64_t)g[REG_RIP],
        .cs = (uint64_t)g[REG_CSGSFS] & 0xFFFF,
        .rflags = (uint64_t)g[REG_EFL],
        .rsp = (uint64_t)g[REG_RSP],
    };
    if (!ds_soft_step(soft, &f))
        abort();
    g[REG_EFL] = (greg_t)f.rflags;
}

/* Code under test: called stepped, with a buffer in RDI. What it leaves in RAX comes back. */
#define CODE(name, text)                                                                                               \
    uint64_t name(void *buffer);                                                                                       \
    __asm__(".text\n.globl " #name "\n" #name ":\n" text "\nret\n")

CODE(code_empty, "");
CODE(code_nops, ".rept 12\nnop\n.endr");
CODE(code_rep, "mov $100, %ecx\nmov $0x5A, %eax\nrep stosb\nmov %ecx, %eax");
CODE(code_rep_none, "xor %ecx, %ecx\nrep stosq");
CODE(code_scan, "mov $64, %ecx\nmov $1, %eax\nrepne scasb");
CODE(code_pushf, "pushfq\npop %rax");
CODE(code_pushf16, "pushfw\npop %ax");
CODE(code_popf, "pushfq\nandq $~0x100, (%rsp)\npopfq\nnop\nnop");
CODE(code_loop, "mov $10, %ecx\n1: dec %ecx\njnz 1b");
CODE(code_call, "mov $1, %ecx\ncall 1f\ncall 1f\njmp 2f\n1: ret\n2: jrcxz 2b\nnop");
CODE(code_load_ss, "mov %ss, %eax\nmov %eax, %ss\nnop\nnop");
CODE(code_load_ss_jump, "mov %ss, %eax\nmov %eax, %ss\njmp 1f\nnop\n1: nop");
CODE(code_load_ss_pushf, "mov %ss, %eax\nmov %eax, %ss\npushfq\npop %rax");
CODE(code_load_ss_rep, "mov %ss, %eax\nmov $9, %ecx\nmov %eax, %ss\nrep stosb\nnop");
CODE(code_iret,
     "mov %rsp, %rdx\nmov %ss, %eax\npush %rax\npush %rdx\npushfq\nmov %cs, %eax\npush %rax\nlea 1f(%rip), %rax\n"
     "push %rax\niretq\n1: nop\nnop");
CODE(code_vector, "pxor %xmm0, %xmm0\nmovdqu %xmm0, (%rdi)\nmfence\nlock incq (%rdi)");
CODE(code_cpuid, "nop\ncpuid\nafter_cpuid: nop");

struct real {
    const char *name;
    uint64_t (*code)(void *buffer);
    unsigned instructions, branches; /* without RET */
    bool no_tf_in_rax;
};

static const struct real real_code[] = {
    {"nops", code_nops, 12, 0, false},
    {"rep stosb", code_rep, 4, 0, false},
    {"rep stosq, RCX = 0", code_rep_none, 2, 0, false},
    {"repne scasb", code_scan, 3, 0, false},
    {"pushfq", code_pushf, 2, 0, true},
    {"pushfw", code_pushf16, 2, 0, true},
    {"popfq without TF", code_popf, 5, 0, false},
    {"loop", code_loop, 21, 10, false},
    {"call, ret, jmp, jrcxz", code_call, 8, 6, false},
    {"mov ss", code_load_ss, 4, 0, false},
    {"mov ss; jmp", code_load_ss_jump, 4, 1, false},
    {"mov ss; pushfq", code_load_ss_pushf, 4, 0, true},
    {"mov ss; rep stosb", code_load_ss_rep, 5, 0, false},
    {"iretq without TF", code_iret, 12, 1, false},
    {"vector, lock", code_vector, 4, 0, false},
};
static const struct real cpuid_code = {"cpuid", code_cpuid, 3, 0, false};

/* CPUID and IRETQ change RBX and the like, so the call says so. Returns RAX. */
__attribute__((noinline, no_sanitize("address", "undefined"))) static uint64_t run_stepped(uint64_t (*code)(void *),
                                                                                           void *buffer)
{
    uint64_t rax;
    ds_resume(ds);
    __asm__ volatile("xor %%eax, %%eax\n\tcall *%1"
                     : "=&a"(rax), "+r"(code), "+D"(buffer)
                     :
                     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
    ds_pause(ds);
    return rax;
}

static void install_sigtrap(void)
{
    struct sigaction action = {.sa_sigaction = on_sigtrap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
}

static void count(const struct real *r)
{
    uint8_t buffer[1024] __attribute__((aligned(16))) = {0};
    install_sigtrap();
    soft_begin("icelake", COUNT_BOTH, 8);
    run_stepped(code_empty, buffer);
    uint64_t overhead_instructions = soft_instructions(), overhead_branches = soft_branches();
    assert_true(overhead_instructions > 3);
    soft_begin("icelake", COUNT_BOTH, 8);
    uint64_t rax = run_stepped(r->code, buffer);
    uint64_t n = soft_instructions() - overhead_instructions, taken = soft_branches() - overhead_branches;
    if (n != r->instructions || taken != r->branches)
        fail_msg("%s: %lu instructions, %lu branches", r->name, (unsigned long)n, (unsigned long)taken);
    if (r->no_tf_in_rax && rax & TF)
        fail_msg("%s: TF leaked into the image", r->name);
    assert_int_equal(__builtin_ia32_readeflags_u64() & TF, 0);
    assert_int_equal(cpu.step_on, 0);
}

static void real_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof real_code / sizeof real_code[0]; i++)
        count(&real_code[i]);
}

static volatile bool trapped_after_cpuid;

static void on_probe(int number, siginfo_t *info, void *context)
{
    extern const char after_cpuid[];
    (void)number, (void)info;
    if ((uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] == (uintptr_t)after_cpuid)
        trapped_after_cpuid = true;
}

/* A hypervisor emulates CPUID, and some forget the trap that TF asks for behind it: this host is asked without ds. */
static void real_cpuid(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = on_probe, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    trapped_after_cpuid = false;
    __asm__ volatile("pushfq\n\torl $0x100, (%%rsp)\n\tpopfq\n\tcall code_cpuid\n\t"
                     "pushfq\n\tandl $~0x100, (%%rsp)\n\tpopfq"
                     :
                     :
                     : "rax", "rbx", "rcx", "rdx", "memory", "cc");
    if (!trapped_after_cpuid) {
        print_message("SKIP: this host's hypervisor delivers no trap after a CPUID with TF\n");
        skip();
    }
    count(&cpuid_code);
}

static void real_records(void **state)
{
    (void)state;
    install_sigtrap();
    soft_begin("skylake", "instructions:2:u", 64);
    run_stepped(code_nops, NULL);
    unsigned inside = 0;
    uint64_t first = (uintptr_t)code_nops, last = first + 11;
    for (unsigned i = 0; i < seen_count; i++) {
        if (seen[i].event_ip < first || seen[i].event_ip > last)
            continue;
        inside++;
        assert_int_equal(seen[i].next_ip, seen[i].event_ip + 1);
        if (i + 1 < seen_count && seen[i + 1].event_ip <= last && seen[i + 1].event_ip > first)
            assert_int_equal(seen[i + 1].event_ip, seen[i].event_ip + 3); /* a period of 2 is every third */
    }
    assert_int_equal(inside, 4);
    assert_int_equal(*ds_pebs_index(ds), seen[0].address + seen_count * 200);
    ds_stop(ds);
    assert_int_equal(drained_bytes, seen_count * 200);
}

/* A drain from the stepped thread itself pauses, and stepping goes on after it. */
static void real_drain_in_thread(void **state)
{
    (void)state;
    install_sigtrap();
    soft_begin("skylake", "instructions:50:u", 64);
    ds_resume(ds);
    ds_drain(ds, CAIRN_DS_RECONFIGURE);
    unsigned before = seen_count;
    code_nops(NULL);
    for (volatile int i = 0; i < 100; i++)
        ;
    bool stepping = cpu.step_on;
    ds_pause(ds);
    assert_true(stepping);
    assert_true(seen_count > before);
    for (unsigned i = 1; i < seen_count; i++)
        assert_true(seen[i].epoch >= seen[i - 1].epoch);
    assert_int_equal(seen[seen_count - 1].epoch, 1);
    ds_stop(ds);
    assert_int_equal(drained_bytes, seen_count * 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_counts),
        cmocka_unit_test(real_cpuid),
        cmocka_unit_test(real_records),
        cmocka_unit_test(real_drain_in_thread),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(soft);
    free(ds);
    return failed;
}
