/* SPDX-License-Identifier: MIT */
/* The readers of ACPI tables: a machine's tables as firmware lays them out, then every way to break them. Each read
 * gives a fresh copy of exactly the bytes asked for, so that AddressSanitizer sees the first byte read beyond them. */
/* Longer than 500 lines: every way to break a table starts from the same machine. */
#include <stdlib.h>

#include "arch/firmware/acpi_tables.h"
#include "arch/firmware/power/acpi_power.h"
#include "arch/firmware/timers/acpi_timers.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "tests/unit/support/cmocka.h"

#define BASE UINT64_C(0x7F000000) /* where the fake memory begins */

enum { RSDP = 0x10, RSDT = 0x100, XSDT = 0x200, MADT = 0x400, FADT = 0x2000, HPET = 0x2200, DSDT = 0x2300 };
enum { END = 0x2400 };
enum { BOOT_ID = 4 };

struct machine {
    uint8_t memory[END];
    void *copies[512];
    unsigned copy_count;
};

static void put(struct machine *m, unsigned at, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        m->memory[at + i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get32(const struct machine *m, unsigned at)
{
    uint32_t value;
    memcpy(&value, m->memory + at, 4);
    return value;
}

static void seal(struct machine *m, unsigned at, unsigned size, unsigned sum_at)
{
    uint8_t sum = 0;
    m->memory[sum_at] = 0;
    for (unsigned i = 0; i < size; i++)
        sum = (uint8_t)(sum + m->memory[at + i]);
    m->memory[sum_at] = (uint8_t)-sum;
}

static void seal_table(struct machine *m, unsigned at)
{
    seal(m, at, get32(m, at + 4), at + 9);
}

static void seal_rsdp(struct machine *m)
{
    seal(m, RSDP, 20, RSDP + 8);
    seal(m, RSDP, 36, RSDP + 32);
}

static void header(struct machine *m, unsigned at, const char *signature, unsigned size)
{
    memcpy(m->memory + at, signature, 4);
    put(m, at + 4, 4, size);
}

/* Appends an entry to the MADT and seals it. */
static void madt_entry(struct machine *m, const uint8_t *entry)
{
    unsigned size = get32(m, MADT + 4);
    memcpy(m->memory + MADT + size, entry, entry[1]);
    put(m, MADT + 4, 4, size + entry[1]);
    seal_table(m, MADT);
}

static void madt_cpu(struct machine *m, uint8_t uid, uint8_t apic_id, uint8_t flags)
{
    madt_entry(m, (uint8_t[]){0, 8, uid, apic_id, flags, 0, 0, 0});
}

static void madt_x2apic(struct machine *m, uint32_t uid, uint32_t id, uint8_t flags)
{
    uint8_t e[16] = {9, 16, 0, 0, (uint8_t)id, (uint8_t)(id >> 8), (uint8_t)(id >> 16), (uint8_t)(id >> 24), flags};
    memcpy(e + 12, &uid, 4);
    madt_entry(m, e);
}

static struct machine *machine_new(void)
{
    struct machine *m = calloc(1, sizeof(*m));
    assert_non_null(m);

    memcpy(m->memory + RSDP, "RSD PTR ", 8);
    m->memory[RSDP + 15] = 2;
    put(m, RSDP + 16, 4, BASE + RSDT);
    put(m, RSDP + 20, 4, 36);
    put(m, RSDP + 24, 8, BASE + XSDT);
    seal_rsdp(m);

    header(m, RSDT, "RSDT", 36 + 12);
    header(m, XSDT, "XSDT", 36 + 24);
    static const unsigned tables[] = {FADT, MADT, HPET};
    for (unsigned i = 0; i < 3; i++) {
        put(m, RSDT + 36 + 4 * i, 4, BASE + tables[i]);
        put(m, XSDT + 36 + 8 * i, 8, BASE + tables[i]);
    }
    seal_table(m, RSDT);
    seal_table(m, XSDT);

    header(m, MADT, "APIC", 44);
    put(m, MADT + 36, 4, 0xFEE00000);
    madt_entry(m, (uint8_t[]){4, 6, 0xFF, 5, 0, 1}); /* NMI: nothing is made of it */
    madt_cpu(m, 1, 0, 1);
    madt_cpu(m, 2, BOOT_ID, 1);
    madt_cpu(m, 3, 8, 0);                                                  /* disabled */
    madt_cpu(m, 6, 255, 1);                                                /* a placeholder */
    madt_cpu(m, 5, 9, 2);                                                  /* online capable, not enabled */
    madt_entry(m, (uint8_t[]){1, 12, 0, 0, 0, 0, 0xC0, 0xFE, 0, 0, 0, 0}); /* I/O APIC */
    madt_x2apic(m, 7, 12, 1);
    madt_x2apic(m, 8, 300, 1);              /* needs x2APIC mode */
    madt_entry(m, (uint8_t[]){0x7F, 3, 0}); /* unknown: skipped */

    header(m, FADT, "FACP", 244);
    put(m, FADT + 40, 4, BASE + DSDT);
    put(m, FADT + 48, 4, 0xB2);
    put(m, FADT + 52, 1, 0xA0);
    put(m, FADT + 64, 4, 0x604);
    put(m, FADT + 76, 4, 0x608);
    put(m, FADT + 91, 1, 4);
    put(m, FADT + 112, 4, 1u << 8 | 1u << 10);
    put(m, FADT + 116, 1, ACPI_SPACE_IO);
    put(m, FADT + 120, 8, 0xCF9);
    put(m, FADT + 128, 1, 0xF);
    seal_table(m, FADT);

    header(m, HPET, "HPET", 56);
    put(m, HPET + 44, 8, 0xFED00000);
    seal_table(m, HPET);

    /* Name (_S5_, Package (4) {5, Zero, Zero, Zero}) behind something that looks like it */
    header(m, DSDT, "DSDT", 36 + 20);
    memcpy(m->memory + DSDT + 36, "\x10_S5_.\x08_S5_\x12\x07\x04\x0A\x05\x00\x00\x00", 19);
    seal_table(m, DSDT);
    return m;
}

static const void *read_memory(void *context, uint64_t phys, size_t size)
{
    struct machine *m = context;

    if (phys < BASE || phys - BASE > END || size > END - (phys - BASE))
        return NULL;
    assert_true(m->copy_count < 512);
    void *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, m->memory + (phys - BASE), size);
    m->copies[m->copy_count++] = copy;
    return copy;
}

/* Of the last machine. */
static struct acpi_power power;
static struct acpi_timers timers;

static int parse(struct machine *m, struct acpi_info *info, struct acpi_problem *problem)
{
    const struct acpi_memory memory = {.read = read_memory, .context = m};
    int error = acpi_parse(&memory, BASE + RSDP, BOOT_ID, info, problem);
    acpi_power_parse(&memory, BASE + RSDP, &power);
    acpi_timers_parse(&memory, BASE + RSDP, &timers);

    while (m->copy_count)
        free(m->copies[--m->copy_count]);
    return error;
}

static void expect_good(struct machine *m, struct acpi_info *info)
{
    struct acpi_problem problem;
    assert_int_equal(parse(m, info, &problem), 0);
    assert_null(problem.what);
}

static void expect_bad(struct machine *m, int error, const char *table, const char *what)
{
    struct acpi_info info;
    struct acpi_problem problem;
    assert_int_equal(parse(m, &info, &problem), error);
    assert_string_equal(problem.table, table);
    assert_string_equal(problem.what, what);
}

/* What the kernel can do without stops nothing, and is named. */
static void expect_ignored(struct machine *m, struct acpi_info *info, const char *table, const char *what)
{
    struct acpi_problem problem;
    assert_int_equal(parse(m, info, &problem), 0);
    assert_int_equal((problem.what != NULL) + timers.ignored_count + power.ignored_count, 1);
    const struct acpi_problem *ignored = problem.what           ? &problem
                                         : timers.ignored_count ? timers.ignored
                                                                : power.ignored;
    assert_string_equal(ignored->table, table);
    assert_string_equal(ignored->what, what);
    assert_int_equal(info->cpu_count, 4);
}

static void test_whole(void **state)
{
    (void)state;
    struct machine *m = machine_new();
    struct acpi_info info;

    expect_good(m, &info);
    assert_int_equal(timers.ignored_count + power.ignored_count, 0);
    assert_int_equal(info.cpu_count, 4);
    assert_int_equal(info.cpus_left_out, 0);
    assert_int_equal(info.cpus_disabled, 3);
    assert_int_equal(info.apic_ids[0], BOOT_ID); /* first, although listed second */
    assert_int_equal(info.apic_ids[1], 0);
    assert_int_equal(info.apic_ids[2], 12);
    assert_int_equal(info.apic_ids[3], 300);
    assert_int_equal(info.ioapic_count, 1);
    assert_true(info.ioapics[0] == 0xFEC00000);
    assert_int_equal(timers.pm_timer, 0x608);
    assert_int_equal(timers.pm_timer_bits, 32);
    assert_true(timers.hpet == 0xFED00000);
    assert_true(power.reset.address == 0xCF9);
    assert_int_equal(power.reset.space, ACPI_SPACE_IO);
    assert_int_equal(power.reset_value, 0xF);
    assert_true(power.has_s5);
    assert_int_equal(power.s5_type_a, 5);
    assert_int_equal(power.s5_type_b, 0);
    assert_int_equal(power.pm1a_control, 0x604);
    assert_int_equal(power.smi_command, 0xB2);
    free(m);
}

static void test_acpi_1(void **state)
{
    (void)state;
    struct machine *m = machine_new();
    struct acpi_info info;

    m->memory[RSDP + 15] = 0; /* the RSDT, although an XSDT address is there */
    put(m, RSDP + 24, 8, UINT64_MAX);
    seal(m, RSDP, 20, RSDP + 8);
    put(m, FADT + 4, 4, 116); /* and the FADT of then: no reset register */
    put(m, FADT + 112, 4, 0);
    seal_table(m, FADT);
    expect_good(m, &info);
    assert_int_equal(info.cpu_count, 4);
    assert_int_equal(timers.pm_timer_bits, 24);
    assert_true(power.reset.address == 0);
    free(m);
}

static void test_fadt_variants(void **state)
{
    (void)state;
    struct machine *m = machine_new();
    struct acpi_info info;

    put(m, FADT + 208, 1, ACPI_SPACE_IO); /* X_PM_TMR_BLK wins */
    put(m, FADT + 212, 8, 0x1008);
    put(m, FADT + 140, 8, BASE + DSDT); /* X_DSDT wins */
    put(m, FADT + 40, 4, 1);
    seal_table(m, FADT);
    expect_good(m, &info);
    assert_int_equal(timers.pm_timer, 0x1008);
    assert_true(power.has_s5);

    put(m, FADT + 208, 1, ACPI_SPACE_MEMORY); /* not a port: no PM timer rather than a wrong one */
    seal_table(m, FADT);
    expect_good(m, &info);
    assert_int_equal(timers.pm_timer, 0);

    put(m, FADT + 112, 4, 1u << 20); /* hardware-reduced */
    seal_table(m, FADT);
    expect_good(m, &info);
    assert_int_equal(timers.pm_timer, 0);
    assert_false(power.has_s5);
    assert_true(power.reset.address == 0);
    free(m);
}

static void test_absent_tables(void **state)
{
    (void)state;
    struct machine *m = machine_new();
    struct acpi_info info;
    struct acpi_problem problem;
    const struct acpi_memory memory = {.read = read_memory, .context = m};

    assert_int_equal(acpi_parse(&memory, 0, BOOT_ID, &info, &problem), -ENOENT);
    assert_string_equal(problem.table, "RSDP");

    memcpy(m->memory + FADT, "XXXX", 4);
    memcpy(m->memory + HPET, "XXXX", 4); /* not asked for: its checksum does not matter */
    expect_good(m, &info);
    assert_int_equal(timers.pm_timer, 0);
    assert_true(timers.hpet == 0);

    memcpy(m->memory + MADT, "XXXX", 4);
    expect_bad(m, -ENOENT, "APIC", "there is no MADT: cannot tell which CPUs exist");
    free(m);
}

static void test_many_cpus(void **state)
{
    (void)state;
    struct machine *m = machine_new();
    struct acpi_info info;

    /* 3 are there; 253 more fit, 7 do not. Those listed twice, as local APIC and as x2APIC, count once. */
    for (unsigned i = 0; i < 200; i++)
        madt_cpu(m, (uint8_t)(20 + i), (uint8_t)(20 + i), 1);
    for (unsigned i = 0; i < 80; i++)
        madt_x2apic(m, 200 + i, 200 + i, 1); /* 200 to 219 are there */
    expect_good(m, &info);
    assert_int_equal(info.cpu_count, MAX_CPUS);
    assert_int_equal(info.cpus_left_out, 1 + 3 + 200 + 60 - MAX_CPUS);
    assert_int_equal(info.apic_ids[255], 271);
    free(m);
}

static void test_broken_rsdp(void **state)
{
    (void)state;
    struct machine *m = machine_new();

    m->memory[RSDP + 24]++;
    expect_bad(m, -EINVAL, "RSDP", "its extended checksum is wrong");
    m->memory[RSDP + 16]++;
    expect_bad(m, -EINVAL, "RSDP", "its checksum is wrong");
    m->memory[RSDP]++;
    expect_bad(m, -EINVAL, "RSDP", "its signature is wrong");
    free(m);

    static const uint32_t lengths[] = {0, 20, 35, 4097, UINT32_MAX};
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        m = machine_new();
        put(m, RSDP + 20, 4, lengths[i]);
        seal(m, RSDP, 20, RSDP + 8);
        expect_bad(m, -EINVAL, "RSDP", "its length is out of bounds");
        free(m);
    }
}

static void test_broken_headers(void **state)
{
    (void)state;
    static const struct {
        unsigned at;
        const char *name;
    } tables[] = {{XSDT, "XSDT"}, {MADT, "APIC"}};

    for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct machine *m = machine_new();
        unsigned at = tables[i].at;

        m->memory[at + 9]++;
        expect_bad(m, -EINVAL, tables[i].name, "its checksum is wrong");
        put(m, at + 4, 4, 35);
        expect_bad(m, -EINVAL, tables[i].name, "its length is out of bounds");
        put(m, at + 4, 4, UINT32_MAX);
        expect_bad(m, -EINVAL, tables[i].name, "its length is out of bounds");
        put(m, at + 4, 4, END);
        expect_bad(m, -EINVAL, tables[i].name, "it reaches beyond readable memory");
        free(m);
    }
    struct machine *m = machine_new();
    put(m, MADT + 4, 4, 43);
    seal_table(m, MADT);
    expect_bad(m, -EINVAL, "APIC", "it is too short");
    free(m);
    m = machine_new();
    put(m, RSDP + 24, 8, UINT64_MAX - 7);
    seal_rsdp(m);
    expect_bad(m, -EINVAL, "XSDT", "its address is not readable memory");
    free(m);
}

static void test_broken_optional_tables(void **state)
{
    (void)state;
    static const struct {
        unsigned at;
        const char *name;
    } tables[] = {{FADT, "FACP"}, {HPET, "HPET"}, {DSDT, "DSDT"}};
    struct acpi_info info;

    for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct machine *m = machine_new();
        unsigned at = tables[i].at;

        m->memory[at + 9]++;
        expect_ignored(m, &info, tables[i].name, "its checksum is wrong");
        assert_int_equal(timers.pm_timer, at == FADT ? 0 : 0x608);
        assert_true(power.reset.address == (at == FADT ? 0 : 0xCF9));
        assert_true(timers.hpet == (at == HPET ? 0 : 0xFED00000));
        assert_int_equal(power.has_s5, at == HPET);
        put(m, at + 4, 4, 35);
        expect_ignored(m, &info, tables[i].name, "its length is out of bounds");
        put(m, at + 4, 4, UINT32_MAX);
        expect_ignored(m, &info, tables[i].name, "its length is out of bounds");
        put(m, at + 4, 4, END);
        expect_ignored(m, &info, tables[i].name, "it reaches beyond readable memory");
        free(m);
    }
    struct machine *m = machine_new();
    put(m, FADT + 4, 4, 115);
    seal_table(m, FADT);
    expect_ignored(m, &info, "FACP", "it is too short");
    free(m);
    m = machine_new();
    put(m, HPET + 4, 4, 55);
    seal_table(m, HPET);
    expect_ignored(m, &info, "HPET", "it is too short");
    free(m);

    m = machine_new();         /* more than one */
    m->memory[FADT + 116] = 3; /* the reset register's space */
    seal_table(m, FADT);
    m->memory[DSDT + 9]++;
    m->memory[HPET + 9]++;
    expect_good(m, &info);
    assert_int_equal(timers.ignored_count, 1);
    assert_string_equal(timers.ignored[0].table, "HPET");
    assert_int_equal(power.ignored_count, 2);
    assert_string_equal(power.ignored[0].table, "FACP");
    assert_string_equal(power.ignored[1].table, "DSDT");
    assert_int_equal(timers.pm_timer, 0x608);
    free(m);
}

static void test_broken_madt(void **state)
{
    (void)state;
    static const uint8_t types[] = {0, 1, 9, 0x7F};
    struct acpi_info info;

    for (unsigned i = 0; i < sizeof(types); i++) {
        for (unsigned size = 0; size < (types[i] == 0x7F ? 2 : 6); size++) {
            struct machine *m = machine_new();
            unsigned at = MADT + get32(m, MADT + 4);
            put(m, at, 2, types[i] | size << 8);
            put(m, MADT + 4, 4, at - MADT + 6);
            seal_table(m, MADT);
            expect_ignored(m, &info, "APIC", "the length of an entry is wrong, it and all behind it");
            assert_int_equal(info.apic_ids[2], 12); /* what comes before it holds */
            free(m);
        }
        struct machine *m = machine_new(); /* an entry that reaches beyond the table */
        unsigned at = MADT + get32(m, MADT + 4);
        put(m, at, 2, types[i] | 40 << 8);
        put(m, MADT + 4, 4, at - MADT + 39);
        seal_table(m, MADT);
        expect_ignored(m, &info, "APIC", "the length of an entry is wrong, it and all behind it");
        free(m);
    }
    struct machine *m = machine_new(); /* the first entry: the processor that runs this is there all the same */
    struct acpi_problem problem;
    m->memory[MADT + 44 + 1] = 0;
    seal_table(m, MADT);
    assert_int_equal(parse(m, &info, &problem), 0);
    assert_non_null(problem.what);
    assert_int_equal(info.cpu_count, 1);
    assert_int_equal(info.apic_ids[0], BOOT_ID);
    assert_int_equal(info.ioapic_count, 0);
    free(m);
    m = machine_new();
    m->memory[MADT + 44 + 6 + 8 + 4] = 0; /* the boot processor's flags */
    seal_table(m, MADT);
    expect_bad(m, -EINVAL, "APIC", "it does not list the boot processor");
    free(m);
}

static void test_s5_variants(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        unsigned size;
        bool found;
    } cases[] = {
        {"\x00\x08\\_S5_\x12\x06\x02\x01\x0A\x07", 13, true},
        {"\x00\x00\x08_S5_\x12\x46\x00\x02\x0A\x07\x0A\x07", 15, true}, /* two bytes of PkgLength */
        {"\x00\x00\x08_S5_\x12\x06\x02\x0B\x07\x00\x00", 14, false},    /* a word constant */
        {"\x00\x00\x08_S5_\x12\x06\x01\x00\x00\x00", 13, false},        /* one element */
        {"\x00\x00\x08_S5_\x14\x06\x02\x00\x00\x00", 13, false},        /* a method */
        {"\x00\x00\x08_S5_\x12\xC6", 9, false},                         /* cut off */
        {"\x00\x00\x08_S5_\x12\x06\x02\x0A\x07\x0A", 13, false},        /* cut off in the second constant */
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct machine *m = machine_new();
        struct acpi_info info;
        memcpy(m->memory + DSDT + 36, cases[i].bytes, cases[i].size);
        put(m, DSDT + 4, 4, 36 + cases[i].size);
        seal_table(m, DSDT);
        expect_good(m, &info);
        assert_int_equal(power.has_s5, cases[i].found);
        if (power.has_s5)
            assert_int_equal(power.s5_type_b, 7);
        free(m);
    }
}

/* Whatever the damage: no read beyond what was asked for, and counts within the arrays. */
static void check_sane(struct machine *m)
{
    struct acpi_info info;
    struct acpi_problem problem;
    int error = parse(m, &info, &problem);

    if (error) {
        assert_true(error == -EINVAL || error == -ENOENT);
        assert_non_null(problem.what);
        assert_int_equal(strlen(problem.table), 4);
        return;
    }
    assert_in_range(info.cpu_count, 1, MAX_CPUS);
    assert_in_range(info.ioapic_count, 0, ACPI_MAX_IOAPICS);
    assert_in_range(timers.ignored_count, 0, 2);
    assert_in_range(power.ignored_count, 0, 2);
    assert_int_equal(info.apic_ids[0], BOOT_ID);
}

/* Every byte set to every value of a few, with checksums made good again, so that the damage gets past them. */
static void test_every_byte(void **state)
{
    (void)state;
    static const uint8_t values[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
    static const unsigned tables[] = {RSDT, XSDT, MADT, FADT, HPET, DSDT};

    for (unsigned t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
        struct machine *m = machine_new();
        unsigned size = get32(m, tables[t] + 4);
        free(m);
        for (unsigned at = 0; at < size; at++) {
            for (unsigned v = 0; v < sizeof(values); v++) {
                m = machine_new();
                m->memory[tables[t] + at] = values[v];
                unsigned now = get32(m, tables[t] + 4);
                if (now >= 36 && now <= END - tables[t])
                    seal_table(m, tables[t]);
                check_sane(m);
                free(m);
            }
        }
    }
}

static void test_random_damage(void **state)
{
    (void)state;
    uint64_t seed = 1;

    for (unsigned round = 0; round < 20000; round++) {
        struct machine *m = machine_new();
        static const unsigned tables[] = {XSDT, MADT, FADT, HPET, DSDT};
        for (unsigned hits = 0; hits < 1 + round % 4; hits++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            unsigned table = tables[(seed >> 33) % 5];
            unsigned span = get32(m, table + 4) % 512 + 1;
            if (span > END - table - 4)
                span = END - table - 4;
            m->memory[table + 4 + (seed >> 40) % span] = (uint8_t)(seed >> 56);
        }
        for (unsigned t = 0; t < 5; t++) {
            unsigned size = get32(m, tables[t] + 4);
            if (size >= 36 && size <= END - tables[t])
                seal_table(m, tables[t]);
        }
        check_sane(m);
        free(m);
    }
}

static int find(struct machine *m, const char *signature, uint32_t *size, struct acpi_problem *problem)
{
    const struct acpi_memory memory = {.read = read_memory, .context = m};
    const uint8_t *bytes;
    int error = acpi_find(&memory, BASE + RSDP, signature, &bytes, size, problem);

    if (!error)
        assert_memory_equal(bytes, signature, 4);
    while (m->copy_count)
        free(m->copies[--m->copy_count]);
    return error;
}

static void test_find(void **state)
{
    (void)state;
    struct machine *m = machine_new();
    struct acpi_problem problem;
    uint32_t size;

    assert_int_equal(find(m, "HPET", &size, &problem), 0);
    assert_int_equal(size, 56);
    assert_int_equal(find(m, "SPCR", &size, &problem), -ENOENT);
    m->memory[HPET + 40] ^= 1;
    assert_int_equal(find(m, "HPET", &size, &problem), -EINVAL);
    assert_string_equal(problem.table, "HPET");
    assert_string_equal(problem.what, "its checksum is wrong");
    assert_int_equal(find(m, "APIC", &size, &problem), 0);
    m->memory[RSDP] = 'X';
    assert_int_equal(find(m, "APIC", &size, &problem), -EINVAL);
    assert_string_equal(problem.table, "RSDP");
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),          cmocka_unit_test(test_acpi_1),
        cmocka_unit_test(test_fadt_variants),  cmocka_unit_test(test_absent_tables),
        cmocka_unit_test(test_many_cpus),      cmocka_unit_test(test_broken_rsdp),
        cmocka_unit_test(test_broken_headers), cmocka_unit_test(test_broken_madt),
        cmocka_unit_test(test_s5_variants),    cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_random_damage),  cmocka_unit_test(test_broken_optional_tables),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
