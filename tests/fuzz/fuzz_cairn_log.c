/* SPDX-License-Identifier: MIT */
/* The host tool's reader on any bytes at all: as a log; as a line that comes in pieces; and as `cairn top` reads a log
 * that has come in part, and then whole. */
#include <stdint.h>
#include <stdlib.h>

#include "tests/fuzz/log.h"
#include "tests/fuzz/read_all.h"
#include "tools/cairn/command/top_screen.h"
#include "tools/cairn/frame/feed.h"
#include "tools/cairn/log/etl/etl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *context, const struct cairn_line *line, const char *text, size_t size)
{
    uint64_t *frames = context;
    (void)line, (void)text, (void)size;
    ++*frames;
}

/* Frames in it, right ones and damaged ones. */
static void feed(const char *data, size_t size, size_t piece, uint64_t found[2])
{
    struct cairn_feed f = {.context = &found[0], .frame = count};
    for (size_t at = 0; at < size; at += piece)
        cairn_feed_bytes(&f, data + at, piece < size - at ? piece : size - at);
    cairn_feed_end(&f);
    found[1] = f.damaged;
}

static void show_top(const char *data, size_t size)
{
    const struct cairn_input half = {.name = "fuzz", .data = data, .size = size / 2, .fd = -1};
    const struct cairn_input whole = {.name = "fuzz", .data = data, .size = size, .fd = -1};
    const struct cairn_top_source source = {.name = "fuzz", .at = size};
    struct cairn_top_figures before, now;
    if (cairn_etl_is(data, size)) /* it takes none */
        return;
    if (cairn_top_read(&before, &half, 0, NULL) || cairn_top_read(&now, &whole, 0, NULL))
        abort();
    if (!cairn_top_goes_on(&now, &before))
        cairn_top_free(&before);
    cairn_top_print(fuzz_nowhere, &now, &before, &source, 24);
    cairn_top_free(&before);
    cairn_top_free(&now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *log = (const char *)data;
    uint64_t whole[2] = {0}, parts[2] = {0};
    feed(log, size, size + 1, whole);
    feed(log, size, 1 + size / 7, parts);
    if (whole[0] != parts[0] || whole[1] != parts[1])
        abort();
    fuzz_read_all(log, size);
    show_top(log, size);
    return 0;
}
