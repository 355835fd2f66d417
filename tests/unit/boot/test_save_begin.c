/* SPDX-License-Identifier: MIT */
/* boot/save/save.c: where the log is put before a run, and what that run has to say of it. */
#include "tests/unit/boot/save.h"

static EFI_STATUS begin(const char *config, struct boot_info *info)
{
    const struct boot_efi_memory map = {
        .type = BOOT_MEMORY_CONVENTIONAL, .physical_start = AREA, .pages = AREA_SIZE / 4096};
    *info = (struct boot_info){.config = (uintptr_t)config};
    memcpy(info->save_notes, before, sizeof before);
    fw.note = fw.has_next = false;
    return boot_begin(&volume, info, &(struct boot_efi_map){&map, sizeof map, sizeof map});
}

static void test_begin(void **state)
{
    static const char *const others[] = {"", "save=off\n", "save=espresso\n", "save=ES\n", "#save=esp\n", "save=\n"};
    struct boot_info info;
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(begin(others[i], &info), EFI_SUCCESS);
        assert_true(!info.save_area && !fw.note);
    }
    assert_int_equal(begin("save=esp\nsave.mib=0x2\n", &info), EFI_SUCCESS);
    assert_true(info.save_area >= AREA && info.save_bytes == 2 * MIB && fw.note && !info.save_notes[0][0]);
    assert_string_equal(((struct save_note *)fw.bytes)->machine, "");
    static const char brand[48] = "A processor";
    fw.brand = brand;
    assert_int_equal(begin("save=esp\nsave.mib=2\n", &info), EFI_SUCCESS);
    assert_string_equal(((struct save_note *)fw.bytes)->machine, "A processor");

    fw.control = 1;
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_true(info.save_bytes == MIB);
    assert_non_null(strstr(info.save_notes[0], "MemoryOverwriteRequestControl)"));
    assert_int_equal(info.save_notes[1][0], 0);
    fw.control = 0x10; /* DisableAutoDetect alone */
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_int_equal(info.save_notes[0][0], 0);
}

/* Where the reset cannot lead back here, who sits there hears it before the run, and the log has it. */
static void test_next_start(void **state)
{
    static const UINTN sizes[] = {0, 1, 4};
    struct boot_info info;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fw.current_size = sizes[i];
        fw.lines = 0;
        assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
        assert_true(info.save_area && fw.note && !fw.has_next && fw.lines == 2);
        assert_non_null(strstr(info.save_notes[0], "choose it in the firmware's menu"));
        assert_non_null(strstr(info.save_notes[0], "(BootCurrent)"));
        assert_int_equal(info.save_notes[1][0], 0);
    }
    fw.current_size = 2;
    fw.keeps_next = false;
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_true(info.save_area && fw.note && !fw.has_next);
    assert_non_null(strstr(info.save_notes[0], "does not keep BootNext"));

    fw.keeps_next = true;
    fw.next = 0;
    assert_int_equal(begin("save=off\n", &info), EFI_SUCCESS);
    assert_false(fw.has_next);
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_true(fw.has_next && fw.next == 0x2001 && !info.save_notes[0][0]);
}

/* Said before the run, where the next start cannot read what this one writes. */
static void test_encrypted(void **state)
{
    static const struct {
        bool guest, there;
        uint64_t activate;
        bool told;
    } cases[] = {{false, false, 0, false},         {false, true, 0, false}, {false, true, 1, false},
                 {false, true, 3, true},           {false, true, 7, false}, /* the key comes back */
                 {false, true, 0x80000003, false}, /* only what has a key of its own is encrypted */
                 {false, true, 0x400000013, true}, {true, true, 3, false}};
    struct boot_info info;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fw.guest = cases[i].guest;
        fw.has_tme = cases[i].there;
        fw.tme = cases[i].activate;
        fw.lines = 0;
        assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
        assert_true(info.save_area && fw.note);
        assert_int_equal(fw.lines, 1 + cases[i].told);
        assert_int_equal(strstr(info.save_notes[0], "(Total Memory Encryption) off") != NULL, cases[i].told);
        assert_int_equal(info.save_notes[1][0], 0);
    }
}

/* Before the run, and it goes on: how long the log becomes nobody knows. */
static void test_room(void **state)
{
    struct boot_info info;
    (void)state;
    const struct {
        uint64_t room;
        bool read_only;
        EFI_STATUS status;
        bool told;
    } cases[] = {{2 * MIB, false, 0, false},    {2 * MIB - 1, false, 0, true}, {0, false, 0, true},
                 {UINT64_MAX, false, 0, false}, {100 * MIB, true, 0, true},    {0, false, EFI_UNSUPPORTED, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fw.room = cases[i].room;
        fw.read_only = cases[i].read_only;
        fw.info_status = cases[i].status;
        fw.lines = 0;
        assert_int_equal(begin("save=esp\nsave.mib=2\n", &info), EFI_SUCCESS);
        assert_true(info.save_area && fw.note);
        assert_int_equal(fw.lines, 1 + cases[i].told);
        assert_int_equal(strstr(info.save_notes[0], "less room than save.mib=") != NULL, cases[i].told);
        assert_int_equal(info.save_notes[1][0], 0);
    }
}

static void test_given_up(void **state)
{
    struct boot_info info;
    (void)state;
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_true(fw.note && fw.has_next);
    boot_give_up(&info);
    assert_true(!fw.has_next && !info.save_area && !info.save_bytes);
    assert_true(fw.note); /* no file can be deleted any more: the next start of this volume says that nothing ended */
    assert_int_equal(start(), OFF);
    assert_int_equal(((struct save_note *)fw.bytes)->told, SAVE_HALF_WRITTEN);

    fw.has_next = true; /* another's: nothing was begun */
    boot_give_up(&info);
    assert_true(fw.has_next);
}

/* All that there is to say is said, whole: of the run before, and of this one. */
static void test_notes(void **state)
{
    struct boot_info info;
    (void)state;
    for (uint32_t told = 0; told < SAVE_REFUSALS; told++) {
        const size_t head = strlen("the log of the run before this one was not saved: ");
        assert_true(head + strlen(save_words(told)) < BOOT_SAVE_NOTE);
    }
    fw.note = true;
    fw.size = sizeof(struct save_note);
    memcpy(fw.bytes, &(struct save_note){.version = SAVE_VERSION, .told = SAVE_ABSENT}, fw.size);
    assert_int_equal(start(), RUNS_ON);
    fw.control = 1;
    fw.keeps_next = false;
    fw.room = 0;
    fw.has_tme = true;
    fw.tme = 3;
    memcpy(before, notes, sizeof before);
    assert_int_equal(begin("save=esp\nsave.mib=1\n", &info), EFI_SUCCESS);
    assert_non_null(strstr(info.save_notes[0], "the run before this one was not saved: it is no longer in memory"));
    assert_non_null(strstr(info.save_notes[1], "does not keep BootNext"));
    assert_non_null(strstr(info.save_notes[2], "turn TME (Total Memory Encryption) off in the firmware's menu"));
    assert_non_null(strstr(info.save_notes[3], "MemoryOverwriteRequestControl)"));
    assert_non_null(strstr(info.save_notes[4], "less room than save.mib=: what does not fit stays in memory"));
}

static void test_cannot_begin(void **state)
{
    static const char *const large[] = {"save=esp", "save=esp\nsave.mib=0", "save=esp\nsave.mib=513",
                                        "save=esp\nsave.mib=x", "save=esp\nsave.mib=5"};
    struct boot_info info;
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        fw.failed = 0;
        assert_int_equal(begin(large[i], &info), EFI_OUT_OF_RESOURCES);
        assert_int_equal(fw.failed, EFI_OUT_OF_RESOURCES);
        assert_true(!info.save_area && !fw.note);
    }
    fw.taken_from = AREA + 2 * MIB; /* after the map was read */
    fw.taken_to = fw.taken_from + 1;
    assert_int_equal(begin("save=esp\nsave.mib=3", &info), EFI_OUT_OF_RESOURCES);
    fw.taken_to = 0;
    fw.keeps = false;
    assert_int_equal(begin("save=esp\nsave.mib=2", &info), EFI_DEVICE_ERROR);
    assert_true(!info.save_area && fw.failed == EFI_DEVICE_ERROR);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_begin),    TEST(test_cannot_begin), TEST(test_next_start), TEST(test_room),
        TEST(test_given_up), TEST(test_notes),        TEST(test_encrypted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
