/* SPDX-License-Identifier: MIT */
/* arch/firmware/smbios/smbios.c: tables of both kinds, as firmware has them, and wrong ones. */
#include <stdlib.h>
#include <string.h>

#include "arch/firmware/smbios/smbios.h"
#include "kernel/lib/errno.h"
#include "tests/unit/support/cmocka.h"

#define ENTRY UINT64_C(0xF0000)
#define TABLE UINT64_C(0x7F000000)

static struct {
    uint8_t entry[32], table[2048];
    size_t size; /* of the table's bytes that there are */
} machine;

static const void *read_memory(void *context, uint64_t phys, size_t size)
{
    static void *copy; /* of exactly that size: AddressSanitizer sees what is read beyond it */
    const bool entry = phys == ENTRY;
    assert_ptr_equal(context, &machine);
    if ((!entry && phys != TABLE) || size > (entry ? sizeof machine.entry : sizeof machine.table))
        return NULL;
    free(copy);
    copy = malloc(size ? size : 1);
    assert_non_null(copy);
    return memcpy(copy, entry ? machine.entry : machine.table, size);
}

static const struct acpi_memory memory = {read_memory, &machine};

static void add(const void *bytes, size_t size)
{
    assert_true(machine.size + size <= sizeof machine.table);
    memcpy(machine.table + machine.size, bytes, size);
    machine.size += size;
}

/* A structure and its strings, each but the last with a zero behind it: the literal's own are the end. */
#define ADD(head, strings)                                                                                             \
    do {                                                                                                               \
        static const uint8_t bytes[] = head;                                                                           \
        add(bytes, sizeof bytes);                                                                                      \
        add(strings "\0", sizeof strings + 1);                                                                         \
    } while (0)
#define HEAD(...)                                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static void seal(size_t size)
{
    uint8_t sum = 0;
    machine.entry[4] = machine.entry[5] = 0;
    machine.entry[machine.entry[3] == '3' ? 5 : 4] = 0;
    if (machine.entry[3] == '3')
        machine.entry[4] = '_';
    machine.entry[machine.entry[3] == '3' ? 6 : 5] = (uint8_t)size;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + machine.entry[i]);
    machine.entry[machine.entry[3] == '3' ? 5 : 4] = (uint8_t)-sum;
}

static void put(unsigned at, uint64_t value, unsigned size)
{
    memcpy(machine.entry + at, &value, size);
}

static void end_with_3(void)
{
    memset(machine.entry, 0, sizeof machine.entry);
    memcpy(machine.entry, "_SM3_", 5);
    put(0x0C, machine.size, 4);
    put(0x10, TABLE, 8);
    seal(0x18);
}

static void end_with_2(void)
{
    memset(machine.entry, 0, sizeof machine.entry);
    memcpy(machine.entry, "_SM_", 4);
    put(0x16, machine.size, 2);
    put(0x18, TABLE, 4);
    seal(0x1F);
}

static void board(void)
{
    memset(&machine, 0, sizeof machine);
    ADD(HEAD(0, 0x12, 0, 0, 1, 2, 0, 0, 3, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0), "INTEL\0R2.07\0"
                                                                          "12/24/2025");
    ADD(HEAD(1, 8, 1, 0, 1, 1, 1, 1), "serial numbers are here");
    ADD(HEAD(2, 8, 2, 0, 1, 2, 3, 4), "Maker\0Board \xC4 1\0v2\0SERIAL-1234");
    ADD(HEAD(2, 8, 3, 0, 1, 1, 1, 0), "a second board");
    ADD(HEAD(127, 4, 4, 0), "");
}

static void check(const struct smbios *s)
{
    assert_string_equal(s->text[SMBIOS_BIOS_VENDOR], "INTEL");
    assert_string_equal(s->text[SMBIOS_BIOS_VERSION], "R2.07");
    assert_string_equal(s->text[SMBIOS_BIOS_DATE], "12/24/2025");
    assert_string_equal(s->text[SMBIOS_BOARD_VENDOR], "Maker");
    assert_string_equal(s->text[SMBIOS_BOARD_PRODUCT], "Board ? 1");
    assert_string_equal(s->text[SMBIOS_BOARD_VERSION], "v2");
}

static int read_at(uint64_t entry, struct smbios *s)
{
    const uint64_t entries[2] = {entry, 0};
    return smbios_read(&memory, entries, s);
}

static void test_both_kinds(void **state)
{
    struct smbios s;
    (void)state;
    board();
    end_with_3();
    assert_int_equal(read_at(ENTRY, &s), 0);
    check(&s);
    end_with_2();
    assert_int_equal(read_at(ENTRY, &s), 0);
    check(&s);
}

/* A newer entry point that is broken does not hide the older one. */
static void test_newer_is_broken(void **state)
{
    static const uint64_t entries[2] = {0x1000, ENTRY};
    struct smbios s;
    (void)state;
    board();
    end_with_2();
    assert_int_equal(smbios_read(&memory, entries, &s), 0);
    check(&s);
}

static void test_refused(void **state)
{
    struct smbios s;
    (void)state;
    assert_int_equal(read_at(0, &s), -ENOENT);
    assert_int_equal(read_at(0x1000, &s), -EINVAL);
    board();
    end_with_3();
    machine.entry[0x17] ^= 1; /* a wrong sum */
    assert_int_equal(read_at(ENTRY, &s), -EINVAL);
    end_with_3();
    machine.entry[0] = 'X';
    assert_int_equal(read_at(ENTRY, &s), -EINVAL);
    end_with_3();
    put(0x0C, 0x100001, 4);
    seal(0x18);
    assert_int_equal(read_at(ENTRY, &s), -EINVAL);
    end_with_3();
    put(0x10, 0, 8);
    seal(0x18);
    assert_int_equal(read_at(ENTRY, &s), -EINVAL);
    end_with_3();
    seal(0x17);
    assert_int_equal(read_at(ENTRY, &s), -EINVAL);
    for (unsigned i = 0; i < SMBIOS_STRINGS; i++)
        assert_string_equal(s.text[i], "");
}

/* What is cut anywhere is read up to there, and no byte beyond it. */
static void test_cut(void **state)
{
    struct smbios s;
    (void)state;
    board();
    const size_t all = machine.size;
    for (size_t size = 0; size < all; size++) {
        machine.size = size;
        end_with_3();
        assert_int_equal(read_at(ENTRY, &s), 0);
    }
}

static void test_odd(void **state)
{
    struct smbios s;
    (void)state;
    memset(&machine, 0, sizeof machine);
    ADD(HEAD(0, 6, 0, 0, 9, 1), "only one"); /* no ninth string; no date */
    ADD(HEAD(200, 3, 0, 0), "");             /* shorter than its own header: the rest is not read */
    ADD(HEAD(2, 8, 2, 0, 1, 1, 1, 0), "never");
    end_with_3();
    assert_int_equal(read_at(ENTRY, &s), 0);
    assert_string_equal(s.text[SMBIOS_BIOS_VENDOR], "");
    assert_string_equal(s.text[SMBIOS_BIOS_VERSION], "only one");
    assert_string_equal(s.text[SMBIOS_BIOS_DATE], "");
    assert_string_equal(s.text[SMBIOS_BOARD_VENDOR], "");
    memset(&machine, 0, sizeof machine);
    ADD(HEAD(2, 8, 2, 0, 1, 0, 0, 0), "0123456789012345678901234567890123456789012345678901234567890123456789");
    end_with_3();
    assert_int_equal(read_at(ENTRY, &s), 0);
    assert_int_equal(strlen(s.text[SMBIOS_BOARD_VENDOR]), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_kinds), cmocka_unit_test(test_newer_is_broken),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_cut),
        cmocka_unit_test(test_odd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
