/* SPDX-License-Identifier: MIT */
#include "tests/unit/ds/driver/arch_machine.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/cmocka.h"

uint64_t arch_stored, arch_index_before, arch_index_after;
struct ds_arch_registers arch_registers;
void (*arch_in_drain)(void);
unsigned arch_reads;

static int (*rdmsr)(void *context, uint32_t msr, uint64_t *value);
static struct {
    uint64_t first;
    uint32_t records;
} drained;

static int counting_rdmsr(void *context, uint32_t msr, uint64_t *value)
{
    arch_reads += msr == IA32_PEBS_INDEX;
    return rdmsr(context, msr, value);
}

static void before_drain(void *context, uint32_t cpu, uint64_t tsc)
{
    driver_before_drain(context, cpu, tsc);
    arch_index_before = *ds_pebs_index(ds);
}

/* What is handed over is looked at here: the buffer is used again. */
static void note_drained(void *context, uint32_t cpu, const struct ds_drain *d)
{
    (void)context, (void)cpu;
    strcat(order, "d");
    last = *d;
    assert_int_equal(d->format, DS_FORMAT_ARCH);
    assert_int_equal(d->area_bytes, sizeof arch_registers);
    memcpy(&arch_registers, d->area, sizeof arch_registers);
    arch_index_after = *ds_pebs_index(ds);
    drained.records = d->bytes / ARCH_RECORD;
    assert_int_equal(d->bytes % ARCH_RECORD, 0);
    for (uint32_t i = 0; i < drained.records; i++) {
        const uint8_t *record = (const uint8_t *)d->records + (size_t)i * ARCH_RECORD;
        const struct ds_arch_basic *basic = (const void *)(record + sizeof(struct ds_arch_header));
        drained.first = i ? drained.first : basic->tsc;
        assert_int_equal(basic->tsc, drained.first + i);
    }
    if (arch_in_drain && d->reason != CAIRN_DS_START)
        arch_in_drain();
    if (panic_in_drain) {
        panic_in_drain = false;
        ds_drain_panic(ds);
    }
}

void arch_expect_drained(uint32_t records, uint64_t first)
{
    assert_int_equal(drained.records, records);
    if (records)
        assert_int_equal(drained.first, first);
}

int arch_init(const char *events, const char *groups, uint32_t records, uint32_t threshold, char *error, size_t size)
{
    struct ds_config config = {.records = records, .threshold = threshold};
    const struct ds_hooks hooks = {.before_drain = before_drain, .drained = note_drained};
    assert_int_equal(ds_detect(&fake.machine, &caps), 0);
    assert_int_equal(ds_parse_events(events, &config, error, size), 0);
    assert_int_equal(ds_parse_groups(groups, &config, error, size), 0);
    free(buffer);
    const size_t bytes = ds_buffer_bytes(&caps, &config);
    buffer = aligned_alloc(bytes, bytes);
    memset(buffer, 0, bytes);
    ds = realloc(ds, ds_cpu_bytes());
    order[0] = '\0';
    arch_stored = 0;
    arch_in_drain = NULL;
    return ds_cpu_init(ds, 7, &fake.machine, &caps, &config, &hooks, area, buffer, error, size);
}

void arch_begin(const char *events, const char *groups)
{
    char error[160] = "";
    ds_fake_init_arch(&fake);
    rdmsr = fake.machine.rdmsr;
    fake.machine.rdmsr = counting_rdmsr;
    if (arch_init(events, groups, 8, 6, error, sizeof error))
        fail_msg("%s", error);
    assert_int_equal(fake.logged, 0); /* detection and planning write nothing */
    fake.accesses = arch_reads = 0;
}

void arch_records(unsigned n)
{
    uint64_t *index = &ds_fake_find(&fake, IA32_PEBS_INDEX)->value;
    const uint64_t base = ds_fake_value(&fake, IA32_PEBS_BASE);
    for (; n; n--) {
        const uint32_t wr = ia32_pebs_index_wr(*index);
        if (wr + ARCH_RECORD > ia32_pebs_base_bytes(base)) {
            *index |= IA32_PEBS_INDEX_FULL;
            continue;
        }
        uint8_t *record = (uint8_t *)(uintptr_t)(base & IA32_PEBS_BASE_ADDRESS) + wr;
        const struct ds_arch_header header = {.format = DS_ARCH_HEADER_BASIC | IA32_PMC_CFG_C_GPR | ARCH_RECORD};
        const struct ds_arch_basic basic = {.tsc = ++arch_stored};
        memset(record, 0xA5, ARCH_RECORD);
        memcpy(record, &header, sizeof header);
        memcpy(record + sizeof header, &basic, sizeof basic);
        *index += ARCH_RECORD;
        if (wr + ARCH_RECORD >= ia32_pebs_index_thresh(*index))
            ds_fake_find(&fake, IA32_PERF_GLOBAL_STATUS)->value |= IA32_PERF_GLOBAL_STATUS_ARCH_PEBS;
    }
}

uint64_t arch_index(uint32_t wr)
{
    return ia32_pebs_index(wr, 6 * ARCH_RECORD) | IA32_PEBS_INDEX_EN;
}
