/* SPDX-License-Identifier: MIT */
/* Files through windows: every byte where it is, wherever a window begins; a file that changes meanwhile. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cairn/writer.h"
#include "tests/unit/support/cmocka.h"
#include "tools/cairn/model/switches.h"

static struct cairn_input file_of(const void *data, size_t size)
{
    struct cairn_input input = {.name = "test", .fd = memfd_create("test", 0), .size = size, .own = true};
    assert_true(input.fd >= 0);
    assert_int_equal(write(input.fd, data, size), size);
    return input;
}

static void every_byte(void **state)
{
    (void)state;
    const size_t size = 5 * CAIRN_WINDOW_BYTES + 77;
    uint8_t *data = malloc(size);
    static struct cairn_window w;
    uint32_t x = 1;
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 31 + (i >> 8));
    struct cairn_input input = file_of(data, size);
    cairn_window_init(&w, &input);
    for (unsigned i = 0; i < 20000; i++) { /* forwards by little steps, now and then anywhere */
        x = x * 1664525 + 1013904223;
        size_t at = x >> 28 ? (w.at + (x >> 20) % 4000) % (size + 10) : (x >> 4) % (size + 10), have;
        const size_t want = x % (CAIRN_WINDOW_LEAST + 1), left = at < size ? size - at : 0;
        const char *p = cairn_window(&w, at, want, &have);
        assert_true(have >= (want < left ? want : left) && have <= left);
        assert_memory_equal(p, data + (left ? at : 0), have);
    }
    assert_int_equal(input.error, 0);
    assert_int_equal(ftruncate(input.fd, 3 * CAIRN_WINDOW_BYTES), 0);
    size_t have;
    cairn_window_init(&w, &input);
    cairn_window(&w, 3 * CAIRN_WINDOW_BYTES - 10, 100, &have);
    assert_int_equal(have, 10);
    assert_true(input.error == -ENODATA && input.error_at == 3 * CAIRN_WINDOW_BYTES);
    cairn_input_close(&input);
    free(data);
}

/* Frames of all lengths, and damaged lines between them. */
static void write_log(struct writer *w, size_t before)
{
    uint8_t payload[CAIRN_FRAME_PAYLOAD_MAX];
    memset(payload, 'x', sizeof(payload));
    for (size_t i = 0; i < before; i++)
        writer_raw(w, i % 70 == 69 ? "\n" : ".", 1);
    writer_text(w, 'H', "dump.frames=24\n");
    for (unsigned i = 1; i < 23; i++) {
        writer_frame(w, 'M', payload, 1 + i * 397 % CAIRN_FRAME_PAYLOAD_MAX);
        if (i % 5 == 0)
            writer_raw(w, "~M0000000a:QUJD", 15); /* cut short */
        if (i % 7 == 0)
            writer_raw(w, "\r\n~ a line of the console: ~\r\n", 31);
    }
    writer_text(w, 'Z', "dump.frames=24\n");
}

static void frames_across_windows(void **state)
{
    (void)state;
    for (size_t before = 0; before < 2 * CAIRN_WINDOW_BYTES; before += 61) {
        struct writer w = {0};
        struct cairn_frames f, g;
        write_log(&w, before);
        struct cairn_input memory = WRITER_INPUT(&w), file = file_of(w.data, w.size);
        cairn_deframe(&f, &memory, 0, 0, NULL);
        cairn_deframe(&g, &file, 0, 0, NULL);
        assert_int_equal(f.count, 24);
        assert_true(f.count == g.count && f.chains.count == g.chains.count && f.missing_frames == g.missing_frames);
        for (size_t i = 0; i < f.chains.count; i++)
            assert_memory_equal(&f.chains.items[i], &g.chains.items[i], sizeof(struct cairn_chain));
        assert_int_equal(f.suspects.count, 4);
        assert_int_equal(g.suspects.count, 4);
        for (size_t i = 0; i < 4; i++)
            assert_true(f.suspects.items[i].at == g.suspects.items[i].at &&
                        f.suspects.items[i].line == g.suspects.items[i].line);
        cairn_frames_free(&f);
        cairn_frames_free(&g);
        cairn_input_close(&file);
        writer_free(&w);
    }
}

/* Between the first reading and the second. */
static void changed_meanwhile(void **state)
{
    (void)state;
    struct writer w = {0};
    struct cairn_log *log = malloc(sizeof(*log));
    struct bytes b = {0};
    char refusal[CAIRN_REFUSAL];
    bytes_full(&b, 1000, 4, 8);
    writer_text(&w, 'H', "dump.frames=2\n");
    const size_t trace = w.size;
    writer_piece(&w, 0, 0, 0, 0x48 + b.size, &b);
    struct cairn_input file = file_of(w.data, w.size);
    assert_int_equal(cairn_log_read(log, &file, &(struct cairn_choice){0}, refusal), 0);
    assert_int_equal(log->cpu[0].switches.full, 1);
    assert_int_equal(log->input.error, 0);
    assert_int_equal(pwrite(file.fd, "?", 1, (off_t)trace + 40), 1);
    cairn_log_select(log, 1);
    assert_int_equal(log->cpu[0].switches.full, 0);
    assert_true(log->input.error == -ESTALE && log->input.error_at >= trace);
    cairn_log_free(log);
    cairn_input_close(&file);
    writer_free(&w);
    free(log);
}

/* A log of one chain, whose third batch is another; all variants are as long. */
enum variant { FIRST, OTHER_THREAD, NO_RECORD, NO_TABLE, NO_EVENT };

static struct bytes batch_of(enum variant variant, unsigned i)
{
    struct bytes b = {0}, records = {0};
    bytes_u32(&records, 10u << 15 | (variant == NO_RECORD ? 3 : 2)); /* LITE, or FULL, which has no room */
    bytes_batch(&b, 1000 * i, 1000 * i + 10, (uint32_t[]){variant == OTHER_THREAD ? 9 : 4, 0}, &records);
    if (variant == NO_TABLE)
        memcpy(b.data + 4, &(uint16_t){32}, 2);
    if (variant == NO_EVENT)
        memset(b.data, 0, 4);
    return b;
}

static void write_batches(struct writer *w, enum variant variant)
{
    uint32_t offset = 0;
    writer_text(w, 'H', "dump.frames=5\n");
    for (unsigned i = 0; i < 4; i++) {
        struct bytes b = batch_of(i == 2 ? variant : FIRST, i);
        writer_piece(w, 0, 0, offset, 0x48 + 4 * b.size, &b);
        offset += b.size + (offset ? 0 : 0x48);
    }
}

/* In the middle of the second reading: frames with the same numbers and good checksums, but others. */
static void written_anew(void **state)
{
    (void)state;
    for (enum variant variant = FIRST; variant <= NO_EVENT; variant++) {
        struct writer w = {0}, other = {0};
        struct cairn_log *log = malloc(sizeof(*log));
        char refusal[CAIRN_REFUSAL];
        write_batches(&w, FIRST);
        write_batches(&other, variant);
        assert_int_equal(w.size, other.size);
        struct cairn_input file = file_of(w.data, w.size);
        assert_int_equal(cairn_log_read(log, &file, &(struct cairn_choice){0}, refusal), 0);
        assert_true(log->cpu[0].switches.compact == 4 && log->cpu[0].piece_count == 1 && log->frames.chains.count == 2);
        assert_int_equal(pwrite(file.fd, other.data, other.size, 0), other.size);
        struct cairn_cursor *c = malloc(sizeof(*c));
        struct cairn_switch sw;
        unsigned switches = 0;
        for (cairn_cursor_init(c, log, 0, true); cairn_cursor_next(c, &sw); switches++)
            assert_true(sw.old_tid == 4 || variant == OTHER_THREAD);
        assert_int_equal(log->input.error, variant == FIRST ? 0 : -ESTALE);
        assert_true(variant == FIRST ? switches == 4 : switches < 4);
        /* What is known to have changed is not read on, nor looked for. */
        cairn_cursor_init(c, log, 0, true);
        assert_true(cairn_cursor_next(c, &sw) == (variant == FIRST));
        free(c);
        cairn_log_free(log);
        cairn_input_close(&file);
        writer_free(&w);
        writer_free(&other);
        free(log);
    }
}

/* The same events where nobody has checked them: the walk goes by no size that it has not seen. */
static void unchecked(void **state)
{
    (void)state;
    for (enum variant variant = FIRST; variant <= NO_EVENT; variant++) {
        struct cairn_log *log = calloc(1, sizeof(*log));
        struct cairn_input input = {0};
        struct bytes b = batch_of(variant, 0);
        uint8_t *exactly = malloc(b.size); /* reading beyond it is seen */
        memcpy(exactly, b.data, b.size);
        struct cairn_piece piece = {.data = exactly, .size = b.size, .hole = CAIRN_NO_HOLE};
        log->frames.input = &input;
        log->cpu = calloc(1, sizeof(*log->cpu));
        log->cpu[0].pieces = &piece;
        log->cpu[0].piece_count = 1;
        log->cpu[0].tail = CAIRN_NO_HOLE;
        struct cairn_cursor *c = malloc(sizeof(*c));
        struct cairn_switch sw;
        const bool good = variant == FIRST || variant == OTHER_THREAD;
        cairn_cursor_init(c, log, 0, true);
        assert_true(cairn_cursor_next(c, &sw) == good);
        assert_false(cairn_cursor_next(c, &sw));
        assert_int_equal(input.error, good ? 0 : -ESTALE);
        free(c);
        free(exactly);
        free(log->cpu);
        free(log);
    }
}

/* Every PEBS record is counted and none is listed, though no drain ends them. */
static void records_without_drains(void **state)
{
    (void)state;
    const uint32_t buffers = 200, each = 36;
    struct writer w = {0};
    struct bytes records = {0}, payload = {0};
    struct cairn_log *log = malloc(sizeof(*log));
    char refusal[CAIRN_REFUSAL];
    for (uint32_t i = 0; i < each; i++) { /* format 4: basic group */
        bytes_u64(&records, UINT64_C(32) << 48);
        bytes_u64(&records, 0x401000);
        bytes_u64(&records, 1);
        bytes_u64(&records, i);
    }
    bytes_u16(&payload, CAIRN_DS_RECORDS);
    bytes_u16(&payload, 4);
    bytes_u32(&payload, 0);
    bytes_u64(&payload, 0x10000);
    bytes_u32(&payload, records.size);
    bytes_u32(&payload, 0);
    bytes_add(&payload, records.data, records.size);
    writer_text(&w, 'H', "dump.frames=201\n");
    for (uint32_t i = 0; i < buffers; i++) {
        struct bytes b = {0};
        bytes_event(&b, HOOK_CAIRN_DS, 2, 1000 + i, NULL, payload.data, payload.size);
        writer_buffer(&w, 0, i, &b);
    }
    struct cairn_input file = file_of(w.data, w.size);
    assert_int_equal(cairn_log_read(log, &file, &(struct cairn_choice){0}, refusal), 0);
    assert_int_equal(log->bad_pieces, 0);
    assert_int_equal(log->cpu[0].pebs.records, buffers * each);
    assert_int_equal(log->cpu[0].indexing.records.count, 0);
    assert_true(log->cpu[0].indexing.records.room < 2 * each);
    cairn_log_free(log);
    cairn_input_close(&file);
    writer_free(&w);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte),        cmocka_unit_test(frames_across_windows),
        cmocka_unit_test(changed_meanwhile), cmocka_unit_test(written_anew),
        cmocka_unit_test(unchecked),         cmocka_unit_test(records_without_drains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
