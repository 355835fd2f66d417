/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/fuzz/ctf.h"

#include <iconv.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/export.h"

/* The fields of each event behind its number and time: bytes of a number; s a text; * so many texts with a number of 8
 * bytes each as the number before it says. */
static const char *const fields[] = {
    "4s4",              /* thread */
    "s421s81228",       /* sched_switch */
    "8s118s14182*",     /* sample */
    "414181",           /* drain */
    "418s4181",         /* branch_drain */
    "448s8s8s8",        /* branch */
    "8s8s4ss888441411", /* lock */
    "4s",               /* event */
    "1s88888",          /* lost */
    "8",                /* out_of_order */
};

struct view {
    const uint8_t *at, *end;
};

static void expect(bool so)
{
    if (!so)
        abort();
}

static uint64_t take(struct view *v, unsigned bytes)
{
    uint64_t value = 0;
    expect(v->end - v->at >= (ptrdiff_t)bytes);
    memcpy(&value, v->at, bytes);
    v->at += bytes;
    return value;
}

static void take_text(struct view *v)
{
    const uint8_t *end = memchr(v->at, 0, (size_t)(v->end - v->at));
    expect(end && end > v->at);
    static iconv_t utf8;
    if (!utf8)
        utf8 = iconv_open("UTF-32LE", "UTF-8");
    expect(utf8 != (iconv_t)-1);
    char *in = (char *)v->at, out[4096];
    size_t left = (size_t)(end - v->at);
    while (left) { /* a part at a time */
        char *to = out;
        size_t room = sizeof(out), before = left;
        iconv(utf8, &in, &left, &to, &room);
        expect(left < before);
    }
    v->at = end + 1;
}

static void take_event(struct view *v, uint64_t *time)
{
    const uint64_t id = take(v, 1), at = take(v, 8);
    expect(id < sizeof(fields) / sizeof(fields[0]) && at >= *time);
    *time = at;
    uint64_t number = 0;
    for (const char *f = fields[id]; *f; f++) {
        if (*f == 's')
            take_text(v);
        else if (*f != '*')
            number = take(v, (unsigned)(*f - '0'));
        else
            for (; number; number--) {
                take_text(v);
                take(v, 8);
            }
    }
}

static void read_stream(struct view stream, uint64_t cpu)
{
    uint64_t time = 0, lost = 0;
    for (uint64_t n = 0; n == 0 || stream.at < stream.end; n++) {
        struct view v = stream;
        expect(take(&v, 4) == 0xC1FC1FC1 && take(&v, 4) == 0);
        const uint64_t begin = take(&v, 8), end = take(&v, 8), content = take(&v, 8), packet = take(&v, 8);
        const uint64_t number = take(&v, 8), discarded = take(&v, 8);
        expect(take(&v, 4) == cpu && number == n && begin >= time && end >= begin && discarded >= lost);
        expect(content == packet && packet % 8 == 0 && packet / 8 <= (uint64_t)(stream.end - stream.at));
        v.end = stream.at + packet / 8;
        expect(v.at <= v.end && (n || (v.at == v.end && !discarded)));
        time = begin;
        while (v.at < v.end)
            take_event(&v, &time);
        expect(time <= end);
        time = end;
        lost = discarded;
        stream.at = v.end;
    }
}

void fuzz_ctf(const struct cairn_log *log)
{
    char folder[FUZZ_FOLDER], name[16];
    size_t size;
    if (!fuzz_export(log, &cairn_writer_ctf, NULL, folder))
        return;
    for (uint32_t cpu = 0; cpu < log->cpus; cpu++) {
        snprintf(name, sizeof(name), "cpu_%u", cpu);
        uint8_t *data = fuzz_take_file(folder, name, &size);
        read_stream((struct view){data, data + size}, cpu);
        free(data);
    }
    free(fuzz_take_file(folder, "metadata", &size));
    expect(!rmdir(folder));
}
