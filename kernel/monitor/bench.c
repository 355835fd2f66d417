/* SPDX-License-Identifier: MIT */
/*
 * The program is entered with interrupts off and RFLAGS.TF set; the #DB after its instruction comes back to the command
 * (kernel/monitor/step.asm). Counters count ring 3 only, and are on for that instruction only: nothing of the kernel
 * has to be subtracted. A PMI that the instruction raised comes when the command turns interrupts on again, and is
 * handled as any other: kernel/recording/pmi.c drains the Debug Store that is active, which is this one.
 */
#include "kernel/monitor/bench.h"

#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "arch/user/user.h"
#include "ds/layout.h"
#include "kernel/cpu.h"
#include "kernel/lib/string.h"
#include "kernel/memory/mem.h"
#include "kernel/memory/stack.h"
#include "kernel/monitor/machine.h"
#include "kernel/recording/ds.h"
#include "kernel/tracepoint/stepping.h"
#include "kernel/user/user.h"

#define RECORDS    8u
#define THRESHOLD  4u
#define STEPS_MOST 10000u

struct kmonitor_instruction { /* as nasm writes it */
    uint64_t ip;              /* in the kernel's image */
    char text[24];
};
extern const struct kmonitor_instruction kmonitor_instructions[], kmonitor_instructions_end[];
extern user_program user_stepped;

void kmonitor_step_enter(struct arch_trap_frame *frame, void **back);
_Noreturn void kmonitor_step_back(void *back);

struct view { /* what a step changes */
    struct arch_trap_frame frame;
    uint64_t counter[DS_MAX_COUNTERS];
    uint64_t status, index;
    struct ds_counts counts;
};

static struct bench {
    bool made, started, stepping;
    uint32_t cpu;
    struct kuser *user;
    const struct ds_machine *machine; /* NULL: no backend */
    struct ds_cpu *ds;                /* likewise */
    void *area, *buffer;
    size_t buffer_pages;
    struct ds_config config;
    uint64_t steps;
    void *back; /* of kmonitor_step_enter */
    struct view now, before;
} bench;

#define PAGES(bytes) (((bytes) + ARCH_PAGE_SIZE - 1) / ARCH_PAGE_SIZE)

/* ---- made and unmade --------------------------------------------------------------------------------------------- */

static bool writable(const void *address, size_t size)
{
    return arch_writable(address, size);
}

static void reset_program(void)
{
    bench.now.frame = (struct arch_trap_frame){
        .rip = kuser_address((const void *)(uintptr_t)user_stepped),
        .cs = ARCH_USER_CODE,
        .ss = ARCH_USER_DATA,
        .rsp = KUSER_STACK_TOP - 128,
        .rflags = ARCH_RFLAGS_FIXED, /* no interrupts */
    };
    memset((uint8_t *)bench.user->stack + KUSER_STACK_PAGES * ARCH_PAGE_SIZE - 256, 0, 256);
    bench.steps = 0;
}

static bool make_debug_store(void)
{
    bench.ds = kmem_pages_alloc(PAGES(ds_cpu_bytes()));
    bench.area = kmem_pages_alloc(1);
    bench.machine = kds_machine_make(true);
    if (!bench.ds || !bench.area || !bench.machine)
        return false;
    if (bench.machine->stepping) /* the user may write any address into IA32_DS_AREA */
        bench.machine->stepping->check_memory(bench.machine->context, writable);
    return true;
}

static uint32_t tid(const struct arch_trap_frame *frame)
{
    (void)frame;
    return kcpu_this()->current->tid;
}

bool kmonitor_bench_begin(void)
{
    struct kcpu *cpu = kcpu_this();
    bench.cpu = cpu->arch.index;
    bench.made = true;
    bench.user = kmem_pages_alloc(1);
    if (!bench.user || kuser_make_space(bench.user) != 0 || (cpu->ds && !make_debug_store()))
        return false;
    reset_program();
    if (bench.machine && bench.machine->stepping)
        cpu->stepped = bench.machine;
    return true;
}

/* Interrupts off. */
static void stop(void)
{
    struct kcpu *cpu = kcpu_this();
    if (!bench.started)
        return;
    ds_stop(bench.ds);
    bench.started = false;
    kds_lend(cpu->ds);
    kmonitor_machine_counts(bench.cpu, NULL);
}

static void free_pages(void *memory, size_t pages)
{
    if (memory)
        kmem_pages_free(memory, pages);
}

void kmonitor_bench_end(void)
{
    struct kcpu *cpu = kcpu_this();
    if (!bench.made)
        return;
    bool on = arch_irq_save();
    stop();
    cpu->stepped = kds->other ? cpu->machine : NULL;
    arch_irq_restore(on);
    kds_machine_free(bench.machine);
    free_pages(bench.ds, PAGES(ds_cpu_bytes()));
    free_pages(bench.area, 1);
    free_pages(bench.buffer, bench.buffer_pages);
    if (bench.user)
        kuser_free(bench.user);
    bench = (struct bench){.made = false};
}

/* ---- event ------------------------------------------------------------------------------------------------------- */

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    (void)context, (void)cpu, (void)tsc;
}

static void drained(void *context, uint32_t cpu, const struct ds_drain *drain)
{
    (void)context, (void)cpu, (void)drain; /* the driver counts them */
}

/* Programs bench.config. Interrupts off; else false, with one line in `error`. */
static bool start(char *error, size_t size)
{
    static const struct ds_hooks hooks = {.before_drain = before_drain, .drained = drained};
    struct kcpu *cpu = kcpu_this();
    struct ds_refusal refusal;
    memset(bench.area, 0, ARCH_PAGE_SIZE);
    memset(bench.buffer, 0, bench.buffer_pages * ARCH_PAGE_SIZE);
    if (ds_cpu_init(bench.ds, bench.cpu, bench.machine, &kds->caps[bench.cpu], &bench.config, &hooks, bench.area,
                    bench.buffer, error, size) != 0)
        return false;
    if (bench.machine->stepping)
        bench.machine->stepping->attach(bench.machine->context, bench.ds, tid);
    kds_lend(bench.ds);
    bench.started = ds_start(bench.ds, &refusal) == 0;
    if (bench.started) {
        kmonitor_machine_counts(bench.cpu, &bench.config);
        return true;
    }
    kds_lend(cpu->ds);
    kds_explain(&refusal, bench.cpu, error, size);
    return false;
}

static int event(struct kmonitor *m, unsigned words, char **word)
{
    char error[256] = "";
    (void)words;
    if (m->place != KMONITOR_BEFORE_RUN) {
        kmonitor_say(m, "event: works only before the run; now the counters belong to the session");
        return 0;
    }
    if (!bench.ds) {
        kmonitor_say(m, "event: there is no Debug Store: backend %s", m->machine->backend);
        return 0;
    }
    struct ds_config config = {.groups = MSR_PEBS_DATA_CFG_GPR, .records = RECORDS, .threshold = THRESHOLD};
    const bool off = kmonitor_same(word[0], "off");
    if (!off && ds_parse_events(word[0], &config, error, sizeof error) != 0) {
        kmonitor_wrap(m, 0, error);
        return 0;
    }
    for (uint32_t i = 0; i < config.events; i++) {
        config.event[i].user = true;
        config.event[i].kernel = false;
    }
    bool on = arch_irq_save();
    stop();
    arch_irq_restore(on);
    free_pages(bench.buffer, bench.buffer_pages);
    bench.buffer = NULL;
    if (off || !config.events) {
        kmonitor_say(m, "event: counters and PEBS are off");
        return 0;
    }
    bench.config = config;
    bench.buffer_pages = PAGES(ds_buffer_bytes(&kds->caps[bench.cpu], &config));
    bench.buffer = kds_buffer_alloc(bench.cpu, bench.buffer_pages * ARCH_PAGE_SIZE);
    if (!bench.buffer) {
        kmonitor_say(m, "event: no memory for the buffer");
        return 0;
    }
    on = arch_irq_save();
    const bool good = start(error, sizeof error);
    arch_irq_restore(on);
    if (!good) {
        kmonitor_wrap(m, 0, error);
        return 0;
    }
    reset_program();
    kmonitor_say(m, "event: set up on CPU %u, for ring 3: %u records, PMI at %u; `step` runs a program", bench.cpu,
                 RECORDS, THRESHOLD);
    return 0;
}

/* ---- step -------------------------------------------------------------------------------------------------------- */

bool kmonitor_bench_debug(struct arch_trap_frame *frame)
{
    struct kcpu *cpu = kcpu_this();
    if (!bench.stepping || cpu->arch.index != bench.cpu || !(frame->cs & 3))
        return false;
    kstepping_debug(frame);
    ds_pause(cpu->active_ds);
    bench.now.frame = *frame;
    bench.now.frame.rflags &= ~ARCH_RFLAGS_TF;
    bench.stepping = false;
    kmonitor_step_back(bench.back);
}

static void step_once(void)
{
    struct kcpu *cpu = kcpu_this();
    void *stack = kstack_pointer(cpu->current);
    struct arch_trap_frame frame = bench.now.frame;
    bool on = arch_irq_save();
    arch_thread_in(stack, bench.user->space);
    ds_resume_user(cpu->active_ds, &frame);
    frame.rflags |= ARCH_RFLAGS_TF;
    bench.stepping = true;
    kmonitor_step_enter(&frame, &bench.back);
    arch_thread_in(stack, 0);
    arch_irq_restore(on); /* the PMI, if there is one, comes here */
    bench.steps++;
}

static void look(struct kmonitor *m)
{
    bool model;
    struct view *v = &bench.now;
    if (!bench.started)
        return;
    for (uint32_t i = 0; i < bench.config.events; i++) {
        const unsigned n = ds_event_counter(bench.ds, i);
        m->machine->rdmsr(bench.cpu, n < DS_COUNTER_FIXED ? IA32_PMC0 + n : IA32_FIXED_CTR0 + (n - DS_COUNTER_FIXED),
                          &v->counter[i], &model);
    }
    m->machine->rdmsr(bench.cpu, IA32_PERF_GLOBAL_STATUS, &v->status, &model);
    ds_refresh_index(bench.ds);
    v->index = *ds_pebs_index(bench.ds);
    ds_cpu_counts(bench.ds, &v->counts);
}

enum until { UNTIL_COUNT, UNTIL_OVERFLOW, UNTIL_RECORD, UNTIL_PMI, UNTIL_DRAIN };
static const char *const until_words[] = {
    [UNTIL_OVERFLOW] = "overflow", [UNTIL_RECORD] = "record", [UNTIL_PMI] = "pmi", [UNTIL_DRAIN] = "drain"};

static uint64_t records_in_buffer(const struct view *v)
{
    const uint64_t *area = bench.area;
    const struct ds_caps *caps = &kds->caps[bench.cpu];
    const uint64_t base = caps->instead ? 0 : area[offsetof(struct ds_area_60, pebs_buffer_base) / 8];
    const uint32_t bytes = ds_record_size(caps, &bench.config);
    return bytes ? (v->index - base) / bytes : 0;
}

/* Whether this has happened between `a` and `b`. The status bit of a PEBS counter may be gone again with its record. So
 * the value counts: it is back at 0, or at its reset value, which with period 1 and precise distribution is where it
 * was. PebsIndex alone does not show a record: the one that reaches the threshold is drained in the same step. */
static bool happened(enum until until, const struct view *a, const struct view *b)
{
    const bool record = a->counts.records + records_in_buffer(a) != b->counts.records + records_in_buffer(b);
    bool overflow = false;
    for (uint32_t i = 0; i < bench.config.events; i++)
        overflow |= b->counter[i] < a->counter[i] ||
                    (record && bench.config.event[i].period == 1 && b->counter[i] == a->counter[i]);
    switch (until) {
    case UNTIL_OVERFLOW:
        return overflow;
    case UNTIL_RECORD:
        return record;
    case UNTIL_PMI:
        return b->counts.pmis != a->counts.pmis;
    case UNTIL_DRAIN:
        return b->counts.drains != a->counts.drains;
    default:
        return false;
    }
}

static const char *text_at(uint64_t ip)
{
    const uint64_t where = ip - KUSER_IMAGE + (uint64_t)kernel_user_start;
    for (const struct kmonitor_instruction *i = kmonitor_instructions; i < kmonitor_instructions_end; i++)
        if (i->ip == where)
            return i->text;
    return "?";
}

static void show_registers(struct kmonitor *m)
{
    static const char *const names[] = {"R15", "R14", "R13", "R12", "R11", "R10", "R9", "R8",
                                        "RBP", "RDI", "RSI", "RDX", "RCX", "RBX", "RAX"};
    const uint64_t *a = &bench.before.frame.r15, *b = &bench.now.frame.r15;
    for (unsigned i = sizeof names / sizeof names[0]; i-- > 0;)
        if (a[i] != b[i])
            kmonitor_print(m, "* %-24s 0x%lx, was 0x%lx\n", names[i], (unsigned long)b[i], (unsigned long)a[i]);
    if (bench.before.frame.rsp != bench.now.frame.rsp)
        kmonitor_print(m, "* %-24s 0x%lx, was 0x%lx\n", "RSP", (unsigned long)bench.now.frame.rsp,
                       (unsigned long)bench.before.frame.rsp);
}

static void show_counts(struct kmonitor *m)
{
    const struct view *a = &bench.before, *b = &bench.now;
    const uint64_t records = records_in_buffer(b);
    for (uint32_t i = 0; i < bench.config.events; i++) {
        char name[24];
        const unsigned n = ds_event_counter(bench.ds, i);
        const bool fixed = n >= DS_COUNTER_FIXED;
        const unsigned width = fixed ? kds->caps[bench.cpu].fixed_width : kds->caps[bench.cpu].gp_width;
        snprintf(name, sizeof name, fixed ? "IA32_FIXED_CTR%u" : "IA32_PMC%u", fixed ? n - DS_COUNTER_FIXED : n);
        kmonitor_print(m, "%c %-24s 0x%lx", a->counter[i] != b->counter[i] ? '*' : ' ', name,
                       (unsigned long)b->counter[i]);
        if (width && b->counter[i] >> (width - 1))
            kmonitor_print(m, ": %lu more to its overflow",
                           (unsigned long)((width < 64 ? DS_BIT(width) : 0) - b->counter[i]));
        kmonitor_print(m, "%s\n", kds->other ? "  (model)" : "");
    }
    kmonitor_print(m, "%c %-24s base + %lu record%s\n", a->index != b->index ? '*' : ' ',
                   kds->caps[bench.cpu].instead ? "IA32_PEBS_INDEX.WR" : "PebsIndex", (unsigned long)records,
                   kmonitor_plural(records));
    kmonitor_show_msr(m, IA32_PERF_GLOBAL_STATUS, b->status, kds->other ? "  (model)" : "");
    kmonitor_print(m, "%c so far                   PMIs: %lu, drains: %lu, records drained: %lu\n",
                   a->counts.pmis != b->counts.pmis || a->counts.drains != b->counts.drains ? '*' : ' ',
                   (unsigned long)b->counts.pmis, (unsigned long)b->counts.drains, (unsigned long)b->counts.records);
}

static void show(struct kmonitor *m, uint64_t last)
{
    char where[80];
    kmonitor_print(m, "step %lu: %s\n", (unsigned long)bench.steps, text_at(last));
    kmonitor_print(m, "  next is %s: %s\n", kmonitor_place_of(m, bench.now.frame.rip, where, sizeof where),
                   text_at(bench.now.frame.rip));
    show_registers(m);
    if (bench.started)
        show_counts(m);
}

/* What the word asks for: a number of steps, or what they lead to. */
static bool read_until(struct kmonitor *m, const char *word, enum until *until, uint64_t *most)
{
    *until = UNTIL_COUNT;
    *most = 1;
    if (!word)
        return true;
    for (unsigned i = UNTIL_OVERFLOW; i <= UNTIL_DRAIN; i++)
        if (kmonitor_same(until_words[i], word)) {
            *until = (enum until)i;
            *most = STEPS_MOST;
        }
    if (kmonitor_same("switch", word)) {
        kmonitor_say(
            m, "step: there is no switch here, because no other thread runs. `break switch` stops at one in the run");
        return false;
    }
    if (*until != UNTIL_COUNT && !bench.started) {
        kmonitor_say(m, "step: nothing is counted: `event EVENT:PERIOD` first");
        return false;
    }
    return *until != UNTIL_COUNT || kmonitor_number(m, word, STEPS_MOST, most);
}

static int step(struct kmonitor *m, unsigned words, char **word)
{
    enum until until;
    uint64_t most, last = bench.now.frame.rip;
    if (m->place != KMONITOR_BEFORE_RUN) {
        kmonitor_say(m, "step: only before the run");
        return 0;
    }
    if (!read_until(m, words ? word[0] : NULL, &until, &most))
        return 0;
    if (!most)
        return KMONITOR_USAGE;
    look(m);
    bench.before = bench.now;
    bool found = false;
    for (uint64_t i = 0; i < most && !found; i++) {
        const struct view *v = &bench.now;
        static struct view previous; /* large */
        previous = *v;
        last = v->frame.rip;
        step_once();
        look(m);
        found = happened(until, &previous, v);
    }
    if (until != UNTIL_COUNT && !found)
        kmonitor_say(m, "step: there was none in %u steps", STEPS_MOST);
    show(m, last);
    return 0;
}

const struct kmonitor_command kmonitor_bench[] = {
    {"event", "EVENT:PERIOD|off",
     "program counters and PEBS for `step`; written as in option pebs=; 8 records, PMI at 4, ring 3 only; off: stop "
     "them",
     1, 1, event, NULL},
    {"step", "[N|WHAT]",
     "run known instructions: one, N, or up to WHAT; WHAT is overflow, record, pmi or drain, within 10000 "
     "steps; "
     "* marks what has changed",
     0, 1, step, "overflow|record|pmi|drain"},
    {NULL, NULL, NULL, 0, 0, NULL, NULL},
};
