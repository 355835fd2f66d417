/* SPDX-License-Identifier: MIT */
/* Lab 4: the check. First records that it makes itself, then those of the boots, as tools/cairn reads them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_cairn.h"
#include "host_compare.h"
#include "host_make.h"
#include "labs/check.h"
#include "labs/host/log.h"
#include "labs/host/random.h"
#include "tools/cairn/log/drains.h"

#define EACH     200u
#define ADAPTIVE "SDM vol. 3B, \"Adaptive PEBS\""

const char lab_title[] = "4 Records";

/* Calls the student's code with a copy of its own for these bytes, so that a read beyond them is found. */
static uint32_t parse_copy(unsigned format, const uint8_t *bytes, uint32_t left, struct record *r)
{
    const uint32_t odd = (uint32_t)(lab_random() % 8); /* records lie at any address */
    uint8_t *memory = malloc(odd + left);
    if (!memory)
        exit(3);
    memcpy(memory + odd, bytes, left);
    memset(r, 0, sizeof *r);
    const uint32_t count = parse(format, memory + odd, left, r);
    free(memory);
    return count;
}

static void expect(const char *source, const struct made *made, uint32_t more)
{
    static struct record yours;
    const struct sample sample = {
        .source = source, .format = made->format, .size = made->size, .bytes = made->bytes, .is = &made->is};
    compare(&sample, parse_copy(made->format, made->bytes, made->size + more, &yours), &yours);
}

/* ---- records of the check's own */

static void check_fixed(struct made *made)
{
    for (unsigned format = 3; format >= 1; format--)
        for (unsigned i = 0; i < EACH; i++) {
            make_fixed(made, format);
            expect("made by the check", made, i % 2 ? 100 : 0);
        }
    lab_pass("fixed", "%u records of each of formats 1 to 3", EACH);
}

/* From the basic group alone to all groups, and then any. */
static void check_groups(struct made *made)
{
    for (uint32_t groups = 0; groups <= 0x3F; groups++) {
        const uint32_t entries = 1 + (uint32_t)(lab_random() % 32);
        make_adaptive(made, groups > 0xF ? 6 : 4, groups | (uint32_t)msr_pebs_data_cfg_entries(entries), 0x2C5, 0xB, 0,
                      0);
        expect("made by the check", made, groups % 3 * 8);
    }
    for (unsigned format = 4; format <= 6; format++)
        for (unsigned i = 0; i < EACH; i++) {
            make_any(made, format);
            expect("made by the check", made, 0);
        }
    lab_pass("groups", "64 sets of groups, and %u records of each of formats 4 to 6", EACH);
}

static void check_head(struct made *made)
{
    struct record r;
    make_adaptive(made, 4, MSR_PEBS_DATA_CFG_GPR | 0x1240, 0, 0, 40, 0);
    uint32_t count = parse_copy(4, made->bytes, made->size, &r);
    if (count != made->size || r.has != made->is.has)
        lab_fail("unknown",
                 "A later processor may add groups that you do not know. They follow those that you know, so you can "
                 "read these, and the size in the head leads to the next record.",
                 ADAPTIVE,
                 "a record of %" PRIu32 " bytes, whose known groups take %" PRIu32 ": parse returns %" PRIu32
                 ", HAS_... 0x%" PRIx32 "; expected %" PRIu32 ", 0x%" PRIx32,
                 made->size, made->need, count, r.has, made->size, made->is.has);
    make_adaptive(made, 5, MSR_PEBS_DATA_CFG_GPR, 0, 0, 0, 0x0F7F);
    count = parse_copy(5, made->bytes, made->size, &r);
    if (count != made->size || r.has != made->is.has)
        lab_fail("latency",
                 "Some processors put the retire latency into bits 47:32 of the head. The groups are in bits 31:0, the "
                 "size in bits 63:48.",
                 ADAPTIVE,
                 "a head of 0x%" PRIx64 ": parse returns %" PRIu32 ", HAS_... 0x%" PRIx32 "; expected %" PRIu32
                 ", 0x%" PRIx32,
                 ds_pebs_head(MSR_PEBS_DATA_CFG_GPR, made->size) | UINT64_C(0x0F7F) << 32, count, r.has, made->size,
                 made->is.has);
    lab_pass("head", "unknown groups, retire latency");
}

static void check_damage(struct made *made)
{
    struct record r;
    for (unsigned i = 0; i < EACH; i++) {
        make_any(made, 1 + i % 6);
        const uint32_t left = (uint32_t)(lab_random() % made->size);
        const uint32_t count = parse_copy(made->format, made->bytes, left, &r);
        if (count)
            lab_fail("cut",
                     "The end of a buffer or of a log can cut a record off. Compare the size with `left` before you "
                     "read. The head itself can be cut off, too.",
                     ADAPTIVE,
                     "%" PRIu32 " bytes of a record of %" PRIu32 ", format %u: parse returns %" PRIu32 "; expected 0",
                     left, made->size, made->format, count);
    }
    for (unsigned i = 0; i < EACH; i++) {
        make_any(made, 4 + i % 3);
        /* nothing, less than the basic group, a word less, no multiple of 8 */
        const uint32_t sizes[] = {0, 8 + i % 3 * 8, made->need - 8, made->need - (i % 7 + 1), made->need + (i % 7 + 1)};
        const uint32_t size = sizes[i % 5];
        uint64_t head;
        memcpy(&head, made->bytes, 8);
        head = ds_pebs_head(ds_pebs_head_groups(head), size);
        memcpy(made->bytes, &head, 8);
        const uint32_t count = parse_copy(made->format, made->bytes, made->size + 8, &r);
        if (count)
            lab_fail("damaged",
                     "A head can be damaged. A size that is too small for its groups, or no multiple of 8, would lead "
                     "you into the middle of a record; 0 would lead nowhere, for ever.",
                     ADAPTIVE,
                     "the head 0x%" PRIx64 " says %" PRIu32 " bytes, and its groups take %" PRIu32
                     ": parse returns %" PRIu32 "; expected 0",
                     head, size, made->need, count);
    }
    lab_pass("damage", "%u records cut off, %u with a wrong size", EACH, EACH);
}

/* ---- records of the boots */

static void check_log(const char *path)
{
    static struct record is, yours;
    static struct cairn_log log;
    const char *slash = strrchr(path, '/');
    struct cairn_group group;
    unsigned count = 0;
    char name[96];
    lab_log_open(&log, path);
    for (uint32_t cpu = 0; cpu < log.cpus; cpu++) {
        cairn_group_init(&group, &log, cpu);
        while (cairn_group_drain(&group))
            for (size_t i = 0; i < group.records.count; i++, count++) {
                const struct cairn_record *r = &group.records.items[i];
                const struct sample sample = {.source = slash ? slash + 1 : path,
                                              .format = r->format,
                                              .size = r->size,
                                              .bytes = r->at,
                                              .is = &is};
                as_cairn_reads(&is, r);
                compare(&sample, parse_copy(r->format, r->at, r->size, &yours), &yours);
            }
        cairn_group_free(&group);
    }
    if (!count)
        lab_fail("boot", "Remove the log, and run the lab again.", "docs/reference/options.md", "%s has no records",
                 path);
    lab_pass("boot", "%u records of the %s", count, lab_log_name(&log, name, sizeof name));
    lab_log_close(&log);
}

int main(int argc, char **argv)
{
    static struct made made;
    printf("lab %s\n", lab_title);
    check_fixed(&made);
    check_groups(&made);
    check_head(&made);
    check_damage(&made);
    for (int i = 1; i < argc; i++)
        check_log(argv[i]);
    return 0;
}
