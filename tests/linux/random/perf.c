/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/linux/random/perf.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLE_PAGES 64u
#define ALL_REGISTERS                                                                                                  \
    (UINT64_C(0x3FF) | UINT64_C(0xFF) << PERF_REG_X86_R8) /* AX BX CX DX SI DI BP SP IP FLAGS, R8 to R15 */

const char *const random_event_names[RANDOM_EVENTS] = {
    "instructions", "branches", "conditional branches", "calls", "returns", "taken branches",
    "far branches", "cycles",   "page faults",
};

static char said[200];

static const char *failed(const char *what)
{
    snprintf(said, sizeof said, "%s: %s", what, strerror(errno));
    return said;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

static bool read_word(const char *path, char *to, int size)
{
    FILE *f = fopen(path, "r");
    bool done = f && fgets(to, size, f);
    if (done)
        to[strcspn(to, "\n")] = '\0';
    if (f)
        fclose(f);
    return done;
}

static enum random_core core_of(const char *pmu_name)
{
    static const char *const names[RANDOM_CORES] = {
        [RANDOM_ICELAKE] = "icelake",
        [RANDOM_COUGAR_COVE] = "pantherlake_hybrid",
        [RANDOM_DARKMONT] = "darkmont",
    };
    for (enum random_core c = RANDOM_SKYLAKE + 1; c < RANDOM_CORES; c++)
        if (strcmp(pmu_name, names[c]) == 0)
            return c;
    return RANDOM_SKYLAKE;
}

static void find_entries(struct random_machine *m)
{
    static const struct {
        enum random_entry entry;
        const char *name;
    } names[] = {
        {RANDOM_ENTRY_SYSCALL, "entry_SYSCALL_64"},
        {RANDOM_ENTRY_INT80, "asm_int80_emulation"}, /* since Linux 6.7 */
        {RANDOM_ENTRY_INT80, "entry_INT80_compat"},
        {RANDOM_ENTRY_INT3, "asm_exc_int3"},
        {RANDOM_ENTRY_INT4, "asm_exc_overflow"},
        {RANDOM_ENTRY_UD, "asm_exc_invalid_op"},
        {RANDOM_ENTRY_DIVIDE, "asm_exc_divide_error"},
        {RANDOM_ENTRY_PROTECTION, "asm_exc_general_protection"},
        {RANDOM_ENTRY_PAGE_FAULT, "asm_exc_page_fault"},
    };
    FILE *f = fopen("/proc/kallsyms", "r");
    char line[256], name[200];
    unsigned long long address;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%llx %*c %199s", &address, name) == 2)
            for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
                if (strcmp(name, names[i].name) == 0)
                    m->entry[names[i].entry] = address;
    if (f)
        fclose(f);
}

bool random_machine(struct random_machine *m, char *why, size_t size)
{
    char word[64];
    memset(m, 0, sizeof *m);
    if (!read_word("/sys/bus/event_source/devices/intel_bts/type", word, sizeof word)) {
        snprintf(why, size, "there is no PMU intel_bts: it needs a Debug Store, and a kernel with pti=off");
        return false;
    }
    m->bts_type = (unsigned)atoi(word);
    if (!read_word("/sys/bus/event_source/devices/cpu/caps/pmu_name", word, sizeof word) &&
        !read_word("/sys/bus/event_source/devices/cpu_core/caps/pmu_name", word, sizeof word)) {
        snprintf(why, size, "the kernel has found no PMU");
        return false;
    }
    m->core = core_of(word);
    find_entries(m);
    for (unsigned i = 1; i < RANDOM_ENTRIES; i++)
        if (!m->entry[i]) {
            snprintf(why, size, "/proc/kallsyms lacks entry %u", i);
            return false;
        }
    return true;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static int open_event(struct perf_event_attr *attr, pid_t child)
{
    attr->size = sizeof *attr;
    attr->exclude_kernel = 1;
    attr->exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, attr, child, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool random_hold_event(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};
    return open_event(&attr, 0) >= 0;
}

/* Conditional branches to far ones. 0: the processor cannot count them. */
static uint64_t raw(const struct random_machine *m, enum random_event event)
{
    static const uint64_t of[RANDOM_CORES][RANDOM_EVENT_FAR - RANDOM_EVENT_CONDITIONAL + 1] = {
        [RANDOM_SKYLAKE] = {0x01C4, 0x02C4, 0x08C4, 0x20C4, 0x40C4},
        [RANDOM_ICELAKE] = {0x11C4, 0x02C4, 0x08C4, 0x20C4, 0x40C4},
        [RANDOM_COUGAR_COVE] = {0x07C4, 0x30C4, 0x08C4, 0xFBC4, UINT64_C(1) << 40 | 0x00C4},
        [RANDOM_DARKMONT] = {0x07C4, 0x30C4, 0x08C4, 0xFBC4, 0},
    };
    return of[m->core][event - RANDOM_EVENT_CONDITIONAL];
}

static void describe(const struct random_machine *m, enum random_event event, struct perf_event_attr *attr)
{
    static const struct {
        unsigned type, config;
    } of[RANDOM_EVENTS] = {
        [RANDOM_EVENT_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
        [RANDOM_EVENT_BRANCHES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
        [RANDOM_EVENT_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
        [RANDOM_EVENT_PAGE_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    };
    const bool is_raw = event >= RANDOM_EVENT_CONDITIONAL && event <= RANDOM_EVENT_FAR;
    attr->type = is_raw ? PERF_TYPE_RAW : of[event].type;
    attr->config = is_raw ? raw(m, event) : of[event].config;
}

bool random_has(const struct random_machine *m, enum random_event event)
{
    return event < RANDOM_EVENT_CONDITIONAL || event > RANDOM_EVENT_FAR || raw(m, event);
}

/* Instructions have fixed counter 0, other events the first general-purpose one. */
bool random_precise(const struct random_machine *m, enum random_event event)
{
    return m->core > RANDOM_ICELAKE || (m->core == RANDOM_ICELAKE && event == RANDOM_EVENT_INSTRUCTIONS);
}

static const char *let_go(pid_t child)
{
    int status;
    if (ptrace(PTRACE_DETACH, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child)
        return failed("the child cannot be let go");
    return random_ended(status);
}

static const char *open_counters(const struct random_machine *m, pid_t child, const enum random_event *events,
                                 unsigned n, int *fds)
{
    for (unsigned i = 0; i < n; i++) {
        struct perf_event_attr attr = {.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                       .pinned = events[i] != RANDOM_EVENT_PAGE_FAULTS};
        describe(m, events[i], &attr);
        fds[i] = open_event(&attr, child);
        if (fds[i] < 0)
            return failed(random_event_names[events[i]]);
    }
    return NULL;
}

static const char *read_counters(const enum random_event *events, unsigned n, const int *fds, struct random_told *told)
{
    const char *bad = NULL;
    told->counts = n;
    for (unsigned i = 0; i < n; i++) {
        uint64_t value[3];
        if (read(fds[i], value, sizeof value) != sizeof value || value[1] != value[2]) {
            snprintf(said, sizeof said, "%s were not counted all the time", random_event_names[events[i]]);
            bad = said;
        }
        told->count[i] = value[0];
        close(fds[i]);
    }
    return bad;
}

const char *random_run_counting(const struct random_machine *m, pid_t child, const enum random_event *events,
                                unsigned n, struct random_told *told)
{
    int fds[8];
    const char *bad = open_counters(m, child, events, n, fds);
    if (!bad)
        bad = let_go(child);
    if (!bad)
        bad = read_counters(events, n, fds, told);
    return bad;
}

/* ---- BTS --------------------------------------------------------------------------------------------------------- */

/* Looks through the records of the event's own buffer for what must not be in there. */
static const char *all_well(const struct perf_event_mmap_page *page)
{
    const uint8_t *data = (const uint8_t *)page + page->data_offset;
    for (uint64_t at = page->data_tail; at < page->data_head;) {
        const struct perf_event_header *h = (const void *)(data + at % page->data_size);
        const bool truncated = h->type == PERF_RECORD_AUX && ((const uint64_t *)(h + 1))[2] & PERF_AUX_FLAG_TRUNCATED;
        if (truncated || h->type == PERF_RECORD_LOST || h->type == PERF_RECORD_THROTTLE) {
            snprintf(said, sizeof said, "perf has lost records (record %u)", h->type);
            return said;
        }
        at += h->size;
    }
    return NULL;
}

static void keep_records(const struct random_record *from, uint64_t bytes, uint64_t head, bool ring,
                         struct random_told *told)
{
    const unsigned room = (unsigned)(bytes / sizeof *from);
    unsigned n = (unsigned)(head / sizeof *from), first = 0;
    if (ring && n < room && from[n].from) { /* it has been all round */
        first = n;
        n = room;
    }
    if (told->record_room < n) {
        told->record_room = n;
        told->record = realloc(told->record, n * sizeof *from);
    }
    told->records = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct random_record *r = &from[(first + i) % room];
        /* Where 4080 bytes or fewer are left of contiguous memory, Linux may begin again in the next piece of memory,
         * and it writes zeros up to there (arch/x86/events/intel/bts.c, bts_buffer_pad_out). */
        if (ring || r->from || r->to || r->flags)
            told->record[told->records++] = *r;
    }
}

const char *random_run_bts(const struct random_machine *m, pid_t child, unsigned pages, bool ring,
                           const enum random_event *events, unsigned n, struct random_told *told)
{
    struct perf_event_attr attr = {.type = m->bts_type, .aux_watermark = pages * RANDOM_PAGE / 8};
    int fds[8], fd = open_event(&attr, child);
    if (fd < 0)
        return failed("intel_bts");
    struct perf_event_mmap_page *page = mmap(NULL, 9 * RANDOM_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return failed("the buffer of intel_bts");
    page->aux_offset = 16 * RANDOM_PAGE;
    page->aux_size = (uint64_t)pages * RANDOM_PAGE;
    void *aux =
        mmap(NULL, page->aux_size, ring ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)page->aux_offset);
    if (aux == MAP_FAILED)
        return failed("the AUX buffer of intel_bts");
    const char *bad = open_counters(m, child, events, n, fds);
    if (!bad)
        bad = let_go(child);
    if (!bad)
        bad = read_counters(events, n, fds, told);
    if (!bad && !ring)
        bad = all_well(page);
    if (!bad)
        keep_records(aux, page->aux_size, page->aux_head, ring, told);
    munmap(aux, page->aux_size);
    munmap(page, 9 * RANDOM_PAGE);
    close(fd);
    return bad;
}

/* ---- PEBS -------------------------------------------------------------------------------------------------------- */

static void keep_sample(const uint64_t *from, unsigned switches, struct random_told *told)
{
    enum { IP, ABI, REGISTERS, AX = REGISTERS, BX, CX, DX, SI, DI, BP, SP, PERF_IP, FLAGS, R8 };
    if (told->samples == told->sample_room) {
        told->sample_room = told->sample_room ? 2 * told->sample_room : 256;
        told->sample = realloc(told->sample, told->sample_room * sizeof *told->sample);
        if (!told->sample)
            abort();
    }
    struct random_sample *s = &told->sample[told->samples++];
    *s = (struct random_sample){
        .ip = from[IP],
        .switches = switches,
        .registers = {.r = {from[AX], from[CX], from[DX], from[BX], from[SP], from[BP], from[SI], from[DI]},
                      .rflags = from[FLAGS]}};
    memcpy(&s->registers.r[8], &from[R8], 8 * sizeof from[R8]);
}

/* The ring buffer is larger than all samples of a program. Those that the processor holds when others get the CPU come
 * between the records of the two switches. */
static const char *keep_samples(const struct perf_event_mmap_page *page, struct random_told *told)
{
    const uint8_t *data = (const uint8_t *)page + page->data_offset;
    const char *bad = all_well(page);
    bool away = false;
    told->samples = 0;
    told->switches = 0;
    if (!bad && page->data_head > page->data_size) {
        snprintf(said, sizeof said, "more samples than room for them");
        bad = said;
    }
    for (uint64_t at = 0; !bad && at < page->data_head;) {
        const struct perf_event_header *h = (const void *)(data + at);
        if (h->type == PERF_RECORD_SAMPLE) {
            if (h->size != sizeof *h + (2 + RANDOM_SAMPLE_REGISTERS) * 8 || !(h->misc & PERF_RECORD_MISC_EXACT_IP)) {
                snprintf(said, sizeof said, "a sample of %u bytes, misc %x", h->size, h->misc);
                bad = said;
            } else {
                keep_sample((const uint64_t *)(h + 1), told->switches, told);
                told->switches = 0;
            }
        } else if (h->type == PERF_RECORD_SWITCH) {
            told->switches += away; /* not the first one in */
            away = h->misc & PERF_RECORD_MISC_SWITCH_OUT;
        }
        at += h->size;
    }
    return bad;
}

const char *random_run_pebs(const struct random_machine *m, pid_t child, const struct random_sampling *sampling,
                            struct random_told *told)
{
    struct perf_event_attr attr = {.precise_ip = 2,
                                   .sample_period = sampling->period,
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR,
                                   .sample_regs_intr = ALL_REGISTERS,
                                   .context_switch = 1,
                                   .wakeup_events = sampling->single};
    describe(m, sampling->event, &attr);
    const size_t size = (1 + SAMPLE_PAGES) * RANDOM_PAGE;
    const int fd = open_event(&attr, child);
    if (fd < 0)
        return failed("PEBS");
    struct perf_event_mmap_page *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return failed("the buffer of PEBS");
    const char *bad = let_go(child);
    if (!bad)
        bad = keep_samples(page, told);
    munmap(page, size);
    close(fd);
    return bad;
}
