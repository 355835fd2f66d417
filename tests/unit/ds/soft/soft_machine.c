/* SPDX-License-Identifier: MIT */
#include "tests/unit/ds/soft/soft_machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ds/model/model.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"
#include "trace/wire/model_log.h"

#define ARCH_SET_GS 0x1001

struct arch_cpu cpu;
struct ds_soft *soft;
struct ds_cpu *ds;
struct ds_log model_log;
unsigned ipis;

struct arch_cpu *arch_this_cpu(void)
{
    return &cpu;
}

void arch_ipi_self(uint8_t vector);
void arch_ipi_self(uint8_t vector)
{
    assert_int_equal(vector, ARCH_VECTOR_PMI);
    ipis++;
}

/* Physical memory is this program's, far away. */
uint64_t arch_virt_to_phys(const void *virt)
{
    return (uintptr_t)virt + SOFT_PHYSICAL;
}

void *arch_phys_to_virt(uint64_t phys)
{
    return (void *)(uintptr_t)(phys - SOFT_PHYSICAL);
}

bool arch_readable(const void *virt, size_t size)
{
    (void)virt, (void)size;
    return true;
}

uint64_t hole = UINT64_MAX;

/* A program's memory is this program's. The kernel reads 15 bytes of a page for an instruction of one: more than ASan
 * lets a variable be read. */
__attribute__((no_sanitize("address"))) static int copy(void *to, const void *from, uint64_t user, size_t size)
{
    if (user + size > hole && user < hole + 4096)
        return -EFAULT;
    for (size_t i = 0; i < size; i++)
        ((volatile uint8_t *)to)[i] = ((const volatile uint8_t *)from)[i];
    return 0;
}

int arch_copy_from_user(void *to, uint64_t from, size_t size)
{
    return copy(to, (const void *)(uintptr_t)from, from, size);
}

int arch_copy_to_user(uint64_t to, const void *from, size_t size)
{
    return copy((void *)(uintptr_t)to, from, to, size);
}

const uint8_t syscall_entry[16] = {0x0F, 0x01, 0xF8}; /* SWAPGS */
__asm__(".globl arch_syscall_entry\n.set arch_syscall_entry, syscall_entry");

/* ---- what the driver reports ------------------------------------------------------------------------------------- */

struct cairn_truth_pebs seen[SEEN];
unsigned seen_count, drained_bytes;
uint64_t drained_lost;

static void before_drain(void *context, uint32_t index, uint64_t tsc)
{
    (void)context, (void)index, (void)tsc;
}

static void drained(void *context, uint32_t index, const struct ds_drain *drain)
{
    (void)context, (void)index;
    drained_bytes += drain->bytes;
    drained_lost += drain->lost;
}

uint64_t words[CAIRN_TRUTH_GROUPS][CAIRN_TRUTH_WORDS_MAX];
unsigned words_seen[CAIRN_TRUTH_GROUPS];

static void recorded(void *context, uint32_t index, struct ds_cpu *of, const struct ds_soft_step *step,
                     const struct ds_model_record *record)
{
    (void)context;
    uint8_t truth[DS_TRUTH_RECORDS_MAX][CAIRN_TRUTH_BYTES];
    const uint32_t count = ds_truth_make(truth, of, step, record);
    struct cairn_truth_pebs pebs;
    memcpy(&pebs, truth[0], sizeof pebs);
    assert_int_equal(pebs.kind, CAIRN_TRUTH_PEBS);
    assert_int_equal(pebs.more, count - 1);
    memset(words_seen, 0, sizeof words_seen);
    for (uint32_t i = 1; i < count; i++) {
        struct cairn_truth_words w;
        memcpy(&w, truth[i], sizeof w);
        assert_int_equal(w.kind, CAIRN_TRUTH_WORDS);
        assert_int_equal(w.cpu, index);
        assert_true(w.group < CAIRN_TRUTH_GROUPS);
        assert_int_equal(w.first, words_seen[w.group]);
        words_seen[w.group] += CAIRN_TRUTH_PER_RECORD;
        assert_true(words_seen[w.group] <= CAIRN_TRUTH_WORDS_MAX);
        memcpy(&words[w.group][w.first], w.word, sizeof w.word);
    }
    if (seen_count < SEEN)
        seen[seen_count++] = pebs;
}

struct cairn_truth_branch branch_seen[SEEN];
unsigned branches_seen;
struct ds_bts_drain bts_last;

static void branched(void *context, uint32_t index, struct ds_cpu *of, const struct ds_soft_step *step,
                     const struct ds_model_branch *branch, bool stored)
{
    (void)context;
    assert_int_equal(index, 3);
    if (branches_seen < SEEN)
        ds_truth_make_branch(&branch_seen[branches_seen++], of, step, branch, stored);
}

static void bts_drained(void *context, uint32_t index, const struct ds_bts_drain *d)
{
    (void)context, (void)index;
    bts_last = *d;
}

struct soft_logged logged_seen[LOGGED];
unsigned entries_seen;

static void logged(void *context, uint32_t index, const struct cairn_model_entry *entry,
                   const struct cairn_model_action *actions)
{
    (void)context;
    assert_int_equal(index, 3);
    assert_true(entries_seen < LOGGED && entry->actions >= 1 && entry->actions <= 8);
    logged_seen[entries_seen].entry = *entry;
    memcpy(logged_seen[entries_seen++].action, actions, entry->actions * sizeof *actions);
}

struct arch_trap_frame frame;

static uint32_t tid(const struct arch_trap_frame *of)
{
    return of == &frame ? 4711 : 0;
}

uint64_t groups = MSR_PEBS_DATA_CFG_GPR;
const struct ds_model_policy *policy;

void soft_begin(const char *preset, const char *events, uint32_t records)
{
    static uint64_t area[512] __attribute__((aligned(4096)));
    static void *buffer;
    char error[128] = "";
    struct ds_config config = {.records = records, .threshold = records};
    struct ds_caps caps;
    const struct ds_hooks hooks = {.before_drain = before_drain,
                                   .drained = drained,
                                   .recorded = recorded,
                                   .bts_drained = bts_drained,
                                   .branched = branched,
                                   .logged = logged};
    cpu = (struct arch_cpu){.self = &cpu};
    assert_int_equal(syscall(SYS_arch_prctl, ARCH_SET_GS, &cpu), 0);
    seen_count = branches_seen = entries_seen = ipis = drained_bytes = 0;
    drained_lost = 0;
    model_log = (struct ds_log){0};
    soft = realloc(soft, ds_soft_bytes());
    ds = realloc(ds, ds_cpu_bytes());
    struct ds_model_policy every = policy ? *policy : (struct ds_model_policy){0};
    every.unlisted = DS_MODEL_UNLISTED_RECORD;
    assert_int_equal(ds_soft_init(soft, preset, &every), 0);
    assert_int_equal(ds_detect(ds_soft_machine(soft), &caps), 0);
    assert_int_equal(ds_parse_events(events, &config, error, sizeof error), 0);
    config.groups = groups;
    free(buffer);
    const size_t bytes = ds_buffer_bytes(&caps, &config);
    buffer = aligned_alloc(caps.instead ? bytes : 4096, bytes);
    if (ds_cpu_init(ds, 3, ds_soft_machine(soft), &caps, &config, &hooks, area, buffer, error, sizeof error))
        fail_msg("%s", error);
    ds_soft_attach(soft, ds, tid);
    struct ds_refusal refusal;
    assert_int_equal(ds_start(ds, &refusal), 0);
}

uint64_t soft_read_msr(uint32_t msr)
{
    const struct ds_machine *m = ds_soft_machine(soft);
    uint64_t v = 0;
    assert_int_equal(m->rdmsr(m->context, msr, &v), 0);
    return v;
}

/* Events a counter has counted since it was set to -period. */
static uint64_t counted(uint32_t msr, uint64_t period)
{
    return (soft_read_msr(msr) + period) & (DS_BIT(48) - 1);
}

uint64_t soft_instructions(void)
{
    return counted(IA32_FIXED_CTR0, PERIOD);
}

uint64_t soft_branches(void)
{
    return counted(IA32_PMC0, PERIOD);
}

bool soft_step(const uint8_t *ip, const uint8_t *next, uint64_t rflags)
{
    cpu.step_on = 1;
    cpu.step_ip = (uintptr_t)ip;
    frame.rip = (uintptr_t)next;
    frame.rflags = rflags;
    return ds_soft_step(soft, &frame);
}

void soft_write_msr(uint32_t msr, uint64_t value)
{
    const struct ds_machine *m = ds_soft_machine(soft);
    assert_int_equal(m->wrmsr(m->context, msr, value), 0);
}

void soft_system_call(const uint8_t *from, const uint8_t *ip)
{
    cpu.step_on = 1;
    cpu.step_ip = (uintptr_t)from;
    frame = (struct arch_trap_frame){.cs = ARCH_USER_CODE,
                                     .rip = (uintptr_t)ip + 2,
                                     .rcx = (uintptr_t)ip + 2,
                                     .rflags = TF | 0x202,
                                     .r11 = TF | 0x202};
    ds_soft_system_call(soft, &frame);
    assert_int_equal(cpu.step_on, 0);
    assert_int_equal(frame.rflags, 0x202);
    assert_int_equal(frame.r11, 0x202);
}
