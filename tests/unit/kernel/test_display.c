/* SPDX-License-Identifier: MIT */
/* kernel/screen/display.c: where the screen may be reached through the loader's tables, and where not. */
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/screen/framebuffer.h"
#include "kernel/console/print.h"
#include "kernel/console/sinks.h"
#include "kernel/options/options.h"
#include "kernel/screen/screen.h"
#include "tests/unit/support/cmocka.h"

#define GIB        (UINT64_C(1) << 30)
#define MEMORY_END GIB /* all below is */

static uint32_t pixels[480][800];
static uint64_t where; /* physical, of these */

void *arch_phys_to_virt(uint64_t phys)
{
    assert_int_equal(phys, where);
    return pixels;
}

#include "kernel/lib/print.h"
#include "kernel/screen/display.h"
#include "tests/unit/support/alone.h"

static struct boot_info info;
static char said[256];
static unsigned consoles;
static bool readable;
static const uint32_t rows[FONT_GLYPHS][16];
const struct font font_console = {.width = 8, .height = 16, .rows = rows[0]};

void kprintf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
}

static unsigned locks, calls;

bool kprint_lock(void)
{
    locks++;
    calls++;
    return true;
}

void kprint_unlock(bool on)
{
    assert_true(on && locks == 1);
    locks--;
}

const char *kconsole_way(void)
{
    return "over serial";
}

struct kopt kopt = {.seconds = 60, .switches = 1000};

static const struct console_sink *added;

int kconsole_add(const struct console_sink *which)
{
    added = which;
    consoles++;
    return 0;
}

bool arch_is_memory(const struct boot_info *which, uint64_t phys, uint64_t size)
{
    assert_ptr_equal(which, &info);
    return size && phys < MEMORY_END;
}

bool arch_readable(const void *virt, size_t size)
{
    assert_ptr_equal(virt, pixels);
    assert_int_equal(size, sizeof pixels);
    return readable;
}

void *arch_map_framebuffer(uint64_t phys, size_t size)
{
    return arch_is_memory(&info, phys, size) ? NULL : arch_phys_to_virt(phys);
}

void arch_map_flush(void)
{
}

static void firmware(uint64_t base)
{
    where = base;
    info = (struct boot_info){
        .direct_map_size = 4 * GIB,
        .framebuffer = {
            .base = base, .size = sizeof pixels, .width = 800, .height = 480, .pixels_per_line = 800, .format = 1}};
    memset(pixels, 0xAA, sizeof pixels);
    consoles = 0;
    said[0] = '\0';
    kscreen_on = true;
    readable = true;
    kscreen_begin(&info);
}

static void rescued(void **state)
{
    (void)state;
    firmware(3 * GIB);
    kscreen_rescue(NULL);
    assert_int_equal(consoles, 1);
    assert_int_not_equal(pixels[0][0], 0xAAAAAAAA);
    kscreen_rescue(NULL); /* once */
    assert_int_equal(consoles, 1);
    memset(pixels, 0xAA, sizeof pixels);
    added->write(added->context, "text", 4); /* it is the screen's */
    static const uint32_t untouched[800] = {[0 ... 799] = 0xAAAAAAAA};
    bool drawn = false;
    for (unsigned y = 0; y < 480; y++)
        drawn |= memcmp(pixels[y], untouched, sizeof untouched) != 0;
    assert_true(drawn);
}

static void rescued_at_the_end(void **state) /* of all there can be */
{
    (void)state;
    firmware(4 * GIB - sizeof pixels);
    kscreen_rescue(NULL);
    assert_int_equal(consoles, 1);
}

/* Not a pixel is drawn: neither into memory nor beyond what the tables say is the direct map, where another region may
 * be readable: from 2^47 on it is the loader's identity map. */
static void not_rescued(void **state)
{
    const uint64_t *base = *state;
    firmware(*base);
    kscreen_rescue(NULL);
    assert_int_equal(consoles, 0);
    assert_int_equal(pixels[0][0], 0xAAAAAAAA);
}

static void not_readable(void **state)
{
    (void)state;
    firmware(3 * GIB); /* a hole in the tables */
    readable = false;
    kscreen_rescue(NULL);
    assert_int_equal(consoles, 0);
}

static void not_wanted(void **state)
{
    (void)state;
    firmware(3 * GIB);
    kscreen_on = false;
    kscreen_rescue(NULL);
    assert_int_equal(consoles, 0);
}

static void opened(void **state)
{
    (void)state;
    firmware(3 * GIB);
    kscreen_open(&info);
    assert_int_equal(consoles, 1);
    assert_string_equal(said, "screen: 800 x 480 pixels, 29 rows of 99 characters\n");
    kscreen_rescue(NULL);
    assert_int_equal(consoles, 1);
    firmware(0x100000);
    kscreen_open(&info);
    assert_int_equal(consoles, 0);
    assert_string_equal(said, "screen: none: 800 x 480 pixels, but the framebuffer cannot be mapped: it is in memory, "
                              "or beyond what the processor can address\n");
}

/* The line at the bottom, under the console's lock, once there is a screen. */
static void status(void **state)
{
    (void)state;
    firmware(3 * GIB);
    kprint_run(1, 500);
    assert_true(!calls && pixels[479][0] == 0xAAAAAAAA);
    kscreen_open(&info);
    kprint_run(1, 500);
    kprint_progress(0, 1000, 0);
    kprint_progress(9, 1000, 0); /* no new percent */
    kprint_progress(10, 1000, 0);
    kprint_progress(1000, 1000, 0);
    assert_int_equal(calls, 4);
    bool drawn = false;
    for (unsigned y = 464, x = 0; y < 480; x = 0, y++)
        for (; x < 800; x++)
            drawn |= pixels[y][x] != pixels[479][0];
    assert_true(drawn);
}

static bool light(unsigned x, unsigned y)
{
    assert_true(pixels[y][x] == 0xFFFFFF || pixels[y][x] == 0);
    return pixels[y][x];
}

/* At the right of 80 columns, with light around it, each module a square; text keeps out of it. */
static void card(void **state)
{
    static uint8_t modules[21][30];
    (void)state;
    kscreen_card("card\n", modules[0], 21, 30); /* no screen: nothing */
    assert_int_equal(calls, 0);
    for (unsigned i = 0; i < 21; i++)
        for (unsigned k = 0; k < 21; k++)
            modules[i][k] = (uint8_t)(2 | (i * k + k) % 3 % 2);
    firmware(3 * GIB);
    kscreen_open(&info);
    kscreen_card("card\n", modules[0], 21, 30);
    assert_int_equal(calls, 1);
    for (unsigned i = 0; i < 90; i++)
        added->write(added->context, "text that is wider than what is left ", 37);
    const unsigned side = 5, left = 800 - 29 * side; /* 156 pixels are free */
    for (unsigned y = 0; y < 29 * side; y++)
        for (unsigned x = 0; x < 29 * side; x++) {
            const unsigned row = y / side - 4, column = x / side - 4; /* at the edge larger than any */
            assert_int_equal(light(left + x, y), row > 20 || column > 20 || !(modules[row][column] & 1));
        }
    kscreen_card("", modules[0], 80, 30); /* too many: a module would be one pixel */
    assert_true(light(left, 0));
}

int main(void)
{
    static uint64_t bases[] = {
        0x100000, MEMORY_END - 1, 4 * GIB - sizeof pixels + 1, 4 * GIB, (UINT64_C(1) << 47) + 3 * GIB, UINT64_MAX - 15};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rescued),
        cmocka_unit_test(rescued_at_the_end),
        cmocka_unit_test_prestate(not_rescued, &bases[0]),
        cmocka_unit_test_prestate(not_rescued, &bases[1]),
        cmocka_unit_test_prestate(not_rescued, &bases[2]),
        cmocka_unit_test_prestate(not_rescued, &bases[3]),
        cmocka_unit_test_prestate(not_rescued, &bases[4]),
        cmocka_unit_test_prestate(not_rescued, &bases[5]),
        cmocka_unit_test(not_readable),
        cmocka_unit_test(not_wanted),
        cmocka_unit_test(opened),
        cmocka_unit_test(status),
        cmocka_unit_test(card),
    };
    return alone_run_tests(tests, sizeof tests / sizeof tests[0]);
}
