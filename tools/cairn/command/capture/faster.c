/* SPDX-License-Identifier: MIT */
#include "tools/cairn/command/capture/faster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/lib/line_rate.h"

/* Whether the line begins with these words; *behind is what follows. */
static bool begins(const char *text, size_t size, const char *words, const char **behind)
{
    const size_t n = strlen(words);
    *behind = text + n;
    return size >= n && memcmp(text, words, n) == 0;
}

bool cairn_faster_is_test(const char *text, size_t size)
{
    const char *behind;
    return begins(text, size, LINE_RATE_TEST, &behind);
}

/* Without a wait: what does not fit at once comes too late in any case. */
static void say(const struct cairn_faster *f, const char *text, size_t size)
{
    if (write(f->serial->to, text, size) != (ssize_t)size)
        fprintf(stderr, "capture: %s does not accept an answer\n", f->name);
}

/* The first of the kernel's rates, the fastest first, that this port can do. Trying one sets it, while the kernel waits
 * for the answer: so nothing is lost. */
static void answer(struct cairn_faster *f, const char *offered)
{
    char text[32], *end;
    const uint32_t is = f->serial->baud;
    f->promised = 0;
    if (f->serial->to < 0) {
        fprintf(stderr, "capture: %s is read-only, so the machine gets no answer\n", f->name);
        return;
    }
    for (unsigned long rate; !f->promised && (rate = strtoul(offered, &end, 10)) && end != offered; offered = end)
        if (rate <= LINE_RATE_MOST && cairn_serial_set_baud(f->serial, (uint32_t)rate))
            f->promised = (uint32_t)rate;
    cairn_serial_set_baud(f->serial, is);
    if (f->promised)
        fprintf(stderr, "capture: %s supports %u baud; trying it\n", f->name, f->promised);
    else
        fprintf(stderr, "capture: %s supports none of the machine's rates; %u baud remain\n", f->name, is);
    say(f, text, (size_t)snprintf(text, sizeof(text), LINE_RATE_ANSWER "%u\n", f->promised));
}

static void change(struct cairn_faster *f)
{
    f->old = f->serial->baud;
    f->tested = false;
    f->back_ms = cairn_now_ms() + LINE_RATE_STAY_MS;
    cairn_serial_set_baud(f->serial, f->promised);
}

static void test(struct cairn_faster *f, const char *pattern, size_t size)
{
    char expected[LINE_RATE_PATTERN + 1];
    kline_rate_pattern(expected);
    expected[LINE_RATE_PATTERN] = '\n';
    if (size != LINE_RATE_PATTERN || memcmp(pattern, expected, size) != 0)
        return;
    f->tested = true;
    say(f, expected, sizeof(expected));
}

static bool is_text(const char *text, size_t size)
{
    size_t n = 0;
    while (n < size && text[n] >= ' ' && text[n] <= '~')
        n++;
    return size && n == size;
}

void cairn_faster_line(struct cairn_faster *f, const char *text, size_t size)
{
    char line[160]; /* as far as numbers are looked for in it */
    const char *behind;
    if (!f->serial || !f->serial->baud)
        return;
    snprintf(line, sizeof(line), "%.*s", (int)size, text);
    if (begins(text, size, LINE_RATE_TEST, &behind)) {
        if (f->back_ms)
            test(f, behind, size - (size_t)(behind - text));
    } else if (f->back_ms) {
        if (f->tested && is_text(text, size)) {
            f->back_ms = 0;
            fprintf(stderr, "capture: %s: now at %u baud\n", f->name, f->serial->baud);
        }
    } else if (begins(line, strlen(line), LINE_RATE_OFFER, &behind)) {
        answer(f, behind);
    } else if (f->promised && begins(line, strlen(line), LINE_RATE_GO, &behind)) {
        if (strtoul(behind, NULL, 10) == f->promised)
            change(f);
        f->promised = 0;
    }
}

int64_t cairn_faster_left(const struct cairn_faster *f)
{
    const int64_t left = f->back_ms - cairn_now_ms();
    return !f->back_ms ? INT32_MAX : left > 0 ? left : 0;
}

void cairn_faster_wait(struct cairn_faster *f)
{
    if (cairn_faster_left(f) > 0)
        return;
    f->back_ms = 0;
    fprintf(stderr, "capture: %s: the test at %u baud failed; back to %u baud\n", f->name, f->serial->baud, f->old);
    cairn_serial_set_baud(f->serial, f->old);
}
