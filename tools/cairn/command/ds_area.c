/* SPDX-License-Identifier: MIT */
/* The DS area as a table, and its buffers to scale. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ds/area_words.h"
#include "ds/pebs23_layout.h"
#include "tools/cairn/command/ds_draw.h"
#include "tools/cairn/log/show.h"

/* What it says goes on below its last column where that is wider. */
void cairn_print_area_row(unsigned at, const struct cairn_area_row *row)
{
    int used = printf("%4x %-26s %016" PRIx64 "  %c  ", at, row->name, row->value, row->by);
    cairn_print_wrapped((unsigned)used, "", (unsigned)used,
                        (struct cairn_slice){row->what, (uint32_t)strlen(row->what)});
    size_t length = strlen(row->counter); /* below the value, or as far to its left as it is longer */
    if (length)
        printf("%*s%s\n", length > 27 ? 80 - (int)length : 53, "", row->counter);
}

/* ---- to scale --------------------------------------------------------------------------------------------------- */

#define COLUMNS 76u

static void print_mark(const char *name, uint64_t offset, uint64_t span)
{
    char label[80];
    const unsigned at = ds_word_column(offset, span, COLUMNS);
    const int n = snprintf(label, sizeof(label), "%s, +%" PRIX64 "H", name, offset);
    if (2 + at + 2 + (unsigned)n <= 80)
        printf("  %*s^ %s\n", (int)at, "", label);
    else
        printf("  %*s ^\n", (int)at - 1, label);
}

bool cairn_draw_buffer(const struct cairn_buffer *b, const char *name, const char *maximum, uint64_t bytes,
                       uint64_t end)
{
    const uint64_t base = b->base, room = b->maximum - base;
    const uint64_t pointer[] = {base, b->index, b->maximum, b->threshold};
    char picture[COLUMNS + 1];
    const uint64_t span = ds_word_picture(picture, COLUMNS, pointer, end);
    if (!base || !span) {
        printf("\n%s buffer: %s\n", name, base ? "these pointers do not describe a buffer" : "none");
        return false;
    }
    printf("\n%s buffer", name);
    if (bytes)
        printf(": room for %" PRIu64 " %s of %" PRIu64 " bytes", room / bytes,
               cairn_plural(room / bytes, "record", "records"), bytes);
    printf("; one column is %.1f bytes\n  %s\n", (double)span / COLUMNS, picture);
    print_mark("base", 0, span);
    print_mark("index", b->index - base, span);
    print_mark("threshold", b->threshold - base, span);
    print_mark(maximum, room, span);
    return true;
}

void cairn_draw_area(const struct cairn_log *log, uint32_t cpu, const struct cairn_epoch *epoch)
{
    uint64_t at, record_bytes = 0, buffer = 0, bytes = 0;
    if (epoch->format == DS_FORMAT_ARCH) {
        cairn_draw_registers(log, cpu, epoch);
        return;
    }
    cairn_ds_number(&log->text, cpu, "record_bytes", &record_bytes);
    printf("DS area, %" PRIX32 "H form for record format %u", epoch->area_bytes, epoch->format);
    if (cairn_slice_u64(cairn_key(&log->text, "ds.cpu.%" PRIu32 ".area", cpu), &at))
        printf(", at 0x%016" PRIx64 " (IA32_DS_AREA)", at);
    printf("\n%4s %-26s %-16s  %s\n", "at", "field", "value", "by meaning");
    struct cairn_area_row row;
    for (unsigned n = 0; n < epoch->area_bytes / 8; n += row.words) {
        cairn_area_row(log, cpu, epoch, n, &row);
        cairn_print_area_row(8 * n, &row);
    }
    puts("  at: offset; by: d the driver writes it, p the processor; hexadecimal numbers");
    const struct cairn_buffer bts = cairn_epoch_bts_buffer(epoch), pebs = cairn_epoch_buffer(epoch);
    bool drawn = cairn_draw_buffer(&bts, "BTS", "absolute maximum", sizeof(struct ds_bts_record), 0);
    cairn_slice_u64(cairn_key(&log->text, "ds.cpu.%" PRIu32 ".buffer", cpu), &buffer);
    cairn_slice_u64(cairn_key(&log->text, "ds.cpu.%" PRIu32 ".buffer_bytes", cpu), &bytes);
    bool ours = buffer && buffer == pebs.base && bytes <= UINT32_MAX;
    drawn |= cairn_draw_buffer(&pebs, "PEBS", "absolute maximum", record_bytes, ours ? buffer + bytes : 0);
    if (drawn)
        puts("  # recorded  - free  . beyond the threshold  _ beyond the absolute maximum");
}
