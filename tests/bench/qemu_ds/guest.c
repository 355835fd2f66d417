/* SPDX-License-Identifier: MIT */
/*
 * Times two loops while nothing, counters, PEBS, BTS or branch history is on, which the last word of the command line
 * says. A line for each loop: its name, the fewest picoseconds that an iteration took in one of many short runs, and
 * what 1000 iterations have: instructions, records or remembered branches. What the processor says is compared with
 * what the loops are known to do.
 *
 * A digit behind the word (pebs4): so many processors share a fixed number of runs, and the host takes the time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds/layout.h"

#define HPET          0xFED00000u
#define HPET_PERIOD   4 /* femtoseconds a count */
#define HPET_CONFIG   0x10
#define HPET_ENABLE   1
#define HPET_COUNTER  0xF0
#define APIC_SVR      0xFEE000F0u
#define APIC_ICR      0xFEE00300u
#define SVR_ENABLED   0x100
#define INIT_OTHERS   0xC4500 /* to all but itself */
#define SIPI_OTHERS   0xC4608 /* to 8000H, start.asm's TRAMPOLINE */
#define DEBUG_CONSOLE 0xE9
#define DEBUG_EXIT    0xF4

#define ALL_LOADS    0x81D0 /* MEM_INST_RETIRED.ALL_LOADS */
#define ALL_BRANCHES 0x00C4 /* BR_INST_RETIRED.ALL_BRANCHES */

#define PERIOD       10007 /* instructions a PEBS record */
#define BUFFER       UINT64_C(0x1000000)
#define BUFFER_BYTES UINT64_C(0x1000000)
#define BUDGET_MS    400 /* for each loop */
#define RUNS         50  /* at least */
#define SHARED_RUNS  400 /* of each loop */
#define PROCESSORS   8   /* at most; start.asm has stacks for them */
#define LBR_DEPTH    32  /* of icelake */
#define LEAVING      8   /* taken branches from a loop to where history is switched off, at most */
#define LOOP_BYTES   512 /* at most */
#define MARGIN       64  /* instructions between switching on and off, beside the loop */

void bench_blocks(uint64_t iterations, void *data);
void bench_calls(uint64_t iterations, void *data);
_Noreturn void guest_main(const uint32_t *multiboot);
void guest_other(unsigned processor);

struct loop {
    const char *name;
    void (*run)(uint64_t iterations, void *data);
    unsigned instructions, loads, taken, branch_halves; /* in an iteration */
};

static const struct loop loops[] = {
    {"blocks", bench_blocks, 25, 1, 2, 5},
    {"calls", bench_calls, 31, 10, 5, 10},
};

enum mode { PLAIN, COUNTING, PEBS, BTS, LOADS, LBR, MODES };
static const char *const modes[MODES] = {"plain", "counting", "pebs", "bts", "loads", "lbr"};
/* Of a run: about a millisecond, which other work on the machine seldom disturbs. */
static const uint32_t iterations[MODES] = {40000, 40000, 40000, 2000, 20000, 20000};

static struct processor {
    struct ds_area_a0 area __attribute__((aligned(4096)));
    uint8_t data[4096];
    uint64_t buffer; /* BUFFER_BYTES there */
} processors[PROCESSORS];
static volatile enum mode shared_mode;
static unsigned sharing, done; /* processors */

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static uint32_t hpet(unsigned reg)
{
    return *(volatile uint32_t *)(uintptr_t)(HPET + reg);
}

static void put(char c)
{
    __asm__ volatile("outb %0, %1" : : "a"(c), "Nd"((uint16_t)DEBUG_CONSOLE));
}

static void print(const char *s)
{
    while (*s)
        put(*s++);
}

static void print_number(uint64_t n)
{
    char digits[20];
    unsigned i = 0;
    do
        digits[i++] = (char)('0' + n % 10);
    while (n /= 10);
    while (i)
        put(digits[--i]);
}

static _Noreturn void end(bool good)
{
    for (;;)
        __asm__ volatile("outl %0, %1" : : "a"(good ? 0x10 : 0x20), "Nd"((uint16_t)DEBUG_EXIT));
}

static void write_msr(uint32_t msr, uint64_t value)
{
    __asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static uint64_t read_msr(uint32_t msr)
{
    uint32_t low, high;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
    return low | (uint64_t)high << 32;
}

/* ---- what is on -------------------------------------------------------------------------------------------------- */

static const uint64_t width = (UINT64_C(1) << 48) - 1;
static const uint64_t everywhere = IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_OS;

static void on(struct processor *p, enum mode mode)
{
    const uint64_t fixed0 = ds_counter_fixed(0);
    if (mode == PLAIN)
        return;
    if (mode == LBR) {
        for (unsigned i = 0; i < LBR_DEPTH; i++)
            write_msr(MSR_LASTBRANCH_0_TO_IP + i, 0);
        write_msr(IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
        return;
    }
    p->area = (struct ds_area_a0){
        .bts_buffer_base = p->buffer,
        .bts_index = p->buffer,
        .bts_absolute_maximum = p->buffer + BUFFER_BYTES,
        .bts_interrupt_threshold = UINT64_MAX,
        .pebs_buffer_base = p->buffer,
        .pebs_index = p->buffer,
        .pebs_absolute_maximum = p->buffer + BUFFER_BYTES,
        .pebs_interrupt_threshold = UINT64_MAX,
        .pebs_fixed_counter_reset = {-(uint64_t)PERIOD & width},
    };
    write_msr(IA32_DS_AREA, (uintptr_t)&p->area);
    if (mode == BTS) {
        write_msr(IA32_DEBUGCTL, IA32_DEBUGCTL_TR | IA32_DEBUGCTL_BTS);
        return;
    }
    write_msr(IA32_FIXED_CTR0, mode == PEBS ? -(uint64_t)PERIOD & width : 0);
    write_msr(IA32_PMC0, 0);
    if (mode == PEBS) {
        write_msr(MSR_PEBS_DATA_CFG, MSR_PEBS_DATA_CFG_GPR);
        write_msr(IA32_FIXED_CTR_CTRL,
                  ia32_fixed_ctr_ctrl_os(0) | ia32_fixed_ctr_ctrl_usr(0) | ia32_fixed_ctr_ctrl_adaptive(0));
        write_msr(IA32_PEBS_ENABLE, DS_BIT(fixed0));
    } else {
        write_msr(IA32_FIXED_CTR_CTRL, ia32_fixed_ctr_ctrl_os(0) | ia32_fixed_ctr_ctrl_usr(0));
        write_msr(IA32_PERFEVTSEL0, everywhere | (mode == LOADS ? ALL_LOADS : ALL_BRANCHES));
    }
    write_msr(IA32_PERF_GLOBAL_CTRL, DS_BIT(0) | DS_BIT(fixed0));
}

static void off(enum mode mode)
{
    if (mode == PLAIN)
        return;
    if (mode == BTS || mode == LBR) {
        write_msr(IA32_DEBUGCTL, 0);
        return;
    }
    write_msr(IA32_PERF_GLOBAL_CTRL, 0);
    write_msr(IA32_PEBS_ENABLE, 0);
}

/* ---- what it has seen -------------------------------------------------------------------------------------------- */

static void expect(const char *what, uint64_t is, uint64_t least, uint64_t most)
{
    if (is >= least && is <= most)
        return;
    print("FAIL: ");
    print(what);
    print(" ");
    print_number(is);
    print(", expected ");
    print_number(least);
    print(" to ");
    print_number(most);
    print("\n");
    end(false);
}

/* Returns the records. */
static uint64_t check(const struct processor *p, enum mode mode, const struct loop *l, uint64_t n)
{
    uint64_t records = 0;
    if (mode == COUNTING || mode == LOADS)
        expect("instructions", read_msr(IA32_FIXED_CTR0), n * l->instructions, n * l->instructions + MARGIN);
    if (mode == COUNTING)
        expect("branches", read_msr(IA32_PMC0), n * l->branch_halves / 2, n * l->branch_halves / 2 + MARGIN);
    if (mode == LOADS)
        expect("loads", read_msr(IA32_PMC0), n * l->loads, n * l->loads + MARGIN);
    if (mode == PEBS) {
        records = (p->area.pebs_index - p->buffer) / ds_pebs_adaptive_size(MSR_PEBS_DATA_CFG_GPR);
        expect("records", records, n * l->instructions / PERIOD, n * l->instructions / PERIOD + 1);
    }
    if (mode == BTS) {
        records = (p->area.bts_index - p->buffer) / sizeof(struct ds_bts_record);
        expect("branch records", records, n * l->taken - 1, n * l->taken + MARGIN);
    }
    if (mode == LBR) { /* all but those that lead away from it are the loop's own */
        const uint64_t begin = (uintptr_t)l->run;
        uint64_t own = 0;
        for (unsigned i = 0; i < LBR_DEPTH; i++)
            own += read_msr(MSR_LASTBRANCH_0_TO_IP + i) - begin < LOOP_BYTES;
        expect("branches in history", own, LBR_DEPTH - LEAVING, LBR_DEPTH);
        records = n * l->taken;
    }
    return records;
}

static void time_loop(enum mode mode, const struct loop *l)
{
    struct processor *p = &processors[0];
    const uint64_t period = hpet(HPET_PERIOD), n = iterations[mode];
    uint64_t least = UINT64_MAX, spent = 0, records = 0;
    for (unsigned run = 0; run < RUNS || spent * period < BUDGET_MS * UINT64_C(1000000000000); run++) {
        on(p, mode);
        uint32_t begin = hpet(HPET_COUNTER);
        l->run(n, p->data);
        uint32_t took = hpet(HPET_COUNTER) - begin;
        off(mode);
        records = check(p, mode, l, n);
        spent += took;
        least = took < least ? took : least;
    }
    print(l->name);
    print(" ");
    print_number(least * period / 1000 / n);
    print(" ");
    print_number(l->instructions * 1000);
    print(" ");
    print_number(records * 1000 / n);
    print("\n");
}

/* This processor's part of what all do. The last of them ends the machine. */
static void share(struct processor *p)
{
    for (unsigned run = 0; run < SHARED_RUNS / sharing; run++)
        for (unsigned l = 0; l < sizeof loops / sizeof loops[0]; l++) {
            on(p, shared_mode);
            loops[l].run(iterations[shared_mode], p->data);
            off(shared_mode);
            check(p, shared_mode, &loops[l], iterations[shared_mode]);
        }
    if (__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST) == sharing)
        end(true);
}

void guest_other(unsigned processor)
{
    share(&processors[processor]);
}

static void write_apic(uint32_t at, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)at = value;
}

static void start_others(void)
{
    write_apic(APIC_SVR, SVR_ENABLED | 0xFF);
    write_apic(APIC_ICR, INIT_OTHERS);
    for (volatile unsigned i = 0; i < 1000000; i++) {
    }
    write_apic(APIC_ICR, SIPI_OTHERS);
}

static _Noreturn void run_shared(enum mode mode, unsigned n)
{
    shared_mode = mode;
    sharing = n;
    if (n > 1)
        start_others();
    share(&processors[0]);
    for (;;)
        __asm__ volatile("cli; hlt");
}

_Noreturn void guest_main(const uint32_t *multiboot)
{
    const char *word = (const char *)(uintptr_t)multiboot[4]; /* the command line */
    for (const char *c = word; *c; c++)
        if (*c == ' ')
            word = c + 1;
    *(volatile uint32_t *)(uintptr_t)(HPET + HPET_CONFIG) = HPET_ENABLE;
    for (unsigned i = 0; i < PROCESSORS; i++)
        processors[i].buffer = BUFFER + i * BUFFER_BYTES;
    for (unsigned mode = 0; mode < MODES; mode++) {
        unsigned i = 0;
        while (word[i] && word[i] == modes[mode][i])
            i++;
        if (!modes[mode][i] && word[i] > '0' && word[i] <= '0' + PROCESSORS && !word[i + 1])
            run_shared((enum mode)mode, (unsigned)(word[i] - '0'));
        if (word[i] || modes[mode][i])
            continue;
        for (unsigned l = 0; l < sizeof loops / sizeof loops[0]; l++)
            time_loop(mode, &loops[l]);
        end(true);
    }
    print("FAIL: what is to be on? ");
    print(word);
    print("\n");
    end(false);
}
