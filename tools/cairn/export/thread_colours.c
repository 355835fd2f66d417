/* SPDX-License-Identifier: MIT */
#include "tools/cairn/export/thread_colours.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/cairn/base/bytes.h"

#define HUE_STEP 7u /* to the next that is tried: no near one, and it comes to all of them */

/* FNV-1a, begun so that the threads of this kernel's workloads all have hues of their own. */
static uint32_t hash_of(struct cairn_slice name)
{
    uint32_t hash = 1648076;
    for (uint32_t i = 0; i < name.size; i++)
        hash = (hash ^ (uint8_t)name.at[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static struct cairn_slice kind_of(struct cairn_slice name)
{
    const char *slash = name.size ? memchr(name.at, '/', name.size) : NULL;
    return (struct cairn_slice){name.at, slash ? (uint32_t)(slash - name.at) : name.size};
}

void cairn_thread_colours_read(struct cairn_thread_colours *c, const struct cairn_log *log)
{
    struct {
        struct cairn_slice kind;
        unsigned members;
    } hues[CAIRN_HUES] = {0}; /* those that are taken */
    *c = (struct cairn_thread_colours){.log = log, .of = cairn_alloc(log->text.names.count)};
    for (size_t i = 0; i < log->text.names.count; i++) {
        const struct cairn_slice kind = kind_of(log->text.names.items[i].name);
        unsigned hue = hash_of(kind) % CAIRN_HUES;
        if (!log->text.names.items[i].tid) /* idle */
            continue;
        for (unsigned tries = 0; tries < CAIRN_HUES && hues[hue].members && !cairn_slice_same(hues[hue].kind, kind);
             tries++)
            hue = (hue + HUE_STEP) % CAIRN_HUES; /* where none is free, back to the first */
        if (!hues[hue].members)
            hues[hue].kind = kind;
        c->of[i] = (uint8_t)(hue * CAIRN_SHADES + hues[hue].members++ % CAIRN_SHADES);
    }
}

unsigned cairn_thread_colour(const struct cairn_thread_colours *c, uint32_t tid)
{
    const struct cairn_name *name = cairn_find_name(&c->log->text, tid);
    char number[16];
    if (name)
        return c->of[name - c->log->text.names.items];
    snprintf(number, sizeof(number), "%" PRIu32, tid);
    return hash_of(cairn_slice_of(number)) % CAIRN_COLOURS;
}

void cairn_thread_colours_free(struct cairn_thread_colours *c)
{
    free(c->of);
}

static unsigned of_srgb(double linear)
{
    const double in = fmin(fmax(linear, 0), 1);
    return (unsigned)lround(255 * (in <= 0.0031308 ? 12.92 * in : 1.055 * pow(in, 1 / 2.4) - 0.055));
}

/* From OKLCH, in which hues of one lightness look equally light: https://bottosson.github.io/posts/oklab/ */
const char *cairn_colour_text(char out[8], unsigned colour, bool dark)
{
    const double hue = (colour / CAIRN_SHADES) * 2 * 3.14159265358979323846 / CAIRN_HUES;
    const double light = (dark ? 0.72 : 0.82) - 0.035 * (colour % CAIRN_SHADES), chroma = dark ? 0.12 : 0.11;
    const double a = chroma * cos(hue), b = chroma * sin(hue);
    const double l = pow(light + 0.3963377774 * a + 0.2158037573 * b, 3);
    const double m = pow(light - 0.1055613458 * a - 0.0638541728 * b, 3);
    const double s = pow(light - 0.0894841775 * a - 1.2914855480 * b, 3);
    snprintf(out, 8, "#%02x%02x%02x", of_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
             of_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
             of_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
    return out;
}
