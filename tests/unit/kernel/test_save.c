/* SPDX-License-Identifier: MIT */
/*
 * kernel/save/saved_log.c: the log in memory is what went to the serial port, byte for byte, in whatever pieces;
 * where it becomes full it is cut at a frame, everything is counted, and the text of the end still has room.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/memory_layout.h"
#include "arch/power/power.h"
#include "boot/save/save_check.h"
#include "kernel/console/report.h"
#include "kernel/lib/print.h"
#include "kernel/save/saved_log.h"
#include "tests/unit/support/cmocka.h"

#define AREA (UINT64_C(1) << 20)
#define ROOM (AREA - SAVE_HEADER_BYTES)
#define TAIL (UINT64_C(16) << 10) /* kept free of frames */

/* What arch/kernel.ld has: the head of an ELF note, and the id. */
__asm__(".section .rodata\n"
        ".globl kernel_build_id, kernel_build_id_end\n"
        "kernel_build_id: .fill 16, 1, 0\n"
        ".ascii \"ABCDEFGHIJKLMNOPQRST\"\n"
        "kernel_build_id_end: .byte 0\n"
        ".text\n");

static uint8_t *area;
static char said[512];
static unsigned failures;
static unsigned begun;   /* times that the header of a run that has begun was put into memory */
static uint64_t flushed; /* bytes of text that were in memory when the header told of them */

void *arch_phys_to_virt(uint64_t phys)
{
    return (void *)phys;
}

void arch_flush(const void *from, size_t size)
{
    if (from == area && ((struct save_header *)area)->state == SAVE_WRITING) {
        assert_true(size == SAVE_HEADER_BYTES);
        begun++;
    } else if (from == area) {
        assert_int_equal(((struct save_header *)area)->state, SAVE_COMPLETE);
        assert_true(size == SAVE_HEADER_BYTES && flushed == ((struct save_header *)area)->used);
    } else {
        assert_ptr_equal(from, area + SAVE_HEADER_BYTES);
        assert_int_equal(((struct save_header *)area)->state, SAVE_WRITING);
        flushed = size;
    }
}

void kprintf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

void kreport(enum kreport verdict, const char *name, const char *format, ...)
{
    va_list arguments;
    assert_int_equal(verdict, KREPORT_FAIL);
    assert_string_equal(name, "save");
    failures++;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

static int setup(void **state)
{
    (void)state;
    area = aligned_alloc(4096, AREA); /* AddressSanitizer sees what goes beyond it */
    assert_non_null(area);
    memset(area, 0xEE, AREA);
    struct save_header *h = (struct save_header *)area;
    *h = (struct save_header){.magic = SAVE_MAGIC,
                              .version = SAVE_VERSION,
                              .header_bytes = SAVE_HEADER_BYTES,
                              .address = 0x10000000,
                              .bytes = AREA,
                              .nonce = 5,
                              .state = SAVE_WRITING};
    begun = 0;
    struct boot_info info = {.save_area = (uint64_t)area, .save_bytes = AREA};
    ksave_begin(&info);
    assert_true(ksave_on());
    assert_int_equal(begun, 1); /* caches do not survive the reset that ends a run too early */
    said[0] = '\0';
    failures = 0;
    flushed = UINT64_MAX;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(area);
    return 0;
}

static void put(const char *text)
{
    ksave_write(text, strlen(text));
}

/* What the loader of the next start finds. */
static const char *finish(uint64_t *size)
{
    const struct save_note v = {.version = SAVE_VERSION, .address = 0x10000000, .bytes = AREA, .nonce = 5};
    const struct save_header *h = (struct save_header *)area;
    uint32_t bad, first;
    ksave_finish();
    assert_int_equal(save_check_header(h, &v), SAVE_GOOD);
    assert_int_equal(save_check_text(h, area + SAVE_HEADER_BYTES, &bad, &first), SAVE_GOOD);
    assert_memory_equal(h->build_id, "ABCDEFGHIJKLMNOPQRST", 20);
    *size = h->used;
    return (const char *)area + SAVE_HEADER_BYTES;
}

static void test_off(void **state)
{
    (void)state;
    const struct boot_info none = {0};
    ksave_begin(&none);
    assert_false(ksave_on());
    put("nothing\r\n");
    ksave_announce(UINT64_MAX);
    ksave_report();
    ksave_finish();
    assert_int_equal(said[0], '\0');
}

static void test_every_byte(void **state)
{
    static const char lines[] = "\r\nCairn: text\r\n~H00000000:QUJD:12345678\r\nhalf a line, ~ and\r\n\r\n~A1\r\nend";
    uint64_t size;
    (void)state;
    for (size_t i = 0, n = 1; i < strlen(lines); i += n, n = n % 7 + 1)
        ksave_write(lines + i, n < strlen(lines) - i ? n : strlen(lines) - i);
    ksave_announce(ROOM - TAIL - strlen(lines));
    ksave_report();
    assert_int_equal(said[0], '\0');
    const char *kept = finish(&size);
    assert_int_equal(size, strlen(lines));
    assert_memory_equal(kept, lines, size);
    put("after the end\r\n");
    ksave_finish();
    assert_int_equal(((struct save_header *)area)->used, size);
}

/* Pieces of sizes that do not end with a line's, until there is no more room. */
static void test_cut_at_a_frame(void **state)
{
    char frame[1000];
    uint64_t size, total = 0;
    const uint64_t frames = AREA / sizeof frame;
    (void)state;
    put("head\r\n");
    ksave_announce(frames * sizeof frame);
    assert_string_equal(said, "save: the memory for the log has room for 1028090 of them, the rest will be missing: it "
                              "takes save.mib=2\n");
    for (uint64_t n = 0; n < frames; n++) {
        memset(frame, 'a' + (int)(n % 26), sizeof frame);
        frame[0] = '~';
        frame[sizeof frame - 2] = '\r';
        frame[sizeof frame - 1] = '\n';
        ksave_write(frame, 700);
        ksave_write(frame + 700, sizeof frame - 700);
        total += sizeof frame;
    }
    put("~short\r\n"); /* would have room, and is not kept: behind the cut there is no frame */
    put("FAIL: text of the end\r\n");
    ksave_report();
    assert_int_equal(failures, 1);
    const uint64_t whole = (ROOM - TAIL - 6) / sizeof frame, missing = total - whole * sizeof frame + 8;
    char expected[200];
    snprintf(expected, sizeof expected,
             "%lu bytes in %lu lines have no room in the log that is kept: it takes "
             "save.mib=2",
             missing, frames - whole + 1);
    assert_string_equal(said, expected);
    const char *kept = finish(&size);
    assert_true(size == 6 + whole * sizeof frame + 23);
    assert_memory_equal(kept + size - 25, "\r\nFAIL: text of the end\r\n", 25);
    assert_true(((struct save_header *)area)->dropped == missing);
}

/* Text alone fills all of it, and not a byte more; frames that come then do not underflow. */
static void test_text_to_the_end(void **state)
{
    static char line[999];
    uint64_t size;
    (void)state;
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    uint64_t lines = 0;
    for (; lines < AREA / sizeof line; lines++)
        ksave_write(line, sizeof line);
    put("~frame\r\n");
    put("a line that has no end and no room ");
    for (int i = 0; i < 100; i++)
        put("................................");
    finish(&size);
    const uint64_t kept = ROOM / sizeof line * sizeof line;
    assert_true(size == kept);
    assert_true(((struct save_header *)area)->dropped == lines * sizeof line - kept + 8 + 35 + 3200);
}

/* No number is advised that the option refuses. */
static void test_more_than_can_be(void **state)
{
    const uint64_t most = ((uint64_t)SAVE_MIB_MAX << 20) - SAVE_HEADER_BYTES - TAIL;
    (void)state;
    put("head\r\n");
    ksave_announce(most - 6);
    assert_non_null(strstr(said, ", the rest will be missing: it takes save.mib=512\n"));
    ksave_announce(most - 5);
    assert_non_null(strstr(said, ", the rest will be missing: more than save.mib= can be: take fewer switches, smaller "
                                 "buffers\n"));
    static char line[1 << 20];
    line[sizeof line - 1] = '\n';
    for (uint64_t left = most - 6, size; left; left -= size)
        ksave_write(line, size = left < sizeof line ? left : sizeof line);
    ksave_report();
    assert_non_null(strstr(said, "it takes save.mib=512"));
    ksave_write(line, 1);
    ksave_report();
    assert_non_null(strstr(said, " is kept: more than save.mib= can be: take fewer switches, smaller buffers"));
}

static void test_exactly_full(void **state)
{
    static char text[ROOM];
    uint64_t size;
    (void)state;
    memset(text, 'y', sizeof text);
    ksave_write(text, sizeof text);
    ksave_report();
    assert_int_equal(failures, 0);
    const char *kept = finish(&size);
    assert_true(size == ROOM);
    assert_memory_equal(kept, text, ROOM);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_off),          TEST(test_every_byte),       TEST(test_cut_at_a_frame), TEST(test_text_to_the_end),
        TEST(test_exactly_full), TEST(test_more_than_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
