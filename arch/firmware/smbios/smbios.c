/* SPDX-License-Identifier: MIT */
#include "arch/firmware/smbios/smbios.h"

#include "arch/firmware/acpi_bytes.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

enum { BIOS = 0, BOARD = 2, END = 127 };                                                    /* types of structures */
enum { LENGTH = 1, HEADER_SIZE = 4 };                                                       /* of a structure */
enum { ENTRY_LENGTH = 5, ENTRY_BYTES = 0x16, ENTRY_ADDRESS = 0x18, ENTRY_SIZE = 0x1E };     /* "_SM_" */
enum { ENTRY3_LENGTH = 6, ENTRY3_BYTES = 0x0C, ENTRY3_ADDRESS = 0x10, ENTRY3_SIZE = 0x18 }; /* "_SM3_" */
#define ENTRY_SIZE_MAX 64u
#define TABLE_SIZE_MAX (1u << 20) /* that of real machines has some KiB */

const char *const smbios_names[SMBIOS_STRINGS] = {"bios.vendor",  "bios.version",  "bios.date",
                                                  "board.vendor", "board.product", "board.version"};

static const struct {
    uint8_t type, at; /* the structure, and where it has the number of the string */
} places[SMBIOS_STRINGS] = {{BIOS, 4}, {BIOS, 5}, {BIOS, 8}, {BOARD, 4}, {BOARD, 5}, {BOARD, 6}};

/* The end of the string at `at`, or `end`. */
static const uint8_t *string_end(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at)
        at++;
    return at;
}

/* String `n`, from 1, of those at `at`: an empty one ends them. 0: there is none. */
static void copy_string(const uint8_t *at, const uint8_t *end, unsigned n, char *text, size_t size)
{
    for (; n > 1 && at < end && *at; n--) {
        at = string_end(at, end);
        at += at < end;
    }
    for (; n && at < end && *at && size > 1; size--, at++)
        *text++ = *at >= ' ' && *at <= '~' ? (char)*at : '?';
    *text = '\0';
}

/* The structure behind the strings at `at`: two zeros end these. */
static const uint8_t *behind_strings(const uint8_t *at, const uint8_t *end)
{
    while (end - at >= 2 && (at[0] || at[1]))
        at++;
    return end - at >= 2 ? at + 2 : end;
}

static void read_structures(const uint8_t *at, const uint8_t *end, struct smbios *out)
{
    bool seen[END] = {false};
    while (end - at >= HEADER_SIZE && at[LENGTH] >= HEADER_SIZE && at[LENGTH] <= end - at && at[0] != END) {
        const uint8_t *strings = at + at[LENGTH];
        for (unsigned i = 0; i < SMBIOS_STRINGS; i++)
            if (at[0] == places[i].type && !seen[at[0]] && at[LENGTH] > places[i].at)
                copy_string(strings, end, at[places[i].at], out->text[i], sizeof out->text[i]);
        if (at[0] < END)
            seen[at[0]] = true;
        at = behind_strings(strings, end);
    }
}

/* Where the structures are, if the entry point is one and sums to zero. */
static bool find_structures(const struct acpi_memory *memory, uint64_t entry, uint64_t *address, uint32_t *bytes)
{
    const uint8_t *e = memory->read(memory->context, entry, ENTRY3_SIZE);
    if (!e)
        return false;
    const bool is3 = __builtin_memcmp(e, "_SM3_", 5) == 0; /* the loader has no memcmp() */
    const bool is2 = __builtin_memcmp(e, "_SM_", 4) == 0;
    const unsigned size = e[is3 ? ENTRY3_LENGTH : ENTRY_LENGTH];
    uint8_t sum = 0;
    if ((!is3 && !is2) || size < (is3 ? ENTRY3_SIZE : ENTRY_SIZE) || size > ENTRY_SIZE_MAX)
        return false;
    e = memory->read(memory->context, entry, size);
    if (!e)
        return false;
    for (unsigned i = 0; i < size; i++)
        sum = (uint8_t)(sum + e[i]);
    *bytes = is3 ? acpi_get32(e + ENTRY3_BYTES) : acpi_get16(e + ENTRY_BYTES);
    *address = is3 ? acpi_get64(e + ENTRY3_ADDRESS) : acpi_get32(e + ENTRY_ADDRESS);
    return sum == 0 && *address && *bytes <= TABLE_SIZE_MAX;
}

int smbios_read(const struct acpi_memory *memory, const uint64_t entries[2], struct smbios *out)
{
    uint64_t address;
    uint32_t bytes;
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < 2; i++) {
        if (!entries[i] || !find_structures(memory, entries[i], &address, &bytes))
            continue;
        const uint8_t *at = memory->read(memory->context, address, bytes);
        if (!at)
            continue;
        read_structures(at, at + bytes, out);
        return 0;
    }
    return entries[0] || entries[1] ? -EINVAL : -ENOENT;
}
