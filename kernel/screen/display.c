/* SPDX-License-Identifier: MIT */
#include "kernel/screen/display.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "arch/screen/framebuffer.h"
#include "kernel/console/print.h"
#include "kernel/console/sinks.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/options/options.h"
#include "kernel/phase.h"
#include "kernel/screen/screen.h"

static const struct boot_info *boot; /* NULL: none yet */
static bool decided;                 /* there is a screen, or there will be none */
static struct screen screen;

static void write_screen(void *context, const char *text, size_t size)
{
    (void)context;
    kscreen_write(&screen, text, size);
    arch_map_flush();
}

static bool shown;
static const struct console_sink sink = {.write = write_screen};

static void show(void)
{
    kconsole_add(&sink);
    shown = true;
}

void kscreen_begin(const struct boot_info *info)
{
    boot = info;
}
KPHASE(KPHASE_OPTIONS, kscreen_begin);

/* `p` has its base. */
static bool begin(const struct pixels *p)
{
    if (kscreen_init(&screen, p, &font_console) != 0)
        return false;
    arch_map_flush();
    return true;
}

void kscreen_open(const struct boot_info *info)
{
    const struct boot_framebuffer *fb = &info->framebuffer;
    struct pixels p;
    const char *why;

    decided = true;
    if (!kscreen_on) {
        kprintf("screen: off (option screen=)\n");
        return;
    }
    int e = kpixels_describe(&p, fb, &why);
    if (e == 0) {
        p.base = arch_map_framebuffer(fb->base, p.size);
        why = "the framebuffer cannot be mapped: it is in memory, or beyond what the processor can address";
    }
    if (p.base && !begin(&p)) {
        p.base = NULL;
        why = "it is too small for text";
    }
    if (p.base) {
        kprintf("screen: %u x %u pixels, %u rows of %u characters\n", p.width, p.height, screen.rows, screen.columns);
        show();
    } else if (fb->width) {
        kprintf("screen: none: %u x %u pixels, but %s\n", fb->width, fb->height, why);
    } else {
        kprintf("screen: none: %s\n", why);
    }
}
KPHASE(KPHASE_MEMORY, kscreen_open);

void kscreen_rescue(const struct boot_info *unused)
{
    struct pixels p;
    const char *why;

    (void)unused;
    if (!boot || decided || !kscreen_on)
        return;
    decided = true;
    if (kpixels_describe(&p, &boot->framebuffer, &why) != 0)
        return;
    const uint64_t at = boot->framebuffer.base;
    if (at > boot->direct_map_size || p.size > boot->direct_map_size - at || arch_is_memory(boot, at, p.size))
        return;
    p.base = arch_phys_to_virt(at);
    if (arch_readable(p.base, p.size) && begin(&p))
        show();
}
KPHASE(KPHASE_LAST_WORDS, kscreen_rescue);

/* ---- lines and a picture that stay ------------------------------------------------------------------------------- */

#define LEAST_COLUMNS 80u
#define QUIET         4u /* modules of light around the picture */
#define LEAST_MODULE  2u /* pixels: what a camera can still tell apart */

/* At the top right; returns how many columns are left of it. */
static uint32_t draw_modules(const struct screen *s, const uint8_t *modules, uint32_t size, uint32_t stride)
{
    const struct pixels *p = &s->pixels;
    const uint32_t cell = s->font->width * s->scale, text = s->left + LEAST_COLUMNS * cell, all = size + 2 * QUIET;
    const uint32_t room = p->width > text ? p->width - text : 0;
    const uint32_t side = (room < p->height ? room : p->height) / all, left = p->width - side * all;
    const uint32_t dark = kpixels_colour(p, 0x000000), light = kpixels_colour(p, 0xFFFFFF);
    if (!modules || side < LEAST_MODULE)
        return s->columns;
    const uint32_t columns = (left - s->left) / cell;
    kpixels_fill(p, s->left + columns * cell, 0, p->width, p->height, s->paper[SCREEN_TEXT]);
    kpixels_fill(p, left, 0, all * side, all * side, light);
    for (uint32_t row = 0; row < size; row++)
        for (uint32_t column = 0; column < size; column++)
            if (modules[row * stride + column] & 1)
                kpixels_fill(p, left + (QUIET + column) * side, (QUIET + row) * side, side, side, dark);
    return columns;
}

void kscreen_card(const char *lines, const uint8_t *modules, uint32_t size, uint32_t stride)
{
    if (!shown)
        return;
    const bool on = kprint_lock();
    kscreen_keep(&screen, lines, draw_modules(&screen, modules, size, stride));
    arch_map_flush();
    kprint_unlock(on);
}

/* ---- the status line --------------------------------------------------------------------------------------------- */

bool kprint_status(const char *format, ...)
{
    char text[128];
    va_list args;
    if (!shown)
        return false;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const bool on = kprint_lock();
    kscreen_status(&screen, text);
    arch_map_flush();
    kprint_unlock(on);
    return true;
}

__attribute__((weak)) void kprint_status_more(char *text, size_t size)
{
    (void)size;
    text[0] = '\0';
}

void kprint_run(uint64_t seconds, uint64_t switches)
{
    char more[64];
    kprint_status_more(more, sizeof more);
    kprint_status("run: %lu of %u s, %lu of %lu switches%s", (unsigned long)seconds, kopt.seconds,
                  (unsigned long)switches, (unsigned long)kopt.switches, more);
}

void kprint_progress(uint64_t done, uint64_t bytes, uint64_t before)
{
    static unsigned percent = UINT32_MAX; /* nothing is said yet */
    const char *way = kconsole_way();
    const unsigned last = percent;
    percent = (unsigned)(done * 100 / bytes);
    if (!way)
        kprint_status("dump: none, %lu bytes are lost", (unsigned long)bytes);
    else if (done == bytes && before)
        kprint_status("dump: done, %lu bytes %s, %lu of them while it ran", (unsigned long)(bytes + before), way,
                      (unsigned long)before);
    else if (done == bytes)
        kprint_status("dump: done, %lu bytes %s", (unsigned long)bytes, way);
    else if (percent != last)
        kprint_status("dump: %u %% of %lu bytes %s", percent, (unsigned long)bytes, way);
}
