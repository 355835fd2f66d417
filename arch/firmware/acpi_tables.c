/* SPDX-License-Identifier: MIT */
#include "arch/firmware/acpi_tables.h"

#include "arch/firmware/acpi_bytes.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

/* A description header (ACPI, "System Description Table Header"). */
enum { HEADER_LENGTH = 4, HEADER_SIZE = ACPI_HEADER_SIZE };
/* No table we read is larger; a hostile length must not make us map half the address space. */
#define TABLE_SIZE_MAX (16u << 20)

/* RSDP */
enum {
    RSDP_SIZE_1 = 20, /* what ACPI 1.0 has, and what its checksum covers */
    RSDP_REVISION = 15,
    RSDP_RSDT = 16,
    RSDP_LENGTH = 20,
    RSDP_XSDT = 24,
    RSDP_SIZE_2 = 36,
    RSDP_SIZE_MAX = 4096,
};

enum { MADT_ENTRIES = 44 }; /* the local APIC's address before them: IA32_APIC_BASE says the same */
enum madt_type {
    MADT_TYPE_LOCAL_APIC = 0,
    MADT_TYPE_IOAPIC = 1,
    MADT_TYPE_NMI = 4,
    MADT_TYPE_X2APIC = 9,
    MADT_TYPE_X2APIC_NMI = 10,
};
#define MADT_CPU_ENABLED   1u
#define MADT_NO_CPU        0xFFu
#define MADT_ALL_CPUS      0xFFu
#define MADT_X2_ALL_CPUS   0xFFFFFFFFu
#define MADT_POLARITY_MASK 3u
#define MADT_POLARITY_LOW  3u

/* FADT, beside what arch/firmware/power reads in it */
enum { FADT_PM_TMR = 76, FADT_PM_TMR_LEN = 91, FADT_X_PM_TMR = 208 };
#define FADT_FLAG_TMR_VAL_EXT (1u << 8)

enum { HPET_ADDRESS = 40, HPET_SIZE = 56 };
enum { DMAR_FLAGS = 37, DMAR_SIZE = 48 }; /* Intel VT-d specification, "DMA Remapping Reporting Structure" */
#define DMAR_FLAG_X2APIC_OPT_OUT 2u

struct table {
    const uint8_t *bytes; /* NULL: not there */
    uint32_t size;
};

struct parser {
    const struct acpi_memory *memory;
    struct acpi_info *info;
    struct acpi_problem *problem;
    bool boot_found;
};

static int fail(struct parser *parser, int error, const char *table, const char *what)
{
    memcpy(parser->problem->table, table, 4);
    for (int i = 0; i < 4; i++) /* the signature may come from the table itself */
        if (parser->problem->table[i] < ' ' || parser->problem->table[i] > '~')
            parser->problem->table[i] = '?';
    parser->problem->table[4] = 0;
    parser->problem->what = what;
    return error;
}

/* For what the kernel can do without: a malformed one is as good as none, and noted, once a table. */
static void ignore(struct parser *parser, int error)
{
    struct acpi_info *info = parser->info;

    if (!error)
        return;
    for (uint32_t i = 0; i < info->ignored_count; i++)
        if (memcmp(info->ignored[i].table, parser->problem->table, 4) == 0)
            return;
    if (info->ignored_count < ACPI_MAX_IGNORED)
        info->ignored[info->ignored_count++] = *parser->problem;
}

static bool sums_to_zero(const uint8_t *bytes, size_t size)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return sum == 0;
}

static const uint8_t *read_memory(struct parser *parser, uint64_t phys, size_t size)
{
    if (!phys || phys + size < phys)
        return NULL;
    return parser->memory->read(parser->memory->context, phys, size);
}

/* Reads and checks the table at `phys`, whose header says it is `signature`. */
static int load_table(struct parser *parser, uint64_t phys, const char *signature, struct table *table)
{
    const uint8_t *header = read_memory(parser, phys, HEADER_SIZE);
    if (!header)
        return fail(parser, -EINVAL, signature, "its address is not readable memory");
    if (memcmp(header, signature, 4) != 0)
        return fail(parser, -EINVAL, signature, "its signature is wrong");
    uint32_t size = acpi_get32(header + HEADER_LENGTH);
    if (size < HEADER_SIZE || size > TABLE_SIZE_MAX)
        return fail(parser, -EINVAL, signature, "its length is out of bounds");
    const uint8_t *bytes = read_memory(parser, phys, size);
    if (!bytes)
        return fail(parser, -EINVAL, signature, "it reaches beyond readable memory");
    if (!sums_to_zero(bytes, size))
        return fail(parser, -EINVAL, signature, "its checksum is wrong");
    *table = (struct table){.bytes = bytes, .size = size};
    return 0;
}

/* The root table: XSDT where the RSDP has one, else RSDT. *entry_size becomes 8 or 4. */
static int load_root(struct parser *parser, uint64_t rsdp, struct table *root, unsigned *entry_size)
{
    static const char name[] = "RSDP";

    if (!rsdp)
        return fail(parser, -ENOENT, name, "the firmware gave none");
    const uint8_t *bytes = read_memory(parser, rsdp, RSDP_SIZE_1);
    if (!bytes)
        return fail(parser, -EINVAL, name, "its address is not readable memory");
    if (memcmp(bytes, "RSD PTR ", 8) != 0)
        return fail(parser, -EINVAL, name, "its signature is wrong");
    if (!sums_to_zero(bytes, RSDP_SIZE_1))
        return fail(parser, -EINVAL, name, "its checksum is wrong");
    uint64_t rsdt = acpi_get32(bytes + RSDP_RSDT);

    if (bytes[RSDP_REVISION] >= 2) {
        bytes = read_memory(parser, rsdp, RSDP_SIZE_2);
        if (!bytes)
            return fail(parser, -EINVAL, name, "it reaches beyond readable memory");
        uint32_t size = acpi_get32(bytes + RSDP_LENGTH);
        if (size < RSDP_SIZE_2 || size > RSDP_SIZE_MAX)
            return fail(parser, -EINVAL, name, "its length is out of bounds");
        bytes = read_memory(parser, rsdp, size);
        if (!bytes)
            return fail(parser, -EINVAL, name, "it reaches beyond readable memory");
        if (!sums_to_zero(bytes, size))
            return fail(parser, -EINVAL, name, "its extended checksum is wrong");
        uint64_t xsdt = acpi_get64(bytes + RSDP_XSDT);
        if (xsdt) {
            *entry_size = 8;
            return load_table(parser, xsdt, "XSDT", root);
        }
    }
    *entry_size = 4;
    return load_table(parser, rsdt, "RSDT", root);
}

/* Looks `signature` up in the root table. Tables that nobody asks for are not judged. table->bytes NULL: not there. */
static int find_table(struct parser *parser, const struct table *root, unsigned entry_size, const char *signature,
                      struct table *table)
{
    *table = (struct table){0};
    for (uint32_t at = HEADER_SIZE; at + entry_size <= root->size; at += entry_size) {
        uint64_t phys = entry_size == 8 ? acpi_get64(root->bytes + at) : acpi_get32(root->bytes + at);
        const uint8_t *header = read_memory(parser, phys, HEADER_SIZE);
        if (header && memcmp(header, signature, 4) == 0)
            return load_table(parser, phys, signature, table);
    }
    return 0;
}

/* ---- MADT ---- */

/* Slot 0 holds the boot processor's APIC ID from the start; `boot_found` says that the MADT lists it, too. */
static void add_cpu(struct parser *parser, uint32_t apic_id, uint32_t uid, uint32_t flags)
{
    struct acpi_info *info = parser->info;

    if (!(flags & MADT_CPU_ENABLED)) { /* Online Capable or not: nobody brings one online here */
        info->cpus_disabled++;
        return;
    }
    for (uint32_t i = 0; i < info->cpu_count; i++) { /* some firmware lists a CPU as local APIC and as x2APIC */
        if (info->cpus[i].apic_id == apic_id) {
            info->cpus[i].uid = uid;
            parser->boot_found |= i == 0;
            return;
        }
    }
    if (info->cpu_count == MAX_CPUS) {
        info->cpus_left_out++;
        return;
    }
    info->cpus[info->cpu_count++] = (struct acpi_cpu){.apic_id = apic_id, .uid = uid};
}

static int add_nmi(struct parser *parser, bool all, uint32_t uid, uint16_t flags, uint8_t lint)
{
    struct acpi_info *info = parser->info;

    if (lint > 1)
        return fail(parser, -EINVAL, "APIC", "an NMI entry names a local interrupt pin that does not exist");
    for (uint32_t i = 0; i < info->cpu_count; i++) {
        if (!all && info->cpus[i].uid != uid)
            continue;
        info->cpus[i].nmi_lint |= (uint8_t)(1u << lint);
        if ((flags & MADT_POLARITY_MASK) == MADT_POLARITY_LOW)
            info->cpus[i].nmi_low |= (uint8_t)(1u << lint);
    }
    return 0;
}

static void add_ioapic(struct acpi_info *info, uint32_t address)
{
    if (info->ioapic_count == ACPI_MAX_IOAPICS)
        info->ioapics_left_out++;
    else
        info->ioapics[info->ioapic_count++] = address;
}

/* Bytes an entry of this type has at least; unknown types are skipped by their own length. */
static unsigned madt_entry_size(unsigned type)
{
    switch (type) {
    case MADT_TYPE_LOCAL_APIC:
        return 8;
    case MADT_TYPE_IOAPIC:
    case MADT_TYPE_X2APIC_NMI:
        return 12;
    case MADT_TYPE_NMI:
        return 6;
    case MADT_TYPE_X2APIC:
        return 16;
    default:
        return 2;
    }
}

static void madt_cpu(struct parser *parser, const uint8_t *entry)
{
    if (entry[0] == MADT_TYPE_LOCAL_APIC) /* 255 addresses everybody: such an entry is a placeholder, enabled or not */
        add_cpu(parser, entry[3], entry[2], entry[3] == MADT_NO_CPU ? 0 : acpi_get32(entry + 4));
    else if (entry[0] == MADT_TYPE_X2APIC)
        add_cpu(parser, acpi_get32(entry + 4), acpi_get32(entry + 12), acpi_get32(entry + 8));
}

static void madt_other(struct parser *parser, const uint8_t *entry)
{
    switch (entry[0]) {
    case MADT_TYPE_IOAPIC:
        add_ioapic(parser->info, acpi_get32(entry + 4));
        break;
    case MADT_TYPE_NMI:
        ignore(parser, add_nmi(parser, entry[2] == MADT_ALL_CPUS, entry[2], acpi_get16(entry + 3), entry[5]));
        break;
    case MADT_TYPE_X2APIC_NMI:
        ignore(parser, add_nmi(parser, acpi_get32(entry + 4) == MADT_X2_ALL_CPUS, acpi_get32(entry + 4),
                               acpi_get16(entry + 2), entry[8]));
    }
}

/* Twice over the entries: NMI lines refer to CPUs, and nothing says that those come first. An entry whose length cannot
 * be right ends the table: where the next one begins is not known, but what came before it is. */
static int parse_madt(struct parser *parser, const struct table *madt, uint32_t boot_apic_id)
{
    struct acpi_info *info = parser->info;

    if (madt->size < MADT_ENTRIES)
        return fail(parser, -EINVAL, "APIC", "it is too short");
    info->cpus[0].apic_id = boot_apic_id; /* first, even among more CPUs than there is room for */
    info->cpu_count = 1;

    uint32_t size = madt->size;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t at = MADT_ENTRIES; at < size;) {
            const uint8_t *entry = madt->bytes + at;
            uint32_t left = size - at;
            if (left < 2 || entry[1] > left || entry[1] < madt_entry_size(entry[0])) {
                ignore(parser, fail(parser, -EINVAL, "APIC", "the length of an entry is wrong, it and all behind it"));
                size = at;
                break;
            }
            if (pass == 0)
                madt_cpu(parser, entry);
            else
                madt_other(parser, entry);
            at += entry[1];
        }
    }
    if (!parser->boot_found && size == madt->size)
        return fail(parser, -EINVAL, "APIC", "it does not list the boot processor");
    return 0;
}

/* ---- FADT ---- */

struct acpi_register acpi_get_register(const uint8_t *at)
{
    return (struct acpi_register){.address = acpi_get64(at + GAS_ADDRESS), .space = at[GAS_SPACE]};
}

uint16_t acpi_get_port(const uint8_t *fadt, uint32_t size, unsigned old_at, unsigned gas_at)
{
    if (gas_at + GAS_SIZE <= size) {
        struct acpi_register gas = acpi_get_register(fadt + gas_at);
        if (gas.address)
            return gas.space == ACPI_SPACE_IO && gas.address <= UINT16_MAX ? (uint16_t)gas.address : 0;
    }
    uint32_t port = acpi_get32(fadt + old_at);
    return port <= UINT16_MAX ? (uint16_t)port : 0;
}

static int parse_fadt(struct parser *parser, const struct table *fadt)
{
    struct acpi_info *info = parser->info;

    if (fadt->size < FADT_SIZE_1)
        return fail(parser, -EINVAL, "FACP", "it is too short");
    uint32_t flags = acpi_get32(fadt->bytes + FADT_FLAGS);
    if (!(flags & FADT_FLAG_HW_REDUCED) && fadt->bytes[FADT_PM_TMR_LEN] == 4) {
        info->pm_timer = acpi_get_port(fadt->bytes, fadt->size, FADT_PM_TMR, FADT_X_PM_TMR);
        info->pm_timer_bits = flags & FADT_FLAG_TMR_VAL_EXT ? 32 : 24;
    }
    return 0;
}

static int parse_hpet(struct parser *parser, const struct table *hpet)
{
    if (hpet->size < HPET_SIZE)
        return fail(parser, -EINVAL, "HPET", "it is too short");
    struct acpi_register gas = acpi_get_register(hpet->bytes + HPET_ADDRESS);
    if (gas.space == ACPI_SPACE_MEMORY)
        parser->info->hpet = gas.address;
    return 0;
}

static int parse_dmar(struct parser *parser, const struct table *dmar)
{
    if (dmar->size < DMAR_SIZE)
        return fail(parser, -EINVAL, "DMAR", "it is too short");
    parser->info->x2apic_opt_out = dmar->bytes[DMAR_FLAGS] & DMAR_FLAG_X2APIC_OPT_OUT;
    return 0;
}

/* Looks a table up and parses it. 0 where it is not there. */
static int parse_optional(struct parser *parser, const struct table *root, unsigned entry_size, const char *signature,
                          int (*parse)(struct parser *, const struct table *))
{
    struct table table;
    int error = find_table(parser, root, entry_size, signature, &table);
    return error || !table.bytes ? error : parse(parser, &table);
}

int acpi_parse(const struct acpi_memory *memory, uint64_t rsdp, uint32_t boot_apic_id, struct acpi_info *info,
               struct acpi_problem *problem)
{
    struct parser parser = {.memory = memory, .info = info, .problem = problem};
    struct table root, madt;
    unsigned entry_size;
    int error;

    memset(info, 0, sizeof(*info));
    memset(problem, 0, sizeof(*problem));
    if ((error = load_root(&parser, rsdp, &root, &entry_size)) != 0)
        return error;
    if ((error = find_table(&parser, &root, entry_size, "APIC", &madt)) != 0)
        return error;
    if (!madt.bytes)
        return fail(&parser, -ENOENT, "APIC", "there is no MADT: cannot tell which CPUs exist");
    if ((error = parse_madt(&parser, &madt, boot_apic_id)) != 0)
        return error;
    ignore(&parser, parse_optional(&parser, &root, entry_size, "DMAR", parse_dmar));
    ignore(&parser, parse_optional(&parser, &root, entry_size, "FACP", parse_fadt));
    ignore(&parser, parse_optional(&parser, &root, entry_size, "HPET", parse_hpet));
    return 0;
}

int acpi_find(const struct acpi_memory *memory, uint64_t rsdp, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem)
{
    struct parser parser = {.memory = memory, .problem = problem};
    struct table root, table;
    unsigned entry_size;
    int error;

    memset(problem, 0, sizeof(*problem));
    if ((error = load_root(&parser, rsdp, &root, &entry_size)) != 0)
        return error;
    if ((error = find_table(&parser, &root, entry_size, signature, &table)) != 0)
        return error;
    *bytes = table.bytes;
    *size = table.size;
    return table.bytes ? 0 : -ENOENT;
}

int acpi_load(const struct acpi_memory *memory, uint64_t phys, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem)
{
    struct parser parser = {.memory = memory, .problem = problem};
    struct table table;
    int error = load_table(&parser, phys, signature, &table);

    if (error)
        return error;
    *bytes = table.bytes;
    *size = table.size;
    return 0;
}
