/* SPDX-License-Identifier: MIT */
#include "tests/unit/support/monitor_machine.h"

#include <errno.h>
#include <string.h>

#include "ds/layout.h"
#include "ds/pebs23_layout.h"

#define MSRS        640u
#define RECORD      (sizeof(struct ds_pebs_basic) + sizeof(struct ds_pebs_gpr))
#define ARCH_RECORD (sizeof(struct ds_arch_header) + sizeof(struct ds_arch_basic) + sizeof(struct ds_arch_gpr))

uint8_t monitor_memory[MACHINE_BYTES];
char monitor_said[65536];
static size_t said;
static bool arch;
static uint64_t msr[MSRS];

/* The MSRs of the monitor's table, one after another; -1: it has no such number. */
static int slot_of(uint32_t number)
{
    int at = 0;
    for (size_t i = 0; i < kmonitor_names_count; i++) {
        const struct kmonitor_name *n = &kmonitor_names[i];
        if (n->kind != KMONITOR_MSR)
            continue;
        if (kmonitor_msr_index(n, number) >= 0)
            return at + kmonitor_msr_index(n, number);
        at += (int)n->count;
    }
    return -1;
}

static int read_msr(uint32_t cpu, uint32_t number, uint64_t *value, bool *model)
{
    const int at = slot_of(number);
    *model = at >= 0;
    if (cpu == 1)
        return -EBUSY;
    if (at < 0)
        return -EFAULT;
    *value = msr[at];
    return 0;
}

static int write_msr(uint32_t cpu, uint32_t number, uint64_t value, bool *model)
{
    const int at = slot_of(number);
    *model = at >= 0;
    if (cpu == 1)
        return -EBUSY;
    if (at < 0 || number == IA32_PERF_CAPABILITIES)
        return -EFAULT;
    msr[at] = value;
    return 0;
}

static int read_lvtpc(uint32_t cpu, uint32_t *value, bool *model)
{
    *value = LVTPC_MASKED | 0xEE;
    *model = true;
    return cpu == 1 ? -EBUSY : 0;
}

static bool inside(uint64_t at, size_t size, uint64_t base, uint64_t bytes)
{
    return at >= base && at - base <= bytes && size <= bytes - (at - base);
}

static int read_memory(uint64_t at, void *to, size_t size)
{
    if (inside(at, size, MACHINE_CODE, 4096))
        memset(to, 0x90, size);
    else if (inside(at, size, MACHINE_MEMORY, MACHINE_BYTES))
        memcpy(to, monitor_memory + (at - MACHINE_MEMORY), size);
    else
        return -EFAULT;
    return 0;
}

static int write_memory(uint64_t at, const void *from, size_t size)
{
    if (inside(at, size, MACHINE_CODE, 4096))
        return -EPERM;
    if (!inside(at, size, MACHINE_MEMORY, MACHINE_BYTES))
        return -EFAULT;
    memcpy(monitor_memory + (at - MACHINE_MEMORY), from, size);
    return 0;
}

static int ds(uint32_t cpu, struct kmonitor_ds *out)
{
    bool model;
    *out = (struct kmonitor_ds){.area_bytes = sizeof(struct ds_area_a0),
                                .record_bytes = RECORD,
                                .format = 4,
                                .gp_counters = 8,
                                .gp_width = 48,
                                .fixed_counters = 4,
                                .fixed_width = 48};
    read_msr(0, IA32_DS_AREA, &out->area, &model);
    if (arch) {
        out->format = DS_FORMAT_ARCH;
        out->area_bytes = sizeof(struct ds_area_60);
        out->record_bytes = ARCH_RECORD;
        read_msr(0, IA32_PEBS_BASE, &out->base, &model);
        read_msr(0, IA32_PEBS_INDEX, &out->index, &model);
        out->buffer = out->base ? MACHINE_BUFFER : 0;
    }
    return cpu > 1 ? -ENODEV : 0;
}

static int find(const char *name, uint64_t *at)
{
    *at = MACHINE_CODE;
    return strcmp(name, "code") == 0 ? 0 : -ENOENT;
}

static bool name_of(uint64_t at, const char **name, uint64_t *offset)
{
    *name = "code";
    *offset = at - MACHINE_CODE;
    return inside(at, 1, MACHINE_CODE, 4096);
}

static void print(const char *text)
{
    const size_t n = strlen(text);
    if (said + n < sizeof(monitor_said)) {
        memcpy(monitor_said + said, text, n + 1);
        said += n;
    }
}

const struct kmonitor_machine monitor_machine = {.cpus = 3,
                                                 .backend = "soft",
                                                 .rdmsr = read_msr,
                                                 .wrmsr = write_msr,
                                                 .lvtpc = read_lvtpc,
                                                 .read = read_memory,
                                                 .write = write_memory,
                                                 .ds = ds,
                                                 .find = find,
                                                 .name = name_of,
                                                 .print = print};

void monitor_machine_forget(void)
{
    said = 0;
    monitor_said[0] = '\0';
}

void monitor_machine_reset(void)
{
    struct ds_area_a0 area = {.pebs_buffer_base = MACHINE_BUFFER,
                              .pebs_index = MACHINE_BUFFER + 3 * RECORD,
                              .pebs_absolute_maximum = MACHINE_BUFFER + 8 * RECORD + 1,
                              .pebs_interrupt_threshold = MACHINE_BUFFER + 4 * RECORD};
    area.pebs_gp_counter_reset[0] = (UINT64_C(1) << 48) - 2003;
    memset(monitor_memory, 0, sizeof(monitor_memory));
    memcpy(monitor_memory + (MACHINE_AREA - MACHINE_MEMORY), &area, sizeof(area));
    for (unsigned i = 0; i < 3; i++) {
        const struct ds_pebs_basic basic = {.head = ds_pebs_head(MSR_PEBS_DATA_CFG_GPR, RECORD),
                                            .eventing_ip = MACHINE_CODE + 16 * i,
                                            .counters = 1,
                                            .tsc = 1000 + i};
        memcpy(monitor_memory + (MACHINE_BUFFER - MACHINE_MEMORY) + i * RECORD, &basic, sizeof(basic));
    }
    memset(msr, 0, sizeof(msr));
    msr[slot_of(IA32_DS_AREA)] = MACHINE_AREA;
    arch = false;
    monitor_machine_forget();
}

static uint8_t *put_fragment(uint8_t *to, uint64_t format, unsigned record)
{
    const struct ds_arch_header header = {.format = format};
    const struct ds_arch_basic basic = {.eventing_ip = MACHINE_CODE + 16 * record, .counters = 1, .tsc = 1000 + record};
    memcpy(to, &header, sizeof(header));
    if (format & DS_ARCH_HEADER_BASIC)
        memcpy(to + sizeof(header), &basic, sizeof(basic));
    return to + ds_arch_header_size(format);
}

void monitor_machine_reset_arch(void)
{
    static const uint64_t fragments[][3] = {
        {DS_ARCH_HEADER_BASIC | IA32_PMC_CFG_C_GPR | ARCH_RECORD},
        {16, DS_ARCH_HEADER_BASIC | DS_ARCH_HEADER_CONT | 64, IA32_PMC_CFG_C_GPR | 176},
        {DS_ARCH_HEADER_BASIC | IA32_PMC_CFG_C_GPR | ARCH_RECORD},
    };
    const struct ds_area_60 area = {0};
    uint8_t *const buffer = monitor_memory + (MACHINE_BUFFER - MACHINE_MEMORY), *at = buffer;
    monitor_machine_reset();
    arch = true;
    memcpy(monitor_memory + (MACHINE_AREA - MACHINE_MEMORY), &area, sizeof(area));
    for (unsigned i = 0; i < 3; i++)
        for (unsigned n = 0; n < 3 && fragments[i][n]; n++)
            at = put_fragment(at, fragments[i][n], i);
    msr[slot_of(IA32_PEBS_BASE)] = 0x7000000;
    msr[slot_of(IA32_PEBS_INDEX)] = ia32_pebs_index((uint32_t)(at - buffer), 8 * ARCH_RECORD) | IA32_PEBS_INDEX_EN;
    msr[slot_of(IA32_PERFEVTSEL0)] = 0x4100C0;
    msr[slot_of(IA32_PMC_GP0_CFG_C)] = IA32_PMC_CFG_C_EN | IA32_PMC_CFG_C_GPR | 0xFFFFF82D;
}
