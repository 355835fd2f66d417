/* SPDX-License-Identifier: MIT */
/* boot/save/save.c: the log of the last run, whole or damaged in each way there is, on volumes good and bad. */
#include "boot/save/machine.h"
#include "tests/unit/boot/save.h"

/* It says why, it has no file, the next start is a run, and that run says it as well. */
static void refused(enum save_refusal why)
{
    assert_int_equal(start(), OFF);
    assert_null(fw.file);
    assert_true(fw.lines >= 2);
    assert_true(fw.note);
    assert_int_equal(((struct save_note *)fw.bytes)->told, why);
    assert_int_equal(start(), RUNS_ON);
    assert_string_equal(note + strlen(note) - strlen(save_words(why)), save_words(why));
    assert_int_equal(notes[1][0], 0);
    assert_false(fw.note);
    note[0] = 0;
}

static void test_nothing_there(void **state)
{
    (void)state;
    fw.note = false;
    assert_int_equal(start(), RUNS_ON);
    assert_int_equal(fw.lines, 0);
    assert_true(fw.allocated == 0);
    assert_int_equal(note[0], 0);
}

/* That there is no note is nothing to speak of; that it cannot be read is. */
static void test_cannot_be_read(void **state)
{
    static const EFI_STATUS told[] = {EFI_DEVICE_ERROR, EFI_VOLUME_CORRUPTED, EFI_MEDIA_CHANGED};
    (void)state;
    fw.read_status = EFI_NOT_FOUND;
    assert_int_equal(start(), RUNS_ON);
    assert_true(fw.lines == 0 && !note[0]);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        fw.read_status = told[i];
        fw.lines = 0;
        assert_int_equal(start(), RUNS_ON);
        assert_true(fw.lines == 1 && fw.note);
        assert_non_null(strstr(note, "cairn.run could not be read"));
        note[0] = 0;
    }
    fw.read_status = 0;
    assert_int_equal(start(), OFF); /* it is still there */
    assert_true(fw.file_size == TEXT_SIZE);
}

static void test_saved(void **state)
{
    (void)state;
    fw.files = 3;
    uint8_t *was = malloc(TEXT_SIZE);
    assert_non_null(was);
    memcpy(was, text, TEXT_SIZE);
    assert_int_equal(start(), OFF);
    assert_int_equal(fw.name[9], '3');
    assert_true(fw.file_size == TEXT_SIZE);
    assert_memory_equal(fw.file, was, TEXT_SIZE);
    assert_true(fw.closed && !fw.deleted && !fw.note && !fw.failed);
    assert_int_equal(fw.lines, 3);
    /* and cleared: a note that could not be deleted finds a stale one */
    for (size_t i = 0; i < TEXT_SIZE; i++)
        assert_int_equal(text[i], 0);
    free(was);
    free(fw.file);
    fw.file = NULL;
    assert_int_equal(start(), RUNS_ON);
    assert_int_equal(note[0], 0);
}

/* Beside the report of a machine. */
static void test_what_to_send(void **state)
{
    (void)state;
    assert_int_equal(start(), OFF);
    assert_string_equal(fw.to_send, "");
    assert_int_equal(teardown(state) | setup(state), 0);
    fw.report = true;
    assert_int_equal(start(), OFF);
    assert_non_null(strstr(fw.to_send, "send all files cairn-*"));
    assert_int_equal(teardown(state) | setup(state), 0);
    fw.report = true;
    memset(header, 0, AREA_SIZE);
    refused(SAVE_ABSENT);
    assert_non_null(strstr(fw.to_send, "cairn-machine.txt is still there"));
}

static void test_saved_but_remembered(void **state)
{
    (void)state;
    fw.deletes = false;
    assert_int_equal(start(), OFF);
    assert_true(fw.file_size == TEXT_SIZE && fw.note);
    assert_int_equal(fw.lines, 4); /* one more than after test_saved */
    free(fw.file);
    fw.file = NULL;
    fw.deletes = true;
    refused(SAVE_ALREADY);
}

/* The volume does not take it: nothing is left there, and the log stays as it was for another try. */
static void again(EFI_STATUS status)
{
    assert_int_equal(start(), STOPPED);
    assert_int_equal(fw.failed, status);
    assert_true(fw.note && ((struct save_note *)fw.bytes)->told == 0);
    assert_int_equal(header->state, SAVE_COMPLETE);
    free(fw.file);
    fw.file = NULL;
    fw.file_size = 0;
    fw.failed = 0;
    fw.deleted = false;
    fw.room = 100 * MIB;
    fw.files = 0;
    fw.open_status = fw.flush_status = 0;
    assert_int_equal(start(), OFF);
    assert_true(fw.file_size == TEXT_SIZE && !fw.failed && !fw.note);
}

static void test_full_volume(void **state)
{
    (void)state;
    fw.room = MIB + 5;
    again(EFI_VOLUME_FULL);
}

static void test_full_when_flushed(void **state)
{
    (void)state;
    fw.flush_status = EFI_DEVICE_ERROR;
    again(EFI_DEVICE_ERROR);
}

static void test_read_only_volume(void **state)
{
    (void)state;
    fw.open_status = EFI_WRITE_PROTECTED;
    again(EFI_WRITE_PROTECTED);
}

static void test_all_names_taken(void **state)
{
    (void)state;
    fw.files = 1000;
    again(EFI_VOLUME_FULL);
}

static void test_part_is_deleted(void **state)
{
    (void)state;
    fw.room = MIB + 5;
    assert_int_equal(start(), STOPPED);
    assert_true(fw.deleted);
}

static void test_half_written(void **state)
{
    (void)state;
    header->state = SAVE_WRITING;
    seal();
    refused(SAVE_HALF_WRITTEN);
}

static void test_another_run(void **state)
{
    (void)state;
    header->nonce ^= 1;
    seal();
    refused(SAVE_OTHER_RUN);
}

static void test_cleared(void **state)
{
    (void)state;
    memset(header, 0, AREA_SIZE);
    refused(SAVE_ABSENT);
}

static void test_firmware_has_the_header(void **state)
{
    (void)state;
    fw.taken_from = AREA;
    fw.taken_to = AREA + 1;
    refused(SAVE_TAKEN);
}

static void test_firmware_has_the_last_page(void **state)
{
    (void)state;
    fw.taken_from = AREA + SAVE_HEADER_BYTES + TEXT_SIZE - 1;
    fw.taken_to = fw.taken_from + 1;
    refused(SAVE_TAKEN);
}

/* Memory behind the log is the firmware's to use. */
static void test_firmware_has_what_is_behind(void **state)
{
    (void)state;
    fw.taken_from = AREA + ((SAVE_HEADER_BYTES + TEXT_SIZE + 4095) & ~UINT64_C(4095));
    fw.taken_to = AREA + AREA_SIZE;
    assert_int_equal(start(), OFF);
    assert_true(fw.file_size == TEXT_SIZE);
}

static void test_note_is_damaged(void **state)
{
    static const UINTN sizes[] = {0, 1, 32, sizeof(struct save_note) - 1, sizeof(struct save_note) + 1};
    struct save_note good;
    (void)state;
    memcpy(&good, fw.bytes, sizeof good);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fw.note = true;
        memcpy(fw.bytes, &good, sizeof good);
        fw.size = sizes[i];
        refused(SAVE_BAD_NOTE);
    }
    const struct save_note bad[] = {
        {.version = 2, .address = AREA, .bytes = AREA_SIZE},
        {.version = 1, .address = 0, .bytes = AREA_SIZE},
        {.version = 1, .address = AREA + 1, .bytes = AREA_SIZE},
        {.version = 1, .address = AREA, .bytes = AREA_SIZE + 1},
        {.version = 1, .address = AREA, .bytes = 0},
        {.version = 1, .address = AREA, .bytes = UINT64_MAX},
        {.version = 1, .address = UINT64_MAX - 4095, .bytes = MIB},
        {.version = 1, .address = AREA, .bytes = (SAVE_MIB_MAX + 1) * MIB},
        {.version = 1, .address = AREA, .bytes = AREA_SIZE, .machine = "a\n"},
        {.version = 1, .address = AREA, .bytes = AREA_SIZE, .machine = "a\0b"},
        {.version = 1, .address = AREA, .bytes = AREA_SIZE, .machine = {[SAVE_MACHINE - 1] = 'c'}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fw.note = true;
        fw.size = sizeof good;
        memcpy(fw.bytes, &bad[i], sizeof bad[i]);
        refused(SAVE_BAD_NOTE);
    }
    /* of a later version perhaps: words for any number, and the run goes on */
    fw.note = true;
    fw.size = sizeof good;
    good.told = UINT32_MAX;
    memcpy(fw.bytes, &good, sizeof good);
    assert_int_equal(start(), RUNS_ON);
    assert_non_null(strstr(note, "does not know"));
    assert_false(fw.note);
}

#define BRAND "  Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz\0\0\0\0\0\0\0"
#define OTHER "Intel(R) Core(TM) i5-8250U CPU @ 1.60GHz\0\0\0\0\0\0\0\0"
#define BOARD "A vendor of boards\0A board\0\0" /* the rest of a structure, behind its four bytes of header */

/* An entry point of SMBIOS 3, and a board behind it. */
static void give_board(const char *strings, size_t size)
{
    static uint8_t bytes[256];
    const uint64_t table = (uintptr_t)bytes + 32;
    uint8_t sum = 0;
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "_SM3_", 5);
    bytes[6] = 24;
    bytes[12] = 128;
    memcpy(bytes + 16, &table, sizeof table);
    memcpy(bytes + 32, (uint8_t[]){2, 8, 0, 0, 1, 2, 0, 0}, 8); /* vendor, product, no version, a serial number */
    memcpy(bytes + 40, strings, size);
    for (int i = 0; i < 24; i++)
        sum = (uint8_t)(sum + bytes[i]);
    bytes[5] = (uint8_t)-sum;
    fw.smbios[0] = (uintptr_t)bytes;
}

/* As its owner knows it, whole or cut. */
static void test_words_of_a_machine(void **state)
{
    char words[SAVE_MACHINE];
    static char vendor[66];
    (void)state;
    save_machine(fw.smbios, words);
    assert_string_equal(words, "");
    fw.brand = BRAND;
    save_machine(fw.smbios, words);
    assert_string_equal(words, "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz");
    give_board(BOARD, sizeof BOARD);
    save_machine(fw.smbios, words);
    assert_string_equal(words, "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz, A vendor of boards, A board");
    memset(vendor, 'v', sizeof vendor - 2);
    fw.brand = "0123456789abcdef0123456789abcdef0123456789\n\xE4"
               "bcde"; /* no zero behind it */
    give_board(vendor, sizeof vendor);
    save_machine(fw.smbios, words);
    assert_int_equal(strlen(words), 48 + 2 + 64);
    assert_non_null(strstr(words, "6789??bcde, vvv"));
}

/* Its run is a new one, and the note stays for the machine that it is of. */
static void on_another_machine(void)
{
    fw.lines = 0;
    fw.allocated = 0;
    note[0] = 0;
    assert_int_equal(start(), RUNS_ON);
    assert_true(fw.lines == 1 && fw.note && !fw.allocated && !fw.file);
    assert_non_null(strstr(note, "\\cairn.run was of another machine: "));
    assert_int_equal(notes[1][0], 0);
    note[0] = 0;
}

static void test_another_machine(void **state)
{
    struct save_note *v = (struct save_note *)fw.bytes;
    (void)state;
    fw.brand = BRAND;
    give_board(BOARD, sizeof BOARD);
    on_another_machine();
    save_machine(fw.smbios, v->machine);
    fw.brand = OTHER;
    on_another_machine();
    fw.brand = BRAND;
    fw.smbios[0] = 0;
    on_another_machine();
    give_board(BOARD, sizeof BOARD);

    /* it cannot be found there any more: nor is that any other machine's business */
    memset(header, 0, SAVE_HEADER_BYTES);
    assert_int_equal(start(), OFF);
    assert_int_equal(v->told, SAVE_ABSENT);
    fw.brand = OTHER;
    on_another_machine();
    fw.brand = BRAND;
    assert_int_equal(start(), RUNS_ON);
    assert_non_null(strstr(note, "the run before this one was not saved: it is no longer in memory"));
    assert_false(fw.note);
}

static void test_the_same_machine(void **state)
{
    (void)state;
    fw.brand = BRAND;
    give_board(BOARD, sizeof BOARD);
    save_machine(fw.smbios, ((struct save_note *)fw.bytes)->machine);
    assert_int_equal(start(), OFF);
    assert_true(fw.file_size == TEXT_SIZE && !fw.note);
}

/* Each byte of the header counts, each field is in bounds though its CRC is right. */
static void test_header_is_damaged(void **state)
{
    struct save_note v;
    (void)state;
    memcpy(&v, fw.bytes, sizeof v);
    for (size_t i = 0; i < SAVE_HEADER_BYTES; i++) {
        ((uint8_t *)header)[i] ^= 0x10;
        const enum save_refusal why = save_check_header(header, &v);
        assert_int_equal(why, i < 8 ? SAVE_ABSENT : i < 16 ? SAVE_OTHER_VERSION : SAVE_BAD_HEADER);
        ((uint8_t *)header)[i] ^= 0x10;
    }
    static const uint64_t lengths[] = {0, AREA_SIZE - SAVE_HEADER_BYTES + 1, AREA_SIZE, UINT64_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        header->used = lengths[i];
        seal();
        assert_int_equal(save_check_header(header, &v), SAVE_BAD_HEADER);
    }
    header->used = AREA_SIZE - SAVE_HEADER_BYTES;
    seal();
    assert_int_equal(save_check_header(header, &v), SAVE_GOOD);
    header->state = 4;
    seal();
    refused(SAVE_BAD_HEADER);
}

static void test_text_is_damaged(void **state)
{
    static const size_t places[] = {0, 5, MIB - 1, MIB, 2 * MIB, TEXT_SIZE - 1};
    uint32_t bad, first;
    (void)state;
    assert_int_equal(save_check_text(header, text, &bad, &first), SAVE_GOOD);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        text[places[i]] ^= 1;
        assert_int_equal(save_check_text(header, text, &bad, &first), SAVE_BAD_TEXT);
        assert_int_equal(bad, 1);
        assert_int_equal(first, places[i] / MIB);
        text[places[i]] ^= 1;
    }
    text[TEXT_SIZE] ^= 1; /* not of it any more */
    assert_int_equal(save_check_text(header, text, &bad, &first), SAVE_GOOD);
    text[7] ^= 1;
    text[MIB + 7] ^= 1;
    assert_int_equal(save_check_text(header, text, &bad, &first), SAVE_BAD_TEXT);
    assert_int_equal(bad, 2);
    refused(SAVE_BAD_TEXT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_there),
        TEST(test_cannot_be_read),
        TEST(test_saved),
        TEST(test_what_to_send),
        TEST(test_saved_but_remembered),
        TEST(test_full_volume),
        TEST(test_full_when_flushed),
        TEST(test_read_only_volume),
        TEST(test_all_names_taken),
        TEST(test_part_is_deleted),
        TEST(test_half_written),
        TEST(test_another_run),
        TEST(test_cleared),
        TEST(test_firmware_has_the_header),
        TEST(test_firmware_has_the_last_page),
        TEST(test_firmware_has_what_is_behind),
        TEST(test_note_is_damaged),
        TEST(test_words_of_a_machine),
        TEST(test_another_machine),
        TEST(test_the_same_machine),
        TEST(test_header_is_damaged),
        TEST(test_text_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
