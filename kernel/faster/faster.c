/* SPDX-License-Identifier: MIT */
#include "kernel/faster/faster.h"

#include <stdbool.h>

#include "arch/arch.h"
#include "arch/serial.h"
#include "kernel/console/print.h"
#include "kernel/console/serial_port.h"
#include "kernel/lib/line_rate.h"
#include "kernel/lib/number.h"
#include "kernel/lib/print.h"
#include "kernel/lib/string.h"
#include "kernel/phase.h"

#define LISTED(rate) rate,
static const uint32_t rates[] = {LINE_RATES(LISTED)};

static uint64_t after(uint32_t ms)
{
    return arch_rdtsc() + arch_tsc_hz() / 1000 * ms;
}

static void wait_until(uint64_t tsc)
{
    while ((int64_t)(tsc - arch_rdtsc()) > 0)
        arch_pause();
}

/* The next line from the other end without its end, at most `size` characters. Returns how many, or -1: none has come
 * by then. Longer ones are cut. */
static int read_line(char *line, size_t size, uint64_t until)
{
    size_t n = 0;
    while ((int64_t)(until - arch_rdtsc()) > 0) {
        const int c = arch_serial_read();
        if (c < 0)
            arch_pause();
        else if (c == '\n')
            return (int)n;
        else if (n < size)
            line[n++] = (char)c;
    }
    return -1;
}

/* What the other end can do of what is offered; 0: none. False: nobody answers. */
static bool hear_answer(uint32_t *rate)
{
    static const char answer[] = LINE_RATE_ANSWER;
    const size_t words = sizeof answer - 1;
    const uint64_t until = after(LINE_RATE_ANSWER_MS);
    char line[32];
    for (int n; (n = read_line(line, sizeof line, until)) >= 0;) {
        uint64_t value;
        if ((size_t)n <= words || memcmp(line, answer, words) != 0 ||
            !knumber_parse(line + words, (size_t)n - words, &value))
            continue;
        *rate = (uint32_t)value;
        return value <= LINE_RATE_MOST;
    }
    return false;
}

static bool is_offered(uint32_t rate)
{
    uint16_t divisor;
    uint32_t is;
    return rate > arch_serial_baud() && rate <= kfaster_most &&
           arch_uart_divisor(arch_serial_clock(), rate, &divisor, &is) == 0;
}

/* The rates that are offered, with blanks between them; where there are none, an empty text. */
static void list_rates(char *text, size_t size)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (is_offered(rates[i]))
            n += (size_t)snprintf(text + n, size - n, "%s%u", n ? " " : "", rates[i]);
}

/* Whether the pattern comes back as it was sent. The new line in front ends what a receiver has made of the change. */
static bool test(void)
{
    static char line[sizeof LINE_RATE_TEST - 1 + LINE_RATE_PATTERN + 4];
    char *pattern = line + 2 + sizeof LINE_RATE_TEST - 1, back[LINE_RATE_PATTERN + 1];
    memcpy(line, "\r\n" LINE_RATE_TEST, 2 + sizeof LINE_RATE_TEST - 1);
    kline_rate_pattern(pattern);
    memcpy(pattern + LINE_RATE_PATTERN, "\r\n", 2);
    for (unsigned i = 0; i < LINE_RATE_TESTS; i++) {
        kprint_terminal(line, sizeof line);
        const uint64_t until = after(LINE_RATE_ECHO_MS);
        for (int n; (n = read_line(back, sizeof back, until)) >= 0;)
            if (n == (int)LINE_RATE_PATTERN && memcmp(back, pattern, LINE_RATE_PATTERN) == 0)
                return true;
    }
    return false;
}

void kfaster_agree(const struct boot_info *info)
{
    (void)info;
    char offer[128];
    uint32_t rate;
    const uint32_t old = arch_serial_baud();
    if (!kfaster_most || !old)
        return;
    list_rates(offer, sizeof offer);
    if (!offer[0]) {
        kprintf("serial: serial.fast=%u: the port's clock, %u Hz, gives no rate above %u and up to %u baud "
                "(serial=PORT,BAUD,CLOCK sets another clock)\n",
                kfaster_most, arch_serial_clock(), old, kfaster_most);
        return;
    }
    while (arch_serial_read() >= 0) /* what came before is no answer */
        ;
    kprintf(LINE_RATE_OFFER "%s baud?\n", offer);
    if (!hear_answer(&rate)) {
        kprintf("serial: nobody answers: the rate stays at %u baud (cairn capture answers on a serial device)\n", old);
        return;
    }
    if (!is_offered(rate)) {
        kprintf("serial: the other end can do none of these: the rate stays at %u baud\n", old);
        return;
    }
    kprintf(LINE_RATE_GO "%u baud\n", rate);
    const uint64_t back = after(LINE_RATE_BACK_MS);
    arch_serial_set_baud(rate);
    wait_until(after(LINE_RATE_SETTLE_MS));
    if (test()) {
        kprintf("serial: %s, as tested\n", kserial_words());
        return;
    }
    arch_serial_set_baud(old);
    wait_until(back);
    kprintf("serial: the test at %u baud fails: back at %u baud\n", rate, old);
}
KPHASE(KPHASE_CLOCK, kfaster_agree);
