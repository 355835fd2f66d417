/* SPDX-License-Identifier: MIT */
/*
 * Lab 11: a program on two processors, which take turns. Loads that take long and stores are sampled on both, and the
 * student's functions find the lines. The layout of the program's variables, which the seed decides, is the truth.
 *
 * The model of ds=soft sees no data: it counts no loads and stores, and its records have no address. So instructions
 * are sampled there, and what the model leaves out is added: which instructions access memory (program.asm), and their
 * address, which is in RSI. Latencies and sources stay unknown.
 */
#include "labs/check.h"

#include "check_parts.h"
#include "kernel/lib/string.h"
#include "labs/machine/sample.h"

#define ROUNDS       120u
#define SPACING      7u /* of samples; no divisor of the 3 to 6 accesses that a turn samples */
#define THRESHOLD    30u
#define WIDTH        48u
#define LOADS        0u /* counters */
#define STORES       2u
#define BUFFER_BYTES (2u << 20)
#define LINES        8u
#define REPORT       7u /* lines of the table */
#define TRIES        5u

#define INSTRUCTIONS ia32_perfevtsel(0xC0, 0)
#define RSI_GPR      0x40u /* offset of RSI in the group */

lab_program lab_turns; /* program.asm */
extern const struct lab_instruction {
    uint64_t address, kind;
} lab_accesses[];
extern const uint32_t lab_accesses_count;
enum { LOAD = 1, STORE = 2, ADD = 3 }; /* kinds; bits */

struct lab_step {
    uint64_t address, kind;
};
static struct lab_work {
    uint64_t turn, me, other, steps, count, rounds;
} work[WHICH_CPUS];
static struct lab_step steps[WHICH_CPUS][8];

enum { TURN, COUNTERS, TOTAL, PARTS, LIMIT, FLAG, TABLE, OWN_0, OWN_1, OBJECTS };
static struct lab_object objects[OBJECTS] = {
    [TURN] = {"turn", 0, 8},       [COUNTERS] = {"counter[2]", 0, 16}, [TOTAL] = {"total", 0, 8},
    [PARTS] = {"part[2]", 0, 16},  [LIMIT] = {"limit", 0, 8},          [FLAG] = {"flag", 0, 8},
    [TABLE] = {"table[2]", 0, 16}, [OWN_0] = {"own of 0", 0, 8},       [OWN_1] = {"own of 1", 0, 8},
};

static struct place {
    struct ds_area_a0 *area;
    uint8_t *buffer;
    int error;
} places[WHICH_CPUS];
static struct lab_access *accesses;
static uint32_t arrived; /* processors that are about to run the program */

/* ---- the program */

/* A place for `bytes` of variables in a line. */
static uint64_t place(uint64_t memory, uint32_t line, uint32_t bytes)
{
    return memory + line * LAB_LINE_BYTES + which_below((LAB_LINE_BYTES - bytes) / 8 + 1) * 8;
}

static void lay_out(uint64_t memory)
{
    uint32_t line[LINES];
    for (uint32_t i = 0; i < LINES; i++) {
        const uint32_t j = which_below(i + 1);
        line[i] = line[j];
        line[j] = i;
    }
    objects[TURN].address = place(memory, line[0], 8);
    objects[COUNTERS].address = place(memory, line[1], 16); /* false sharing */
    objects[TOTAL].address = place(memory, line[2], 24);    /* true sharing, whoever else is in its line */
    objects[PARTS].address = objects[TOTAL].address + 8;
    objects[LIMIT].address = place(memory, line[3], 16); /* false sharing: nobody stores into `limit` */
    objects[FLAG].address = objects[LIMIT].address + 8;
    objects[TABLE].address = place(memory, line[4], 16);
    objects[OWN_0].address = place(memory, line[5], 8);
    objects[OWN_1].address = place(memory, line[6], 8);
}

static void write_steps(uint32_t cpu)
{
    const struct lab_step all[] = {
        {objects[COUNTERS].address + 8 * cpu, ADD},
        {objects[LIMIT].address, LOAD},
        {objects[TOTAL].address, ADD},
        {objects[TABLE].address, LOAD},
        {objects[PARTS].address + 8 * cpu, ADD},
        {objects[TABLE].address + 8, LOAD},
        {objects[OWN_0 + cpu].address, ADD},
        {objects[FLAG].address, STORE}, /* of processor 0 alone: the list of the other one ends before it */
    };
    memcpy(steps[cpu], all, sizeof all);
    work[cpu] = (struct lab_work){.turn = objects[TURN].address,
                                  .me = cpu,
                                  .other = !cpu,
                                  .steps = (uintptr_t)steps[cpu],
                                  .count = sizeof all / sizeof all[0] - cpu,
                                  .rounds = ROUNDS};
}

static void make_program(void)
{
    const uint64_t variables = (uintptr_t)lab_need_memory(LINES * LAB_LINE_BYTES);
    accesses = lab_need_memory(LIST_MAX * sizeof *accesses);
    lay_out(variables);
    for (uint32_t cpu = 0; cpu < WHICH_CPUS; cpu++) {
        write_steps(cpu);
        places[cpu] = (struct place){lab_need_memory(sizeof(struct ds_area_a0)), lab_need_memory(BUFFER_BYTES), 0};
    }
}

/* ---- the samples */

static void start(uint32_t cpu)
{
    struct place *p = &places[cpu];
    struct lab_sampling loads = {.counter = LOADS,
                                 .event = lab_is_model() ? INSTRUCTIONS : WHICH_LOAD_LATENCY,
                                 .period = SPACING - 1,
                                 .width = WIDTH,
                                 .threshold = lab_is_model() ? 0 : THRESHOLD,
                                 .format = lab_format()};
    struct lab_sampling stores = loads;
    stores.counter = STORES;
    stores.event = WHICH_ALL_STORES;
    stores.threshold = 0;
    const uint64_t begin = (uintptr_t)p->buffer, reset = -(uint64_t)(SPACING - 1) & (DS_BIT(WIDTH) - 1);
    *p->area = (struct ds_area_a0){.pebs_buffer_base = begin,
                                   .pebs_index = begin,
                                   .pebs_absolute_maximum = begin + BUFFER_BYTES,
                                   .pebs_interrupt_threshold = UINT64_MAX};
    p->area->pebs_gp_counter_reset[LOADS] = p->area->pebs_gp_counter_reset[STORES] = reset;
    (void)lab_wrmsr(IA32_DS_AREA, (uintptr_t)p->area);
    if (loads.format >= 4)
        (void)lab_wrmsr(MSR_PEBS_DATA_CFG, lab_is_model() ? MSR_PEBS_DATA_CFG_GPR : 0);
    p->error = lab_sample(&loads);
    if (!p->error && !lab_is_model())
        p->error = lab_sample(&stores);
}

/* They begin at the same time: on the model, records of waiting fill the buffer. */
static void run(uint32_t cpu)
{
    __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < WHICH_CPUS)
        __builtin_ia32_pause();
    places[cpu].error = lab_run(lab_turns, (uintptr_t)&work[cpu], DS_BIT(LOADS) | DS_BIT(STORES));
    (void)lab_wrmsr(IA32_PEBS_ENABLE, 0);
    (void)lab_wrmsr(IA32_DS_AREA, 0);
}

static void on_both(void (*what)(uint32_t cpu), const char *name)
{
    (void)lab_on_each_cpu(what);
    for (uint32_t cpu = 0; cpu < WHICH_CPUS; cpu++)
        if (places[cpu].error)
            lab_fail("run", "It has worked before: what is different now?", TASK,
                     "%s returns the error %d on processor %u", name, places[cpu].error, cpu);
}

/* On the model: adds to a record of an instruction what a processor says of its access to memory. False: it has none.
 */
static bool add_access(unsigned format, uint8_t *record)
{
    struct ds_pebs_fmt3 *fixed = (void *)record;
    struct ds_pebs_basic *basic = (void *)record;
    struct ds_pebs_meminfo *info = (void *)(basic + 1);
    const uint64_t ip = format < 4 ? fixed->fmt2.eventing_ip : basic->eventing_ip;
    uint64_t counters = 0;
    for (uint32_t i = 0; i < lab_accesses_count; i++)
        if (lab_accesses[i].address == ip)
            counters =
                (lab_accesses[i].kind & LOAD ? DS_BIT(LOADS) : 0) | (lab_accesses[i].kind & STORE ? DS_BIT(STORES) : 0);
    if (format < 4) {
        fixed->fmt2.fmt1.status = counters;
        fixed->fmt2.fmt1.data_linear_address = fixed->fmt2.fmt1.registers.rsi;
    } else {
        basic->counters = counters;
        info->data_linear_address = ((const struct ds_pebs_gpr *)(const void *)(info + 1))->rsi;
    }
    return counters;
}

static uint32_t read_records(void)
{
    const unsigned format = lab_format();
    uint32_t count = 0;
    for (uint32_t cpu = 0; cpu < WHICH_CPUS; cpu++) {
        uint8_t *record = places[cpu].buffer, *end = (uint8_t *)(uintptr_t)places[cpu].area->pebs_index;
        for (uint32_t size; record < end && count < LIST_MAX; record += size) {
            size = format < 4 ? sizeof(struct ds_pebs_fmt3)
                              : ds_pebs_head_size(((const struct ds_pebs_basic *)(void *)record)->head);
            if (lab_is_model() && !add_access(format, record))
                continue;
            lab_read_record(format, record, LOADS, STORES, &accesses[count]);
            accesses[count++].cpu = cpu;
        }
    }
    return count;
}

/* ---- what they show */

static const char *who_is_there(uint64_t line)
{
    static char text[100];
    uint32_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (objects[i].address / LAB_LINE_BYTES == line / LAB_LINE_BYTES && at < sizeof text - 20)
            at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : "", objects[i].name);
    return text;
}

static void show(const struct lab_line *lines, uint32_t found, uint32_t count)
{
    lab_log("line                latency  loads stores changed");
    for (uint32_t i = 0, shown = 0; i < found && shown < REPORT; i++) {
        const char *who = who_is_there(lines[i].address);
        if (!who[0])
            continue; /* the kernel's, or a stack */
        shown++;
        lab_log("0x%lx  %7lu  %5u  %5u   %5u  %s: %s", (unsigned long)lines[i].address, (unsigned long)lines[i].latency,
                lines[i].loads, lines[i].stores, lines[i].changed,
                which_sharing[which_expected(accesses, count, lines[i].address)], who);
    }
}

/* Whether the samples show what the program does. Not if too few have come. */
static bool is_the_truth(uint32_t count)
{
    static const struct {
        unsigned object;
        enum lab_sharing sharing;
    } truth[] = {{TURN, LAB_TRUE_SHARING},   {COUNTERS, LAB_FALSE_SHARING}, {TOTAL, LAB_TRUE_SHARING},
                 {LIMIT, LAB_FALSE_SHARING}, {TABLE, LAB_NOT_SHARED},       {OWN_0, LAB_NOT_SHARED},
                 {OWN_1, LAB_NOT_SHARED}};
    for (uint32_t i = 0; i < sizeof truth / sizeof truth[0]; i++)
        if (which_expected(accesses, count, objects[truth[i].object].address / LAB_LINE_BYTES * LAB_LINE_BYTES) !=
            truth[i].sharing)
            return false;
    return true;
}

void which_check_machine(void)
{
    const struct lab_line *lines;
    uint32_t count, tries = 0;
    uint64_t offset;
    make_program();
    do { /* on a busy host, the buffer may be full of records of waiting */
        arrived = 0;
        on_both(start, "lab_sample");
        on_both(run, "lab_run");
        count = read_records();
    } while (!is_the_truth(count) && ++tries < TRIES);
    for (uint32_t i = 0; i < count; i++)
        (void)which_judge_object(objects, OBJECTS, accesses[i].address, &offset);
    const uint32_t found = which_judge_list(accesses, count, &lines);
    show(lines, found, count);
    if (tries == TRIES)
        lab_fail("none", "The check's own sampling does not work here: please report this.", PAGE,
                 "%u samples do not show what the program does", count);
    lab_pass("machine", "%u samples of two processors show the two lines that they share falsely", count);
}
