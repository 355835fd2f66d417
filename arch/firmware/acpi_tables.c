/* SPDX-License-Identifier: MIT */
#include "arch/firmware/acpi_tables.h"

#include "arch/firmware/acpi_bytes.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

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
enum madt_type { MADT_TYPE_LOCAL_APIC = 0, MADT_TYPE_IOAPIC = 1, MADT_TYPE_X2APIC = 9 };
#define MADT_CPU_ENABLED 1u
#define MADT_NO_CPU      0xFFu

int acpi_fail(struct acpi_problem *problem, int error, const char *table, const char *what)
{
    memcpy(problem->table, table, 4);
    problem->table[4] = 0;
    problem->what = what;
    return error;
}

static bool sums_to_zero(const uint8_t *bytes, size_t size)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + bytes[i]);
    return sum == 0;
}

static const uint8_t *read_memory(const struct acpi_memory *memory, uint64_t phys, size_t size)
{
    return phys && phys + size >= phys ? memory->read(memory->context, phys, size) : NULL;
}

int acpi_load(const struct acpi_memory *memory, uint64_t phys, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem)
{
    const uint8_t *header = read_memory(memory, phys, HEADER_SIZE);
    if (!header)
        return acpi_fail(problem, -EINVAL, signature, "its address is not readable memory");
    if (memcmp(header, signature, 4) != 0)
        return acpi_fail(problem, -EINVAL, signature, "its signature is wrong");
    *size = acpi_get32(header + HEADER_LENGTH);
    if (*size < HEADER_SIZE || *size > TABLE_SIZE_MAX)
        return acpi_fail(problem, -EINVAL, signature, "its length is out of bounds");
    *bytes = read_memory(memory, phys, *size);
    if (!*bytes)
        return acpi_fail(problem, -EINVAL, signature, "it reaches beyond readable memory");
    if (!sums_to_zero(*bytes, *size))
        return acpi_fail(problem, -EINVAL, signature, "its checksum is wrong");
    return 0;
}

/* The root table: XSDT where the RSDP has one, else RSDT. *entry_size becomes 8 or 4. */
static int load_root(const struct acpi_memory *memory, uint64_t rsdp, const uint8_t **root, uint32_t *size,
                     unsigned *entry_size, struct acpi_problem *problem)
{
    uint32_t length = RSDP_SIZE_1;

    if (!rsdp)
        return acpi_fail(problem, -ENOENT, "RSDP", "the firmware gave none");
    const uint8_t *bytes = read_memory(memory, rsdp, RSDP_SIZE_1);
    if (!bytes)
        return acpi_fail(problem, -EINVAL, "RSDP", "its address is not readable memory");
    if (memcmp(bytes, "RSD PTR ", 8) != 0)
        return acpi_fail(problem, -EINVAL, "RSDP", "its signature is wrong");
    if (!sums_to_zero(bytes, RSDP_SIZE_1))
        return acpi_fail(problem, -EINVAL, "RSDP", "its checksum is wrong");
    if (bytes[RSDP_REVISION] >= 2) {
        bytes = read_memory(memory, rsdp, RSDP_SIZE_2);
        length = bytes ? acpi_get32(bytes + RSDP_LENGTH) : RSDP_SIZE_2;
        if (length < RSDP_SIZE_2 || length > RSDP_SIZE_MAX)
            return acpi_fail(problem, -EINVAL, "RSDP", "its length is out of bounds");
        bytes = read_memory(memory, rsdp, length);
        if (!bytes)
            return acpi_fail(problem, -EINVAL, "RSDP", "it reaches beyond readable memory");
        if (!sums_to_zero(bytes, length))
            return acpi_fail(problem, -EINVAL, "RSDP", "its extended checksum is wrong");
    }
    if (length >= RSDP_SIZE_2 && acpi_get64(bytes + RSDP_XSDT)) {
        *entry_size = 8;
        return acpi_load(memory, acpi_get64(bytes + RSDP_XSDT), "XSDT", root, size, problem);
    }
    *entry_size = 4;
    return acpi_load(memory, acpi_get32(bytes + RSDP_RSDT), "RSDT", root, size, problem);
}

int acpi_walk(const struct acpi_memory *memory, uint64_t rsdp, struct acpi_walk *walk, struct acpi_problem *problem)
{
    *problem = (struct acpi_problem){0};
    walk->at = HEADER_SIZE;
    return load_root(memory, rsdp, &walk->root, &walk->size, &walk->entry_size, problem);
}

bool acpi_next(const struct acpi_memory *memory, struct acpi_walk *walk, uint64_t *phys, const uint8_t **header)
{
    if (walk->at + walk->entry_size > walk->size)
        return false;
    const uint8_t *entry = walk->root + walk->at;
    *phys = walk->entry_size == 8 ? acpi_get64(entry) : acpi_get32(entry);
    *header = read_memory(memory, *phys, HEADER_SIZE);
    walk->at += walk->entry_size;
    return true;
}

/* Tables that nobody asks for are not judged. */
int acpi_find(const struct acpi_memory *memory, uint64_t rsdp, const char *signature, const uint8_t **bytes,
              uint32_t *size, struct acpi_problem *problem)
{
    struct acpi_walk walk;
    const uint8_t *header;
    uint64_t phys;
    int error = acpi_walk(memory, rsdp, &walk, problem);
    if (error)
        return error;
    while (acpi_next(memory, &walk, &phys, &header))
        if (header && memcmp(header, signature, 4) == 0)
            return acpi_load(memory, phys, signature, bytes, size, problem);
    return -ENOENT;
}

/* Slot 0 holds the boot processor's APIC ID from the start. Returns whether the entry is that one's. */
static bool add_cpu(struct acpi_info *info, uint32_t apic_id, uint32_t flags)
{
    if (!(flags & MADT_CPU_ENABLED)) { /* Online Capable or not: nobody brings one online here */
        info->cpus_disabled++;
        return false;
    }
    for (uint32_t i = 0; i < info->cpu_count; i++) /* some firmware lists a CPU as local APIC and as x2APIC */
        if (info->apic_ids[i] == apic_id)
            return i == 0;
    if (info->cpu_count < MAX_CPUS)
        info->apic_ids[info->cpu_count++] = apic_id;
    else
        info->cpus_left_out++;
    return false;
}

/* Bytes an entry of this type has at least; unknown types are skipped by their own length. */
static unsigned madt_entry_size(unsigned type)
{
    return type == MADT_TYPE_LOCAL_APIC ? 8 : type == MADT_TYPE_IOAPIC ? 12 : type == MADT_TYPE_X2APIC ? 16 : 2;
}

/* Returns whether it is the boot processor's. */
static bool parse_entry(struct acpi_info *info, const uint8_t *entry)
{
    switch (entry[0]) {
    case MADT_TYPE_LOCAL_APIC: /* 255 addresses everybody: such an entry is a placeholder, enabled or not */
        return add_cpu(info, entry[3], entry[3] == MADT_NO_CPU ? 0 : acpi_get32(entry + 4));
    case MADT_TYPE_X2APIC:
        return add_cpu(info, acpi_get32(entry + 4), acpi_get32(entry + 8));
    case MADT_TYPE_IOAPIC:
        if (info->ioapic_count < ACPI_MAX_IOAPICS)
            info->ioapics[info->ioapic_count++] = acpi_get32(entry + 4);
        else
            info->ioapics_left_out++;
    }
    return false;
}

/* An entry whose length cannot be right ends the table: where the next one begins is not known, but what came before it
 * is. */
int acpi_parse(const struct acpi_memory *memory, uint64_t rsdp, uint32_t boot_apic_id, struct acpi_info *info,
               struct acpi_problem *problem)
{
    const uint8_t *madt;
    uint32_t size;
    bool boot_found = false;
    int error = acpi_find(memory, rsdp, "APIC", &madt, &size, problem);

    if (error == -ENOENT && !problem->what)
        acpi_fail(problem, error, "APIC", "there is no MADT: cannot tell which CPUs exist");
    if (error)
        return error;
    if (size < MADT_ENTRIES)
        return acpi_fail(problem, -EINVAL, "APIC", "it is too short");
    memset(info, 0, sizeof(*info));
    info->apic_ids[0] = boot_apic_id; /* first, even among more CPUs than there is room for */
    info->cpu_count = 1;
    for (uint32_t at = MADT_ENTRIES; at < size; at += madt[at + 1]) {
        const uint8_t *entry = madt + at;
        if (size - at < 2 || entry[1] > size - at || entry[1] < madt_entry_size(entry[0]))
            return acpi_fail(problem, 0, "APIC", "the length of an entry is wrong, it and all behind it");
        boot_found |= parse_entry(info, entry);
    }
    return boot_found ? 0 : acpi_fail(problem, -EINVAL, "APIC", "it does not list the boot processor");
}
