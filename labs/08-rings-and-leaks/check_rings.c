/* SPDX-License-Identifier: MIT */
/* Lab 8: counts a program in ring 0 and one in ring 3 with each filter. */
#include "labs/check.h"

#include "check_parts.h"
#include "kernel/lib/errno.h"

#define SECTION "SDM vol. 3B, \"Architectural Performance Monitoring\""
#define FIXED   "SDM vol. 3B, \"Fixed-Function Performance Counters\""

#define NEAR_CALL         ia32_perfevtsel(0xC4, 2)
#define KERNEL_CALLS      30u
#define USER_CALLS        8u
#define USER_INSTRUCTIONS 22u /* 2 MOV, 8 CALL and 8 RET, RET, and the three after it */

#define FIXED_FILTER                                                                                                   \
    "IA32_FIXED_CTR_CTRL has four bits for each fixed counter. The lowest enables it in ring 0, the next one in the "  \
    "others."

lab_program lab_kernel_8, lab_user_8; /* program.asm, ring3/program.asm */

static const char *const names[] = {"", "ring 0", "ring 3", "both rings"};

static uint32_t value_msr(unsigned counter)
{
    return counter < DS_COUNTER_FIXED ? IA32_PMC0 + counter : IA32_FIXED_CTR0 + counter - DS_COUNTER_FIXED;
}

static void start(unsigned counter, unsigned rings)
{
    if (lab_count(counter, NEAR_CALL, rings) != 0)
        lab_fail("gp", "WRMSR raises #GP where a register does not exist, or a reserved bit is set.", SECTION,
                 "lab_count returns an error for counter %u", counter);
    const bool fixed = counter >= DS_COUNTER_FIXED;
    const uint64_t control = lab_msr(fixed ? IA32_FIXED_CTR_CTRL : IA32_PERFEVTSEL0 + counter);
    if (control & (fixed ? ia32_fixed_ctr_ctrl_pmi(counter - DS_COUNTER_FIXED) : IA32_PERFEVTSEL_INT))
        lab_fail("int", "This counter only counts. Nobody handles an interrupt at its overflow.",
                 fixed ? FIXED : SECTION, "%s is 0x%lx: %s is set", fixed ? "IA32_FIXED_CTR_CTRL" : "IA32_PERFEVTSELx",
                 (unsigned long)control, fixed ? "PMI (bit 3 of the counter's four)" : "INT (bit 20)");
    if (lab_msr(value_msr(counter)))
        lab_fail("from-0", "Set the counter itself to 0: it still has what it counted before.", SECTION,
                 "counter %u is at %lu after lab_count", counter, (unsigned long)lab_msr(value_msr(counter)));
}

static _Noreturn void fail_filter(unsigned counter, unsigned rings, const char *program, uint64_t seen, uint64_t right)
{
    if (counter < DS_COUNTER_FIXED)
        lab_fail("filter",
                 "A general-purpose counter has two bits for its rings in IA32_PERFEVTSELx: OS for ring 0, and USR for "
                 "the others. EN turns it on, and the low 16 bits are the event.",
                 SECTION, "counter %u, to count in %s, has counted %lu calls of a program in %s; expected %lu", counter,
                 names[rings], (unsigned long)seen, program, (unsigned long)right);
    lab_fail("fixed-filter", FIXED_FILTER, FIXED,
             "fixed counter %u, to count in %s, has counted %lu instructions of a program in %s; expected %s%lu",
             counter - DS_COUNTER_FIXED, names[rings], (unsigned long)seen, program,
             right > USER_INSTRUCTIONS ? "at least " : "", (unsigned long)right);
}

/* Counters that count in ring 0 see the kernel on the way to ring 3 and back, but on the model. */
static void check_counter(unsigned counter, unsigned rings)
{
    const bool fixed = counter >= DS_COUNTER_FIXED;
    const uint64_t least = fixed ? 2 * KERNEL_CALLS : KERNEL_CALLS; /* each call and its return */
    start(counter, rings);
    if (lab_run(lab_kernel_8, 0, DS_BIT(counter)) != 0)
        lab_fail("run", "The check itself cannot run here.", SECTION, "there is no counter %u", counter);
    const uint64_t in_0 = lab_msr(value_msr(counter));
    if (!(rings & LAB_RING_0) ? in_0 != 0 : fixed ? in_0 < least : in_0 != least)
        fail_filter(counter, rings, names[LAB_RING_0], in_0, rings & LAB_RING_0 ? least : 0);

    start(counter, rings);
    if (lab_run_user(lab_user_8, 0, DS_BIT(counter)) != 0)
        lab_fail("run", "The check itself cannot run here.", SECTION, "no program can run in ring 3");
    const uint64_t in_3 = lab_msr(value_msr(counter));
    const uint64_t right = !(rings & LAB_RING_3) ? 0 : fixed ? USER_INSTRUCTIONS : USER_CALLS;
    const bool kernel_too = rings & LAB_RING_0 && !lab_is_model();
    if (kernel_too ? in_3 < right : in_3 != right)
        fail_filter(counter, rings, names[LAB_RING_3], in_3, right);
}

/* Fixed counter `i` gets one ring and then the other. `other` keeps what it has. */
static void check_neighbour(unsigned i, unsigned other)
{
    const uint64_t all = ia32_fixed_ctr_ctrl_os(0) | ia32_fixed_ctr_ctrl_usr(0) | ia32_fixed_ctr_ctrl_pmi(0);
    const uint64_t four = UINT64_C(0xF), kept = all << 4 * other;
    (void)lab_wrmsr(IA32_FIXED_CTR_CTRL, kept | all << 4 * i);
    (void)lab_wrmsr(IA32_FIXED_CTR0 + i, 7);
    (void)lab_wrmsr(IA32_FIXED_CTR0 + other, 7);
    for (unsigned rings = LAB_RING_3; rings >= LAB_RING_0; rings--) {
        start(DS_COUNTER_FIXED + i, rings);
        const uint64_t now = lab_msr(IA32_FIXED_CTR_CTRL);
        const uint64_t own = rings == LAB_RING_0 ? ia32_fixed_ctr_ctrl_os(i) : ia32_fixed_ctr_ctrl_usr(i);
        if ((now & four << 4 * other) != kept || lab_msr(IA32_FIXED_CTR0 + other) != 7)
            lab_fail(
                "neighbour",
                "All fixed counters share IA32_FIXED_CTR_CTRL. Change only the four bits of your own, and your own "
                "value.",
                FIXED, "for fixed counter %u IA32_FIXED_CTR_CTRL had 0x%lx, and it was at 7; now 0x%lx and %lu", other,
                (unsigned long)kept, (unsigned long)(now & four << 4 * other),
                (unsigned long)lab_msr(IA32_FIXED_CTR0 + other));
        if ((now & four << 4 * i) != own)
            lab_fail("fixed-filter", FIXED_FILTER, FIXED,
                     "fixed counter %u, to count in %s, has 0x%lx in IA32_FIXED_CTR_CTRL; expected 0x%lx", i,
                     names[rings], (unsigned long)(now & four << 4 * i), (unsigned long)own);
    }
    (void)lab_wrmsr(IA32_FIXED_CTR_CTRL, 0);
    (void)lab_wrmsr(IA32_FIXED_CTR0 + other, 0);
}

/* The model raises #GP for a register that does not exist. QEMU's processor does not. */
static void check_error(unsigned counter)
{
    const int e = lab_is_model() ? lab_count(counter, NEAR_CALL, LAB_RING_3) : -EFAULT;
    if (e != -EFAULT)
        lab_fail("error", "Return what lab_rdmsr or lab_wrmsr returns, if it is not 0.", "labs/lab.h",
                 "lab_count returns %d for counter %u, which does not exist; expected %d, the error of the access", e,
                 counter, -EFAULT);
}

void lab_check_rings(void)
{
    const unsigned counters[] = {1 + lab_seed() % 3, DS_COUNTER_FIXED};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned rings = LAB_RING_0; rings <= (LAB_RING_0 | LAB_RING_3); rings++)
            check_counter(counters[i], rings);
    check_neighbour(0, 1);
    check_neighbour(1 + lab_seed() % 2, 0);
    check_error(20);
    check_error(DS_COUNTER_FIXED + 12);
    (void)lab_wrmsr(IA32_PERFEVTSEL0 + counters[0], 0);
    (void)lab_wrmsr(IA32_PMC0 + counters[0], 0);
    lab_pass("rings", "counter %u and fixed counter 0, in each ring and in both%s", counters[0],
             lab_is_model() ? "" : " (ring 0: at least, for it counts the kernel, too)");
}
