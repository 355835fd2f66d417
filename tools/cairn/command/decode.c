/* SPDX-License-Identifier: MIT */
/* cairn decode: bytes of a Debug Store, field by field, wherever they come from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds/layout.h"
#include "ds/model/model.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/base/error.h"
#include "tools/cairn/command/command.h"
#include "tools/cairn/command/decode_show.h"
#include "tools/cairn/frame/frame.h"
#include "tools/cairn/frame/input.h"
#include "tools/cairn/log/show.h"
#include "tools/cairn/model/elf.h"
#include "tools/pebs/pebs.h"

#define NOT_TOLD   UINT64_MAX
#define INPUT_MOST (UINT64_C(1) << 30) /* bytes; no buffer of records is larger */

static uint64_t format = NOT_TOLD, records_most = UINT64_MAX, data_cfg, at_address;
static bool want_arch, want_bts, want_area, want_json, has_data_cfg, has_address;
static const char *preset_name, *elf_path;
static const struct ds_model_preset *preset;

static const char *take_u64(const char *value, uint64_t *number, bool *has)
{
    *has = cairn_slice_u64((struct cairn_slice){value, (uint32_t)strnlen(value, 32)}, number);
    return *has ? NULL : "not a number: decimal, or hexadecimal with 0x";
}

static const char *take_data_cfg(const char *value)
{
    return take_u64(value, &data_cfg, &has_data_cfg);
}

static const char *take_at(const char *value)
{
    return take_u64(value, &at_address, &has_address);
}

static const struct cairn_option options[] = {
    {0, "format", "N", "PEBS record format: 0 to 6, or 15 for architectural PEBS", .number = &format, .low = 0,
     .high = 15},
    {0, "preset", "NAME", "the format of this processor's records: penryn ... clearwaterforest", .text = &preset_name},
    {0, "arch", NULL, "records of architectural PEBS, as --format 15", .on = &want_arch},
    {0, "bts", NULL, "branch records of BTS", .on = &want_bts},
    {0, "area", NULL, "a DS area, in the form of --format or --preset", .on = &want_area},
    {0, "data-cfg", "VALUE", "MSR_PEBS_DATA_CFG: the records must have these groups", .take = take_data_cfg},
    {0, "at", "ADDRESS", "address of the first byte in memory (text may contain its own addresses)", .take = take_at},
    {'e', "elf", "FILE", "take function names from this file", .text = &elf_path},
    {0, "records", "N", "decode the first N records only", .number = &records_most, .low = 0, .high = UINT32_MAX},
    {0, "json", NULL, "print JSON, an object for each line", .on = &want_json},
    CAIRN_PAGER_OPTION,
    {.name = NULL},
};

/* ---- records, one by one ----------------------------------------------------------------------------------------- */

/* Adds where good records begin again behind `at`. In records of format 4 and up one is enough to be sure: its groups
 * fill its size. */
static void say_again(struct cairn_decoded *d, size_t at)
{
    const size_t n = strlen(d->wrong), from = at + 8;
    struct cairn_guess g;
    if (from >= d->bytes->count)
        return;
    cairn_guess(&g, d->bytes->items + from, d->bytes->count - from, cairn_guess_bit(d->what.format));
    if (g.records && (g.sure >= CAIRN_SURE_LIKELY || (d->what.format >= 4 && d->what.format != CAIRN_PEBS_BTS)))
        snprintf(d->wrong + n, sizeof(d->wrong) - n, "; intact records begin again at byte %zu", from + g.begin);
}

/* What is at `at` instead of a record. */
static void say_no_record(struct cairn_decoded *d, size_t at, uint32_t whole)
{
    const size_t left = d->bytes->count - at, size = sizeof(d->wrong);
    const unsigned of = d->what.format;
    char name[64];
    cairn_format_name(name, of);
    d->wrong_at = at;
    if (whole == UINT32_MAX)
        snprintf(d->wrong, size, "%zu %s left at the place where a record of format %u begins", left,
                 cairn_plural(left, "byte is", "bytes are"), of);
    else if (whole > left)
        snprintf(d->wrong, size, "the record is cut off after %zu of %" PRIu32 " bytes", left, whole);
    else if (!whole && of == CAIRN_PEBS_ARCH)
        snprintf(d->wrong, size,
                 "the header gives the record an impossible size; it must be 16 or more, in steps of 8");
    else if (!whole)
        snprintf(d->wrong, size, "the head gives the record %" PRIu32 " bytes; it must be 32 or more, in steps of 8",
                 ds_pebs_head_size(cairn_get64(d->bytes->items + at)));
    else
        snprintf(d->wrong, size, "these bytes are not %s", name);
    if (whole <= left)
        say_again(d, at);
}

/* Whether the record has the groups that --data-cfg asks for. */
static bool is_configured(struct cairn_decoded *d, const uint8_t *record, uint32_t bytes)
{
    const uint64_t head = cairn_get64(record);
    const uint32_t wanted = ds_pebs_adaptive_size(d->data_cfg), groups = (uint32_t)d->data_cfg;
    const uint32_t mask = groups & MSR_PEBS_DATA_CFG_LBR ? UINT32_MAX : 0xFFFFFF; /* else the entries say nothing */
    if ((ds_pebs_head_groups(head) & mask) == (groups & mask) && bytes == wanted)
        return true;
    snprintf(d->wrong, sizeof(d->wrong),
             "groups %" PRIX32 "H and %" PRIu32 " bytes, but --data-cfg makes records of groups %" PRIX32
             "H and %" PRIu32 " bytes",
             ds_pebs_head_groups(head), bytes, groups, wanted);
    d->wrong_at = d->end;
    return false;
}

bool cairn_decoded_record(struct cairn_decoded *d, size_t at, struct cairn_record *r)
{
    const struct cairn_bytes *b = d->bytes;
    const unsigned of = d->what.format;
    uint32_t whole;
    d->end = at;
    if (at == b->count)
        return false;
    *r = (struct cairn_record){.at = b->items + at, .address = d->address + at, .format = (uint8_t)of};
    r->size = cairn_pebs_size(of, r->at, b->count - at, &whole);
    const bool cut = !r->size && whole > b->count - at && b->count - at >= 8;
    if ((!r->size || at >= d->what.end) && !cut) { /* a guess says where they end */
        if (!(at && cairn_decoded_rest_is_zero(d)))
            say_no_record(d, at, whole);
        return false;
    }
    if (d->has_data_cfg && !is_configured(d, r->at, whole))
        return false;
    if (cut) {
        say_no_record(d, at, whole);
        r->size = (uint32_t)(b->count - at) / 8 * 8;
    }
    d->end = cut ? b->count : at + r->size;
    return true;
}

bool cairn_decoded_rest_is_zero(const struct cairn_decoded *d)
{
    for (size_t i = d->end; i < d->bytes->count; i++)
        if (d->bytes->items[i])
            return false;
    return true;
}

/* ---- what it is -------------------------------------------------------------------------------------------------- */

/* What a log says of the processor, because the meaning of some words depends on it. */
static void tell_preset(struct cairn_text *text)
{
    char row[80];
    if (!preset)
        return;
    snprintf(row, sizeof(row), "CPUID.01H:EAX family and model|0x%" PRIx32 "|ok|", preset->signature);
    cairn_text_tell(text, "ds.detect.soft.0.0", row);
}

/* The format that --preset names. */
static int take_preset(void)
{
    char names[512] = "";
    if (!preset_name)
        return CAIRN_GOOD;
    const struct ds_model_preset *p = preset = ds_model_preset(preset_name);
    if (p) {
        format = p->pebs23 ? CAIRN_PEBS_ARCH : p->format;
        return CAIRN_GOOD;
    }
    for (p = ds_model_preset_after(NULL); p; p = ds_model_preset_after(p))
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", names[0] ? ", " : "", p->name);
    return cairn_usage(&cairn_decode_command, "--preset %s: must be one of %s", preset_name, names);
}

static int check_options(void)
{
    const unsigned ways = (format != NOT_TOLD) + (preset_name != NULL) + want_arch + want_bts;
    if (ways > 1)
        return cairn_usage(&cairn_decode_command,
                           "--format, --preset, --arch and --bts each set the kind of the records; give one of them");
    if (want_area && (want_arch || want_bts))
        return cairn_usage(&cairn_decode_command, "--area decodes no records; leave out --arch and --bts");
    if (format != NOT_TOLD && format > 6 && format != CAIRN_PEBS_ARCH)
        return cairn_usage(&cairn_decode_command, "--format %" PRIu64 ": must be 0 to 6 or 15", format);
    const int status = take_preset();
    if (want_arch)
        format = CAIRN_PEBS_ARCH;
    if (want_bts)
        format = CAIRN_PEBS_BTS;
    if (!status && want_area && format == CAIRN_PEBS_ARCH)
        return cairn_usage(&cairn_decode_command, "architectural PEBS has no DS area of its own");
    if (!status && has_data_cfg && (want_area || (format != NOT_TOLD && (format < 4 || format > 6))))
        return cairn_usage(&cairn_decode_command, "--data-cfg applies only to records of formats 4 to 6");
    return status;
}

/* What the bytes may be, as far as the options tell. */
static uint64_t only(void)
{
    if (want_area)
        return cairn_guess_bit(CAIRN_GUESS_AREA);
    if (format != NOT_TOLD)
        return cairn_guess_bit((unsigned)format);
    return has_data_cfg ? cairn_guess_bit(4) | cairn_guess_bit(5) | cairn_guess_bit(6) : UINT64_MAX;
}

/* The form of a DS area that is asked for. */
static unsigned area_form(size_t size, const struct cairn_guess *guess)
{
    return format != NOT_TOLD                ? (unsigned)format
           : guess->sure                     ? guess->area
           : size >= ds_area_bytes(5, false) ? 5
           : size >= ds_area_bytes(4, false) ? 4
                                             : 0;
}

/* What you say counts; but where something else fits for sure, and that does not, a note tells. */
static void note_other(const struct cairn_decoded *d)
{
    struct cairn_guess g;
    char name[64];
    if (d->what.sure >= CAIRN_SURE_LIKELY)
        return;
    cairn_guess(&g, d->bytes->items, d->bytes->count, UINT64_MAX);
    if (g.sure != CAIRN_SURE_YES)
        return;
    if (g.format < CAIRN_PEBS_BTS)
        snprintf(name, sizeof(name), "format %u", g.format);
    else
        cairn_format_name(name, g.format);
    cairn_note("%s: without this option the guess is certain: %s", d->name, name);
}

static void take_area(struct cairn_decoded *d)
{
    const unsigned form = area_form(d->bytes->count, &d->what);
    const size_t size = ds_area_bytes(form, false), there = d->bytes->count / 8 * 8;
    d->what = (struct cairn_guess){.format = CAIRN_GUESS_AREA, .area = form, .sure = CAIRN_SURE_YES};
    d->what.end = there < size ? there : size;
    if (there < 0x40) {
        d->what.sure = CAIRN_SURE_NOT;
        snprintf(d->wrong, sizeof(d->wrong), "a DS area has at least 64 bytes");
    }
}

static void find_what(struct cairn_decoded *d, struct cairn_bytes *other, const struct cairn_input *input)
{
    struct cairn_guess g;
    cairn_guess(&d->what, d->bytes->items, d->bytes->count, only());
    if (d->bytes->either) {
        cairn_bytes_read(other, input->data, input->size, true);
        cairn_guess(&g, other->items, other->count, only());
        if (g.sure > d->what.sure) {
            d->what = g;
            d->bytes = other;
        }
    }
    d->told = format != NOT_TOLD || want_area;
    if (!d->told)
        return;
    note_other(d);
    if (want_area)
        take_area(d);
    else
        d->what = (struct cairn_guess){.format = (unsigned)format, .sure = CAIRN_SURE_YES, .end = d->bytes->count};
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* Prints a line for each thing that is wrong. Returns the exit status. */
static int report(const struct cairn_decoded *d)
{
    const struct cairn_bytes *b = d->bytes;
    int status = CAIRN_GOOD;
    char address[32] = "";
    if (*d->wrong) {
        if (d->has_address)
            snprintf(address, sizeof(address), " (0x%" PRIx64 ")", d->address + d->wrong_at);
        cairn_error("%s: byte %zu%s: %s", d->name, d->wrong_at, address, d->wrong);
        status = CAIRN_BAD;
    }
    if (b->line && b->refused[0]) {
        cairn_error("%s: line %zu: %s", d->name, b->line, b->refused);
        status = b->count ? CAIRN_BAD : CAIRN_UNREADABLE;
    } else if (b->line) {
        cairn_error("%s: line %zu, column %zu (byte %zu): expected %s, found %s%s%s", d->name, b->line, b->column,
                    b->count, b->expected, b->found[0] ? "'" : "",
                    b->found[0] ? b->found : "nothing that cairn can read", b->found[0] ? "'" : "");
        status = b->count ? CAIRN_BAD : CAIRN_UNREADABLE;
    }
    return status;
}

static int decode(struct cairn_decoded *d)
{
    if (!d->bytes->count)
        return report(d);
    if (!d->what.sure) {
        if (!*d->wrong)
            snprintf(d->wrong, sizeof(d->wrong),
                     "no known record format and no DS area fits any of the %zu bytes (--format N decodes them anyway)",
                     d->bytes->count);
        report(d);
        return CAIRN_BAD;
    }
    if (want_json)
        cairn_decoded_json(d);
    else
        cairn_decoded_text(d);
    return cairn_flush(report(d));
}

/* Whether a frame of a serial log is in it. */
static bool is_log(const struct cairn_input *input)
{
    static uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    const char *mark = input->data, *end = input->data + input->size;
    struct cairn_line line;
    for (; (mark = memchr(mark, CAIRN_FRAME_MARK, (size_t)(end - mark))) != NULL; mark++)
        if (!cairn_frame_read(&line, mark, end, payload))
            return true;
    return false;
}

/* All of the file. False: it cannot be used, and an error says why. */
static bool open_input(struct cairn_input *input, const char *path)
{
    int e = cairn_input_open_most(input, path, INPUT_MOST);
    if (e == -EFBIG && !input->no_room) {
        cairn_error("%s: the file has more than 1 GiB; give only the part that has records", input->name);
        return false;
    }
    if (!e && (e = cairn_input_load(input)) != 0)
        cairn_input_close(input);
    if (e) {
        cairn_file_error(path, e);
        return false;
    }
    const bool log = input->size && is_log(input);
    if (log)
        cairn_error("%s: this is a log; read it with: cairn dump %s", input->name, path);
    else if (!input->size)
        cairn_error("%s is empty", input->name);
    else
        return true;
    cairn_input_close(input);
    return false;
}

/* A guess whose records do not have the groups of --data-cfg counts as no guess. */
static void check_data_cfg(struct cairn_decoded *d)
{
    const struct cairn_guess *g = &d->what;
    if (!d->has_data_cfg || d->told || !g->records ||
        is_configured(d, d->bytes->items + g->begin, ds_pebs_head_size(cairn_get64(d->bytes->items + g->begin))))
        return;
    d->wrong[0] = '\0'; /* the record says it */
    d->what.sure = CAIRN_SURE_WEAK;
    snprintf(d->what.why, sizeof(d->what.why), "its records do not have the groups of --data-cfg");
}

static int run(char **operands)
{
    struct cairn_input input;
    struct cairn_bytes bytes, other = {0};
    int status = check_options();
    if (status)
        return status;
    cairn_memory_for("decode", operands[0], "; allow it more (ulimit -v)");
    if (!open_input(&input, operands[0]))
        return CAIRN_UNREADABLE;
    cairn_bytes_read(&bytes, input.data, input.size, false);
    struct cairn_log *log = cairn_alloc(sizeof(*log));
    struct cairn_elf *elf = NULL;
    log->input.name = input.name;
    tell_preset(&log->text);
    struct cairn_decoded d = {.name = input.name, .bytes = &bytes, .records_most = records_most, .log = log};
    find_what(&d, &other, &input);
    d.has_data_cfg = has_data_cfg;
    d.data_cfg = data_cfg;
    check_data_cfg(&d);
    d.has_address = has_address || bytes.addressed;
    d.address = has_address ? at_address : bytes.address;
    if (elf_path && (status = cairn_elf_open(&elf, elf_path, log)) == CAIRN_GOOD)
        cairn_elf_symbols(elf, &log->text);
    if (!status) {
        cairn_pager_start();
        status = decode(&d);
    }
    cairn_elf_close(elf);
    cairn_text_free(&log->text);
    free(log);
    cairn_bytes_free(&bytes);
    cairn_bytes_free(&other);
    cairn_input_close(&input);
    cairn_pager_end();
    return status;
}

const struct cairn_command cairn_decode_command = {
    .name = "decode",
    .arguments = "[options] FILE",
    .summary = "decode your own bytes of a Debug Store",
    .options = options,
    .notes = "FILE has PEBS or BTS records or a DS area: the bytes themselves, or text of them\n"
             "as xxd, hexdump, od, gdb's x, dmesg or crash print it, \\x escapes (bpftrace's\n"
             "buf), an array of C, a string of digits or base64; - is standard input. Without\n"
             "an option that says what it is, the output says how sure the guess is, and why.\n"
             "docs/how-to/own-records.md has examples.\n",
    .examples = {"cairn decode records.xxd", "cairn decode --format 4 --records 1 --json records.xxd"},
    .file = true,
    .run = run,
};
