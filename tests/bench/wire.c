/* SPDX-License-Identifier: MIT */
/*
 * What a run's dump is on the line in each form: it is sent again, packed and not, as base64 and as 8-bit lines, with
 * truth and without. All are of the same trace, by the kernel's own code. Prints `name value unit` lines; times are of
 * one core of this host, of both passes that a dump makes.
 *
 *     wire LOG
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/line8/line8.h"
#include "tools/cairn/base/bytes.h"
#include "tools/cairn/frame/deframe.h"
#include "trace/frames.h"
#include "trace/packed/pack.h"
#include "trace/truth/truth_frames.h"

#define FAST 921600.0 /* baud; ten bits a character */
#define MOST 65536u   /* truth records that are sent at a time */

static struct cairn_frames frames;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nowhere(void *context, const char *data, size_t size)
{
    (void)context, (void)data, (void)size;
}

static void send_text(struct trace_dump *d, const struct cairn_frame *f)
{
    for (const uint8_t *p = f->payload, *end = p + f->size; p < end;) {
        const uint8_t *newline = memchr(p, '\n', (size_t)(end - p));
        newline = newline ? newline : end;
        trace_dump_line(d, (enum cairn_stream)f->stream, (const char *)p, (size_t)(newline - p));
        p = newline + 1;
    }
}

/* Sends the buffer or the truth records that were collected. */
static void send_bytes(struct trace_dump *d, const struct cairn_chain *c, const uint8_t *bytes, uint32_t size)
{
    const struct wmi_buffer_header *header = (const void *)bytes;
    if (!size)
        return;
    if (c->stream == CAIRN_STREAM_TRUTH)
        trace_dump_truth(d, c->cpu, c->offset, bytes, size / CAIRN_TRUTH_BYTES);
    else
        for (uint32_t at = 0; at < header->offset;)
            at = trace_dump_part(d, header, c->buffer, c->session, at);
}

static void send(struct trace_dump *d, bool truth)
{
    static uint8_t payload[CAIRN_PAYLOAD_MOST];
    uint8_t *bytes = cairn_alloc(MOST * CAIRN_TRUTH_BYTES);
    uint32_t size = 0;
    struct cairn_chain begun = {0};
    struct cairn_links links;
    struct cairn_frame f;
    cairn_links_init(&links, &frames);
    for (size_t i = 0; i < frames.chains.count; i++) {
        const struct cairn_chain *c = &frames.chains.items[i];
        const bool trace = c->stream == CAIRN_STREAM_TRACE;
        const uint32_t head = trace ? sizeof(struct cairn_trace_frame) : sizeof(struct cairn_truth_frame);
        if (c->stream != begun.stream || c->cpu != begun.cpu || (trace && !c->offset) ||
            size + c->bytes > MOST * CAIRN_TRUTH_BYTES) {
            send_bytes(d, &begun, bytes, size);
            begun = *c;
            size = 0;
        }
        cairn_links_begin(&links, c);
        while (cairn_links_next(&links, &f, payload))
            if (!trace && c->stream != CAIRN_STREAM_TRUTH)
                send_text(d, &f);
            else if (trace || truth) {
                memcpy(bytes + size, f.payload + head, f.size - head);
                size += f.size - head;
            }
    }
    send_bytes(d, &begun, bytes, size);
    trace_dump_flush(d);
    free(bytes);
}

static double measure(const char *name, bool packed, bool eight_bit, bool truth)
{
    static struct trace_pack pack;
    static struct trace_dump d;
    static const struct trace_sink sink = {nowhere, NULL};
    const double start = now();
    for (unsigned pass = 0; pass < 2; pass++) {
        trace_dump_init(&d, pass ? &sink : NULL);
        if (packed)
            trace_dump_pack(&d, &pack);
        d.encode = eight_bit ? kline8_encode : NULL;
        send(&d, truth);
    }
    const double seconds = now() - start;
    const char *with = truth ? "truth" : "trace";
    printf("wire.%s.%s %" PRIu64 " characters\n", with, name, d.bytes);
    printf("wire.%s.%s.seconds %.3f seconds\n", with, name, seconds);
    printf("wire.%s.%s.of_line %.4f at_921600_baud\n", with, name, seconds / ((double)d.bytes * 10 / FAST));
    return (double)d.bytes;
}

int main(int argc, char **argv)
{
    struct cairn_input input;
    if (argc != 2 || cairn_input_open(&input, argv[1])) {
        fprintf(stderr, "usage: wire LOG\n");
        return 2;
    }
    cairn_deframe(&frames, &input, 0, 0, NULL);
    if (!frames.count || frames.missing_frames || cairn_frames_damaged(&frames)) {
        fprintf(stderr, "wire: %s has no dump, or a damaged one\n", argv[1]);
        return 1;
    }
    for (unsigned truth = 0; truth < 2; truth++) {
        const double plain = measure("plain", false, false, truth);
        const double packed = measure("packed", true, false, truth);
        const double both = measure("packed_8bit", true, true, truth);
        printf("wire.%s.packed.ratio %.3f of_plain\n", truth ? "truth" : "trace", packed / plain);
        printf("wire.%s.packed_8bit.ratio %.3f of_packed\n", truth ? "truth" : "trace", both / packed);
    }
    cairn_frames_free(&frames);
    cairn_input_close(&input);
    return 0;
}
